// relayvm._native: the runtime. The classes that users see are in relayvm/*.py.
#include <fmt/format.h>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <array>
#include <cstring>
#include <exception>
#include <memory>
#include <string>

#include "bytecode/memory_report.h"
#include "tools/python/src/arrays.h"
#include "tools/python/src/callable.h"
#include "tools/python/src/engines.h"
#include "tools/python/src/errors.h"
#include "tools/python/src/graph.h"
#include "tools/python/src/numbers.h"
#include "tools/python/src/program.h"
#include "tools/python/src/session.h"
#include "tools/python/src/state.h"
#include "tools/python/src/values.h"
#include "tools/python/src/without_gil.h"
#include "vm/device/host_device.h"
#include "vm/trace/chrome_trace.h"
#include "vm/trace/profile.h"

namespace py = pybind11;

namespace relayvm::python {
namespace {

// LoadOptions, of the keywords of relayvm.load.
struct ReadLoadOptions {
  std::vector<HostFunction> functions;
  LoadOptions options;
  Engines engines;

  ReadLoadOptions(const py::dict& host_functions, const py::dict& keywords)
      : engines(keywords["engines"]) {
    for (const auto& [name, function] : host_functions) {
      const std::string type =
          py::hasattr(function, "type") ? function.attr("type").cast<std::string>() : std::string();
      functions.push_back({name.cast<std::string>(), type, CallPython});
    }
    options.host_functions = functions;
    options.target = keywords["target"].cast<std::string>();
    options.perf_map = py::bool_(keywords["perf_map"]);
    options.verify = py::bool_(keywords["verify"]);
    options.clear_memory = py::bool_(keywords["clear_memory"]);
    options.allow_images = py::bool_(keywords["allow_images"]);
    engines.Use(&options);
  }
};

struct PyProfile final : Profile, HeldByPointer {
  using Profile::Profile;
  using HeldByPointer::operator delete;
};
struct PyChromeTrace final : ChromeTrace, HeldByPointer {
  using ChromeTrace::ChromeTrace;
  using HeldByPointer::operator delete;
};

PyProgram Load(const std::string& path, const py::dict& host_functions, const py::dict& keywords) {
  ReadLoadOptions read(host_functions, keywords);
  Result<std::shared_ptr<const Executable>> executable = Status(StatusCode::kInternal, "");
  {
    const GilRelease no_gil;
    executable = Executable::Load(path, read.options);
  }
  PyProgram program{ValueOrThrow(std::move(executable))};
  read.engines.Warn();
  return program;
}

PyProgram LoadBytes(const py::bytes& bytes, const py::dict& host_functions,
                    const py::dict& keywords) {
  ReadLoadOptions read(host_functions, keywords);
  const auto text = static_cast<std::string_view>(bytes);
  // bytes of Python are not aligned: a copy.
  PyProgram program{ValueOrThrow(WithoutTheGil([&] {
    return Executable::FromMemory({reinterpret_cast<const uint8_t*>(text.data()), text.size()},
                                  nullptr, read.options);
  }))};
  read.engines.Warn();
  return program;
}

// A tensor from whatever has DLPack or the buffer protocol.
Opaque TensorOf(const py::object& object, const std::string& dtype) {
  ValueType type;
  const std::optional<DType> parsed = ParseDType(dtype);
  if (!parsed) throw py::value_error("there is no dtype " + dtype);
  type.dtype = *parsed;
  return {ToValue(object, type, Program(), "tensor"), nullptr};
}

// One on a device of the runtime, or an array of the host's; None: the host.
py::object CopyTo(const PyRuntime& runtime, const py::object& tensor, const py::object& device) {
  Value value;
  if (!py::isinstance<Opaque>(tensor)) LoadNumpy();
  if (py::isinstance<Opaque>(tensor)) {
    value = tensor.cast<const Opaque&>().value;
  } else if (py::isinstance<py::array>(tensor)) {
    value = TensorOf(tensor, py::str(tensor.attr("dtype"))).value;
  } else {
    throw py::type_error(fmt::format("copy_to: expected a Value or an array of numpy, found {}",
                                     Py_TYPE(tensor.ptr())->tp_name));
  }
  const Device* const to = device.is_none() ? nullptr : device.cast<const PyDevice&>().device.get();
  Result<Value> copy = Value();
  {
    const GilRelease no_gil;
    copy = runtime.runtime()->CopyTo(value, to);
    value = Value();
  }
  Value made = ValueOrThrow(std::move(copy));
  if (to == nullptr && made.dtype() != DType::kBFloat16) return ArrayOf(std::move(made));
  return py::cast(Opaque{std::move(made), nullptr});
}

// What has __dlpack__, where it is.
Opaque FromDLPackOf(const PyRuntime& runtime, const py::object& tensor) {
  return {FromCapsule(tensor.attr("__dlpack__")(), runtime.runtime().get()), nullptr};
}

const Value& Tensor(const Opaque& opaque) {
  if (!opaque.value.is_tensor()) throw py::type_error("this value is no tensor");
  return opaque.value;
}

// (name, file, line, calls, total ns, longest ns)
py::list RowsOf(const std::vector<Profile::Row>& rows) {
  py::list list;
  for (const Profile::Row& row : rows)
    list.append(py::make_tuple(row.name, row.place.file, row.place.line, row.calls, row.total_ns,
                               row.longest_ns));
  return list;
}

py::dict EndedOf(const std::array<uint64_t, kNumStatusCodes>& counts) {
  py::dict ended;
  for (size_t i = 0; i < counts.size(); ++i)
    ended[std::string(StatusCodeName(static_cast<StatusCode>(i))).c_str()] = counts[i];
  return ended;
}

py::dict StatsOf(const RuntimeStats& stats) {
  py::dict d;
  d["started"] = stats.started;
  d["refused"] = stats.refused;
  d["ended"] = EndedOf(stats.ended);
  d["run_ns"] = stats.run_ns;
  d["slices"] = stats.slices;
  d["kernel_calls"] = stats.kernel_calls;
  d["host_calls"] = stats.host_calls;
  d["waits"] = stats.waits;
  d["wait_ns"] = stats.wait_ns;
  d["batch_waits"] = stats.batch_waits;
  d["batch_wait_ns"] = stats.batch_wait_ns;
  d["batches"] = stats.batches;
  d["batched_calls"] = stats.batched_calls;
  d["lone_calls"] = stats.lone_calls;
  d["batch_sizes"] = std::vector<uint64_t>(stats.batch_sizes.begin(), stats.batch_sizes.end());
  d["allocations"] = stats.allocations;
  d["allocated_bytes"] = stats.allocated_bytes;
  d["peak_bytes"] = stats.peak_bytes;
  d["running"] = stats.running;
  d["waiting"] = stats.waiting;
  d["live_bytes"] = stats.live_bytes;
  d["resident_bytes"] = stats.resident_bytes;
  d["counted_bytes"] = stats.counted_bytes;
  d["workspaces"] = stats.workspaces;
  d["idle_workspaces"] = stats.idle_workspaces;
  return d;
}

// Latencies in buckets: (count, total ns, [(bound in ns, count)]).
py::tuple LatenciesOf(const LatencyHistogram& histogram) {
  py::list buckets;
  for (size_t i = 0; i < histogram.buckets.size(); ++i) {
    if (histogram.buckets[i] != 0)
      buckets.append(py::make_tuple(LatencyHistogram::Bound(i), histogram.buckets[i]));
  }
  return py::make_tuple(histogram.count, histogram.sum_ns, buckets);
}
py::dict TotalsOf(const RunTotals& totals) {
  py::dict d;
  d["accepted"] = totals.accepted;
  d["refused"] = totals.refused;
  d["ended"] = EndedOf(totals.ended);
  d["queue_time"] = LatenciesOf(totals.queue_time);
  d["latency"] = LatenciesOf(totals.latency);
  return d;
}
py::dict SchedulerStatsOf(PyRuntime& runtime) {
  SchedulerStats stats;
  if (std::shared_ptr<Scheduler> scheduler = runtime.scheduler_if_any()) {
    const GilRelease no_gil;
    stats = scheduler->stats();
    scheduler.reset();
  }
  py::dict d = TotalsOf(stats);
  d["slices"] = stats.slices;
  d["queued"] = stats.queued;
  d["ready"] = stats.ready;
  d["running"] = stats.running;
  d["waiting"] = stats.waiting;
  return d;
}
PyRunGroup MakeGroup(const std::shared_ptr<PyRuntime>& runtime, size_t max_active,
                     size_t max_queued) {
  const std::shared_ptr<Scheduler> scheduler = runtime->scheduler();
  return {runtime,
          ValueOrThrow(scheduler->MakeGroup({.max_active = max_active, .max_queued = max_queued}))};
}
py::dict GroupStatsOf(const PyRunGroup& group) {
  RunGroupStats stats;
  if (std::shared_ptr<Scheduler> scheduler = group.runtime->scheduler_if_any()) {
    const GilRelease no_gil;
    stats = scheduler->stats(group.group);
    scheduler.reset();
  }
  py::dict d = TotalsOf(stats);
  d["queued"] = stats.queued;
  d["active"] = stats.active;
  return d;
}

// Of an exported function: what it holds at most, with what it calls, as a formula over the dims of
// its arguments.
std::string MemoryFormula(const PyProgram& p, const std::string& function) {
  const Program& program = p.executable->program();
  for (const ExportInfo& e : program.exports) {
    if (e.name == function)
      return WithoutTheGil([&] { return ReportMemory(program, e.function).total_bytes; });
  }
  throw py::key_error(function);
}

// Function.__call__, without what pybind11 does to find an overload.
PyObject* CallFunction(PyObject* self, PyObject* args, PyObject* kwargs) {
  try {
    return Call(BoundFunctionOf(self), ArgumentsOf(py::reinterpret_borrow<py::tuple>(args),
                                                   py::reinterpret_borrow<py::dict>(kwargs)));
  } catch (...) {
    py::detail::translate_exception(std::current_exception());
    return nullptr;
  }
}

}  // namespace

PYBIND11_MODULE(_native, m) {
  m.doc() = "The native part of relayvm's runtime.";
  m.attr("__version__") = RELAYVM_VERSION;

  py::class_<PyProgram, std::unique_ptr<PyProgram, DeleteWithoutGil>>(m, "Program")
      .def("functions",
           [](const PyProgram& p) {
             std::vector<std::string> names;
             for (const FunctionSignature& f : p.executable->info().functions)
               names.push_back(f.name);
             return names;
           })
      .def("adts",
           [](const PyProgram& p) {
             py::dict adts;
             for (const DataTypeInfo& adt : p.executable->info().data_types) {
               py::dict constructors;
               for (const DataTypeInfo::Constructor& c : adt.constructors) {
                 py::list fields;
                 for (const TypeInfo& field : c.fields) fields.append(field.text);
                 constructors[c.name.c_str()] = py::tuple(fields);
               }
               adts[adt.name.c_str()] = constructors;
             }
             return adts;
           })
      .def("memory_formula", MemoryFormula)
      .def("num_batched_kernels",
           [](const PyProgram& p) { return p.executable->num_batched_kernels(); });
  m.def("load", Load);
  m.def("load_bytes", LoadBytes);
  m.def("wait_for_schedulers", WaitForSchedulers);

  const py::class_<TraceSink, std::shared_ptr<TraceSink>> trace_sink(m, "TraceSink");
  py::class_<PyProfile, TraceSink, std::shared_ptr<PyProfile>>(m, "Profile")
      .def(py::init([](uint32_t interval) {
        return std::make_shared<PyProfile>(Profile::Options{.kernel_interval = interval});
      }))
      .def("by_kernel",
           [](const PyProfile& p) { return RowsOf(WithoutTheGil([&] { return p.ByKernel(); })); })
      .def("by_place",
           [](const PyProfile& p) { return RowsOf(WithoutTheGil([&] { return p.ByPlace(); })); })
      .def("totals",
           [](const PyProfile& p) {
             const Profile::Totals t = WithoutTheGil([&] { return p.totals(); });
             return py::make_tuple(t.runs, t.run_ns, t.wait_ns, t.kernel_ns);
           })
      .def("clear", &Profile::Clear, py::call_guard<GilRelease>());
  py::class_<PyChromeTrace, TraceSink, std::shared_ptr<PyChromeTrace>>(m, "ChromeTrace")
      .def(py::init([](size_t max_events, uint32_t interval) {
        return std::make_shared<PyChromeTrace>(
            ChromeTrace::Options{.max_events = max_events, .kernel_interval = interval});
      }))
      .def("json", [](const PyChromeTrace& t) { return WithoutTheGil([&] { return t.Json(); }); })
      .def("num_events", &ChromeTrace::num_events)
      .def("dropped", &ChromeTrace::dropped)
      .def("clear", &ChromeTrace::Clear, py::call_guard<GilRelease>());

  py::class_<PyDevice>(m, "Device", R"(A processor with memory of its own: Runtime(devices=[...]).

Device(name): the host as a device of that name, on which programs of compile(device=name)
run where there is no other. Device(capsule): of a capsule "relayvm_device_functions", a struct
of vm/api/c_api_device.h, which is copied.)")
      .def(py::init([](const std::string& name) { return PyDevice{MakeHostDevice(name)}; }))
      .def(py::init(&DeviceOfCapsule))
      .def_property_readonly(
          "name", [](const PyDevice& d) { return std::string(d.device->name()); },
          "What programs name it by.")
      .def("__eq__", [](const PyDevice& a, const PyDevice& b) { return a.device == b.device; })
      .def("__hash__",
           [](const PyDevice& d) {
             return py::hash(py::int_(reinterpret_cast<uintptr_t>(d.device.get())));
           })
      .def("__repr__",
           [](const PyDevice& d) { return fmt::format("<relayvm.Device: {}>", d.device->name()); });

  py::class_<PyRuntime, std::shared_ptr<PyRuntime>>(m, "Runtime")
      .def(py::init(&PyRuntime::Create))
      .def("stats",
           [](const PyRuntime& r) {
             RuntimeStats stats;
             {
               const GilRelease no_gil;
               stats = r.runtime()->stats();
             }
             return StatsOf(stats);
           })
      .def_property_readonly("num_threads", &PyRuntime::num_threads)
      .def("copy_to", CopyTo)
      .def("from_dlpack", FromDLPackOf)
      .def("trim",
           [](const PyRuntime& r) {
             const GilRelease no_gil;
             r.runtime()->Trim();
           })
      .def("scheduler_stats", SchedulerStatsOf)
      .def("group", MakeGroup)
      .def("drain",
           [](PyRuntime& r, const py::object& timeout) { r.Drain(Seconds(timeout, "timeout")); })
      .def("close", &PyRuntime::Close);
  py::class_<PyRunGroup>(m, "RunGroup").def("stats", GroupStatsOf);

  py::class_<Scheduler::Handle>(m, "Handle")
      .def("cancel", &Scheduler::Handle::Cancel, py::call_guard<GilRelease>())
      .def_property_readonly("id", &Scheduler::Handle::id);

  py::class_<Session, std::shared_ptr<Session>>(m, "Session")
      .def(py::init([](const PyProgram& program, std::shared_ptr<PyRuntime> runtime,
                       py::dict host_functions) {
        return std::make_shared<Session>(program.executable, std::move(runtime),
                                         std::move(host_functions));
      }))
      .def("function",
           [](const std::shared_ptr<Session>& session, const std::string& name) {
             return BoundFunction{session, &session->Export(name), nullptr};
           })
      .def("state", &PyState::Of)
      .def("trim", &Session::Trim);
  DefineState(m);

  py::class_<BoundFunction> function(m, "Function");
  reinterpret_cast<PyTypeObject*>(function.ptr())->tp_call = CallFunction;
  function
      .def("start",
           [](const BoundFunction& f, const py::object& done, const py::object& host_call,
              const py::args& args, const py::kwargs& kwargs) {
             return f.session->Start(*f.info, ArgumentsOf(args, kwargs), done, host_call);
           })
      .def(
          "giving",
          [](const BoundFunction& f, const py::type& type) -> py::object {
            BoundFunction made = f;
            made.library = ExchangeOf(reinterpret_cast<PyTypeObject*>(type.ptr()));
            return made.library != nullptr ? py::cast(std::move(made)) : py::none();
          },
          "The same with tensors of a class as results; None where it has not the functions.")
      .def_property_readonly("name", [](const BoundFunction& f) { return f.info->name; })
      .def("inputs", [](const BoundFunction& f) { return Describe(f.signature().inputs); })
      .def("outputs", [](const BoundFunction& f) { return Describe(f.signature().outputs); })
      .def("result_is_tuple",
           [](const BoundFunction& f) { return f.info->result.kind == ValueType::Kind::kTuple; });

  DefineCallable(m);

  py::class_<PendingCall, std::shared_ptr<PendingCall>>(m, "PendingCall")
      .def_property_readonly("name",
                             [](const PendingCall& c) {
                               return c.executable->program().host_functions[c.function].name;
                             })
      .def("args",
           [](PendingCall& c) {
             const HostFunctionInfo& info = c.executable->program().host_functions[c.function];
             py::tuple args(c.args.size());
             for (size_t i = 0; i < c.args.size(); ++i)
               args[i] = FromValue(std::move(c.args[i]), info.params[i], c.executable);
             return args;
           })
      .def("finish",
           [](PendingCall& c, const py::object& result) {
             const HostFunctionInfo& info = c.executable->program().host_functions[c.function];
             c.Finish(
                 ToValue(result, info.result, c.executable->program(), "result of " + info.name));
           })
      .def("fail", [](PendingCall& c, const std::string& why) {
        c.Finish(Status(StatusCode::kInternal, why));
      });

  py::class_<Opaque>(m, "Value",
                     "A value that is no array: a tensor of bfloat16 or on a device, a closure.")
      .def_property_readonly(
          "dtype", [](const Opaque& o) { return std::string(DTypeName(Tensor(o).dtype())); },
          "The dtype of its elements: \"bfloat16\".")
      .def_property_readonly(
          "shape",
          [](const Opaque& o) {
            const auto dims = Tensor(o).dims();
            py::tuple shape(dims.size());
            for (size_t i = 0; i < dims.size(); ++i) shape[i] = dims[i];
            return shape;
          },
          "Its dims.")
      .def(
          "numpy",
          [](const Opaque& o) {
            if (const Device* device = Tensor(o).device())
              throw py::type_error(
                  fmt::format("a tensor on device '{}', which is no array: Runtime.copy_to brings "
                              "it to the host",
                              device->name()));
            return ArrayOf(o.value);
          },
          "The tensor as an array, without a copy. Of bfloat16: its bits, as uint16.")
      .def(
          "__dlpack__",
          [](const Opaque& o, const py::object& stream, const py::object& max_version,
             const py::object& /*dl_device*/, const py::object& copy) {
            // What is on a device is there: nothing waits for a stream.
            if (!stream.is_none() && Tensor(o).device() == nullptr)
              throw py::value_error("a tensor of the CPU has no streams");
            if (copy.ptr() == Py_True) throw py::buffer_error("only without a copy");
            const bool versioned =
                !max_version.is_none() && max_version.cast<py::tuple>()[0].cast<int>() >= 1;
            return ToCapsule(Tensor(o), versioned);
          },
          py::kw_only(), py::arg("stream") = py::none(), py::arg("max_version") = py::none(),
          py::arg("dl_device") = py::none(), py::arg("copy") = py::none())
      .def("__dlpack_device__",
           [](const Opaque& o) {
             const Device* const device = Tensor(o).device();
             if (device == nullptr) return py::make_tuple(1, 0);
             if (device->number().type == 0)
               throw py::buffer_error(
                   fmt::format("DLPack has no number for device '{}'", device->name()));
             return py::make_tuple(device->number().type, device->number().id);
           })
      .def_property_readonly(
          "device",
          [](const Opaque& o) -> py::object {
            std::shared_ptr<Device> device = o.value.shared_device();
            return device == nullptr ? py::none() : py::cast(PyDevice{std::move(device)});
          },
          "The `Device` that the tensor is on; None: the host.")
      .def("__repr__", [](const Opaque& o) {
        if (o.value.is_tensor())
          return fmt::format("<relayvm.Value: {} tensor>", DTypeName(o.value.dtype()));
        return std::string(o.value.kind() == Value::Kind::kClosure ? "<relayvm.Value: function>"
                                                                   : "<relayvm.Value: reference>");
      });
  m.def("tensor", TensorOf);
  m.def(
      "exchanges",
      [](const py::type& type) {
        return ExchangeOf(reinterpret_cast<PyTypeObject*>(type.ptr())) != nullptr;
      },
      "Whether tensors of a class come and go by DLPack's functions of C.");
  AddGraph(m);
}

}  // namespace relayvm::python
