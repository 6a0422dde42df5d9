#include <fmt/format.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/python/src/arrays.h"
#include "tools/python/src/errors.h"
#include "tools/python/src/graph.h"
#include "tools/python/src/numbers.h"
#include "tools/python/src/program.h"
#include "tools/python/src/session.h"
#include "tools/python/src/values.h"
#include "tools/python/src/without_gil.h"

namespace py = pybind11;

namespace relayvm::python {
namespace {

PyGraph LoadGraph(const std::string& folder, uint32_t num_threads,
                  std::optional<size_t> memory_limit, const std::shared_ptr<PyRuntime>& runtime) {
  GraphOptions options;
  if (runtime != nullptr) options.runtime = runtime->runtime();
  options.num_threads = num_threads;
  options.memory_limit = memory_limit.value_or(options.memory_limit);
  Result<std::unique_ptr<GraphModule>> module = Status(StatusCode::kInternal, "not loaded");
  {
    const GilRelease no_gil;
    module = GraphModule::Load(folder, options);
  }
  return {DestroyedWithoutGil(ValueOrThrow(std::move(module)))};
}

// An input by its number or name.
size_t IndexOf(const GraphModule& module, const py::object& key) {
  if (py::isinstance<py::str>(key)) return ValueOrThrow(module.FindInput(key.cast<std::string>()));
  const auto index = key.cast<int64_t>();
  if (index < 0 || static_cast<size_t>(index) >= module.num_inputs())
    Throw({StatusCode::kOutOfRange,
           fmt::format("there is no input {}; the graph has {}", index, module.num_inputs())});
  return static_cast<size_t>(index);
}

Value InputValue(const GraphModule& module, size_t index, const py::object& object) {
  const GraphTensor input = module.input(index);
  ValueType type;
  type.dtype = input.dtype;
  type.dims.assign(input.dims.begin(), input.dims.end());
  return ToValue(object, type, module.kernels()->program(), std::string(input.name));
}

// The module, to be changed or run: by one thread at a time, and not by the handler of a signal in
// its run.
GraphModule& Idle(const PyGraph& g) {
  if (g.is_running)
    Throw(
        {StatusCode::kFailedPrecondition, "the graph is running; it is for one thread at a time"});
  return *g.module;
}

// The same for work without the GIL, in which others are told that it is not idle.
class Busy {
 public:
  explicit Busy(const PyGraph& g) : graph_(g), module_(Idle(g)) { graph_.is_running = true; }
  ~Busy() { graph_.is_running = false; }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;

  template <typename F>
  void Do(F&& work) {
    ThrowIfError(WithoutTheGil([&] { return work(module_); }));
  }

 private:
  const PyGraph& graph_;
  GraphModule& module_;
};

// Handlers of signals run now and then; what one raises ends the run.
struct Signals {
  std::chrono::steady_clock::time_point next = std::chrono::steady_clock::now() + kSignalSlice;
  py::object raised;

  static bool Poll(void* self) {
    auto& signals = *static_cast<Signals*>(self);
    if (std::chrono::steady_clock::now() < signals.next) return false;
    const GilAcquire gil;
    if (PyErr_CheckSignals() != 0) signals.raised = py::error_already_set().value();
    signals.next = std::chrono::steady_clock::now() + kSignalSlice;
    return static_cast<bool>(signals.raised);
  }
};

// `timeout`: seconds, or None.
void RunGraph(const PyGraph& g, const py::object& timeout) {
  GraphModule& module = Idle(g);
  module.set_timeout(Seconds(timeout, "timeout").value_or(std::chrono::nanoseconds(0)));
  Signals signals;
  if (IsMainThread()) module.set_poll(Signals::Poll, &signals);
  g.is_running = true;
  Status ran;
  {
    const GilRelease no_gil;
    ran = module.Run();
  }
  g.is_running = false;
  module.set_poll(nullptr, nullptr);
  if (signals.raised) {
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(signals.raised.ptr())),
                    signals.raised.ptr());
    throw py::error_already_set();
  }
  ThrowIfError(ran);
}

// A value of `type`, of the outputs from `output` on.
Value ResultOf(const GraphModule& module, const ValueType& type, size_t& output) {
  if (type.kind != ValueType::Kind::kTuple) return ValueOrThrow(module.GetOutput(output++));
  std::vector<Value> fields;
  for (const ValueType& field : type.args) fields.push_back(ResultOf(module, field, output));
  return Value::Tuple(std::move(fields));
}

const ExportInfo& MainOf(const PyGraph& g) { return g.module->kernels()->program().exports.at(0); }

