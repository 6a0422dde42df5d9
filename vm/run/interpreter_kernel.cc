// Kernels, where the dispatch loop does not just call them: checks of a call, and ranges of units.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <new>

#include "bytecode/kernel_call.h"
#include "vm/platform/system_pages.h"
#include "vm/platform/thread_pool.h"
#include "vm/run/interpreter_impl.h"
#include "vm/schedule/batch.h"

namespace relayvm::vm {

// --- Calls of kernels that are checked when they run ---

bool Interpreter::FailKernelCall(Frame* frame, const uint16_t* pc, const std::string& message,
                                 bool proved, StatusDetail detail) {
  detail.subject = executable_.program().kernels[pc[1]].name;
  return Fail(frame, pc, proved ? StatusCode::kInternal : StatusCode::kInvalidInput,
              fmt::format("{} k{} ({}): {}{}", GetOpcodeInfo(static_cast<Opcode>(*pc)).mnemonic,
                          pc[1], detail.subject, message,
                          proved ? "; the verifier had proved that this can't be" : ""),
              detail);
}

namespace {

// `beside`: the tensor that the kernel may write over in this one, or null. One register holds the
// tensor, or two, where it is that one; the memory of a view has no other holder than these.
bool MayWrite(const Tensor* tensor, const Tensor* beside) {
  auto holders = [](const Tensor* t) { return t->count.load(std::memory_order_relaxed); };
  if (tensor->storage() == Storage::kView) {
    const Tensor* owner = tensor->owner;
    const bool shares = beside != nullptr && beside != tensor &&
                        (beside == owner || (beside->storage() == Storage::kView &&
                                             beside->owner == owner && holders(beside) == 1));
    if (holders(owner) != (shares ? 2 : 1)) return false;
  }
  return holders(tensor) == (beside == tensor ? 2 : 1);
}

}  // namespace

bool Interpreter::CheckKernelCall(Frame* frame, const uint16_t* pc, const uint16_t* buffers,
                                  const int64_t* scalars) {
  const KernelInfo& kernel = executable_.program().kernels[pc[1]];
  if ((buffers[0] & kCheckCall) != 0) {
    const bool proved = (buffers[0] & kProvedCall) != 0;
    for (const FixedScalar& fixed : kernel.fixed) {
      if (scalars[fixed.index] != fixed.value)
        return FailKernelCall(frame, pc, ScalarMismatch(fixed, scalars[fixed.index]), proved,
                              {.expected = {fixed.value}, .found = {scalars[fixed.index]}});
    }
    const bool ranged = *pc == static_cast<uint16_t>(Opcode::kKernel);
    const uint64_t* registers = frame->scalars();
    const int64_t units = ranged ? static_cast<int64_t>(registers[pc[2]]) : 1;
    const int64_t scratch = ranged ? static_cast<int64_t>(registers[pc[4]]) : 0;
    const std::optional<int64_t> most =
        kernel.units.empty() ? INT64_MAX : EvaluateSize(kernel.units, scalars);
    if (!most || units > *most)
      return FailKernelCall(
          frame, pc,
          fmt::format("expected at most {} units of work, found {}", most.value_or(0), units),
          proved, {.expected = {most.value_or(0)}, .found = {units}});
    const std::optional<int64_t> least =
        kernel.scratch.empty() ? 0 : EvaluateSize(kernel.scratch, scalars);
    if (!least || scratch < *least)
      return FailKernelCall(
          frame, pc,
          fmt::format("expected {} bytes of scratch, found {}", least.value_or(INT64_MAX), scratch),
          proved, {.expected = {least.value_or(INT64_MAX)}, .found = {scratch}});
  }
  Object* const* objects = frame->objects();
  for (size_t i = 0; i < kernel.buffers.size(); ++i) {
    if ((buffers[2 * i] & kCheckBuffer) == 0) continue;
    const bool proved = (buffers[2 * i] & kProvedBuffer) != 0;
    const KernelBuffer& expected = kernel.buffers[i];
    const auto kind = static_cast<BufferKind>(buffers[2 * i] & 0xFF);
    const uint16_t index = buffers[2 * i + 1];
    const Tensor* tensor = kind == BufferKind::kSlot       ? nullptr
                           : kind == BufferKind::kRegister ? static_cast<Tensor*>(objects[index])
                                                           : linked_.constants[index];
    if (tensor != nullptr && tensor->dtype != expected.dtype)
      return FailKernelCall(frame, pc, DTypeMismatch(i, expected.dtype, tensor->dtype), proved,
                            {.expected_text = std::string(DTypeName(expected.dtype)),
                             .found_text = std::string(DTypeName(tensor->dtype))});
    const int64_t bytes = tensor != nullptr
                              ? static_cast<int64_t>(tensor->capacity)
                              : static_cast<int64_t>(frame->function->slots[index].bytes);
    const int64_t room = bytes / DTypeBytes(expected.dtype);
    const std::optional<int64_t> elements = EvaluateSize(expected.shape, scalars);
    if (!elements || *elements > room)
      return FailKernelCall(frame, pc, SizeMismatch(i, elements.value_or(INT64_MAX), room), proved,
                            {.expected = {elements.value_or(INT64_MAX)}, .found = {room}});
    if (!expected.written || tensor == nullptr) continue;
    auto may_write = [&](uint16_t other) {
      return static_cast<BufferKind>(buffers[2 * other] & 0xFF) == BufferKind::kRegister &&
             MayWrite(tensor, static_cast<const Tensor*>(objects[buffers[2 * other + 1]]));
    };
    if (!MayWrite(tensor, nullptr) && std::ranges::none_of(expected.may_share, may_write)) {
      return FailKernelCall(
          frame, pc,
          fmt::format("buffer {} is written: expected a tensor of its own, found one that is an "
                      "input, a constant, or held elsewhere",
                      i),
          proved);
    }
  }
  return true;
}

// --- Kernels over a range ---

ScratchBuffers::~ScratchBuffers() {
  for (Block& b : blocks_) Free(b);
}

// At least `bytes`, which it rounds up; null without memory.
void* ScratchBuffers::Allocate(size_t* bytes) {
  const size_t unit = source_ != nullptr ? kPageBytes : kDataAlignment;
  if (*bytes > SIZE_MAX - unit) return nullptr;
  *bytes = (*bytes + unit - 1) & ~(unit - 1);
  return source_ != nullptr ? source_->Allocate(*bytes, unit) : std::aligned_alloc(unit, *bytes);
}

void ScratchBuffers::Free(Block& block) {
  if (source_ == nullptr) {
    std::free(block.memory);
  } else if (block.memory != nullptr) {
    source_->Free(block.memory, block.bytes);
  }
  block = {};
}

bool ScratchBuffers::Reserve(size_t bytes, uint32_t workers) {
  for (uint32_t i = 0; i < workers; ++i) {
    Block& b = blocks_[i];
    if (b.bytes >= bytes) continue;
    size_t wanted = std::max(bytes, 2 * b.bytes);
    Free(b);
    b.memory = Allocate(&wanted);
    if (b.memory == nullptr) b.memory = Allocate(&(wanted = bytes));
    if (b.memory == nullptr) return false;
    b.bytes = wanted;
  }
  return true;
}

void ScratchBuffers::Trim(size_t bytes) {
  for (Block& b : blocks_) {
    if (b.bytes > bytes) Free(b);
  }
}

namespace {

// Units begin..end-1 in one call; those of a kernel that does not poll in chunks, with polls between.
int32_t RunUnits(const KernelEnv& env, const KernelCall& call, const RelayvmKernelArgs& args,
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

void ParallelCalls::RunTask(void* context, uint32_t index, uint32_t worker) {
  auto& calls = *static_cast<ParallelCalls*>(context);
  if (calls.stopped.load(std::memory_order_relaxed)) return;
  const Item* item = calls.items.data();
  while (index - item->first_task >= item->num_tasks) ++item;
  const KernelCall& call = *item->call;
  RelayvmKernelArgs args = call.args;
  args.scratch = calls.scratch->of(worker);
  const auto units = static_cast<uint64_t>(call.units);
  const uint64_t task = index - item->first_task;
  auto begin = static_cast<uint32_t>(units * task / item->num_tasks);
  auto end = static_cast<uint32_t>(units * (task + 1) / item->num_tasks);
  const KernelEnv& env = worker == 0 ? *calls.env : *calls.worker_env;
  int32_t code = RELAYVM_KERNEL_OK;
  try {
    code = calls.failure.Watch(
        env, index, [&](const KernelEnv& own) { return RunUnits(own, call, args, begin, end); });
  } catch (const std::bad_alloc&) {
    code = RELAYVM_KERNEL_OUT_OF_MEMORY;
    calls.failure.Note(index, code);
  } catch (...) {  // of a host's kernel: the pool's threads know no exceptions
    calls.stopped.store(true, std::memory_order_relaxed);
    calls.thrown.Keep();
    return;
  }
  if (code == RELAYVM_KERNEL_STOPPED) calls.stopped.store(true, std::memory_order_relaxed);
}

void ParallelCalls::Run(TaskPool& pool, uint32_t num_tasks) {
  pool.Run(num_tasks, RunTask, this);
  thrown.Rethrow();
}

int32_t Interpreter::RunRange(const KernelCall& call) {
  // REQUIRES: 0 < units <= UINT32_MAX.
  const uint32_t tasks = CountTasks(call.units, call.grain, env_.num_threads);
  RelayvmKernelArgs args = call.args;
  args.scratch = context_.scratch->of(0);
  if (tasks <= 1) {
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
  const ParallelCalls::Item item{&call, 0, tasks};
  ParallelCalls calls{{&item, 1}, &PoolEnv(), &worker_env_, context_.scratch};
  calls.Run(*context_.pool, tasks);
  if (calls.failure.code() != RELAYVM_KERNEL_OK) fault_ = calls.failure.fault();
  return calls.failure.code();
}

// What a run has used of the scratch buffers stays charged to it.
bool Interpreter::ChargeScratch(size_t bytes, uint32_t workers) {
  if (bytes > SIZE_MAX / workers) return false;
  const size_t total = bytes * workers;
  if (total > charged_scratch_) {
    if (!heap_.Charge(total - charged_scratch_)) return false;
    charged_scratch_ = total;
  }
  return true;
}

bool Interpreter::ReserveScratch(size_t bytes, uint32_t workers) {
  return ChargeScratch(bytes, workers) && context_.scratch->Reserve(bytes, workers);
}

bool Interpreter::RunWithOthers(const KernelCall& call) {
  BatchedCall batched{&executable_, call.index, call.args.buffers, call.args.scalars};
  batched.key = KeyOf(batched);
  context_.batched_call = &batched;
  context_.yield(context_.yield_context);
  context_.batched_call = nullptr;
  if (traced_kernel_ != nullptr) {
    // The waiting is an event of its own.
    traced_kernel_->begin_ns = batched.done ? batched.begin_ns : NowNanoseconds();
    if (batched.done) traced_kernel_->end_ns = batched.end_ns;
    if (batched.done) traced_kernel_->batch = batched.calls;
    traced_kernel_->suspended_ns = -context_.suspended_ns;
  }
  // It took a while: the next poll is to look at the clock.
  if (context_.deadline != INT64_MAX) fuel_ = 0;
  return batched.done;
}

bool Interpreter::RunKernel(Frame* frame, const uint16_t* pc, const KernelCall& call) {
  if (call.units == 0) return true;
  if (call.units < 0 || call.units > UINT32_MAX) {
    return Fail(frame, pc, StatusCode::kOutOfRange,
                fmt::format("kernel {}: {} units of work",
                            executable_.program().kernels[call.index].name, call.units),
                {.subject = executable_.program().kernels[call.index].name,
                 .expected = {UINT32_MAX},
                 .found = {call.units}});
  }
  const uint32_t workers = call.units > 1 ? env_.num_threads : 1;
  const auto scratch_bytes = static_cast<size_t>(std::max<int64_t>(call.scratch_bytes, 0));
  // What counts toward the limit is the same, whether it runs with others or not.
  if (context_.batches && call.kernel->is_batched && ChargeScratch(scratch_bytes, workers) &&
      RunWithOthers(call))
    return true;
  if (scratch_bytes > 0) {
    if (!ReserveScratch(scratch_bytes, workers)) {
      return FailMemory(frame, pc,
                        fmt::format("{} bytes of a kernel's scratch, for each of {} threads",
                                    call.scratch_bytes, workers)
                            .c_str(),
                        scratch_bytes > SIZE_MAX / workers ? SIZE_MAX : scratch_bytes * workers,
                        executable_.program().kernels[call.index].name);
    }
  }
  int32_t code = RunRange(call);
  if (code != RELAYVM_KERNEL_OK) return FailKernel(frame, pc, call.index, code);
  return true;
}

}  // namespace relayvm::vm
