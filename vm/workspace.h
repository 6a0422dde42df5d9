// Workspace: all the memory that an invocation runs in. Runtimes keep those of ended invocations
// for the next ones. One thread at a time. Tested by invocation_test.cc.
#pragma once

#include "vm/allocator.h"
#include "vm/fiber.h"
#include "vm/interpreter.h"
#include "vm/stack.h"
#include "vm/thread_pool.h"

namespace relayvm::vm {

struct Workspace {
  Workspace(ThreadPool* pool, TraceSink* trace);
  ~Workspace();

  Heap* heap;  // owned, until orphaned
  VmStack stack;
  ArenaStack arena;
  ScratchBuffers scratch;
  FiberStack fiber_stack;
  ThreadPool* pool;       // borrowed from the runtime
  TraceSink* trace;       // borrowed, may be null
  size_t machine_memory;  // bytes: no run can have more, whatever its limit
};

}  // namespace relayvm::vm
