// Kernels side by side: the calls after an instruction `kernels` as one piece of work for the pool.
//
// That none of them writes what another one uses is what the compiler says; it is checked here by
// the addresses, since registers may hold one tensor twice. Where it does not hold, or where
// nothing is gained, they run one by one.
#include <algorithm>
#include <array>

#include "bytecode/kernel_call.h"
#include "vm/platform/thread_pool.h"
#include "vm/run/interpreter_dispatch.h"
#include "vm/run/interpreter_impl.h"

namespace relayvm::vm {
namespace {

// Words of arguments and buffers of all calls together.
constexpr size_t kMaxWords = 512;
constexpr size_t kMaxBuffers = 64;

// In tasks. A task is worth ten to twenty times what it takes to hand it to a thread.
constexpr double kLeastGain = 0.25;

struct Use {
  const char *begin, *end;
  size_t call;
  bool written;
};

// True when no call writes what another one uses.
bool AreApart(std::span<const Use> uses) {
  for (const Use& write : uses) {
    if (!write.written) continue;
    for (const Use& use : uses) {
      if (use.call != write.call && use.begin < write.end && write.begin < use.end) return false;
    }
  }
  return true;
}

}  // namespace

struct CallsTogether {
  struct Call {
    KernelCall call;
    const uint16_t* pc;
    const uint16_t* buffers;  // pairs of units; their number stands before them
    bool is_checked;          // by what the instruction says of itself
  };
  size_t num_calls = 0, num_words = 0, num_uses = 0;
  std::array<Call, kMaxKernelsTogether> calls;
  std::array<int64_t, kMaxWords> words;
  std::array<Use, kMaxBuffers> uses;

