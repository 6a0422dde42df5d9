// relayvm: running compiled Relay programs. This is all that an embedder includes.
//
//   auto runtime = Runtime::Create({.num_threads = 4});
//   auto program = Executable::Load("model.vmx");
//   auto invocation = Invocation::Create(*runtime, *program);
//   auto x = Value::CopyTensor(DType::kFloat32, {{2, 300}}, data);
//   auto result = (*invocation)->Run({{"x", *x}});      by names; or in order: Run("main", {*x})
//   Result<Value> y = result->Find("y");
//
// Executable (immutable) and Runtime are shared by any number of threads and invocations. An
// Invocation runs one function at a time, on a fiber of its own, and is used by one thread at a
// time (Cancel by any). Values may go anywhere.
//
// Failures are Statuses, and running out of memory is kResourceExhausted, wherever it happens: what
// was being made is given back, runtime, executable and invocation can be used on, and waking,
// cancelling and giving back take no memory. Functions that give neither a Status nor a Result
// throw nothing, but for those that make a Value of numbers or fields (value.h), which throw
// std::bad_alloc as a container does. Tested by vm/run/invocation_test.cc and tests/faults.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "bytecode/base/status.h"
#include "bytecode/base/status_detail.h"
#include "vm/border/host_function.h"
#include "vm/border/model_info.h"
#include "vm/border/state.h"
#include "vm/border/value.h"
#include "vm/device/device.h"
#include "vm/kernels/task_pool.h"
#include "vm/memory/memory_source.h"
#include "vm/run/executable.h"
#include "vm/trace/runtime_stats.h"
#include "vm/trace/trace.h"

namespace relayvm {

namespace vm {
class NativeProgram;
struct BatchedCall;
struct RuntimeDevice;
struct Workspace;
}  // namespace vm

struct RuntimeOptions {
  // Threads that one kernel call may use, the calling one included; 0: as many as the machine has,
  // or its control group may use.
  uint32_t num_threads = 1;
  // A pool to use instead of an own one (borrowed; num_threads is then ignored). Kernels that run
  // on it are not suspended when a slice of Invocation::Poll is over.
  TaskPool* thread_pool = nullptr;
  // Where large memory comes from; null: from the system. Lives as long as values that lie in it.
  std::shared_ptr<MemorySource> memory;
  // Devices that programs may run on, found by name; copied. Executables that have run on one keep
  // it; who keeps it himself gives a pointer that deletes nothing. Their memory counts toward the
  // limit of a run, not toward memory_limit below.
  std::span<const std::shared_ptr<Device>> devices;
  // Bytes that runs, and values that the runtime made there or gave as results, may have together
  // on each of them. Not counted: constants, and what devices take for themselves.
  size_t device_memory_limit = SIZE_MAX;
  // Ended invocations of which up to 1 MiB, the stack and threads' buffers are kept for the next
  // ones. Of others up to 64 KiB stay, of so many that all have 32 MiB, for 10 s after they were
  // used last (with an injected memory nothing does). 0: nothing is kept.
  uint32_t max_idle_workspaces = 8;
  // What invocations and ended ones keep for the next runs, results that came back among it, goes
  // back when nobody has used it for so long: what is above 8 MiB of an invocation, above 4 MiB of
  // ended ones. A thread sees to it, which is there only while something is kept. max(): it stays
  // until Trim.
  std::chrono::nanoseconds keep_idle = std::chrono::seconds(2);
  // Sees what runs (borrowed): vm/trace/profile.h, vm/trace/chrome_trace.h, or the host's own.
  // Null: nothing is recorded, at no cost.
  TraceSink* trace = nullptr;
  // Bytes that all its invocations may hold together, in pages: of objects, tensors and arenas, as
  // blocks and 64 KiB spans of small ones use them; kept free for the next blocks and runs; of
  // results of more than 16 KiB that hosts hold, also after the runtime is gone. With what is
  // charged to runs while they last: the stack of calls, kernels' scratch, copies of results and of
  // batches. A run that needs more ends with kResourceExhausted; pages that are kept where nothing
  // runs are given back before that. Not counted: inputs but those of NewTensor, constants, buffers
  // for results, smaller results, native stacks, tables of heaps (64 KiB for each 64 MiB), and what
  // stays for the next run of an invocation: 256 KiB of its stack, and scratch.
  size_t memory_limit = SIZE_MAX;
};

class Runtime {
 public:
  static Result<std::shared_ptr<Runtime>> Create(const RuntimeOptions& options = {});
  ~Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  uint32_t num_threads() const;
  // At any time, from any thread; runs in progress count as they go. Reads each workspace, one by
  // one: the numbers are not of one moment, and many invocations take a while.
  RuntimeStats stats() const;
  // A tensor of numbers for inputs, as Value::NewTensor, that counts toward the memory limit, and
  // whose memory comes from the MemorySource: from 16 KiB on, in pages. kResourceExhausted where
  // there is no room. May be older than the runtime.
  Result<Value> NewTensor(DType dtype, std::span<const int64_t> dims);
  // The tensor on a device of the runtime, or with null on the host (where as NewTensor makes it);
  // itself where it is there. Waits for the copy. kInvalidArgument for what is no tensor of
  // numbers, and another's device; kResourceExhausted; kInternal where the device fails. May be
  // older than the runtime; a value keeps its device.
  Result<Value> CopyTo(const Value& value, const Device* device);
  // Gives back all that is kept of ended invocations, and what others that do not run keep above 8
  // MiB each (Invocation::Trim gives back the rest). From any thread.
  void Trim();

