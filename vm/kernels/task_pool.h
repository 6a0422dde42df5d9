// TaskPool: threads that share the work of one kernel call. A host that injects one
// (RuntimeOptions) runs kernels on its own threads. Thread-safe: invocations on several threads
// call it at once. Tested by task_pool_test.cc.
#pragma once

#include <cstdint>

namespace relayvm {

class TaskPool {
 public:
  using TaskFn = void (*)(void* context, uint32_t index, uint32_t worker);

  virtual ~TaskPool() = default;
  // Workers that may be inside the tasks of one call at once; at least 1, at most 1024, always the
  // same number.
  virtual uint32_t num_threads() const = 0;
  // Calls task(context, index, worker) once for each index below num_tasks, on any threads, and
  // returns when all of these calls have returned. No two of them run at once with the same worker,
  // a number below num_threads(). Tasks wait for nobody and do not throw, and neither does this.
  // The calling thread is on an invocation's fiber: its stack is small
  // (InvocationOptions::native_stack_bytes).
  virtual void Run(uint32_t num_tasks, TaskFn task, void* context) = 0;
};

}  // namespace relayvm
