#include "tools/python/src/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <iterator>
#include <list>
#include <string_view>
#include <utility>

#include "bytecode/disassembler.h"
#include "bytecode/variables.h"
#include "tools/python/src/arrays.h"
#include "tools/python/src/errors.h"
#include "tools/python/src/numbers.h"
#include "tools/python/src/state.h"
#include "tools/python/src/values.h"
#include "tools/python/src/without_gil.h"
#include "vm/border/optional_inputs.h"

namespace relayvm::python {

namespace py = pybind11;
using Clock = std::chrono::steady_clock;

namespace {

constexpr size_t kMostIdle = 64;

// Names of arguments that are no inputs.
struct Arguments {
  py::object out = py::none(), priority = py::none(), group = py::none(), state = py::none();
  std::optional<std::chrono::nanoseconds> timeout;
  std::optional<size_t> memory_limit;
  uint64_t tag = 0;
};

// A str that stays.
PyObject* Interned(const char* text) {
  PyObject* str = PyUnicode_InternFromString(text);
  if (str == nullptr) throw py::error_already_set();
  return str;
}

// What `kwargs` (may be null) has of them is taken out, of a copy: the dict may be the caller's.
// `is_scheduled`: those of the scheduler too.
Arguments ReadOptions(const ExportInfo& function, py::dict& kwargs, bool is_scheduled) {
  Arguments a;
  if (!kwargs || kwargs.empty()) return a;
  bool is_copy = false;
  auto take = [&](PyObject* key, const char* name) -> py::object {
    PyObject* found = PyDict_GetItemWithError(kwargs.ptr(), key);
    if (found == nullptr && PyErr_Occurred() != nullptr) throw py::error_already_set();
    if (found == nullptr ||
        (name != nullptr && std::ranges::find(function.param_names, std::string_view(name)) !=
                                function.param_names.end()))
      return py::none();
    py::object value = py::reinterpret_borrow<py::object>(found);
    if (!std::exchange(is_copy, true)) {
      kwargs = py::reinterpret_steal<py::dict>(PyDict_Copy(kwargs.ptr()));
      if (!kwargs) throw py::error_already_set();
    }
    if (PyDict_DelItem(kwargs.ptr(), key) != 0) throw py::error_already_set();
    return value;
  };
  static PyObject* const out = Interned("out");
  static PyObject* const timeout = Interned("timeout");
  static PyObject* const memory_limit = Interned("memory_limit");
  static PyObject* const tag = Interned("tag");
  static PyObject* const state = Interned("state");
  a.out = take(out, "out");
  // What keeps a state is no input, whatever inputs are called.
  PyObject* const given = PyDict_GetItemWithError(kwargs.ptr(), state);
  const bool keeps = given != nullptr && py::isinstance<PyState>(py::handle(given));
  a.state = take(state, keeps ? nullptr : "state");
  a.timeout = Seconds(take(timeout, "timeout"), "timeout");
  a.memory_limit = Count(take(memory_limit, "memory_limit"), "memory_limit");
  a.tag = Count(take(tag, "tag"), "tag").value_or(0);
  if (is_scheduled) {
    a.priority = take(Interned("priority"), "priority");
    a.group = take(Interned("group"), "group");
  }
  return a;
}

// The state of a call, or null where it has none: variables have one of their own then. What is
// kept is put in the places of inputs that are none.
PyState* StateOf(Arguments& arguments, const std::shared_ptr<const Executable>& executable,
                 const ExportInfo& function) {
  if (arguments.state.is_none() && NumVariables(function) > 0) {
    arguments.state = py::cast(
        PyState{executable, &function, ValueOrThrow(State::Create(executable, function.name))});
  }
  if (arguments.state.is_none()) return nullptr;
  if (!py::isinstance<PyState>(arguments.state))
    throw py::type_error(fmt::format("state: expected what Model.state() gives, found {}",
                                     py::repr(arguments.state).cast<std::string>()));
  auto* state = arguments.state.cast<PyState*>();
  if (state->executable != executable || state->info != &function)
    throw py::value_error("state: it is of another program or function");
  return state;
}

// A run of a state (or of none), which ends with this at the latest.
class RunOfState {
 public:
  RunOfState(PyState* kept, std::vector<Value>* inputs, std::span<const OutputBuffer> outputs,
             Runtime* runtime)
      : kept_(kept) {
    if (kept_ != nullptr) ThrowIfError(kept_->state.Begin(inputs, outputs, runtime));
  }
  RunOfState(const RunOfState&) = delete;
  RunOfState& operator=(const RunOfState&) = delete;
  ~RunOfState() { static_cast<void>(End(Status(StatusCode::kCancelled, ""))); }

