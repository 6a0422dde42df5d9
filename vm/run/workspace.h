// Workspace: all the memory that an invocation, a graph or native code runs in. Runtimes keep those
// of ended ones for the next ones. One thread at a time. Tested by invocation_test.cc.
#pragma once

#include <memory>

#include "vm/kernels/task_pool.h"
#include "vm/memory/allocator.h"
#include "vm/memory/idle_pool.h"
#include "vm/memory/stack.h"
#include "vm/platform/fiber.h"
#include "vm/run/interpreter.h"
#include "vm/trace/run_counters.h"

namespace relayvm::vm {

struct Workspace : IdleLink<Workspace> {
  Workspace(TaskPool* pool, TraceSink* trace, const std::shared_ptr<MemorySource>& memory,
            const std::shared_ptr<MemoryBudget>& budget, size_t machine_memory);
  ~Workspace();

  // Between runs, while it holds `held`: of each part at most so many bytes stay. Gives what all
  // together hold then.
  size_t Park(size_t held, size_t bytes);
  size_t bytes_held() const;
  // What a run has used of the native stack: of what runs before have, little more stays.
  void NativeStackUsed(size_t bytes) {
    constexpr size_t kKept = 256 << 10;
    if (native_used > bytes + kKept) stacks.TrimNative(bytes + kKept);
    native_used = bytes;
  }

  OwnedHeap heap;
  StackRegion stacks;
  VmStack stack;
  ArenaStack arena;
  ScratchBuffers scratch;
  TaskPool* pool;              // borrowed from the runtime
  bool injected_pool = false;  // it is the host's
  TraceSink* trace;            // borrowed, may be null
  size_t machine_memory;       // bytes: no run can have more, whatever its limit
  RunCounters counters;
  size_t native_used = 0;  // of the native stack, by the latest run, as far as it was seen
  size_t index = 0;        // of the runtime's workspaces; under its mutex
};

}  // namespace relayvm::vm
