#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include "bytecode/base/guarded.h"
#include "bytecode/program.h"
#include "vm/api/relayvm.h"
#include "vm/border/border.h"
#include "vm/border/optional_inputs.h"
#include "vm/border/output_places.h"
#include "vm/border/outputs.h"
#include "vm/kernels/failure.h"
#include "vm/run/device_run.h"
#include "vm/run/linked_program.h"
#include "vm/run/workspace.h"
#include "vm/schedule/batch.h"

namespace relayvm {
namespace {
// Of the VM stack that a run used, what stays resident.
constexpr size_t kKeptStackBytes = 256 << 10;
// Kernels and their libraries need some native stack whatever is asked for.
constexpr size_t kMinNativeStack = 64 << 10;
// Engines of regions need more (oneDNN plans its primitives on it).
constexpr size_t kMinEngineStack = 1 << 20;

Status IsRunning() {
  return {StatusCode::kFailedPrecondition, "the invocation is running; poll it to its end first"};
}

// Its fiber would be entered from inside.
[[noreturn, gnu::cold]] void EndProcess(const char* what) {
  std::fprintf(stderr, "relayvm: an invocation was %s by a host function of its own run\n", what);
  std::abort();
}
}  // namespace

struct Invocation::Impl {
  std::shared_ptr<Runtime> runtime;
  std::shared_ptr<const Executable> executable;
  InvocationOptions options;
  std::unique_ptr<vm::Workspace> workspace;

  std::atomic<uint32_t> stop{0};
  std::vector<Value> inputs;  // held for the whole run: the interpreter does not count them
  bool has_inputs_on_devices = false;
  std::unique_ptr<StringTable> strings;  // of the run; null: it has none
  std::vector<OutputBuffer> outputs;
  std::vector<int64_t> output_dims;                     // theirs
  std::vector<std::shared_ptr<Device>> output_devices;  // set_output_device
  const ExportInfo* function = nullptr;
  vm::InterpreterContext context;
  std::unique_ptr<vm::DeviceRun> devices;  // null: neither the program nor a run has needed one
  std::optional<vm::Fiber> fiber;
  bool resuming = false;  // a thread is on the fiber
  bool traces_slices = false;
  std::optional<Result<Value>> result;
  InvocationStats stats;
  int64_t started_at = 0;
  int64_t wait_began = 0;  // while it waits