  // Who runs it ends it.
  void Release() { kept_ = nullptr; }
  Status End(const Result<Value>& result) {
    PyState* const kept = std::exchange(kept_, nullptr);
    return kept == nullptr ? OkStatus() : kept->state.End(result);
  }

 private:
  PyState* kept_;
};

Priority PriorityOf(const py::object& name) {
  constexpr std::array<std::string_view, kNumPriorities> kNames = {"high", "normal", "low"};
  if (name.is_none()) return Priority::kNormal;
  const auto found = std::ranges::find(kNames, py::str(name).cast<std::string>());
  if (found == kNames.end())
    throw py::value_error(fmt::format("priority: expected one of {}, found {}",
                                      fmt::join(kNames, ", "), py::repr(name).cast<std::string>()));
  return static_cast<Priority>(found - kNames.begin());
}

// `group`: None, one or two of them.
void SetGroups(const py::object& group, RunRequest& request) {
  if (group.is_none()) return;
  const bool are_two = PyTuple_Check(group.ptr()) && py::len(group) == 2;
  const py::tuple groups = are_two ? group.cast<py::tuple>() : py::make_tuple(group);
  for (size_t i = 0; i < groups.size(); ++i) {
    const py::object native = py::getattr(groups[i], "_native", py::none());
    if (!py::isinstance<PyRunGroup>(native))
      throw py::type_error(fmt::format("group: expected a RunGroup or a tuple of two, found {}",
                                       py::repr(group).cast<std::string>()));
    (i == 0 ? request.tenant : request.model) = native.cast<const PyRunGroup&>().group;
  }
}

// Buffers of `out`, which keeps them: for a result that is a tensor one buffer will do; by name or
// in order.
struct Outputs {
  std::vector<OutputBuffer> buffers;
  std::vector<py::object> objects;
  std::vector<std::shared_ptr<Device>> devices;  // as long as the run
  std::list<Py_buffer> views;                    // where they are: a shape may lie in them

  Outputs() = default;
  Outputs(const Outputs&) = delete;
  Outputs& operator=(const Outputs&) = delete;
  ~Outputs() {
    for (Py_buffer& view : views) PyBuffer_Release(&view);
  }

  void Add(const py::object& object, size_t index) {
    const bool is_device = py::isinstance<PyDevice>(object);
    objects.push_back(is_device ? py::none() : object);  // what is left there is in the result
    OutputBuffer& buffer = buffers.emplace_back();
    if (is_device) {
      devices.push_back(object.cast<const PyDevice&>().device);
      buffer.device = devices.back().get();
      return;
    }
    if (object.is_none() || IsOutputArray(object, &buffer)) return;
    Py_buffer& view = views.emplace_back();
    if (PyObject_GetBuffer(object.ptr(), &view,
                           PyBUF_WRITABLE | PyBUF_FORMAT | PyBUF_C_CONTIGUOUS) != 0) {
      views.pop_back();
      throw py::error_already_set();
    }
    if (!DTypeOfFormat(view.format, view.itemsize, &buffer.dtype))
      throw py::type_error(fmt::format("out: buffer {} has elements that Relay has not", index));
    buffer.dims = {view.shape, static_cast<size_t>(view.ndim)};
    buffer.data = view.buf;
  }

