#include "tools/python/src/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <iterator>
#include <new>
#include <string_view>
#include <utility>

#include "bytecode/variables.h"
#include "tools/python/src/arrays.h"
#include "tools/python/src/errors.h"
#include "tools/python/src/instances.h"
#include "tools/python/src/state.h"
#include "tools/python/src/values.h"
#include "tools/python/src/without_gil.h"

namespace relayvm::python {

namespace py = pybind11;
using Clock = std::chrono::steady_clock;

namespace {

constexpr size_t kMostIdle = 64;

// The state of a call, or null where it has none: variables have one of their own then. What is
// kept is put in the places of inputs that are none.
PyState* StateOf(CallOptions& options, const std::shared_ptr<const Executable>& executable,
                 const ExportInfo& function) {
  if (options.state.is_none() && NumVariables(function) > 0) {
    options.state = py::cast(
        PyState{executable, &function, ValueOrThrow(State::Create(executable, function.name))});
  }
  if (options.state.is_none()) return nullptr;
  if (!IsInstance<PyState>(options.state))
    throw py::type_error(fmt::format("state: expected what Model.state() gives, found {}",
                                     py::repr(options.state).cast<std::string>()));
  auto* state = options.state.cast<PyState*>();
  if (state->executable != executable || state->info != &function)
    throw py::value_error("state: it is of another program or function");
  return state;
}

// Empty where results are not all small tensors whose types say their sizes.
std::vector<SmallResult> SmallResultsOf(const Program& program, const ExportInfo& function) {
  if (!program.devices.empty() || !function.states.empty()) return {};
  // Sizes inside of other values are not compared with their types, and results may be such parts.
  const auto is_tensor = [](const ValueType& t) { return t.kind == ValueType::Kind::kTensor; };
  if (!std::ranges::all_of(function.params, is_tensor)) return {};
  constexpr int64_t kMostBytes = 4096;
  const ValueType& result = function.result;
  const bool is_tuple = result.kind == ValueType::Kind::kTuple;
  std::vector<SmallResult> all;
  for (const ValueType& type : is_tuple ? std::span(result.args) : std::span(&result, 1)) {
    if (type.kind != ValueType::Kind::kTensor || !HasArrays(type.dtype)) return {};
    int64_t bytes = DTypeBytes(type.dtype);
    for (const int64_t d : type.dims) {
      if (d < 1 || d > kMostBytes) return {};
      bytes *= d;
      if (bytes > kMostBytes) return {};
    }
    all.push_back({type.dtype, type.dims});
  }
  return all;
}

// Whether the result is these: tensors, or a tuple of them, that all went to buffers.
bool AreAll(const ExportInfo& function, std::span<const py::object> arrays) {
  const ValueType& result = function.result;
  const auto is_tensor = [](const ValueType& t) { return t.kind == ValueType::Kind::kTensor; };
  if (arrays.empty() || std::ranges::any_of(arrays, &py::object::is_none)) return false;
  if (is_tensor(result)) return true;
  return result.kind == ValueType::Kind::kTuple && result.args.size() == arrays.size() &&
         std::ranges::all_of(result.args, is_tensor);
}
py::object ResultOf(const ExportInfo& function, std::span<const py::object> arrays) {
  if (function.result.kind == ValueType::Kind::kTensor) return arrays[0];
  py::tuple all(arrays.size());
  for (size_t i = 0; i < arrays.size(); ++i) all[i] = arrays[i];
  return all;
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
    const GilAcquire gil;
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

// What a run of the scheduler has of Python's, until it ends.
struct Held {
  Outputs outputs;
  py::object state;
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

Session::Session(std::shared_ptr<const Executable> executable, std::shared_ptr<PyRuntime> runtime,
                 py::dict host_functions)
    : executable_(std::move(executable)),
      runtime_(std::move(runtime)),
      host_functions_(std::move(host_functions)) {
  for (const ExportInfo& e : executable_->program().exports)
    small_results_.push_back(SmallResultsOf(executable_->program(), e));
}

Session::~Session() { Trim(); }

// What a call has of a session, for as long as it lives.
class Session::Lease {
 public:
  explicit Lease(Session& session) : session_(session), idle_(session.Acquire()) {}
  ~Lease() {
    if (idle_.invocation->running()) return;  // memory is short
    session_.Release(std::move(idle_));
  }
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;

  Invocation& invocation() { return *idle_.invocation; }
  std::vector<Value>& spares() { return idle_.spares; }

 private:
  Session& session_;
  Idle idle_;
};

Session::Idle Session::Acquire() {
  runtime_->CheckFork();
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      Idle idle = std::move(idle_.back());
      idle_.pop_back();
      return idle;
    }
  }
  // Where the program has devices it waits for its constants to be there.
  Result<std::unique_ptr<Invocation>> made = [&] {
    const GilRelease no_gil;
    return Invocation::Create(runtime_->runtime(), executable_);
  }();
  return {ValueOrThrow(std::move(made)), {}};
}

void Session::Release(Idle idle) noexcept {
  try {
    const std::lock_guard lock(mutex_);
    if (idle_.size() < kMostIdle) idle_.push_back(std::move(idle));
  } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): it is not kept then
  }
}

