// Interpreter: runs a function of a verified program.
//
// The verifier (bytecode/verifier.h) has proved operands, jumps and arities; what depends on values
// (kinds of objects, sizes, positions) is checked here and fails with a Status that names the
// function and the source line. Whatever the bytecode, nothing here has undefined behaviour, short
// of what kernels do with their buffers.
//
// Calls of the program never use the native stack. One thread at a time; kernels may run on the
// pool's threads. Tested by interpreter_call_test.cc and its neighbours (interpreter_*_test.cc).
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "bytecode/base/status.h"
#include "vm/kernels/kernel_runner.h"
#include "vm/memory/allocator.h"
#include "vm/memory/object.h"
#include "vm/memory/stack.h"
#include "vm/platform/clock.h"
#include "vm/run/executable.h"
#include "vm/schedule/wait_state.h"
#include "vm/trace/trace.h"

namespace relayvm::vm {

struct BatchedCall;  // batch.h
class DeviceRun;     // device_run.h
class OutputPlaces;  // output_places.h
struct RunCounters;  // run_counters.h

// What the interpreter runs with. All pointers are borrowed.
struct InterpreterContext : KernelResources, Interrupts {
  VmStack* stack = nullptr;
  ArenaStack* arena = nullptr;
  TraceSink* trace = nullptr;  // null: none, and no cost
  // With a trace: how long this invocation has been suspended at the end of slices, all in all.
  int64_t suspended_ns = 0;
  RunCounters* counters = nullptr;
  // Called when the time slice is over (see yield_at), and by host calls that wait (see
  // waiting_call); returns when the invocation may go on.
  void (*yield)(void* context) = nullptr;
  void* yield_context = nullptr;
  int64_t yield_at = INT64_MAX;  // steady clock, nanoseconds

  // Of host functions.
  std::shared_ptr<WaitState> wait;
  uint64_t host_calls = 0;        // so far: the number of the latest
  uint64_t waiting_call = 0;      // the one that yields in order to wait, until wait_time; 0: none
  int64_t wait_time = INT64_MAX;  // steady clock, nanoseconds
  uint64_t invocation_id = 0;
  uint64_t tag = 0;       // InvocationOptions::tag
  uint64_t sampling = 0;  // a state of random numbers
  void* host_context = nullptr;

  // Whether calls of kernels that have a batched form yield in order to run with others; the one
  // that does so.
  bool batches = false;
  BatchedCall* batched_call = nullptr;

  // Of a program that runs on devices; else null. Whether the run has ended, but for what is under
  // way there: nothing stops it then.
  DeviceRun* devices = nullptr;
  bool ends = false;

  // Where tensors of the result are made; null: in the heap.
  const OutputPlaces* places = nullptr;

  TracedRun traced_run(const Executable& executable) const {
    return {invocation_id, &executable, tag};
  }
};

// kOk to go on, else kCancelled or kDeadlineExceeded. `may_yield`: on the invocation's fiber, which
// waits for its next time slice where this one is over.
StatusCode Interrupted(const InterpreterContext& context, bool may_yield);

// Runs functions[function] with object arguments (each given a reference by the caller: they are
// moved in) and gives its result. On failure nothing is released: the caller resets the heap.
// REQUIRES: the function takes args.size() objects and no scalars, and returns an object.
Status Interpret(const Executable& executable, InterpreterContext& context, uint32_t function,
                 std::span<Object* const> args, Object** result);

}  // namespace relayvm::vm
