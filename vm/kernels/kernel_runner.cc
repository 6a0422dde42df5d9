#include "vm/kernels/kernel_runner.h"

#include <algorithm>
#include <exception>
#include <memory>
#include <utility>

#include "bytecode/base/guarded.h"
#include "bytecode/base/threads.h"
#include "vm/platform/thread_pool.h"

namespace relayvm::vm {

KernelRunner::KernelRunner(const KernelResources& has, Interrupted interrupted, void* run)
    : has_(has), interrupted_(interrupted), run_(run), env_{}, worker_env_{} {
  // Field by field: what has just been written in parts is slow to copy.
  for (Env* env : {&env_, &worker_env_}) {
    env->struct_size = sizeof(RelayvmKernelEnv);
    env->num_threads = has.num_threads;
    env->poll = Poll;
    env->runner = this;
  }
  // The heap is this thread's; kernels on the pool's threads take malloc's memory.
  env_.allocate = Allocate;
  env_.release = Release;
  env_.fault = &fault_;
  env_.strings = has.strings;
}

// --- What kernels call ---

int32_t KernelRunner::Poll(const RelayvmKernelEnv* env) {
  KernelRunner& self = Of(env);
  // Those of the pool's threads have no memory of the heap; each task has its own copy.
  const bool own_thread = env->allocate != nullptr;
  return self.interrupted_(self.run_, own_thread) == StatusCode::kOk ? RELAYVM_KERNEL_OK
                                                                     : RELAYVM_KERNEL_STOPPED;
}

void* KernelRunner::Allocate(const RelayvmKernelEnv* env, uint64_t bytes) {
  Heap& heap = *Of(env).has_.heap;
  if (bytes > Heap::kMaxSmall) return heap.AllocateLarge(bytes);
  return heap.AllocateSmall(std::max<uint64_t>(bytes, 1));
}

void KernelRunner::Release(const RelayvmKernelEnv* env, void* memory, uint64_t bytes) {
  Heap& heap = *Of(env).has_.heap;
  if (bytes > Heap::kMaxSmall) return heap.FreeLarge(memory, bytes);
  heap.FreeSmall(memory);
}

// --- Ranges of units ---

namespace {

// Units begin..end-1 in one call; those of a kernel that does not poll in chunks, with polls
// between.
int32_t RunUnits(const RelayvmKernelEnv& env, const KernelCall& call, const RelayvmKernelArgs& args,
                 uint32_t begin, uint32_t end) {
  constexpr int64_t kGrainsPerChunk = 64;
  if (call.kernel->polls) return call.kernel->fn(&env, &args, begin, end);
  const int64_t chunk = std::clamp<int64_t>(call.grain, 1, UINT32_MAX) * kGrainsPerChunk;
  for (;;) {
    auto next = static_cast<uint32_t>(std::min<int64_t>(begin + chunk, end));
    int32_t code = call.kernel->fn(&env, &args, begin, next);
    if (code != RELAYVM_KERNEL_OK || next == end) return code;
    begin = next;
    code = env.poll(&env);
    if (code != RELAYVM_KERNEL_OK) return code;
  }
}

}  // namespace

// Of calls side by side, one after the other in their numbers. Of those that fail the one with the
// lowest number counts.
struct KernelRunner::Tasks {
  std::span<const Together> calls;
  const Env *env, *worker_env;  // of worker 0, and of others
  ScratchBuffers* scratch;
  const uint64_t first_call;         // its number in the scratch
  std::atomic<bool> stopped{false};  // tasks that have not begun are left out
  Mutex mutex;
  uint32_t task = 0;
  int32_t code = RELAYVM_KERNEL_OK;
  RelayvmKernelFault fault{};
  std::exception_ptr thrown;  // by a host's kernel: the pool's threads know no exceptions

  void Note(uint32_t failed, int32_t its_code, const RelayvmKernelFault& its_fault = {}) {
    if (its_code == RELAYVM_KERNEL_STOPPED) stopped.store(true, std::memory_order_relaxed);
    const std::lock_guard lock(mutex);
    if (code != RELAYVM_KERNEL_OK && task <= failed) return;
    task = failed;
    code = its_code;
    fault = its_fault;
  }

  void Run(uint32_t index, uint32_t worker) {
    std::exception_ptr exception = ExceptionOf([&] {
      if (!HasMemoryFor([&] { RunTask(index, worker); })) Note(index, RELAYVM_KERNEL_OUT_OF_MEMORY);
    });
    if (exception == nullptr) return;
    stopped.store(true, std::memory_order_relaxed);
    const std::lock_guard lock(mutex);
    if (thrown == nullptr) thrown = std::move(exception);
  }

