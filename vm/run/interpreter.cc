// The dispatch loop: bytecode/semantics.h on the registers of a frame, and the semantics of objects
// and calls.
#include "vm/run/interpreter.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "bytecode/kernel_call.h"
#include "bytecode/scalar_ops.h"
#include "bytecode/semantics.h"
#include "vm/run/interpreter_dispatch.h"
#include "vm/run/interpreter_impl.h"

namespace relayvm::vm {

// --- Scalars ---

// The machine of bytecode/semantics.h on a frame. What an instruction fails for, FailScalar finds
// out.
struct ScalarMachine : ScalarOps {
  uint64_t* registers;
  bool failed = false;

  explicit ScalarMachine(uint64_t* scalars) : registers(scalars) {}
  RELAYVM_INLINE uint64_t Scalar(uint16_t reg) const { return registers[reg]; }
  RELAYVM_INLINE void SetScalar(uint16_t reg, uint64_t value) {
    if (!failed) registers[reg] = value;
  }
  template <typename Fn>
  RELAYVM_INLINE void Require(bool ok, const Fn&) {
    if (!ok) [[unlikely]]
      failed = true;
  }
  template <typename Fn>
  RELAYVM_INLINE void Fail(const Fn&) {
    failed = true;
  }
};

// --- Frames of calls ---

// False when the stack has no room up to `end` for the call of `callee`.
inline bool Interpreter::HasRoom(Frame* frame, const uint16_t* pc, const FunctionCode* callee,
                                 void* end) {
  char* needed = static_cast<char*>(end) + callee->scratch_bytes;
  return needed <= stack_end_ || GrowStack(frame, pc, callee, needed);
}

inline bool Interpreter::PushArena(Frame* frame, const uint16_t* pc, const FunctionCode* callee,
                                   char** arena) {
  *arena = nullptr;
  if (callee->arena_bytes == 0) return true;
  *arena = context_.arena->Push(callee->arena_bytes);
  if (heap_.clears() && *arena != nullptr) [[unlikely]]
    std::memset(*arena, 0, callee->arena_bytes);
  return *arena != nullptr || FailMemory(frame, pc, "the arena of a function", callee->arena_bytes);
}

// A frame of `callee` above `frame`, all but its registers and where it returns to; null when there
// is no memory.
inline Frame* Interpreter::PushFrame(Frame* frame, const uint16_t* pc, const FunctionCode* callee) {
  auto* next =
      reinterpret_cast<Frame*>(reinterpret_cast<char*>(frame) + frame->function->frame_bytes);
  if (!HasRoom(frame, pc, callee, reinterpret_cast<char*>(next) + callee->frame_bytes)) [[unlikely]]
    return nullptr;
  if (!PushArena(frame, pc, callee, &next->arena)) [[unlikely]]
    return nullptr;
  next->function = callee;
  next->caller = frame;
  return next;
}

// What a frame holds, but for its arena.
inline void Interpreter::ReleaseRegisters(Frame* frame) {
  Object** objects = frame->objects();
  for (uint32_t i = 0; i < frame->function->num_object_registers; ++i) Release(heap_, objects[i]);
}

// Arguments from registers of the frame to its first ones. They wait in the processor's registers:
// by way of memory, values that a loop carries are stored and loaded once more in each turn, and a
// processor that guesses which load reads which store may guess wrong for a whole run (2.4 times
// slower on Zen 3).
template <size_t kCount, size_t kAt = 0>
RELAYVM_INLINE void MoveArguments(const uint16_t* operands, uint64_t* scalars) {
  if constexpr (kAt < kCount) {
    const uint64_t value = scalars[operands[kAt]];
    MoveArguments<kCount, kAt + 1>(operands, scalars);
    scalars[kAt] = value;
  }
}
// The same of up to 6; false, and nothing is moved, where they are more.
RELAYVM_INLINE bool MoveFew(const uint16_t* operands, uint32_t count, uint64_t* scalars) {
  return [&]<size_t... kCount>(std::index_sequence<kCount...>) {
    return ((count == kCount && (MoveArguments<kCount>(operands, scalars), true)) || ...);
  }(std::make_index_sequence<7>());
}

// Makes `frame` one of `callee` with these arguments. They are gathered above both frames, the old
// and the new, before what the old one holds is released.
inline bool Interpreter::ReplaceFrame(Frame* frame, const uint16_t* pc, const FunctionCode* callee,
                                      const CallArguments& args) {
  const FunctionCode* function = frame->function;
  const uint32_t above = std::max(function->frame_bytes, callee->frame_bytes);
  auto* scalars = reinterpret_cast<uint64_t*>(reinterpret_cast<char*>(frame) + above);
  auto** objects = reinterpret_cast<Object**>(scalars + args.num_scalars);
  const uint32_t num_objects = args.num_captured() + args.num_objects;
  if (!HasRoom(frame, pc, callee, static_cast<void*>(objects + num_objects))) [[unlikely]]
    return false;
  const bool moved = function->num_object_registers == 0 && num_objects == 0 &&
                     MoveFew(args.scalar_operands, args.num_scalars, frame->scalars());
  if (!moved) {
    args.Gather(frame->scalars(), frame->objects(), scalars, objects);
    ReleaseRegisters(frame);
  }
  if (callee != function) {
    if (function->arena_bytes != 0) context_.arena->Pop(frame->arena);
    if (!PushArena(frame, pc, callee, &frame->arena)) [[unlikely]]
      return false;
    frame->function = callee;
  }
  if (!moved) {
    std::copy_n(scalars, args.num_scalars, frame->scalars());
    std::copy_n(objects, num_objects, frame->objects());
  }
  ClearRegisters(frame, args.num_scalars, num_objects);
  return true;
}

template <Hooks kHooks>
// NOLINTNEXTLINE(google-readability-function-size): all instructions
bool Interpreter::Loop(Frame* frame) {
#if RELAYVM_COMPUTED_GOTO
  static const void* const kLabels[] = {
#define OP(name, ...) &&L_##name,
#include "bytecode/opcodes.def"
#undef OP
  };
#endif
  Heap& heap = heap_;
  const std::atomic<uint32_t>* const stop = context_.stop;
  const FunctionCode* const functions = linked_.functions.data();
  const uint16_t* pc = frame->function->code;
  uint64_t* scalars;
  Object** objects;
  ENTER_FRAME();

#if RELAYVM_COMPUTED_GOTO
  DISPATCH();
#else
dispatch:
  if constexpr (kHooks == Hooks::kAll) TraceInstruction(frame, pc);
  switch (static_cast<Opcode>(*pc)) {
#endif

  // --- Objects in registers ---
  CASE(kMoveR) : {
    Object* value = TakeOrRetain(objects, pc[2]);
    SET_OBJECT(1, value);
    NEXT(3);
  }
  CASE(kConstR) : {
    SET_OBJECT(1, constants_[pc[2]]);
    NEXT(3);
  }
  CASE(kDrop) : {
    SET_OBJECT(1, Empty());
    NEXT(2);
  }

  // --- Control ---
  CASE(kJump) : { JUMP(1); }
  CASE(kSwitch) : {
    uint64_t index = I(1);
    uint32_t count = pc[2];
    if (index < count) JUMP(3 + 2 * index);
    NEXT(3 + 2 * count);
  }
  CASE(kSwitchTag) : {
    Object* object = R(1);
    EXPECT_KIND(object, ObjectKind::kAdt);
    uint64_t index = static_cast<Adt*>(object)->tag;
    uint32_t count = pc[2];
    RELEASE_IF_TAKEN(1);
    if (index < count) JUMP(3 + 2 * index);
    NEXT(3 + 2 * count);
  }
  CASE(kCallI) : CASE(kCallR) : {
    POLL(1);
    Frame* next = PushFrame(frame, pc, &functions[pc[2]]);
    if (next == nullptr) [[unlikely]]
      return false;
    CALL(next, CallArguments::Direct(pc + 3));
  }
  CASE(kTailCall) : {
    POLL(1);
    const FunctionCode* callee = &functions[pc[1]];
    if (callee == frame->function && callee->num_object_registers == 0) {
      // A loop over scalars: the frame is right as it is, and has room above for arguments.
      const uint16_t* operands = pc + 3;
      const uint32_t count = pc[2];
      if (!MoveFew(operands, count, scalars)) {
        auto* gathered =
            reinterpret_cast<uint64_t*>(reinterpret_cast<char*>(frame) + callee->frame_bytes);
        for (uint32_t i = 0; i < count; ++i) gathered[i] = scalars[operands[i]];
        for (uint32_t i = 0; i < count; ++i) scalars[i] = gathered[i];
      }
    } else {
      if (!ReplaceFrame(frame, pc, callee, CallArguments::Direct(pc + 2))) [[unlikely]]
        return false;
      ENTER_FRAME();
    }
    pc = callee->code;
    DISPATCH();
  }
  CASE(kCallClosure) : {
    POLL(1);
    Object* object = R(2);
    const FunctionCode* callee = ClosureFunction(frame, pc, object, pc[3]);
    if (callee == nullptr) [[unlikely]]
      return false;
    Frame* next = PushFrame(frame, pc, callee);
    if (next == nullptr) [[unlikely]]
      return false;
    CALL(next, CallArguments::Of(static_cast<Closure*>(object), pc + 3));
  }
  CASE(kTailClosure) : {
    POLL(1);
    Object* object = R(1);
    const FunctionCode* callee = ClosureFunction(frame, pc, object, pc[2]);
    if (callee == nullptr) [[unlikely]]
      return false;
    const auto args = CallArguments::Of(static_cast<Closure*>(object), pc + 2);
    if (!ReplaceFrame(frame, pc, callee, args)) [[unlikely]]
      return false;
    ENTER_FRAME();
    pc = callee->code;
    DISPATCH();
  }
  CASE(kReturnI) : {
    // Never in the first frame, whose function returns an object.
    uint64_t value = I(1);
    ReleaseRegisters(frame);
    if (frame->function->arena_bytes != 0) context_.arena->Pop(frame->arena);
    pc = frame->return_pc;
    uint64_t destination = frame->return_register;
    if constexpr (kHooks == Hooks::kAll) --depth_;
    frame = frame->caller;
    ENTER_FRAME();
    scalars[destination] = value;
    DISPATCH();
  }
  CASE(kReturnR) : {
    Object* value = R(1);
    R(1) = Empty();  // a return is the last use, with or without the take bit
    ReleaseRegisters(frame);
    if (frame->function->arena_bytes != 0) context_.arena->Pop(frame->arena);
    if (frame->caller == nullptr) {
      result_ = value;
      return true;
    }
    pc = frame->return_pc;
    uint64_t destination = frame->return_register;
    if constexpr (kHooks == Hooks::kAll) --depth_;
    frame = frame->caller;
    ENTER_FRAME();
    Object* old = objects[destination];
    objects[destination] = value;
    Release(heap, old);
    DISPATCH();
  }
  // --- Data ---
  CASE(kAdtNew) : {
    const uint32_t count = pc[3];
    Adt* adt = NewAdt(heap, pc[2], count);
    if (adt == nullptr) [[unlikely]]
      return FailMemory(frame, pc, "a constructor or tuple");
    for (uint32_t i = 0; i < count; ++i) adt->fields[i] = TakeOrRetain(objects, pc[4 + i]);
    SET_OBJECT(1, adt);
    NEXT(4 + count);
  }
  CASE(kAdtGet) : {
    Object* object = R(2);
    EXPECT_KIND(object, ObjectKind::kAdt);
    auto* adt = static_cast<Adt*>(object);
    if (pc[3] >= adt->num_fields) [[unlikely]]
      return FailField(frame, pc, pc[3], adt->num_fields, "field");
    Object* value = adt->fields[pc[3]];
    Retain(value);
    RELEASE_IF_TAKEN(2);
    SET_OBJECT(1, value);
    NEXT(4);
  }
  CASE(kAdtTag) : {
    Object* object = R(2);
    EXPECT_KIND(object, ObjectKind::kAdt);
    uint64_t tag = static_cast<Adt*>(object)->tag;
    RELEASE_IF_TAKEN(2);
    I(1) = tag;
    NEXT(3);
  }
  CASE(kClosureNew) : {
    const uint32_t count = pc[3];
    Closure* closure = NewClosure(heap, pc[2], count);
    if (closure == nullptr) [[unlikely]]
      return FailMemory(frame, pc, "a closure");
    for (uint32_t i = 0; i < count; ++i) closure->captured[i] = TakeOrRetain(objects, pc[4 + i]);
    SET_OBJECT(1, closure);
    NEXT(4 + count);
  }
  CASE(kRefNew) : {
    Ref* ref = NewRef(heap);
    if (ref == nullptr) [[unlikely]]
      return FailMemory(frame, pc, "a reference");
    ref->content = TakeOrRetain(objects, pc[2]);
    SET_OBJECT(1, ref);
    NEXT(3);
  }
  CASE(kRefGet) : {
    Object* object = R(2);
    EXPECT_KIND(object, ObjectKind::kRef);
    Object* value = static_cast<Ref*>(object)->content;
    Retain(value);
    RELEASE_IF_TAKEN(2);
    SET_OBJECT(1, value);
    NEXT(3);
  }
  CASE(kRefSet) : {
    Object* object = R(1);
    EXPECT_KIND(object, ObjectKind::kRef);
    auto* ref = static_cast<Ref*>(object);
    Object* old = ref->content;
    ref->content = TakeOrRetain(objects, pc[2]);
    Release(heap, old);
    RELEASE_IF_TAKEN(1);
    NEXT(3);
  }

  // --- Tensors ---
  CASE(kTensorAlloc) : {
    const uint32_t rank = pc[3];
    Tensor* tensor = NewTensorChecked(frame, pc, static_cast<DType>(pc[2]), pc + 4, rank);
    if (tensor == nullptr) [[unlikely]]
      return false;
    SET_OBJECT(1, tensor);
    NEXT(4 + rank);
  }
  CASE(kTensorStatic) : {
    Tensor* tensor = NewStaticTensor(frame, pc, pc[2]);
    if (tensor == nullptr) [[unlikely]]
      return false;
    SET_OBJECT(1, tensor);
    NEXT(3);
  }
  CASE(kTensorView) : {
    const uint32_t rank = pc[3];
    Object* from = R(2);
    EXPECT_TENSOR(from);
    Tensor* tensor = View(frame, pc, from, TAKES(2), pc + 4, rank);
    if (tensor == nullptr) [[unlikely]]
      return false;
    if (tensor == from) {
      R(2) = Empty();  // changed in place, and moved
    } else {
      RELEASE_IF_TAKEN(2);
    }
    SET_OBJECT(1, tensor);
    NEXT(4 + rank);
  }
  CASE(kTensorReuse) : {
    const uint32_t rank = pc[4];
    Object* from = R(2);
    EXPECT_KIND(from, ObjectKind::kTensor);
    Tensor* tensor = Reuse(frame, pc, from, TAKES(2), static_cast<DType>(pc[3]), pc + 5, rank);
    if (tensor == nullptr) [[unlikely]]
      return false;
    if (tensor == from && TAKES(2)) {
      R(2) = Empty();
    } else {
      RELEASE_IF_TAKEN(2);
    }
    SET_OBJECT(1, tensor);
    NEXT(5 + rank);
  }
  CASE(kTensorAppend) : {
    const uint32_t rank = pc[5];
    Object* from = R(2);
    Object* more = R(3);
    EXPECT_KIND(from, ObjectKind::kTensor);
    EXPECT_KIND(more, ObjectKind::kTensor);
    Tensor* tensor = Append(frame, pc, from, TAKES(2), more, pc + 6, rank);
    if (tensor == nullptr) [[unlikely]]
      return false;
    if (tensor == from) {
      R(2) = Empty();  // grown in place, and moved
    } else {
      RELEASE_IF_TAKEN(2);
    }
    RELEASE_IF_TAKEN(3);
    SET_OBJECT(1, tensor);
    NEXT(6 + rank);
  }
  CASE(kTensorDim) : {
    Object* object = R(2);
    EXPECT_TENSOR(object);
    auto* tensor = static_cast<Tensor*>(object);
    if (pc[3] >= tensor->rank) [[unlikely]]
      return FailField(frame, pc, pc[3], tensor->rank, "axis");
    uint64_t dim = Unsigned(tensor->dims[pc[3]]);
    RELEASE_IF_TAKEN(2);
    I(1) = dim;
    NEXT(4);
  }
  CASE(kTensorItem) : {
    Object* object = R(2);
    EXPECT_KIND(object, ObjectKind::kTensor);
    auto* tensor = static_cast<Tensor*>(object);
    const auto dtype = static_cast<DType>(pc[3]);
    const int64_t position = Imm32(pc + 4);
    if (tensor->dtype != dtype || position < 0 || position >= tensor->num_elements()) [[unlikely]] {
      return FailItem(frame, pc, tensor, pc[3], position);
    }
    uint64_t value = LoadScalar(dtype, tensor->data + position * DTypeBytes(dtype));
    RELEASE_IF_TAKEN(2);
    I(1) = value;
    NEXT(6);
  }
  CASE(kTensorBox) : {
    const auto dtype = static_cast<DType>(pc[3]);
    Tensor* tensor = NewTensor(heap, dtype, 0, static_cast<size_t>(DTypeBytes(dtype)));
    if (tensor == nullptr) [[unlikely]]
      return FailMemory(frame, pc, "a scalar");
    StoreScalar(dtype, I(2), tensor->data);
    SET_OBJECT(1, tensor);
    NEXT(4);
  }
  CASE(kSlotItem) : {
    I(1) =
        LoadScalar(static_cast<DType>(pc[3]), frame->arena + frame->function->slots[pc[2]].offset);
    NEXT(4);
  }

  // --- Kernels ---
  CASE(kKernel) : CASE(kKernel1) : {
    const bool ranged = *pc == static_cast<uint16_t>(Opcode::kKernel);
    const uint16_t* scalar_args = pc + (ranged ? 6 : 3);
    const uint32_t num_scalars = scalar_args[-1];
    const uint16_t* buffer_args = scalar_args + num_scalars + 1;
    const uint32_t num_buffers = buffer_args[-1];
    POLL(kKernelFuel);
    ++counters_.kernel_calls;
    // The argument block stands above the frame, in space that the call of this function has
    // checked.
    auto* scalar_block =
        reinterpret_cast<int64_t*>(reinterpret_cast<char*>(frame) + frame->function->frame_bytes);
    auto** buffer_block = reinterpret_cast<void**>(scalar_block + num_scalars);
    for (uint32_t i = 0; i < num_scalars; ++i) scalar_block[i] = Signed(scalars[scalar_args[i]]);
    uint16_t bits = 0;  // of all buffers
    for (uint32_t i = 0; i < num_buffers; ++i) {
      const uint16_t kind = buffer_args[2 * i], index = buffer_args[2 * i + 1];
      bits |= kind;
      if ((kind & 0xFF) == static_cast<uint16_t>(BufferKind::kRegister)) {
        Object* object = objects[index];
        if (object->kind != ObjectKind::kTensor) [[unlikely]] {
          pc = LaunchKernel(frame, pc);
          if (pc == nullptr) return false;
          DISPATCH();
        }
        buffer_block[i] = static_cast<Tensor*>(object)->data;
      } else if ((kind & 0xFF) == static_cast<uint16_t>(BufferKind::kSlot)) {
        buffer_block[i] = frame->arena + frame->function->slots[index].offset;
      } else {
        buffer_block[i] = constants_[index]->data;
      }
    }
    const uint32_t unproved = bits & (kCheckBuffer | kCheckCall);
    const KernelCode* kernel = &linked_.kernels[pc[1]];
    bool traced = false;
    if constexpr (kHooks != Hooks::kNone) traced = --until_sample_ == 0;
    if (traced || (static_cast<uint32_t>(ranged) | unproved) != 0) {
      if (unproved != 0 && !CheckKernelCall(frame, pc, buffer_args, scalar_block)) [[unlikely]]
        return false;
      KernelCall call{pc[1], kernel, {buffer_block, scalar_block, nullptr}, 1, 1, 0};
      if (ranged) {
        call.units = Signed(I(2));
        call.grain = Signed(I(3));
        call.scratch_bytes = Signed(I(4));
      }
      if (traced ? !TraceKernel(frame, pc, call) : !RunKernel(frame, pc, call)) [[unlikely]]
        return false;
    } else {
      RelayvmKernelArgs args{buffer_block, scalar_block, nullptr};
      int32_t code = kernel->fn(runner_.env(), &args, 0, 1);
      if (code != RELAYVM_KERNEL_OK) [[unlikely]]
        return FailKernel(frame, pc, pc[1], code);
    }
    if (bits & kTakeBit) {
      for (uint32_t i = 0; i < num_buffers; ++i) {
        if ((buffer_args[2 * i] & kTakeBit) == 0) continue;
        Object*& reg = objects[buffer_args[2 * i + 1]];
        Object* taken = reg;
        reg = Empty();
        Release(heap, taken);
      }
    }
    pc = buffer_args + 2 * num_buffers;
    DISPATCH();
  }

  CASE(kKernels) : {
    // One by one as well where there is one thread, for a profile, and where they may run with
    // those of other invocations.
    if (kHooks == Hooks::kAll || !parallel_ || context_.batches) NEXT(2);
    const uint16_t* const one_by_one = pc + 2;
    const uint64_t num_calls = pc[1];
    if (kHooks == Hooks::kSampled && until_sample_ <= num_calls) NEXT(2);
    pc = RunTogether(frame, pc);
    if (pc == nullptr) [[unlikely]]
      return false;
    if (kHooks == Hooks::kSampled && pc != one_by_one) until_sample_ -= num_calls;
    DISPATCH();
  }

  // --- Sizes ---
  CASE(kDimTensor) : {
    const uint32_t rank = pc[1];
    if (!CheckTensorDims(frame, pc, pc + 2, rank, pc[2 + rank])) [[unlikely]]
      return false;
    NEXT(3 + rank);
  }
  CASE(kDimShape) : {
    pc = ApplyRule(frame, pc);
    if (pc == nullptr) [[unlikely]]
      return false;
    DISPATCH();
  }

  // --- Functions of the host ---
  CASE(kCallHost) : {
    POLL(kKernelFuel);
    if (!CallHost(frame, pc)) [[unlikely]]
      return false;
    NEXT(4 + pc[3]);
  }

  // --- Devices ---
  CASE(kTensorCopy) : {
    POLL(1);
    if (!CopyTensor(frame, pc)) [[unlikely]]
      return false;
    NEXT(4);
  }

  // --- Scalars: what semantics.h says ---
#define OP(...)
#define SCALAR(name, ...)                                  \
  CASE(name) : {                                           \
    ScalarMachine machine(scalars);                        \
    I(1) = semantics::Evaluate<Opcode::name>(machine, pc); \
    NEXT(semantics::Units<Opcode::name>(pc));              \
  }
#define FALLIBLE(name, ...)                     \
  CASE(name) : {                                \
    ScalarMachine machine(scalars);             \
    semantics::Step<Opcode::name>(machine, pc); \
    if (machine.failed) [[unlikely]]            \
      return FailScalar(frame, pc);             \
    NEXT(semantics::Units<Opcode::name>(pc));   \
  }
#define BRANCH(name, ...)                                                 \
  CASE(name) : {                                                          \
    ScalarMachine machine(scalars);                                       \
    constexpr uint32_t kUnits = semantics::Units<Opcode::name>();         \
    if (semantics::Evaluate<Opcode::name>(machine, pc)) JUMP(kUnits - 2); \
    NEXT(kUnits);                                                         \
  }
#include "bytecode/opcodes.def"
#undef OP
#if !RELAYVM_COMPUTED_GOTO
}
return Fail(frame, pc, StatusCode::kInternal, "unknown opcode");
#endif
}

template bool Interpreter::Loop<Hooks::kNone>(Frame* frame);
template bool Interpreter::Loop<Hooks::kSampled>(Frame* frame);
template bool Interpreter::Loop<Hooks::kAll>(Frame* frame);

}  // namespace relayvm::vm
