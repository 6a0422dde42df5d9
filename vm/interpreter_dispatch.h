// How the dispatch loop reads operands and goes from one instruction to the next; for
// interpreter.cc only, whose Loop has the locals that the macros name: frame, pc, scalars, objects,
// heap, stop. Tested by the interpreter_*_test.cc.
#pragma once

#include <cstdint>
#include <cstring>

#include "bytecode/instruction.h"
#include "vm/interpreter_impl.h"

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

#define BINARY_INT(name, expression)          \
  CASE(name) : {                              \
    uint64_t a = I(2), b = I(3);              \
    I(1) = static_cast<uint64_t>(expression); \
    NEXT(4);                                  \
  }
#define BINARY_FLOAT(name, width, op)                       \
  CASE(name) : {                                            \
    I(1) = From##width(As##width(I(2)) op As##width(I(3))); \
    NEXT(4);                                                \
  }

#if RELAYVM_COMPUTED_GOTO
#define CASE(name) L_##name
#define DISPATCH()                                      \
  do {                                                  \
    if constexpr (kTraced) TraceInstruction(frame, pc); \
    goto* kLabels[*pc];                                 \
  } while (false)
#else
#define CASE(name) case Opcode::name
#define DISPATCH() goto dispatch
#endif
