// Kernels, where the dispatch loop does not just call them: checks of a call, and calls over a
// range.
#include <fmt/format.h>

#include <algorithm>

#include "bytecode/kernel_call.h"
#include "vm/run/device_run.h"
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

// What a kernel is given besides its buffers: fixed numbers, units of work, scratch.
bool Interpreter::CheckKernelNumbers(Frame* frame, const uint16_t* pc, const KernelInfo& kernel,
                                     const int64_t* scalars, bool proved) {
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
        fmt::format("expected at most {} units of work, found {}", most.value_or(0), units), proved,
        {.expected = {most.value_or(0)}, .found = {units}});
  const std::optional<int64_t> least =
      kernel.scratch.empty() ? 0 : EvaluateSize(kernel.scratch, scalars);
  if (!least || scratch < *least)
    return FailKernelCall(
        frame, pc,
        fmt::format("expected {} bytes of scratch, found {}", least.value_or(INT64_MAX), scratch),
        proved, {.expected = {least.value_or(INT64_MAX)}, .found = {scratch}});
  return true;
}

bool Interpreter::CheckKernelCall(Frame* frame, const uint16_t* pc, const uint16_t* buffers,
                                  const int64_t* scalars) {
  const KernelInfo& kernel = executable_.program().kernels[pc[1]];
  for (size_t i = 0; i < kernel.buffers.size(); ++i) {
    // The verifier has seen to the others.
    if (static_cast<BufferKind>(buffers[2 * i] & 0xFF) != BufferKind::kRegister) continue;
    const int found = static_cast<Tensor*>(frame->objects()[buffers[2 * i + 1]])->device;
    if (found != kernel.device)
      return FailKernelCall(frame, pc, DeviceMismatch(i, kernel.device, found), false,
                            {.expected = {kernel.device}, .found = {found}});
  }
  if ((buffers[0] & kCheckCall) != 0 &&
      !CheckKernelNumbers(frame, pc, kernel, scalars, (buffers[0] & kProvedCall) != 0)) {
    return false;
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
                                                           : constants_[index];
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
    const auto is_refused = [&] {
      return !MayWrite(tensor, nullptr) && std::ranges::none_of(expected.may_share, may_write);
    };
    if (is_refused()) {
      // A copy to a device holds what it reads until it is done.
      if (context_.devices != nullptr) {
        const StatusCode code = context_.devices->WaitForCopies(context_);
        if (code != StatusCode::kOk) return Fail(frame, pc, code, InterruptMessage(code));
        if (!is_refused()) continue;
      }
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

// Of a call: a product of more rows reads its weights often enough by itself, and its copies cost
// more than that. BERT-base, 16 requests at a time on two cores of a Xeon: 3.4 times as many of one
// row, 1.7 of 2, 1.2 of 4, as many of 8, and 0.8 of 32.
constexpr int64_t kMostRows = 4;

bool Interpreter::RunWithOthers(const KernelCall& call) {
  const SizeFormula& rows = executable_.program().kernels[call.index].batched->rows;
  if (!rows.empty() && EvaluateSize(rows, call.args.scalars).value_or(INT64_MAX) > kMostRows)
    return false;
  BatchedCall batched{&executable_, call.index, call.args.buffers, call.args.scalars};
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
  // What counts toward the limit is the same, whether it runs with others or not.
  if (context_.batches && call.kernel->is_batched && call.units > 0 && runner_.Charge(call) &&
      RunWithOthers(call))
    return true;
  const int32_t code = runner_.Call(call);
  return code == RELAYVM_KERNEL_OK || FailKernel(frame, pc, call.index, code, &call);
}

}  // namespace relayvm::vm
