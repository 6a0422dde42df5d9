// KernelRunner: calls kernels for a run, whoever makes the calls: the interpreter, a graph, native
// code.
//
// It is the other side of RelayvmKernelEnv: scratch and memory that count toward the run's limit,
// threads, polls, and what a kernel's code means. A run has one, of its own thread. Kernels may run
// on the pool's threads: these have no memory of the run's heap but malloc's, and no texts. Tested
// by vm/run/interpreter_kernel_test.cc, vm/run/interpreter_together_test.cc,
// vm/graph/graph_module_test.cc and tests/aot.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>

#include "bytecode/base/status.h"
#include "bytecode/base/string_table.h"
#include "bytecode/kernel_abi.h"
#include "vm/kernels/failure.h"
#include "vm/kernels/kernel_call.h"
#include "vm/kernels/scratch_buffers.h"
#include "vm/kernels/task_pool.h"
#include "vm/memory/allocator.h"
#include "vm/platform/clock.h"

namespace relayvm::vm {

// Fuel that a run has between two looks at the clock, where a call or a backward jump takes one,
// and what a kernel takes of it, which is longer.
inline constexpr int64_t kFuel = 1024, kKernelFuel = 32;

class LinkedRegions;  // vm/engines/regions.h

// What ends a run before its end.
struct Interrupts {
  const std::atomic<uint32_t>* stop = nullptr;  // not 0: it is cancelled; null: nobody can
  int64_t deadline = INT64_MAX;                 // steady clock, nanoseconds
};
// kOk to go on, else kCancelled or kDeadlineExceeded. From any thread.
inline StatusCode Interrupted(const Interrupts& run) {
  if (run.stop != nullptr && run.stop->load(std::memory_order_acquire) != 0)
    return StatusCode::kCancelled;
  const bool late = run.deadline != INT64_MAX && NowNanoseconds() >= run.deadline;
  return late ? StatusCode::kDeadlineExceeded : StatusCode::kOk;
}

// What kernels of a run take. All pointers are borrowed.
struct KernelResources {
  Heap* heap = nullptr;  // of the run, which is between BeginRun and Reset while kernels run
  ScratchBuffers* scratch = nullptr;
  TaskPool* pool = nullptr;  // null where num_threads is 1
  uint32_t num_threads = 1;  // the pool's
  // The pool is the host's: its worker 0 may be another thread than the run's.
  bool injected_pool = false;
  StringTable* strings = nullptr;          // the run's texts; null: it has none
  const LinkedRegions* regions = nullptr;  // of the program that runs; null: it has none
};

class KernelRunner {
 public:
  // As the function above. `may_yield`: on the run's own thread, which may have to wait there.
  using Interrupted = StatusCode (*)(void* run, bool may_yield);
  // A call of several that run side by side: its tasks, counted over all of them.
  struct Together {
    const KernelCall* call;
    uint32_t first_task, num_tasks;
  };

  // `has` is borrowed.
  KernelRunner(const KernelResources& has, Interrupted interrupted, void* run);
  KernelRunner(const KernelResources&&, Interrupted, void*) = delete;
  KernelRunner(const KernelRunner&) = delete;
  KernelRunner& operator=(const KernelRunner&) = delete;
  ~KernelRunner() { delete engine_failure_.load(std::memory_order_relaxed); }

  // For a kernel that the run's own thread calls by itself; FailureOf says what its code means.
  const RelayvmKernelEnv* env() const { return &env_; }

  // All that a call takes: its scratch, its units. Gives the kernel's code, or another that is not
  // 0 where there is no such scratch or there can be no such units.
  int32_t Call(const KernelCall& call);
  // The kernel's code. What a host's kernel throws goes on. REQUIRES: 0 < units <= UINT32_MAX, its
  // scratch is reserved.
  int32_t Run(const KernelCall& call);
  // The same of several at once; `task`: of those that fail, the lowest. REQUIRES: no call writes
  // what another one uses; scratch for the one that takes most is reserved for all threads.
  int32_t RunTogether(std::span<const Together> calls, uint32_t* task);

  // Of the latest call, whose code is not 0. `call`: of Call; else null.
  [[gnu::cold]] Failure FailureOf(const std::string& kernel, int32_t code,
                                  const KernelCall* call = nullptr);

  // Scratch for so many workers. What a run has used stays charged to it. False at the limit or
  // without memory.
  bool Reserve(size_t bytes, uint32_t workers) {
    return Charge(bytes, workers) && has_.scratch->Reserve(bytes, workers);
  }
  // Counts the scratch of a call as if it were reserved.
  bool Charge(const KernelCall& call) { return Charge(ScratchOf(call), WorkersOf(call)); }

  // Of an env that it gives kernels: the run's one, and those of the pool's threads.
  static KernelRunner& Of(const RelayvmKernelEnv* env) {
    return *static_cast<const Env*>(env)->runner;
  }
  // For regions of other engines.
  const LinkedRegions* regions() const { return has_.regions; }
  // What FailureOf says of RELAYVM_KERNEL_ENGINE_FAILED. From any thread: the first one counts.
  [[gnu::cold]] void NoteEngineFailure(Status status);
  // Memory for the time of a region's run, 64-byte aligned, that counts toward the run's limit; on
  // the pool's threads it is malloc's. Null, where it is 0 bytes.
  class RegionScratch {
   public:
    RegionScratch(const RelayvmKernelEnv* env, uint64_t bytes);
    ~RegionScratch() { std::free(owned_); }
    RegionScratch(const RegionScratch&) = delete;
    RegionScratch& operator=(const RegionScratch&) = delete;
    bool ok() const { return ok_; }
    void* get() const { return memory_; }

   private:
    void* memory_ = nullptr;
    void* owned_ = nullptr;
    bool ok_ = true;
  };

 private:
  struct Env : RelayvmKernelEnv {
    KernelRunner* runner;
  };
  struct Tasks;

  static int32_t Poll(const RelayvmKernelEnv* env);
  static void* Allocate(const RelayvmKernelEnv* env, uint64_t bytes);
  static void Release(const RelayvmKernelEnv* env, void* memory, uint64_t bytes);
  static size_t ScratchOf(const KernelCall& call) {
    return call.scratch_bytes > 0 ? static_cast<size_t>(call.scratch_bytes) : 0;
  }
  uint32_t WorkersOf(const KernelCall& call) const { return call.units > 1 ? has_.num_threads : 1; }
  bool Charge(size_t bytes, uint32_t workers);

  const KernelResources& has_;
  const Interrupted interrupted_;
  void* const run_;
  Env env_, worker_env_;  // of the run's thread, and of the pool's
  RelayvmKernelFault fault_{};
  std::atomic<Status*> engine_failure_{nullptr};  // owned
  bool refused_ = false;                          // the latest Call, without the kernel
  size_t charged_ = 0;                            // of scratch
};

}  // namespace relayvm::vm