 private:
  friend class GraphModule;
  friend class Invocation;
  friend class Scheduler;
  friend class vm::NativeProgram;
  friend struct vm::RuntimeDevice;
  explicit Runtime(const RuntimeOptions& options);
  // Of invocations, graphs, batches and native programs. `now`: when it was used last, in
  // nanoseconds of the steady clock. `kept`: of each of its parts at most so many bytes stay.
  static constexpr size_t kKeptBytes = 1 << 20;
  std::unique_ptr<vm::Workspace> Acquire();
  void Release(std::unique_ptr<vm::Workspace> workspace, int64_t now, size_t kept = kKeptBytes);
  uint64_t NextInvocationId();
  // Calls of a kernel that waited for each other: run as one, or one by one after all.
  void CountBatch(size_t num_calls, bool batched);
  TraceSink* trace() const;
  std::span<const std::shared_ptr<vm::RuntimeDevice>> devices() const;

  struct Impl;
  std::unique_ptr<Impl> impl_;
};

struct InvocationOptions {
  // Bytes that one run may hold: tensors and other objects, the stack of calls, kernels' scratch
  // and buffers; not inputs, constants and buffers for results. Never more than the memory of the
  // machine, or of the control groups (a container's) that the process was in when the runtime was
  // made. The pages that hold them may be a quarter and 3 MiB more than the limit; a program that
  // leaves so few objects in each that it would need more ends as if it held them.
  size_t memory_limit = SIZE_MAX;
  // Address space for frames of calls; bounds the depth of recursion. Only what is used takes
  // memory.
  size_t stack_limit = size_t{1} << 30;
  // Of one run, its result included; zero: none. Acts inside kernels too.
  std::chrono::nanoseconds timeout{0};
  // The native stack, which kernels and host functions run on.
  size_t native_stack_bytes = 256 << 10;
  // Whatever host functions want to know of this invocation (HostCall::context).
  void* host_context = nullptr;
  // The host's name for what it runs, a request: stands in all events of traces and in RunReport,
  // and host functions see it (HostCall::tag).
  uint64_t tag = 0;
};

struct InvocationStats {  // of the latest run
  size_t peak_bytes =
      0;  // highest memory of its objects, as InvocationOptions::memory_limit counts it
  // Pages that the invocation holds since its run has ended: kept for the next run, and of large
  // results; but for what of stack and scratch is kept.
  size_t resident_bytes = 0;
  uint64_t allocations = 0;
  int64_t run_ns = 0;  // from start to end
};

// A result, and its outputs by name.
class NamedOutputs {
 public:
  // For the runtime.
  NamedOutputs(std::shared_ptr<const Executable> executable, const FunctionSignature& function,
               Value result)
      : executable_(std::move(executable)), function_(&function), result_(std::move(result)) {}

  // kInvalidArgument where there is no output of that name. One that went to a buffer is none
  // (Value()).
  Result<Value> Find(std::string_view name) const { return function_->FindOutput(result_, name); }
  const Value& result() const { return result_; }

 private:
  std::shared_ptr<const Executable> executable_;
  const FunctionSignature* function_;  // of it
  Value result_;
};

enum class RunState : uint8_t {
  kReady = 0,  // to go on
  kDone = 1,
  kWaiting = 2,  // for somebody to wake it
};

class Invocation {
 public:
  static Result<std::unique_ptr<Invocation>> Create(std::shared_ptr<Runtime> runtime,
                                                    std::shared_ptr<const Executable> executable,
                                                    const InvocationOptions& options = {});
  // Cancels what runs.
  ~Invocation();
  Invocation(const Invocation&) = delete;
  Invocation& operator=(const Invocation&) = delete;