  void Read(const ExportInfo& function, const py::object& out) {
    if (out.is_none()) return;
    if (PyDict_Check(out.ptr())) {
      const auto dict = out.cast<py::dict>();
      std::vector<py::object> all(function.output_names.size(), py::none());
      for (const auto& [name, buffer] : dict) {
        const auto found = std::ranges::find(function.output_names, name.cast<std::string>());
        if (found == function.output_names.end())
          throw py::value_error(fmt::format("out: there is no output {}; outputs: {}",
                                            name.cast<std::string>(),
                                            fmt::join(function.output_names, ", ")));
        all[static_cast<size_t>(found - function.output_names.begin())] =
            py::reinterpret_borrow<py::object>(buffer);
      }
      for (size_t i = 0; i < all.size(); ++i) Add(all[i], i);
    } else if (PyTuple_Check(out.ptr()) || PyList_Check(out.ptr())) {
      size_t i = 0;
      for (const py::handle one : out) Add(py::reinterpret_borrow<py::object>(one), i++);
    } else {
      Add(out, 0);
    }
  }
};

// Runs on the calling thread: calls of host functions queue up for it.
class LocalContext final : public HostContext {
 public:
  void Call(std::shared_ptr<PendingCall> call) override {
    const std::lock_guard lock(mutex_);
    calls_.push_back(std::move(call));
  }
  std::shared_ptr<PendingCall> Next() {
    const std::lock_guard lock(mutex_);
    if (calls_.empty()) return nullptr;
    auto call = std::move(calls_.front());
    calls_.erase(calls_.begin());
    return call;
  }
  void Notify() {
    const std::lock_guard lock(mutex_);
    ready_ = true;
    changed_.notify_one();
  }
  // Until the run may go on, or the time has come.
  void Wait(Clock::time_point until) {
    std::unique_lock lock(mutex_);
    if (until == Clock::time_point::max()) until = Clock::now() + std::chrono::hours(1);
    changed_.wait_until(lock, until, [&] { return ready_; });
    ready_ = false;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::shared_ptr<PendingCall>> calls_;  // few
  bool ready_ = false;
};

// A run of the scheduler: Python is told of each call.
class RemoteContext final : public HostContext {
 public:
  RemoteContext(py::object done, py::object host_call)
      : done_(std::move(done)), host_call_(std::move(host_call)) {}
  void Call(std::shared_ptr<PendingCall> call) override {
    const py::gil_scoped_acquire gil;
    try {
      host_call_(py::cast(call));
    } catch (py::error_already_set& e) {
      call->Finish(Status(StatusCode::kInternal, e.what()));
    }
  }
  // With the GIL; once.
  void Done(const py::object& result, const py::object& error) {
    py::object done = std::move(done_);
    host_call_ = py::object();
    // The call itself takes no memory of ours: who waits is always told.
    const auto told = py::reinterpret_steal<py::object>(
        PyObject_CallFunctionObjArgs(done.ptr(), result.ptr(), error.ptr(), nullptr));
    if (!told) PyErr_WriteUnraisable(done.ptr());
  }