  Impl() = default;
  ~Impl() {
    fiber.reset();
    if (workspace != nullptr) runtime->Release(std::move(workspace), started_at + stats.run_ns);
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  // What a run is asked for; `info` is null when there is no such function.
  Status Check(const ExportInfo* info, std::string_view name, std::span<const Value> values,
               std::span<const OutputBuffer> buffers, bool* on_devices) const {
    if (info == nullptr) return executable->info().FindFunction(name).status();
    const auto index = static_cast<size_t>(info - executable->program().exports.data());
    RELAYVM_RETURN_IF_ERROR(vm::CheckInputs(
        executable->program(), *info, executable->linked().export_dims[index], values, on_devices));
    return buffers.empty() ? OkStatus() : vm::CheckOutputs(executable->program(), *info, buffers);
  }

  // The runtime's own, for input or output `index`.
  [[gnu::cold]] Result<std::shared_ptr<vm::RuntimeDevice>> FindDevice(const Device* device,
                                                                      const char* what,
                                                                      size_t index) const {
    std::shared_ptr<vm::RuntimeDevice> on = vm::FindDevice(runtime->devices(), device);
    if (on == nullptr)
      return vm::NoDevice(runtime->devices(), *device, fmt::format(", of {} {}", what, index));
    return on;
  }
  [[gnu::cold]] Status UseDevices(std::span<const OutputBuffer> buffers) {
    for (size_t i = 0; i < buffers.size(); ++i) {
      if (buffers[i].device != nullptr)
        RELAYVM_RETURN_IF_ERROR(FindDevice(buffers[i].device, "output", i).status());
    }
    if (devices != nullptr) return OkStatus();
    RELAYVM_ASSIGN_OR_RETURN(devices, vm::DeviceRun::Create(*executable, runtime->devices()));
    context.devices = devices.get();
    return OkStatus();
  }
  // Where tensors of the result are left whatever a run says (set_output_device).
  [[gnu::cold]] Status AddOutputDevices(const ExportInfo& info,
                                        std::vector<OutputBuffer>* buffers) const {
    const size_t count = vm::CountOutputs(info.result), last = output_devices.size() - 1;
    if (last >= count) {
      return {StatusCode::kInvalidArgument,
              fmt::format("{}: output {} is to be left on device '{}', of {} outputs; set it to "
                          "none for this function",
                          info.name, last, output_devices[last]->name(), count)};
    }
    if (buffers->size() <= last) buffers->resize(last + 1);
    for (size_t i = 0; i <= last; ++i) {
      if ((*buffers)[i].device == nullptr) (*buffers)[i].device = output_devices[i].get();
    }
    return OkStatus();
  }

  // The stacks of the next run.
  Status ReserveStacks() {
    RELAYVM_RETURN_IF_ERROR(workspace->stacks.Reserve(
        std::max(options.native_stack_bytes,
                 executable->program().regions.empty() ? kMinNativeStack : kMinEngineStack),
        options.stack_limit));
    workspace->stack.Use(workspace->stacks);
    return OkStatus();
  }

  Status ResizeStacks(size_t InvocationOptions::* size, size_t bytes) {
    const size_t before = std::exchange(options.*size, bytes);
    Status status = Guarded([&] { return ReserveStacks(); });
    if (!status.ok()) options.*size = before;
    return status;
  }

  // The run waits: for a host function's waker, or for others to run a kernel with.
  void BeginWait() {
    wait_began = vm::NowNanoseconds();
    workspace->counters.waiting = 1;
  }
  void EndWait(int64_t now) {
    vm::RunCounters& counters = workspace->counters;
    const bool in_batch = context.batched_call != nullptr;
    ++(in_batch ? counters.batch_waits : counters.waits);
    (in_batch ? counters.batch_wait_ns : counters.wait_ns) += now - wait_began;
    counters.waiting = 0;
    if (context.trace != nullptr)
      context.trace->OnWait({context.traced_run(*executable), wait_began, now, in_batch});
  }

  static Result<std::unique_ptr<Invocation>> Create(std::shared_ptr<Runtime> runtime,
                                                    std::shared_ptr<const Executable> executable,
                                                    const InvocationOptions& options);

  Status Start(std::string_view name, std::vector<Value> run_inputs,
               std::vector<OutputBuffer> run_outputs);

  // A run that is to end while no instruction runs.
  [[gnu::cold]] Status Stopped(StatusCode reason) const {
    return vm::ExportStatus({reason, vm::InterruptMessage(reason)}, function->name);
  }

  void Yield() {
    if (context.trace == nullptr) return fiber->Suspend();
    const int64_t begin = vm::NowNanoseconds();
    fiber->Suspend();
    context.suspended_ns += vm::NowNanoseconds() - begin;
  }

  // Before the memory of a run goes back, which what is under way on devices uses. What fails
  // there, or came too late, fails the run.
  Status End() {
    if (devices != nullptr) RELAYVM_RETURN_IF_ERROR(devices->End(context, *executable));
    if (!result->ok()) return OkStatus();
    // A run that does not end in time, or was cancelled, gives no result, wherever it was.
    if (stop.load(std::memory_order_acquire) != 0) return Stopped(StatusCode::kCancelled);
    if (context.deadline != INT64_MAX && vm::NowNanoseconds() >= context.deadline)
      return Stopped(StatusCode::kDeadlineExceeded);
    return OkStatus();
  }

  static void Main(void* self) { static_cast<Impl*>(self)->RunOnFiber(); }

  // The whole run; on the fiber.
  void RunOnFiber() {
    // A host's kernels may throw; of our own code only what runs out of memory.
    result = Guarded([&] { return Execute(); });
    Status end = Guarded([&] { return End(); });
    if (result->ok() && !end.ok()) result = std::move(end);
    vm::Heap& heap = *workspace->heap;
    stats.peak_bytes = heap.peak_bytes();
    stats.allocations = heap.allocations();
    // What a failure left, and cycles through references.
    workspace->arena.Clear();
    context.strings = nullptr;
    strings.reset();
    heap.Reset();
    workspace->stack.Clear(kKeptStackBytes);
    stats.resident_bytes = heap.resident_bytes();
    const int64_t ended_at = vm::NowNanoseconds();
    stats.run_ns = ended_at - started_at;
    if (result->ok()) {
      Status unchanged = Guarded([&] { return executable->CheckFile(ended_at); });
      if (!unchanged.ok()) result = std::move(unchanged);
    }
    vm::RunCounters& counters = workspace->counters;
    counters.peak_bytes = std::max<uint64_t>(counters.peak_bytes, stats.peak_bytes);
    counters.run_ns += stats.run_ns;
    ++counters.ended[static_cast<size_t>(result->status().code())];
    if (context.trace != nullptr) {
      context.trace->OnRunEnd({context.traced_run(*executable), function->name, started_at,
                               started_at + stats.run_ns, result->status().code()});
    }
    inputs.clear();
    outputs.clear();
    // A cancellation of this run is used up, also where a host function has answered it with a
    // failure of its own; one that comes later is for the next.
    if (!result->ok()) stop.store(0, std::memory_order_relaxed);
  }

  // With buffers for results.
  Status InterpretInto(std::span<vm::Object* const> args, vm::Object** object) {
    const vm::OutputPlaces places(executable->linked(), *function, outputs, args);
    if (!places.empty()) context.places = &places;
    return vm::Interpret(*executable, context, function->function, args, object);
  }

  // The run's own table of texts.
  void MakeStrings() {
    strings = std::make_unique<StringTable>(
        executable->linked().strings.get(),
        StringCharge{
            [](void* heap, size_t bytes) { return static_cast<vm::Heap*>(heap)->Charge(bytes); },
            workspace->heap.get()});
    context.strings = strings.get();
  }

  // A tensor of input `i` that lies on a device, as the run has it: where it is `wanted`.
  Result<vm::Tensor*> ImportFromDevice(size_t i, const vm::Tensor* tensor, uint8_t wanted) {
    RELAYVM_ASSIGN_OR_RETURN(const std::shared_ptr<vm::RuntimeDevice> on,
                             FindDevice(vm::MemoryOn(tensor).on->device.get(), "input", i));
    Result<vm::Tensor*> imported = devices->Import(context, *executable, tensor, on, wanted);
    const StatusCode code = imported.status().code();
    const bool is_stopped = code == StatusCode::kCancelled || code == StatusCode::kDeadlineExceeded;
    return is_stopped ? Stopped(code) : std::move(imported);
  }

  // The inputs that hold strings or lie on devices, as the run has them: inside of tuples and data
  // types tensors are brought to the host.
  [[gnu::cold]] Status ImportInputs(std::span<vm::Object*> args) {
    vm::BorderPoll poll(
        [](void* to) {
          return vm::Interrupted(*static_cast<vm::InterpreterContext*>(to), /*may_yield=*/true);
        },
        &context);
    const auto index = static_cast<size_t>(function - executable->program().exports.data());
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (args[i]->kind == vm::ObjectKind::kDeviceTensor) {
        RELAYVM_ASSIGN_OR_RETURN(args[i],
                                 ImportFromDevice(i, static_cast<const vm::Tensor*>(args[i]),
                                                  executable->linked().input_devices[index][i]));
      }
      if (inputs[i].is_tensor() && (strings == nullptr || inputs[i].dtype() != DType::kString))
        continue;
      Status failed;
      const vm::DeviceImporter from_device = [&](const vm::Tensor* tensor) -> vm::Tensor* {
        const Result<vm::Tensor*> imported = ImportFromDevice(i, tensor, 0);
        failed = imported.status();
        return failed.ok() ? *imported : nullptr;
      };
      args[i] = vm::ImportValue(*workspace->heap, inputs[i], &poll, strings.get(), &from_device);
      if (args[i] != nullptr) continue;
      RELAYVM_RETURN_IF_ERROR(failed);
      if (poll.stopped()) return Stopped(poll.answer());
      return vm::ExportStatus(vm::MemoryFailure(*workspace->heap, "the texts of an input"),
                              function->name);
    }
    return OkStatus();
  }

