// What must hold of each call of a kernel, so that it stays inside its buffers (KernelInfo):
//   - a buffer has the kernel's dtype (a slot of the arena has none), lies on its device, and has
//     room for its shape;
//   - a written buffer is no constant, no input of the host, and no other value's memory: a tensor
//     that one register holds, or a slot; and no other buffer of the call overlaps it, but for the
//     one that it may share;
//   - fixed scalars have their values; units of work are at most, scratch is at least the kernel's.
//
// Most of it follows from the code before the call: tensors were allocated there with the very
// registers that are the call's scalars. CheckKernelCalls proves what it can, by data flow over
// each stretch of code without a jump to it, where scalars are expressions (base/dim.h) and tensors
// have a dtype and dims; so have the arguments of a function that only the host calls, as the
// export declares them. After a jump's target nothing is known. What it cannot prove the
// interpreter checks at the call, which shows a dtype and room, not dims; and what is wrong in
// every run is an error. Debug builds check what is proved as well, and so do those that ask for it
// (LoadOptions::check_proved_calls): tests/fuzz does, with programs made at random.
// Time is linear in the size of the program. Tested by kernel_call_test.cc.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bytecode/base/status.h"
#include "bytecode/program.h"

namespace relayvm {

// Bits of the first unit of a buffer operand, in the copy of the code that runs: the interpreter
// checks that buffer; or, on the first buffer of a call, its scalars, units and scratch.
inline constexpr uint16_t kCheckBuffer = 0x4000;
inline constexpr uint16_t kCheckCall = 0x2000;
// With these: it is proved, so that a check that fails is a defect of the proof.
inline constexpr uint16_t kProvedBuffer = 0x1000;
inline constexpr uint16_t kProvedCall = 0x0800;

struct UnprovedBuffer {
  uint32_t unit;  // of Program::code
  uint16_t bits;
};

// REQUIRES: VerifyCode(program), and the program's tables and exports are verified.
Result<std::vector<UnprovedBuffer>> CheckKernelCalls(const Program& program);

// "expected float32 for buffer 1, found int64", and so on.
std::string DTypeMismatch(size_t buffer, DType expected, DType found);
std::string DeviceMismatch(size_t buffer, int expected, int found);
std::string SizeMismatch(size_t buffer, int64_t expected, int64_t found);
std::string ScalarMismatch(const FixedScalar& expected, int64_t found);

}  // namespace relayvm