 private:
  py::object done_, host_call_;
};

// The object that a host function gives, or what it raises (kept in `raised`).
void RunHere(const Session& session, const std::shared_ptr<PendingCall>& call, py::object* raised) {
  try {
    const py::object helper = py::module_::import("relayvm.host").attr("_call");
    helper(session.HostFunctionOf(*call), py::cast(call));
  } catch (py::error_already_set& e) {
    *raised = e.value();
    if (e.trace()) PyException_SetTraceback(raised->ptr(), e.trace().ptr());
    call->Finish(Status(StatusCode::kInternal, e.what()));
  }
}

}  // namespace

// --- Host functions ---

void PendingCall::Finish(Result<Value> value) {
  {
    const std::lock_guard lock(mutex);
    if (done) return;
    done = true;
    if (value.ok()) {
      result = *std::move(value);
    } else {
      status = value.status();
    }
  }
  waker.Wake();
}

Result<Value> CallPython(HostCall& call) {
  auto* context = static_cast<HostContext*>(call.context());
  if (context == nullptr)
    return Status(StatusCode::kInternal, "a host function of Python outside of Python");
  auto pending = std::make_shared<PendingCall>();
  const auto& functions = call.executable().program().host_functions;
  pending->executable = call.executable().shared_from_this();
  pending->function = static_cast<size_t>(
      std::ranges::find(functions, call.function(), &HostFunctionInfo::name) - functions.begin());
  pending->args.assign(call.args().begin(), call.args().end());
  pending->waker = call.waker();
  context->Call(pending);
  while (true) {
    {
      const std::lock_guard lock(pending->mutex);
      if (pending->done) {
        if (!pending->status.ok()) return pending->status;
        return pending->result;
      }
    }
    RELAYVM_RETURN_IF_ERROR(call.Suspend());
  }
}

py::object Session::HostFunctionOf(const PendingCall& call) const {
  const std::string& name = executable_->program().host_functions[call.function].name;
  return host_functions_[name.c_str()];
}

// --- Session ---

const ExportInfo& Session::Export(const std::string& name) const {
  if (const ExportInfo* info = executable_->FindExport(name)) return *info;
  std::vector<std::string_view> names;
  for (const ExportInfo& e : executable_->program().exports) names.push_back(e.name);
  Throw({StatusCode::kNotFound,
         fmt::format("the program has no function {}; it has {}", name, fmt::join(names, ", "))});
}

std::vector<Value> InputsOf(const Program& program, const ExportInfo& function,
                            const py::tuple& args, const py::dict& kwargs, bool without_states) {
  const size_t count = function.params.size(), given = args.size();
  if (given > count)
    throw py::type_error(fmt::format("{} takes {} inputs, found {}", function.name, count, given));
  std::vector<Value> inputs(count);
  for (size_t i = 0; i < given; ++i)
    inputs[i] = ToValue(PyTuple_GET_ITEM(args.ptr(), i), function.params[i], program,
                        function.param_names[i]);
  for (const auto& [key, value] : kwargs ? kwargs : py::dict()) {
    Py_ssize_t size = 0;
    const char* text = PyUnicode_AsUTF8AndSize(key.ptr(), &size);
    if (text == nullptr) throw py::error_already_set();
    const std::string_view name(text, static_cast<size_t>(size));
    const auto found = std::ranges::find(function.param_names, name);
    if (found == function.param_names.end())
      throw py::type_error(fmt::format("{} has no input {}; inputs: {}", function.name, name,
                                       fmt::join(function.param_names, ", ")));
    const auto i = static_cast<size_t>(found - function.param_names.begin());
    if (inputs[i]) throw py::type_error(fmt::format("input {} is given twice", name));
    inputs[i] = ToValue(value, function.params[i], program, *found);
  }
  const auto is_state = [&](size_t i) {
    return std::ranges::find(function.states, i, &StateInfo::input) != function.states.end();
  };
  for (size_t i = 0; i < count; ++i) {
    if (without_states && is_state(i)) continue;
    if (!inputs[i] && !vm::OptionalFormOf(program, function.params[i]))
      throw py::type_error(fmt::format("{}: input {} ({}) is missing", function.name,
                                       function.param_names[i],
                                       TypeToString(program, function.params[i])));
  }
  return inputs;
}

Session::~Session() { Trim(); }

std::unique_ptr<Invocation> Session::Acquire() {
  runtime_->CheckFork();
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      auto invocation = std::move(idle_.back());
      idle_.pop_back();
      return invocation;
    }
  }
  // Where the program has devices it waits for its constants to be there.
  Result<std::unique_ptr<Invocation>> made = [&] {
    const py::gil_scoped_release no_gil;
    return Invocation::Create(runtime_->runtime(), executable_);
  }();
  return ValueOrThrow(std::move(made));
}

void Session::Release(std::unique_ptr<Invocation> invocation) {
  const std::lock_guard lock(mutex_);
  if (idle_.size() < kMostIdle) idle_.push_back(std::move(invocation));
}

void Session::Trim() {
  // Their memory goes back to the system without the GIL and the lock: whoever wants both goes on.
  std::vector<std::unique_ptr<Invocation>> idle;
  const WithoutGil no_gil;
  {
    const std::lock_guard lock(mutex_);
    idle.swap(idle_);
  }
  idle.clear();
}

