// TraceSink: what an embedder implements to see programs run; profile.h and chrome_trace.h are two
// that are ready. Without one, and while none wants kernels or instructions, the interpreter runs a
// loop that has no hooks. Tested by trace_test.cc and vm/run/interpreter_kernel_test.cc.
//
// Times are nanoseconds of the steady clock. Executables and strings live as long as the call that
// they are passed to; a sink that keeps a name keeps the executable (shared_from_this).
#pragma once

#include <cstdint>
#include <string_view>

#include "bytecode/base/status.h"

namespace relayvm {

class Executable;

// Who it is about: Invocation::id(), its program, and what the host calls it
// (InvocationOptions::tag).
struct TracedRun {
  uint64_t invocation = 0;
  const Executable* executable = nullptr;
  uint64_t tag = 0;
};

struct KernelEvent {
  uint32_t kernel;  // index into Program::kernels
  std::string_view name;
  int64_t begin_ns, end_ns;
  uint64_t units;  // of the parallel range
  TracedRun run = {};
  // The instruction: index into Program::functions, units from the function's first. See
  // Executable::PlaceOf.
  uint32_t function = 0, pc = 0;
  // Calls of several runs that ran as one: the times are those of all together.
  uint64_t batch = 1;
  // Calls that this one stands for, itself included: kernel_interval().
  uint64_t weight = 1;
  // Of the time, what others had the thread for, because the run's slice was over inside the
  // kernel.
  int64_t suspended_ns = 0;
  // Where it ran; empty: on the host. It begins when it is launched, and ends when the device has
  // done it: such events come later, when the run has waited for the device.
  std::string_view device = {};
};

struct InstructionEvent {
  uint32_t function;  // index into Program::functions
  uint32_t pc;        // units from the function's first
  uint32_t depth;     // of calls: 0 in the function that the host called
  TracedRun run = {};
};

// A run of an exported function.
struct RunEvent {
  TracedRun run;
  std::string_view function;
  int64_t begin_ns, end_ns;  // the same when it begins
  StatusCode status;         // kOk when it begins
};

// A thread has run it for a while.
struct SliceEvent {
  TracedRun run;
  int64_t begin_ns, end_ns;
};

// It has waited: for a waker of a host function, or for other runs to call a kernel with.
struct WaitEvent {
  TracedRun run;
  int64_t begin_ns, end_ns;
  bool in_batch;
};

struct HostCallEvent {
  TracedRun run;
  uint32_t host_function;  // index into Program::host_functions
  std::string_view name;
  int64_t begin_ns, end_ns;  // its waits included
  uint32_t function, pc;     // as of KernelEvent
};

// A kernel has run for calls of several runs, on a thread of a scheduler.
struct BatchEvent {
  const Executable* executable;
  uint32_t kernel;  // index into Program::kernels: the one that the runs called
  std::string_view name;
  int64_t begin_ns, end_ns;
  uint64_t calls;
};

// Runs on several threads call it at the same time. Nothing here may throw, nor wait for a run.
// Calls come after what they are about, on the thread that did it; but before an instruction, and
// when a run begins. A run that ends does so before its last slice.
class TraceSink {
 public:
  virtual ~TraceSink() = default;
  virtual void OnKernel(const KernelEvent& event) { (void)event; }
  virtual void OnInstruction(const InstructionEvent& event) { (void)event; }
  virtual void OnRunBegin(const RunEvent& event) { (void)event; }
  virtual void OnRunEnd(const RunEvent& event) { (void)event; }
  virtual void OnSlice(const SliceEvent& event) { (void)event; }
  virtual void OnWait(const WaitEvent& event) { (void)event; }
  virtual void OnHostCall(const HostCallEvent& event) { (void)event; }
  virtual void OnBatch(const BatchEvent& event) { (void)event; }

  // Asked when a run begins. Whether OnInstruction is called; it makes programs slow.
  virtual bool wants_instructions() const { return false; }
  // Asked when an invocation is made. Whether OnSlice is called: it costs short runs two looks at
  // the clock.
  virtual bool wants_slices() const { return true; }
  // Which calls of kernels OnKernel is told: 1: each; N: on average one in N, at random, each call
  // as likely as any other; 0: none. From about 100 on, that costs next to nothing.
  virtual uint32_t kernel_interval() const { return 1; }
};

}  // namespace relayvm