  Result<Value> Execute() {
    if (stop.load(std::memory_order_acquire) != 0) return Stopped(StatusCode::kCancelled);
    constexpr size_t kFewArgs = 16;
    std::array<vm::Object*, kFewArgs> few;
    std::vector<vm::Object*> many(inputs.size() > few.size() ? inputs.size() : 0);
    const std::span<vm::Object*> args(many.empty() ? few.data() : many.data(), inputs.size());
    std::ranges::transform(inputs, args.begin(), &Value::object);
    if (executable->linked().strings != nullptr) MakeStrings();
    if (strings != nullptr || has_inputs_on_devices) RELAYVM_RETURN_IF_ERROR(ImportInputs(args));
    const bool gives = outputs.empty() && !executable->linked().clears_memory &&
                       vm::GiveInputs(*workspace->heap, inputs, args);
    vm::Object* object = nullptr;
    RELAYVM_RETURN_IF_ERROR(
        outputs.empty() ? vm::Interpret(*executable, context, function->function, args, &object)
                        : InterpretInto(args, &object));
    // An empty register is no result; only bytecode that no compiler emits returns one.
    if (object->kind == vm::ObjectKind::kEmpty) {
      return Status(StatusCode::kInvalidInput, "the function returned an empty register");
    }
    if (!outputs.empty()) {
      RELAYVM_ASSIGN_OR_RETURN(
          object, vm::TakeOutputs(*workspace->heap, *function, object, outputs,
                                  [&](vm::Tensor* tensor, const Device& to) {
                                    return devices->Export(context, tensor,
                                                           vm::FindDevice(runtime->devices(), &to));
                                  }));
      if (object->kind == vm::ObjectKind::kEmpty) return Value();
    }
    size_t num_objects = 0;
    vm::BorderPoll poll(
        [](void* to) {
          return vm::Interrupted(*static_cast<vm::InterpreterContext*>(to), /*may_yield=*/true);
        },
        &context);
    Result<Value> value = vm::ExportObject(
        *workspace->heap, executable, function->name, object, &poll, &num_objects, strings.get(),
        gives ? std::span<const Value>(inputs) : std::span<const Value>());
    // A small result is given back object by object, so that the heap stays warm; a large one goes
    // with Heap::Reset.
    constexpr size_t kFew = 64;
    if (num_objects <= kFew) vm::Release(*workspace->heap, object);
    return value;
  }
};

Invocation::Invocation(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Invocation::~Invocation() {
  if (impl_->resuming) EndProcess("destroyed");
  if (running()) {
    impl_->stop.store(1, std::memory_order_release);
    impl_->context.wait->Close();
    while (Poll() != RunState::kDone) Wait();
  }
  // Who else calls on_ready holds it.
  if (impl_->context.wait.use_count() > 1) impl_->context.wait->Close();
}

Result<std::unique_ptr<Invocation>> Invocation::Create(std::shared_ptr<Runtime> runtime,
                                                       std::shared_ptr<const Executable> executable,
                                                       const InvocationOptions& options) {
  return Guarded([&] { return Impl::Create(std::move(runtime), std::move(executable), options); });
}

Result<std::unique_ptr<Invocation>> Invocation::Impl::Create(
    std::shared_ptr<Runtime> runtime, std::shared_ptr<const Executable> executable,
    const InvocationOptions& options) {
  auto impl = std::make_unique<Impl>();
  impl->runtime = std::move(runtime);
  impl->executable = std::move(executable);
  impl->options = options;
  impl->workspace = impl->runtime->Acquire();
  vm::Workspace& workspace = *impl->workspace;
  RELAYVM_RETURN_IF_ERROR(impl->ReserveStacks());
  vm::InterpreterContext& context = impl->context;
  context.heap = workspace.heap.get();
  context.stack = &workspace.stack;
  context.arena = &workspace.arena;
  context.scratch = &workspace.scratch;
  context.pool = workspace.pool;
  context.num_threads = workspace.pool->num_threads();
  context.injected_pool = workspace.injected_pool;
  context.regions = &impl->executable->linked().regions;
  context.trace = workspace.trace;
  impl->traces_slices = context.trace != nullptr && context.trace->wants_slices();
  context.counters = &workspace.counters;
  context.stop = &impl->stop;
  context.yield = [](void* self) { static_cast<Impl*>(self)->Yield(); };
  context.yield_context = impl.get();
  context.wait = std::make_shared<vm::WaitState>();
  context.sampling = context.invocation_id = impl->runtime->NextInvocationId();
  context.host_context = options.host_context;
  context.tag = options.tag;
  if (!impl->executable->program().devices.empty()) {
    RELAYVM_RETURN_IF_ERROR(impl->UseDevices({}));
  }
  return std::unique_ptr<Invocation>(new Invocation(std::move(impl)));
}

Status Invocation::Start(std::string_view function, std::vector<Value> inputs,
                         std::vector<OutputBuffer> outputs) {
  return Guarded([&] {
    return running() ? IsRunning() : impl_->Start(function, std::move(inputs), std::move(outputs));
  });
}

Status Invocation::Impl::Start(std::string_view name, std::vector<Value> run_inputs,
                               std::vector<OutputBuffer> run_outputs) {
  const ExportInfo* info = executable->FindExport(name);
  started_at = vm::NowNanoseconds();
  Status wrong = Guarded([&] {
    RELAYVM_RETURN_IF_ERROR(executable->CheckFile(started_at));
    if (info != nullptr) vm::CompleteInputs(executable->program(), *info, &run_inputs);
    if (info != nullptr && !output_devices.empty())
      RELAYVM_RETURN_IF_ERROR(AddOutputDevices(*info, &run_outputs));
    vm::HoldDims(run_outputs, &output_dims);
    has_inputs_on_devices = false;
    RELAYVM_RETURN_IF_ERROR(Check(info, name, run_inputs, run_outputs, &has_inputs_on_devices));
    const bool on_devices =
        has_inputs_on_devices ||
        std::ranges::any_of(run_outputs, [](const auto& o) { return o.device != nullptr; });
    return on_devices ? UseDevices(run_outputs) : OkStatus();
  });
  if (!wrong.ok()) {
    ++workspace->counters.refused;
    return wrong;
  }
  function = info;
  inputs = std::move(run_inputs);
  outputs = std::move(run_outputs);
  context.deadline = vm::DeadlineOf(started_at, options.timeout);
  context.places = nullptr;
  context.ends = false;
  result.reset();
  // Inputs are no part of the limit, but of the machine's memory.
  size_t room = workspace->machine_memory;
  if (options.memory_limit > room / 4) {
    for (const Value& input : inputs) {
      const vm::Object* object = input.object();
      if (object == nullptr || object->kind != vm::ObjectKind::kTensor) continue;
      room -= std::min<size_t>(room, static_cast<const vm::Tensor*>(object)->capacity);
    }
  }
  workspace->heap->BeginRun(std::min(options.memory_limit, room), room < options.memory_limit,
                            executable->linked().clears_memory);
  fiber.emplace(workspace->stacks, Main, this);
  ++workspace->counters.started;
  if (context.trace != nullptr) {
    context.trace->OnRunBegin(
        {context.traced_run(*executable), info->name, started_at, started_at, StatusCode::kOk});
  }
  return OkStatus();
}

RunState Invocation::Poll(std::chrono::nanoseconds slice) {
  vm::BatchedCall* call = nullptr;
  return Poll(slice, &call);
}

RunState Invocation::Poll(std::chrono::nanoseconds slice, vm::BatchedCall** call) {
  Impl& impl = *impl_;
  if (!impl.fiber.has_value() || impl.fiber->done()) return RunState::kDone;
  if (impl.resuming) EndProcess("polled");
  vm::InterpreterContext& context = impl.context;
  const bool waits = context.waiting_call != 0 || context.batched_call != nullptr;
  const int64_t now = waits || slice.count() > 0 ? vm::NowNanoseconds() : 0;
  if (context.waiting_call != 0 && !context.wait->Leave(now)) return RunState::kWaiting;
  if (waits) impl.EndWait(now);
  const bool is_whole = slice.count() <= 0 || !vm::Fiber::kSuspends;
  context.yield_at = is_whole || slice.count() > INT64_MAX - now ? INT64_MAX : now + slice.count();
  ++impl.workspace->counters.slices;
  for (;;) {
    const int64_t begin = impl.traces_slices ? vm::NowNanoseconds() : 0;
    impl.resuming = true;
    impl.fiber->Resume();
    impl.resuming = false;
    if (impl.traces_slices) {
      context.trace->OnSlice({context.traced_run(*impl.executable), begin, vm::NowNanoseconds()});
    }
    if (impl.fiber->done()) return RunState::kDone;
    if (context.batched_call != nullptr) {
      impl.BeginWait();
      *call = context.batched_call;
      return RunState::kWaiting;
    }
    if (context.waiting_call == 0) return RunState::kReady;
    impl.BeginWait();
    // Where this says true, another thread may run the invocation: it is out of bounds from here.
    static constexpr std::atomic<uint32_t> kNoStop{0};
    if (context.wait->Enter(context.waiting_call, context.wait_time,
                            context.ends ? kNoStop : impl.stop))
      return RunState::kWaiting;
    impl.workspace->counters.waiting = 0;
  }
}

Result<Value> Invocation::TakeResult() {
  if (!impl_->result.has_value()) {
    return Guarded([]() -> Result<Value> {
      return {StatusCode::kFailedPrecondition, "no run of this invocation has ended"};
    });
  }
  Result<Value> result = *std::move(impl_->result);
  impl_->result.reset();
  return result;
}

Result<Value> Invocation::Run(std::string_view function, std::vector<Value> inputs,
                              std::vector<OutputBuffer> outputs) {
  RELAYVM_RETURN_IF_ERROR(Start(function, std::move(inputs), std::move(outputs)));
  for (RunState state = Poll(); state != RunState::kDone; state = Poll()) {
    if (state == RunState::kWaiting) Wait();
  }
  return TakeResult();
}

Result<NamedOutputs> Invocation::RunNamed(const std::vector<NamedValue>& inputs,
                                          const std::vector<NamedBuffer>& outputs,
                                          const FunctionSignature& info, State* state) {
  RELAYVM_ASSIGN_OR_RETURN(std::vector<Value> values, info.OrderInputs(inputs, state != nullptr));
  std::vector<OutputBuffer> buffers;
  if (!outputs.empty()) {
    RELAYVM_ASSIGN_OR_RETURN(buffers, info.OrderBuffers(outputs));
  }
  if (state != nullptr) {
    RELAYVM_RETURN_IF_ERROR(state->Begin(&values, buffers, impl_->runtime.get()));
  }
  Result<Value> result = Run(info.name, std::move(values), std::move(buffers));
  if (state != nullptr) {
    RELAYVM_RETURN_IF_ERROR(state->End(result));
  }
  if (!result.ok()) return result.status();
  return NamedOutputs(impl_->executable, info, *std::move(result));
}

Result<NamedOutputs> Invocation::Run(const std::vector<NamedValue>& inputs,
                                     const std::vector<NamedBuffer>& outputs,
                                     std::string_view function) {
  RELAYVM_ASSIGN_OR_RETURN(const FunctionSignature* info,
                           executable().info().FindFunction(function));
  return RunNamed(inputs, outputs, *info, nullptr);
}

Result<NamedOutputs> Invocation::Run(const std::vector<NamedValue>& inputs, State& state,
                                     const std::vector<NamedBuffer>& outputs) {
  // Of this executable, whatever the state was made for.
  RELAYVM_ASSIGN_OR_RETURN(const FunctionSignature* info,
                           executable().info().FindFunction(state.function().name));
  if (info != &state.function())
    return Status(StatusCode::kInvalidArgument, "the state is of another program");
  return RunNamed(inputs, outputs, *info, &state);
}

Status Invocation::set_on_ready(std::function<void()> on_ready) {
  return Guarded([&] {
    impl_->context.wait->SetOnReady(std::move(on_ready));
    return OkStatus();
  });
}

std::chrono::steady_clock::time_point Invocation::next_deadline() const {
  return vm::ToTimePoint(impl_->context.wait->time());
}

bool Invocation::WakeIfDue() {
  // What is woken may end the invocation.
  const std::shared_ptr<vm::WaitState> wait = impl_->context.wait;
  return wait->Expire(vm::NowNanoseconds());
}

void Invocation::Wait() { impl_->context.wait->Block(); }

void Invocation::Cancel() {
  const std::shared_ptr<vm::WaitState> wait = impl_->context.wait;
  impl_->stop.store(1, std::memory_order_release);
  wait->Stop();
}
void Invocation::ForgetCancel() { impl_->stop.store(0, std::memory_order_relaxed); }
void Invocation::set_timeout(std::chrono::nanoseconds timeout) { impl_->options.timeout = timeout; }
void Invocation::set_memory_limit(size_t bytes) { impl_->options.memory_limit = bytes; }
Status Invocation::set_stack_limit(size_t bytes) {
  return Guarded([&] {
    return running() ? IsRunning() : impl_->ResizeStacks(&InvocationOptions::stack_limit, bytes);
  });
}
Status Invocation::set_native_stack_bytes(size_t bytes) {
  return Guarded([&] {
    return running() ? IsRunning()
                     : impl_->ResizeStacks(&InvocationOptions::native_stack_bytes, bytes);
  });
}
void Invocation::Trim() {
  impl_->workspace->heap->Trim();
  impl_->workspace->scratch.Trim(0);
}
InvocationStats Invocation::stats() const { return impl_->stats; }
bool Invocation::running() const { return impl_->fiber.has_value() && !impl_->fiber->done(); }
const Executable& Invocation::executable() const { return *impl_->executable; }
void Invocation::set_host_context(void* context) { impl_->context.host_context = context; }
void Invocation::set_output_device(size_t output, std::shared_ptr<Device> device) {
  std::vector<std::shared_ptr<Device>>& all = impl_->output_devices;
  if (all.size() <= output) all.resize(output + 1);
  all[output] = std::move(device);
  while (!all.empty() && all.back() == nullptr) all.pop_back();
}
void Invocation::set_tag(uint64_t tag) { impl_->context.tag = tag; }
void Invocation::set_batching(bool batching) { impl_->context.batches = batching; }
uint64_t Invocation::id() const { return impl_->context.invocation_id; }

}  // namespace relayvm