void Session::Trim() {
  // Their memory goes back to the system without the GIL and the lock: whoever wants both goes on.
  // The lock is held with the GIL alone, and so by nobody when the process is forked.
  std::vector<Idle> idle;
  {
    const std::lock_guard lock(mutex_);
    idle.swap(idle_);
  }
  const WithoutGil no_gil;
  idle.clear();
}

py::object Session::Run(const ExportInfo& function, const CallArguments& given,
                        const ExchangeFunctions* library) {
  const Program& program = executable_->program();
  Lease lease(*this);
  CallOptions options(/*with_scheduler=*/false);
  std::vector<Value> inputs =
      ReadInputs(program, function, given, &options, {&lease.spares(), library != nullptr});
  PyState* const kept = StateOf(options, executable_, function);
  CheckMissing(program, function, inputs, kept != nullptr);
  // What is the caller's goes back with the GIL, which the run has not: taking it may take long.
  std::vector<Value> borrowed;
  std::ranges::copy_if(inputs, std::back_inserter(borrowed), &Value::is_borrowed);
  Outputs outputs;
  outputs.Read(*executable_, function, options.out);
  const std::vector<SmallResult>& small =
      small_results_[static_cast<size_t>(&function - program.exports.data())];
  if (kept == nullptr && outputs.buffers().empty()) {
    for (const SmallResult& one : small) {
      if (library == nullptr) {
        outputs.Add(EmptyArray(one.dtype, one.dims));
      } else {
        OutputBuffer buffer{one.dtype, one.dims};
        outputs.Add(EmptyTensor(*library, &buffer), buffer);
      }
    }
  }

  RunOfState in_run(kept, &inputs, outputs.buffers(), runtime_->runtime().get());
  Invocation& invocation = lease.invocation();
  invocation.set_timeout(options.timeout.value_or(std::chrono::nanoseconds(0)));
  invocation.set_memory_limit(options.memory_limit.value_or(SIZE_MAX));
  invocation.set_tag(options.tag);
  Result<Value> result = Drive(invocation, function, std::move(inputs), outputs.TakeBuffers());
  DropShared(lease.spares());
  ThrowIfError(result.status());
  ThrowIfError(in_run.End(result));
  if (kept == nullptr && AreAll(function, outputs.objects()))
    return ResultOf(function, outputs.objects());
  if (NumVariables(function) > 0)
    return FromValue(WithoutVariables(*result, function), WithoutVariables(function).result,
                     executable_, outputs.objects(), library);
  return FromValue(*std::move(result), function.result, executable_, outputs.objects(), library);
}