// As a function of a model: inputs by position and name, the result as the program gives it. Arrays
// go in without a copy, for the time of the call. `timeout` is an option where no parameter has
// that name.
py::object CallGraph(const PyGraph& g, const py::args& args, py::kwargs kwargs) {
  const Program& program = g.module->kernels()->program();
  py::object timeout = py::none();
  const std::vector<std::string>& params = MainOf(g).param_names;
  if (kwargs.contains("timeout") && std::ranges::find(params, "timeout") == params.end()) {
    kwargs = py::reinterpret_steal<py::kwargs>(PyDict_Copy(kwargs.ptr()));
    timeout = kwargs.attr("pop")("timeout");
  }
  const std::vector<Value> inputs = InputsOf(program, MainOf(g), args, kwargs);
  for (size_t i = 0; i < inputs.size(); ++i) ThrowIfError(Idle(g).SetInputZeroCopy(i, inputs[i]));
  RunGraph(g, timeout);
  size_t output = 0;
  return FromValue(ResultOf(*g.module, MainOf(g).result, output), MainOf(g).result,
                   g.module->kernels());
}

py::object GetOutput(const PyGraph& g, size_t index) {
  Value value = ValueOrThrow(WithoutTheGil([&] { return g.module->GetOutput(index); }));
  ValueType type;
  type.dtype = value.dtype();
  return FromValue(std::move(value), type, g.module->kernels());
}

py::object GetInput(const PyGraph& g, const py::object& key) {
  const size_t index = IndexOf(*g.module, key);
  Value value = ValueOrThrow(WithoutTheGil([&] { return g.module->GetInput(index); }));
  ValueType type;
  type.dtype = value.dtype();
  return FromValue(std::move(value), type, g.module->kernels());
}

// Into a writable C-contiguous buffer.
void CopyOutput(const PyGraph& g, size_t index, const py::object& out) {
  Py_buffer view;
  if (PyObject_GetBuffer(out.ptr(), &view, PyBUF_WRITABLE | PyBUF_FORMAT | PyBUF_C_CONTIGUOUS) != 0)
    throw py::error_already_set();
  OutputBuffer buffer;
  const bool is_known = DTypeOfFormat(view.format, view.itemsize, &buffer.dtype);
  buffer.dims = {view.shape, static_cast<size_t>(view.ndim)};
  buffer.data = view.buf;
  const Status copied =
      is_known ? WithoutTheGil([&] { return g.module->CopyOutput(index, buffer); }) : OkStatus();
  PyBuffer_Release(&view);
  if (!is_known) throw py::type_error("out: a buffer with elements that Relay has not");
  ThrowIfError(copied);
}

void LoadParams(const PyGraph& g, const py::bytes& bytes) {
  const auto text = static_cast<std::string_view>(bytes);
  Busy(g).Do(
      [&](GraphModule& module) { return module.LoadParams(std::as_bytes(std::span(text))); });
}

py::list NodeTimes(const PyGraph& g) {
  py::list times;
  for (const NodeTime& t : g.module->node_times())
    times.append(py::make_tuple(t.name, t.source, t.calls, t.total_ns));
  return times;
}

}  // namespace

void AddGraph(py::module_& m) {
  py::class_<PyGraph>(m, "Graph")
      .def("__call__", CallGraph)
      .def("set_input",
           [](const PyGraph& g, const py::object& key, const py::object& value) {
             const size_t index = IndexOf(*g.module, key);
             const Value input = InputValue(*g.module, index, value);
             Busy(g).Do([&](GraphModule& module) { return module.SetInput(index, input); });
           })
      .def("set_input_zero_copy",
           [](const PyGraph& g, const py::object& key, const py::object& value) {
             const size_t index = IndexOf(*g.module, key);
             ThrowIfError(Idle(g).SetInputZeroCopy(index, InputValue(*g.module, index, value)));
           })
      .def("run", RunGraph)
      .def("cancel", [](const PyGraph& g) { g.module->Cancel(); })
      .def("get_output", GetOutput)
      .def("copy_output", CopyOutput)
      .def("get_input", GetInput)
      .def("num_inputs", [](const PyGraph& g) { return g.module->num_inputs(); })
      .def("num_outputs", [](const PyGraph& g) { return g.module->num_outputs(); })
      .def("input_names",
           [](const PyGraph& g) {
             py::list names;
             for (size_t i = 0; i < g.module->num_inputs(); ++i)
               names.append(std::string(g.module->input(i).name));
             return names;
           })
      .def("load_params", LoadParams)
      .def("share_params",
           [](const PyGraph& g, const PyGraph& other) {
             return ValueOrThrow(Idle(g).ShareParams(*other.module));
           })
      .def("set_timing", [](const PyGraph& g, bool timing) { g.module->set_timing(timing); })
      .def("node_times", NodeTimes)
      .def("memory",
           [](const PyGraph& g) {
             const GraphMemory memory = g.module->memory();
             py::dict d;
             d["planned_bytes"] = memory.planned_bytes;
             d["weight_bytes"] = memory.weight_bytes;
             d["scratch_bytes"] = memory.scratch_bytes;
             return d;
           })
      .def("inputs",
           [](const PyGraph& g) {
             return Describe(g.module->kernels()->info().functions.at(0).inputs);
           })
      .def("outputs", [](const PyGraph& g) {
        return Describe(g.module->kernels()->info().functions.at(0).outputs);
      });
  m.def("load_graph", LoadGraph);
}

}  // namespace relayvm::python
