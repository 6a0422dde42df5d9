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

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "bytecode/base/status.h"
#include "bytecode/base/string_table.h"
#include "vm/kernels/task_pool.h"
#include "vm/memory/allocator.h"
#include "vm/memory/object.h"
#include "vm/memory/stack.h"
#include "vm/platform/clock.h"
#include "vm/run/executable.h"
#include "vm/schedule/wait_state.h"
#include "vm/trace/trace.h"

namespace relayvm::vm {

// Scratch memory of kernels, one block a worker, that grows and stays.
class ScratchBuffers {
 public:
  // Takes its memory from `source` (borrowed); null: malloc's.
  explicit ScratchBuffers(uint32_t num_workers, MemorySource* source = nullptr)
      : blocks_(num_workers), source_(source) {}
  ~ScratchBuffers();
  ScratchBuffers(const ScratchBuffers&) = delete;
  ScratchBuffers& operator=(const ScratchBuffers&) = delete;

  // At least `bytes` for each of the first `workers`; false when there is no memory.
  bool Reserve(size_t bytes, uint32_t workers);
  // 64-byte aligned; null before the first Reserve.
  void* of(uint32_t worker) const { return blocks_[worker].memory; }
  // Frees blocks larger than `bytes`.
  void Trim(size_t bytes);
  size_t bytes() const {
    size_t sum = 0;
    for (const Block& b : blocks_) sum += b.bytes;
    return sum;
  }

 private:
  struct Block {
    void* memory = nullptr;
    size_t bytes = 0;
  };
  void* Allocate(size_t* bytes);
  void Free(Block& block);

  std::vector<Block> blocks_;
  MemorySource* source_;
};

struct BatchedCall;  // batch.h
class OutputPlaces;  // output_places.h
struct RunCounters;  // run_counters.h

// What the interpreter runs with. All pointers are borrowed.
struct InterpreterContext {
  Heap* heap = nullptr;
  VmStack* stack = nullptr;
  ArenaStack* arena = nullptr;
  ScratchBuffers* scratch = nullptr;
  TaskPool* pool = nullptr;
  uint32_t num_threads = 1;  // the pool's
  // The pool is the host's: its worker 0 may be another thread than the invocation's.
  bool injected_pool = false;
  TraceSink* trace = nullptr;  // null: none, and no cost
  // With a trace: how long this invocation has been suspended at the end of slices, all in all.
  int64_t suspended_ns = 0;
  RunCounters* counters = nullptr;
  // Set from any thread to stop at the next call or backward jump.
  std::atomic<uint32_t>* stop = nullptr;
  int64_t deadline = INT64_MAX;  // steady clock, nanoseconds
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
  uint64_t sampling = 0;  // a state of random numbers
  void* host_context = nullptr;

  // Whether calls of kernels that have a batched form yield in order to run with others; the one that
  // does so.
  bool batches = false;
  BatchedCall* batched_call = nullptr;

  StringTable* strings = nullptr;  // the run's texts; null: it has none

  // Where tensors of the result are made; null: in the heap.
  const OutputPlaces* places = nullptr;

  TracedRun traced_run(const Executable& executable) const { return {invocation_id, &executable}; }
};

// kOk to go on, else kCancelled or kDeadlineExceeded. `may_yield`: on the invocation's fiber, which waits
// for its next time slice where this one is over.
StatusCode Interrupted(const InterpreterContext& context, bool may_yield);

// Runs functions[function] with object arguments (each given a reference by the caller: they are
// moved in) and gives its result. On failure nothing is released: the caller resets the heap.
// REQUIRES: the function takes args.size() objects and no scalars, and returns an object.
Status Interpret(const Executable& executable, InterpreterContext& context, uint32_t function,
                 std::span<Object* const> args, Object** result);

}  // namespace relayvm::vm
