// A function's activation on the VmStack:
//
//   Frame | scalar registers | object registers | scratch of the running instruction, or the frame
//         | 8 bytes each     | 8 bytes each     | of what it calls
//
// Object registers always hold an object; those without a value hold Empty(). Tested by
// interpreter_call_test.cc.
#pragma once

#include <cstdint>

#include "vm/memory/object.h"
#include "vm/run/linked_program.h"

namespace relayvm::vm {

struct Frame {
  alignas(8) const FunctionCode* function;
  alignas(8) Frame* caller;              // null for the first frame
  alignas(8) const uint16_t* return_pc;  // in the caller: after the call
  alignas(8) char* arena;                // null when the function has none
  uint64_t return_register;              // in the caller

  uint64_t* scalars() { return reinterpret_cast<uint64_t*>(this + 1); }
  Object** objects() {
    return reinterpret_cast<Object**>(scalars() + function->num_scalar_registers);
  }
};
static_assert(sizeof(Frame) == 40);

}  // namespace relayvm::vm