Result<Value> Session::Drive(Invocation& invocation, const ExportInfo& function,
                             std::vector<Value> inputs, std::vector<OutputBuffer> outputs) {
  std::optional<LocalContext> context;
  if (!executable_->program().host_functions.empty() || runtime_->has_devices()) {  // it may wait
    context.emplace();
    invocation.set_host_context(&*context);
    ThrowIfError(invocation.set_on_ready([&context] { context->Notify(); }));
  }
  const bool is_main = IsMainThread();
  py::object raised;  // by a host function or the handler of a signal
  Result<Value> result = Value();
  {
    std::optional<GilRelease> no_gil(std::in_place);
    auto with_gil = [&](auto&& f) {
      no_gil.reset();
      f();
      no_gil.emplace();
    };
    const Status started = invocation.Start(function.name, std::move(inputs), std::move(outputs));
    if (!started.ok()) {
      result = started;
    } else {
      while (true) {
        const RunState state =
            invocation.Poll(is_main ? kSignalSlice : std::chrono::nanoseconds(0));
        if (state == RunState::kDone) break;
        if (state == RunState::kWaiting) {
          if (auto call = context ? context->Next() : nullptr) {
            with_gil([&] { RunHere(*this, call, &raised); });
          } else {
            Clock::time_point until = invocation.next_deadline();
            if (is_main) until = std::min(until, Clock::now() + kSignalSlice);
            context->Wait(until);
          }
        }
        if (!is_main) continue;
        with_gil([&] {
          if (PyErr_CheckSignals() == 0) return;
          const py::error_already_set e;
          raised = e.value();
          invocation.Cancel();
        });
      }
      result = invocation.TakeResult();
    }
    if (context) {
      static_cast<void>(invocation.set_on_ready({}));  // of nothing, which cannot fail
      invocation.set_host_context(nullptr);
    }
    if (!result.ok()) invocation.ForgetCancel();
  }
  if (raised) {
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(raised.ptr())), raised.ptr());
    throw py::error_already_set();
  }
  return result;
}

Scheduler::Handle Session::Start(const ExportInfo& function, const CallArguments& given,
                                 const py::object& done, const py::object& host_call) {
  const Program& program = executable_->program();
  CallOptions options(/*with_scheduler=*/true);
  RunRequest request;
  request.executable = executable_;
  request.function = function.name;
  request.inputs = ReadInputs(program, function, given, &options, {});
  PyState* const kept = StateOf(options, executable_, function);
  CheckMissing(program, function, request.inputs, kept != nullptr);
  // What is wrong with other arguments is said below.
  auto held = std::make_unique<Held>();
  held->outputs.Read(*executable_, function, options.out);
  held->state = options.state;
  RunOfState in_run(kept, &request.inputs, held->outputs.buffers(), runtime_->runtime().get());
  request.outputs = held->outputs.TakeBuffers();
  if (options.memory_limit) request.options.memory_limit = *options.memory_limit;
  request.options.tag = options.tag;
  request.priority = PriorityOf(options.priority);
  SetGroups(options.group, request);
  if (options.timeout) request.deadline = Clock::now() + *options.timeout;
  auto context = std::make_shared<RemoteContext>(done, host_call);
  request.options.host_context = context.get();
  const ExportInfo* info = &function;
  auto holder = std::make_shared<std::unique_ptr<Held>>(std::move(held));
  auto completion = [context, info, holder, kept,
                     executable = executable_](Result<Value> result) mutable {
    const GilAcquire gil;
    py::object value = py::none(), error = py::none();
    std::unique_ptr<Held> held = std::move(*holder);
    try {
      if (kept != nullptr) {
        if (Status s = kept->state.End(result); !s.ok()) result = s;
      }
      if (result.ok()) {
        value = FromValue(WithoutVariables(*result, *info), WithoutVariables(*info).result,
                          executable, held->outputs.objects());
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
    held.reset();  // what is told has its buffers
    context->Done(value, error);
    context.reset();  // with the GIL
  };
  std::shared_ptr<Scheduler> scheduler = runtime_->scheduler();
  Result<Scheduler::Handle> handle = Status(StatusCode::kInternal, "not started");
  {
    const GilRelease no_gil;
    handle = scheduler->RunAsync(std::move(request), completion);
    scheduler.reset();
  }
  if (handle.ok()) in_run.Release();
  return ValueOrThrow(std::move(handle));
}

}  // namespace relayvm::python