  std::span<const Call> all() const { return {calls.data(), num_calls}; }
};

namespace {

// Whether threads gain by it: one by one, each call is as long as what its tasks round up to.
bool Pays(const CallsTogether& calls, uint32_t threads) {
  double one_by_one = 0, longest = 0, sum = 0;
  for (const CallsTogether::Call& c : calls.all()) {
    const double work =
        static_cast<double>(c.call.units) / static_cast<double>(std::max<int64_t>(c.call.grain, 1));
    const uint32_t tasks = CountTasks(c.call.units, c.call.grain, threads);
    one_by_one += work / std::min(tasks, threads);
    longest = std::max(longest, work / std::min(tasks, 2 * threads));
    sum += work;
  }
  return one_by_one - std::max(sum / threads, longest) >= kLeastGain;
}

}  // namespace

const uint16_t* Interpreter::ReadCall(Frame* frame, const uint16_t* pc,
                                      CallsTogether* calls) const {
  const bool ranged = *pc == static_cast<uint16_t>(Opcode::kKernel);
  const uint16_t* scalar_args = pc + (ranged ? 6 : 3);
  const uint32_t num_scalars = scalar_args[-1];
  const uint16_t* buffer_args = scalar_args + num_scalars + 1;
  const uint32_t num_buffers = buffer_args[-1];
  if (calls->num_words + num_scalars + num_buffers > kMaxWords ||
      calls->num_uses + num_buffers > kMaxBuffers)
    return nullptr;
  int64_t* scalar_block = calls->words.data() + calls->num_words;
  auto** buffer_block = reinterpret_cast<void**>(scalar_block + num_scalars);
  calls->num_words += num_scalars + num_buffers;
  const uint64_t* scalars = frame->scalars();
  for (uint32_t i = 0; i < num_scalars; ++i)
    scalar_block[i] = static_cast<int64_t>(scalars[scalar_args[i]]);
  const KernelInfo& kernel = executable_.program().kernels[pc[1]];
  uint16_t bits = 0;
  for (uint32_t i = 0; i < num_buffers; ++i) {
    const uint16_t kind = buffer_args[2 * i], index = buffer_args[2 * i + 1];
    bits |= kind;
    char* data = nullptr;
    size_t bytes = 0;
    switch (static_cast<BufferKind>(kind & 0xFF)) {
      case BufferKind::kRegister: {
        const Object* object = frame->objects()[index];
        if (object->kind != ObjectKind::kTensor) return nullptr;
        data = static_cast<const Tensor*>(object)->data;
        bytes = static_cast<const Tensor*>(object)->capacity;
        break;
      }
      case BufferKind::kSlot:
        data = frame->arena + frame->function->slots[index].offset;
        bytes = frame->function->slots[index].bytes;
        break;
      case BufferKind::kConstant:
        data = linked_.constants[index]->data;
        break;
    }
    buffer_block[i] = data;
    calls->uses[calls->num_uses++] = {data, data + bytes, calls->num_calls,
                                      kernel.buffers[i].written};
  }
  CallsTogether::Call& read = calls->calls[calls->num_calls++];
  read.call = {pc[1], &linked_.kernels[pc[1]], {buffer_block, scalar_block, nullptr}, 1, 1, 0};
  if (ranged) {
    read.call.units = static_cast<int64_t>(scalars[pc[2]]);
    read.call.grain = static_cast<int64_t>(scalars[pc[3]]);
    read.call.scratch_bytes = static_cast<int64_t>(scalars[pc[4]]);
  }
  if (read.call.units < 0 || read.call.units > UINT32_MAX) return nullptr;
  read.pc = pc;
  read.buffers = buffer_args;
  read.is_checked = (bits & (kCheckBuffer | kCheckCall)) != 0;
  return buffer_args + 2 * num_buffers;
}

const uint16_t* Interpreter::RunTogether(Frame* frame, const uint16_t* pc) {
  const uint16_t* const one_by_one = pc + 2;
  const uint16_t* next = one_by_one;
  CallsTogether calls;
  for (int i = 0; i < pc[1]; ++i) {
    next = ReadCall(frame, next, &calls);
    if (next == nullptr) return one_by_one;
  }
  const uint32_t threads = context_.num_threads;
  // Texts are this thread's.
  if (context_.strings != nullptr) return one_by_one;
  if (!Pays(calls, threads) || !AreApart({calls.uses.data(), calls.num_uses})) return one_by_one;
  size_t scratch_bytes = 0;
  uint32_t num_tasks = 0;
  std::array<KernelRunner::Together, kMaxKernelsTogether> items;
  for (size_t c = 0; c < calls.num_calls; ++c) {
    const CallsTogether::Call& read = calls.calls[c];
    if (read.is_checked && !CheckKernelCall(frame, read.pc, read.buffers, read.call.args.scalars))
      return nullptr;
    const uint32_t tasks =
        read.call.units == 0 ? 0 : CountTasks(read.call.units, read.call.grain, threads);
    items[c] = {&read.call, num_tasks, tasks};
    num_tasks += tasks;
    scratch_bytes = std::max(scratch_bytes, static_cast<size_t>(read.call.scratch_bytes));
  }
  // Where there is none, they say so one by one.
  if (scratch_bytes > 0 && !runner_.Reserve(scratch_bytes, threads)) return one_by_one;
  fuel_ -= kKernelFuel * static_cast<int64_t>(calls.num_calls);
  if (fuel_ < 0 || context_.stop->load(std::memory_order_relaxed) != 0) {
    if (!Poll(frame, pc)) return nullptr;
  }
  counters_.kernel_calls += calls.num_calls;
  uint32_t task = 0;
  const int32_t code = runner_.RunTogether({items.data(), calls.num_calls}, &task);
  if (code != RELAYVM_KERNEL_OK) {
    size_t c = 0;
    while (task - items[c].first_task >= items[c].num_tasks) ++c;
    FailKernel(frame, calls.calls[c].pc, calls.calls[c].call.index, code);
    return nullptr;
  }
  for (const CallsTogether::Call& c : calls.all()) {
    const uint16_t num_buffers = c.buffers[-1];
    for (uint32_t i = 0; i < num_buffers; ++i) {
      if ((c.buffers[2 * i] & kTakeBit) == 0) continue;
      Object*& reg = frame->objects()[c.buffers[2 * i + 1]];
      Object* taken = reg;
      reg = Empty();
      Release(heap_, taken);
    }
  }
  return next;
}

}  // namespace relayvm::vm