  void RunTask(uint32_t index, uint32_t worker) {
    if (stopped.load(std::memory_order_relaxed)) return;
    const Together* item = calls.data();
    while (index - item->first_task >= item->num_tasks) ++item;
    const KernelCall& call = *item->call;
    RelayvmKernelArgs args = call.args;
    args.scratch = scratch->of(worker);
    const auto first_unit = [&](uint32_t task) {
      return FirstUnit(call.units, task - item->first_task, item->num_tasks, env->num_threads);
    };
    // With a place of its own for what the kernel says of its data.
    RelayvmKernelFault own_fault{};
    Env own = worker == 0 ? *env : *worker_env;
    own.fault = &own_fault;
    own.kept = scratch->kept(worker, first_call + static_cast<uint64_t>(item - calls.data()));
    const int32_t own_code = RunUnits(own, call, args, first_unit(index), first_unit(index + 1));
    if (own_code != RELAYVM_KERNEL_OK) Note(index, own_code, own_fault);
  }
};

int32_t KernelRunner::RunTogether(std::span<const Together> calls, uint32_t* task) {
  Tasks tasks{calls, has_.injected_pool ? &worker_env_ : &env_, &worker_env_, has_.scratch,
              has_.scratch->Begin(calls.size())};
  has_.pool->Run(
      calls.back().first_task + calls.back().num_tasks,
      [](void* context, uint32_t index, uint32_t worker) {
        static_cast<Tasks*>(context)->Run(index, worker);
      },
      &tasks);
  if (tasks.thrown != nullptr) std::rethrow_exception(std::move(tasks.thrown));
  fault_ = tasks.fault;
  *task = tasks.task;
  return tasks.code;
}

int32_t KernelRunner::Run(const KernelCall& call) {
  const uint32_t tasks = CountTasks(call.units, call.grain, has_.num_threads);
  if (tasks > 1) {
    const Together item{&call, 0, tasks};
    uint32_t task = 0;
    return RunTogether({&item, 1}, &task);
  }
  RelayvmKernelArgs args = call.args;
  args.scratch = has_.scratch->of(0);
#ifndef NDEBUG
  // The last piece first: shows kernels that depend on the order of units.
  constexpr int64_t kPieces = 3;
  for (int64_t piece = kPieces; piece-- > 0;) {
    auto begin = static_cast<uint32_t>(call.units * piece / kPieces);
    auto end = static_cast<uint32_t>(call.units * (piece + 1) / kPieces);
    if (begin == end) continue;
    int32_t code = RunUnits(env_, call, args, begin, end);
    if (code != RELAYVM_KERNEL_OK) return code;
  }
  return RELAYVM_KERNEL_OK;
#else
  return RunUnits(env_, call, args, 0, static_cast<uint32_t>(call.units));
#endif
}

bool KernelRunner::Charge(size_t bytes, uint32_t workers) {
  if (bytes > SIZE_MAX / workers) return false;
  const size_t total = bytes * workers;
  if (total > charged_) {
    if (!has_.heap->Charge(total - charged_)) return false;
    charged_ = total;
  }
  return true;
}

int32_t KernelRunner::Call(const KernelCall& call) {
  if (call.units == 0) return RELAYVM_KERNEL_OK;
  const size_t bytes = ScratchOf(call);
  refused_ =
      call.units < 0 || call.units > UINT32_MAX || (bytes > 0 && !Reserve(bytes, WorkersOf(call)));
  return refused_ ? RELAYVM_KERNEL_INVALID_ARGUMENT : Run(call);
}

void KernelRunner::NoteEngineFailure(Status status) {
  auto* noted = new Status(std::move(status));
  Status* none = nullptr;
  if (!engine_failure_.compare_exchange_strong(none, noted)) delete noted;
}

KernelRunner::RegionScratch::RegionScratch(const RelayvmKernelEnv* env, uint64_t bytes) {
  if (bytes == 0) return;
  KernelRunner& runner = Of(env);
  if (env->allocate != nullptr) {
    // What it has for kernels, none of which runs meanwhile.
    ok_ = bytes <= PTRDIFF_MAX && runner.Reserve(bytes, 1);
    memory_ = ok_ ? runner.has_.scratch->of(0) : nullptr;
    return;
  }
  constexpr uint64_t kUnit = 64;
  if (bytes <= PTRDIFF_MAX - kUnit)
    memory_ = owned_ = std::aligned_alloc(kUnit, (bytes + kUnit - 1) & ~(kUnit - 1));
  ok_ = memory_ != nullptr;
}

Failure KernelRunner::FailureOf(const std::string& kernel, int32_t code, const KernelCall* call) {
  if (std::exchange(refused_, false))
    return CallFailure(*has_.heap, kernel, call->units, ScratchOf(*call), WorkersOf(*call));
  if (code == RELAYVM_KERNEL_ENGINE_FAILED) {
    const std::unique_ptr<Status> failed(engine_failure_.exchange(nullptr));
    if (failed != nullptr) return {failed->code(), failed->message(), {.subject = kernel}};
  }
  const StatusCode reason =
      code == RELAYVM_KERNEL_STOPPED ? interrupted_(run_, /*may_yield=*/false) : StatusCode::kOk;
  return KernelFailure(*has_.heap, has_.strings, kernel, code, reason, std::exchange(fault_, {}));
}

}  // namespace relayvm::vm
