// StaticPlan: whether a program runs without a heap, and where everything in it lies then.
//
// It does where each tensor that it makes has a known size and is made once in a run of its
// function: no allocation stands in a loop, no function calls itself but by a tail call, nothing
// asks for a constructor's tag. A function then has a frame in the caller's workspace:
//
//   arena | tensors and tuples, one place an instruction | kernels' scratch | frames of calls
//
// Frames of calls that give a scalar share their place; those whose result may lie in the callee's
// frame have one each. Offsets are multiples of 64. Tested by tests/aot.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "bytecode/base/status.h"
#include "bytecode/instruction.h"
#include "bytecode/program.h"

namespace relayvm::aot {

// Of offsets in frames.
inline constexpr uint64_t kAlignment = 64;
inline uint64_t RoundUp(uint64_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

// The instructions of a function, decoded.
struct PlacedInstruction {
  uint32_t pc;  // units from the function's first
  Instruction instruction;
};
Result<std::vector<PlacedInstruction>> DecodeFunction(const Program& program, uint32_t function);

struct StaticFrame {
  uint64_t bytes = 0;  // with the frames of what it calls
  // By pc: the offset of what the instruction makes, or of the frame of what it calls.
  std::map<uint32_t, uint64_t> offsets;
  uint64_t scratch_offset = 0;
};

struct StaticPlan {
  std::vector<StaticFrame> frames;  // by function; of those that exports reach
  std::vector<bool> is_reached;
  // Empty, or why a heap is needed: "main: tensor.alloc makes a tensor of open size".
  std::string obstacle;
  bool reached(uint32_t function) const { return is_reached[function]; }
  bool possible() const { return obstacle.empty(); }
};
Result<StaticPlan> PlanStatically(const Program& program);

// Whether values of the type are tensors of static shapes, and tuples of such.
bool IsStatic(const ValueType& type);
// Bytes of a tensor of static dims.
uint64_t BytesOf(const ValueType& type);

}  // namespace relayvm::aot