py::object Session::Run(const ExportInfo& function, const py::tuple& args, py::dict kwargs) {
  Arguments arguments = ReadOptions(function, kwargs, false);
  PyState* const kept = StateOf(arguments, executable_, function);
  std::vector<Value> inputs =
      InputsOf(executable_->program(), function, args, kwargs, kept != nullptr);
  // What is the caller's goes back with the GIL, which the run has not: taking it may take long.
  std::vector<Value> borrowed;
  std::ranges::copy_if(inputs, std::back_inserter(borrowed), &Value::is_borrowed);
  Outputs outputs;
  outputs.Read(function, arguments.out);

  RunOfState in_run(kept, &inputs, outputs.buffers, runtime_->runtime().get());
  LocalContext context;  // outlives the run
  std::unique_ptr<Invocation> invocation = Acquire();
  invocation->set_timeout(arguments.timeout.value_or(std::chrono::nanoseconds(0)));
  invocation->set_memory_limit(arguments.memory_limit.value_or(SIZE_MAX));
  invocation->set_tag(arguments.tag);
  const bool waits = !executable_->program().host_functions.empty();
  if (waits) {
    invocation->set_host_context(&context);
    ThrowIfError(invocation->set_on_ready([&context] { context.Notify(); }));
  }
  const bool is_main = IsMainThread();
  py::object raised;  // by a host function or the handler of a signal
  Result<Value> result = Value();
  {
    std::optional<py::gil_scoped_release> no_gil(std::in_place);
    auto with_gil = [&](auto&& f) {
      no_gil.reset();
      f();
      no_gil.emplace();
    };
    const Status started =
        invocation->Start(function.name, std::move(inputs), std::move(outputs.buffers));
    if (!started.ok()) {
      result = started;
    } else {
      while (true) {
        const RunState state =
            invocation->Poll(is_main ? kSignalSlice : std::chrono::nanoseconds(0));
        if (state == RunState::kDone) break;
        if (state == RunState::kWaiting) {
          if (auto call = context.Next()) {
            with_gil([&] { RunHere(*this, call, &raised); });
          } else {
            Clock::time_point until = invocation->next_deadline();
            if (is_main) until = std::min(until, Clock::now() + kSignalSlice);
            context.Wait(until);
          }
        }
        if (!is_main) continue;
        with_gil([&] {
          if (PyErr_CheckSignals() == 0) return;
          const py::error_already_set e;
          raised = e.value();
          invocation->Cancel();
        });
      }
      result = invocation->TakeResult();
    }
    if (waits) {
      static_cast<void>(invocation->set_on_ready({}));  // of nothing, which cannot fail
      invocation->set_host_context(nullptr);
    }
    if (!result.ok()) invocation->ForgetCancel();
  }
  Release(std::move(invocation));
  if (raised) {
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(raised.ptr())), raised.ptr());
    throw py::error_already_set();
  }
  ThrowIfError(result.status());
  ThrowIfError(in_run.End(result));
  if (NumVariables(function) > 0)
    return FromValue(WithoutVariables(*result, function), WithoutVariables(function).result,
                     executable_, outputs.objects);
  return FromValue(*std::move(result), function.result, executable_, outputs.objects);
}

Scheduler::Handle Session::Start(const ExportInfo& function, const py::tuple& args, py::dict kwargs,
                                 const py::object& done, const py::object& host_call) {
  Arguments arguments = ReadOptions(function, kwargs, true);
  if (!arguments.out.is_none()) throw py::type_error("run_async takes no out");
  RunRequest request;
  request.executable = executable_;
  request.function = function.name;
  PyState* const kept = StateOf(arguments, executable_, function);
  request.inputs = InputsOf(executable_->program(), function, args, kwargs, kept != nullptr);
  // What is wrong with other arguments is said below.
  RunOfState in_run(kept, &request.inputs, {}, runtime_->runtime().get());
  if (arguments.memory_limit) request.options.memory_limit = *arguments.memory_limit;
  request.options.tag = arguments.tag;
  request.priority = PriorityOf(arguments.priority);
  SetGroups(arguments.group, request);
  if (arguments.timeout) request.deadline = Clock::now() + *arguments.timeout;
  auto context = std::make_shared<RemoteContext>(done, host_call);
  request.options.host_context = context.get();
  const ExportInfo* info = &function;
  // Held by its object, which goes with the GIL.
  auto holder = std::make_shared<py::object>(arguments.state);
  auto completion = [context, info, holder, kept,
                     executable = executable_](Result<Value> result) mutable {
    const py::gil_scoped_acquire gil;
    py::object value = py::none(), error = py::none();
    const py::object state = std::exchange(*holder, py::none());
    try {
      if (kept != nullptr) {
        if (Status s = kept->state.End(result); !s.ok()) result = s;
      }
      if (result.ok()) {
        value =
            FromValue(WithoutVariables(*result, *info), WithoutVariables(*info).result, executable);
      } else {
        error = ErrorOf(result.status());
      }
    } catch (py::error_already_set& e) {
      error = e.value();
    } catch (const std::exception&) {  // no memory
      error = py::reinterpret_steal<py::object>(PyObject_CallNoArgs(PyExc_MemoryError));
      if (!error) error = py::reinterpret_borrow<py::object>(PyExc_MemoryError);
      PyErr_Clear();
    }
    context->Done(value, error);
    context.reset();  // with the GIL
  };
  std::shared_ptr<Scheduler> scheduler = runtime_->scheduler();
  Result<Scheduler::Handle> handle = Status(StatusCode::kInternal, "not started");
  {
    const py::gil_scoped_release no_gil;
    handle = scheduler->RunAsync(std::move(request), completion);
    scheduler.reset();
  }
  if (handle.ok()) in_run.Release();
  return ValueOrThrow(std::move(handle));
}

}  // namespace relayvm::python
