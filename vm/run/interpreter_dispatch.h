// How the dispatch loop reads operands and goes from one instruction to the next; for
// interpreter.cc only, whose Loop has the locals that the macros name: frame, pc, scalars, objects,
// heap, stop. Tested by the interpreter_*_test.cc.
#pragma once

#include <cstdint>
#include <cstring>

#include "bytecode/instruction.h"
#include "vm/run/interpreter_impl.h"

#if defined(__GNUC__)
#define RELAYVM_COMPUTED_GOTO 1
#endif

namespace relayvm::vm {

inline int64_t Imm16(const uint16_t* unit) { return static_cast<int16_t>(*unit); }
inline int32_t Imm32(const uint16_t* unit) {
  int32_t value;
  std::memcpy(&value, unit, sizeof(value));  // units are little-endian, low first
  return value;
}
inline uint64_t Imm64(const uint16_t* unit) {
  uint64_t value;
  std::memcpy(&value, unit, sizeof(value));
  return value;
}

inline int64_t Signed(uint64_t value) { return static_cast<int64_t>(value); }
inline uint64_t Unsigned(int64_t value) { return static_cast<uint64_t>(value); }

// The value of an object operand: moved out of its register when it is taken, else retained.
inline Object* TakeOrRetain(Object** objects, uint16_t operand) {
  Object*& reg = objects[operand & kRegisterMask];
  Object* value = reg;
  if (operand & kTakeBit) {
    reg = Empty();
  } else {
    Retain(value);
  }
  return value;
}

// The arguments of a call: scalars, then objects, the captured ones of a closure first.
struct CallArguments {
  const Closure* closure;  // null in a direct call
  const uint16_t *scalar_operands, *object_operands;
  uint32_t num_scalars, num_objects;

  // From an instruction's lists: scalars and objects, or for a closure objects alone.
  static CallArguments Direct(const uint16_t* lists) {
    const uint16_t* objects = lists + 1 + lists[0];
    return {nullptr, lists + 1, objects + 1, lists[0], objects[0]};
  }
  static CallArguments Of(const Closure* closure, const uint16_t* list) {
    return {closure, nullptr, list + 1, 0, list[0]};
  }

  uint32_t num_captured() const { return closure != nullptr ? closure->num_captured : 0; }
  // The instruction that follows.
  const uint16_t* end() const { return object_operands + num_objects; }
  // From registers; each object comes with a reference of its own.
  void Gather(const uint64_t* scalars, Object** objects, uint64_t* to_scalars,
              Object** to_objects) const {
    for (uint32_t i = 0; i < num_scalars; ++i) to_scalars[i] = scalars[scalar_operands[i]];
    if (closure != nullptr) {
      for (uint32_t i = 0; i < closure->num_captured; ++i) {
        Retain(closure->captured[i]);
        *to_objects++ = closure->captured[i];
      }
    }
    for (uint32_t i = 0; i < num_objects; ++i)
      to_objects[i] = TakeOrRetain(objects, object_operands[i]);
  }
};

// Registers behind the arguments hold nothing.
inline void ClearRegisters(Frame* frame, uint32_t num_scalars, uint32_t num_objects) {
  const FunctionCode* function = frame->function;
  uint64_t* scalars = frame->scalars();
  Object** objects = frame->objects();
  for (uint32_t i = num_scalars; i < function->num_scalar_registers; ++i) scalars[i] = 0;
  for (uint32_t i = num_objects; i < function->num_object_registers; ++i) objects[i] = Empty();
}

}  // namespace relayvm::vm

// Operands of the current instruction by unit.
#define I(unit) scalars[pc[unit]]
#define R(unit) objects[pc[unit] & kRegisterMask]
#define TAKES(unit) ((pc[unit] & kTakeBit) != 0)

#define NEXT(units) \
  do {              \
    pc += (units);  \
    DISPATCH();     \
  } while (false)

// Replaces the object in a register.
#define SET_OBJECT(unit, value) \
  do {                          \
    Object*& set_reg = R(unit); \
    Object* set_old = set_reg;  \
    set_reg = (value);          \
    Release(heap, set_old);     \
  } while (false)

// Ends the use of an operand that was only looked at.
#define RELEASE_IF_TAKEN(unit) \
  do {                         \
    if (TAKES(unit)) {         \
      Object* taken = R(unit); \
      R(unit) = Empty();       \
      Release(heap, taken);    \
    }                          \
  } while (false)

#define EXPECT_KIND(object, expected_kind)               \
  do {                                                   \
    if ((object)->kind != (expected_kind)) [[unlikely]]  \
      return FailKind(frame, pc, expected_kind, object); \
  } while (false)

// Of the host or a device: where the data is not read.
#define EXPECT_TENSOR(object)                                  \
  do {                                                         \
    if (!IsTensor(object)) [[unlikely]]                        \
      return FailKind(frame, pc, ObjectKind::kTensor, object); \
  } while (false)

#define POLL(cost)                                                                 \
  do {                                                                             \
    fuel_ -= (cost);                                                               \
    if ((fuel_ < 0) | (stop->load(std::memory_order_relaxed) != 0)) [[unlikely]] { \
      if (!Poll(frame, pc)) return false;                                          \
    }                                                                              \
  } while (false)

// Jumps to the target at `unit`; backward jumps poll.
#define JUMP(unit)                     \
  do {                                 \
    int32_t jump = Imm32(pc + (unit)); \
    if (jump <= 0) POLL(1);            \
    NEXT(jump);                        \
  } while (false)

// Loads the locals that follow from `frame`.
#define ENTER_FRAME()           \
  do {                          \
    scalars = frame->scalars(); \
    objects = frame->objects(); \
  } while (false)

// Goes on in `next`, a new frame, with the arguments of this instruction; unit 1 is the register
// of the result, unit 2 in a call of a closure the closure.
#define CALL(next, arguments)                                                                      \
  do {                                                                                             \
    const CallArguments call_args = arguments;                                                     \
    (next)->return_pc = call_args.end();                                                           \
    (next)->return_register = pc[1];                                                               \
    call_args.Gather(scalars, objects, (next)->scalars(), (next)->objects());                      \
    ClearRegisters(next, call_args.num_scalars, call_args.num_captured() + call_args.num_objects); \
    if (call_args.closure != nullptr) RELEASE_IF_TAKEN(2);                                         \
    if constexpr (kHooks == Hooks::kAll) ++depth_;                                                 \
    frame = next;                                                                                  \
    ENTER_FRAME();                                                                                 \
    pc = frame->function->code;                                                                    \
    DISPATCH();                                                                                    \
  } while (false)

#if RELAYVM_COMPUTED_GOTO
#define CASE(name) L_##name
#define DISPATCH()                                                    \
  do {                                                                \
    if constexpr (kHooks == Hooks::kAll) TraceInstruction(frame, pc); \
    goto* kLabels[*pc];                                               \
  } while (false)
#else
#define CASE(name) case Opcode::name
#define DISPATCH() goto dispatch
#endif