  // Runs an exported function to its end. Fails with kNotFound (no such function), kInvalidArgument
  // (inputs of other types), kFailedPrecondition (its file was written to, see Executable), and as
  // the program does: kFailedPrecondition (a guard), kOutOfRange, kResourceExhausted (memory,
  // stack), kCancelled, kDeadlineExceeded. REQUIRES: nothing is running.
  //
  // An input on a device of the runtime is used there where the program has it there, without a
  // copy, else copied to the host, as one in a tuple or data type is. A result that is to be left
  // on a device (OutputBuffer::device) is that which the program has there, where it gives that,
  // else it is copied to it.
  //
  // An input that may be left out, of a type such as Optional[Tensor[(3), float32]], is a tensor as
  // it is, or Value(); those at the end may be left out of `inputs`.
  //
  // `outputs` receive tensors of the result, counted depth first through its tuples: output i is
  // tensor i, and the result has none (Value()) in its place. The dtype and dims of a buffer must
  // be those of its tensor, or the run fails with kInvalidArgument: before it where the types tell,
  // which writes nothing, else at its end. The content of buffers is undefined during a run, and
  // after one that failed. A tensor of 16 KiB or more that is plainly made for the result is made
  // in its buffer if that is 64-byte aligned; others are copied there when the run ends. A buffer
  // may be the memory of an input: it is written at the end then, and tensors of the result that
  // lie there too, because the input is passed through, are copied before that; but for those in
  // data types and closures, which see what is written.
  Result<Value> Run(std::string_view function, std::vector<Value> inputs,
                    std::vector<OutputBuffer> outputs = {});

  // The same by names, in any order, of what Executable::info() says: Run({{"ids", ids}, {"mask",
  // mask}}). Fails with kInvalidArgument for names that there are not, and for inputs that are
  // missing.
  Result<NamedOutputs> Run(const std::vector<NamedValue>& inputs,
                           const std::vector<NamedBuffer>& outputs = {},
                           std::string_view function = "main");

  // The same with what the program keeps between runs: its inputs come from `state`, but for those
  // that are given, and it has what they are next when the run has ended well.
  Result<NamedOutputs> Run(const std::vector<NamedValue>& inputs, State& state,
                           const std::vector<NamedBuffer>& outputs = {});

  // The same in slices, for schedulers that run many invocations on a thread: Start, then Poll
  // until it says kDone, then TakeResult.
  Status Start(std::string_view function, std::vector<Value> inputs,
               std::vector<OutputBuffer> outputs = {});
  // Runs on for about `slice` (zero: until it waits or has ended). A run that waits goes on only
  // once it is ready or next_deadline() has passed. After kWaiting, the run may be ready at once:
  // who has set on_ready leaves it to whom that calls. REQUIRES: not called by a host function of
  // the run, which ends the process, as destroying the invocation there does.
  RunState Poll(std::chrono::nanoseconds slice = std::chrono::nanoseconds(0));
  // REQUIRES: Poll returned kDone, once a run.
  Result<Value> TakeResult();

  // --- Runs that wait: a host function has suspended them (vm/border/host_function.h) ---

  // Called once for each wait that ends by a waker, Cancel or WakeIfDue, on the thread that ends
  // it, which may run the invocation there. REQUIRES: nothing is running; it does not throw. When
  // this or the destructor returns, the callback before is in no other thread. Fails with
  // kResourceExhausted, and changes nothing then; with an empty function it does not fail.
  Status set_on_ready(std::function<void()> on_ready);
  // When to Poll a run that waits, or to call WakeIfDue(), though nobody has woken it: the earlier
  // of its deadline and what HostCall::SuspendUntil asked for; else time_point::max(). From any
  // thread.
  std::chrono::steady_clock::time_point next_deadline() const;
  // True when the run waits and next_deadline() has passed: it is made ready. From any thread.
  bool WakeIfDue();
  // Sleeps until a run that waits is ready or next_deadline() has passed. Run does so.
  void Wait();

  // Makes the run in progress, or else the next one, fail with kCancelled: soon, also inside a
  // kernel or when it waits. It ends one run, whatever that fails with: the next is a new one. From
  // any thread.
  void Cancel();
  // Takes back a cancellation that came after the end of the run it was meant for.
  void ForgetCancel();

  // From the next run on.
  void set_timeout(std::chrono::nanoseconds timeout);
  void set_memory_limit(size_t bytes);
  // Fail with kFailedPrecondition while something is running, and as Create does.
  Status set_stack_limit(size_t bytes);
  Status set_native_stack_bytes(size_t bytes);
  // Gives back the memory that is kept for the next run. REQUIRES: nothing is running.
  void Trim();

  InvocationStats stats() const;
  bool running() const;  // started, and not ended
  const Executable& executable() const;
  uint64_t id() const;  // from 1, in its runtime
  // InvocationOptions::host_context, from the next call of a host function on.
  void set_host_context(void* context);
  // OutputBuffer::device of a tensor of the result, from the next run on, where that says nothing
  // else; null: on the host.
  void set_output_device(size_t output, std::shared_ptr<Device> device);
  // InvocationOptions::tag. REQUIRES: nothing is running.
  void set_tag(uint64_t tag);

 private:
  friend class Scheduler;
  Result<NamedOutputs> RunNamed(const std::vector<NamedValue>& inputs,
                                const std::vector<NamedBuffer>& outputs,
                                const FunctionSignature& info, State* state);
  // From the next run on, calls of kernels that have a batched form wait to run with those of other
  // invocations: it is suspended then, and `call` set, which is run until it is polled again or
  // else runs by itself.
  void set_batching(bool batching);
  RunState Poll(std::chrono::nanoseconds slice, vm::BatchedCall** call);

  struct Impl;
  explicit Invocation(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace relayvm
