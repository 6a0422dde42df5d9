// Scalar instructions on numbers that constants decide: those that sizes are made by. What they do is
// said in bytecode/opcodes.def. Tested by build_graph_test.cc.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "bytecode/instruction.h"
#include "bytecode/opcode.h"

namespace relayvm::graph {

// What a scalar register holds, where constants decide it.
using Scalar = std::optional<int64_t>;

bool Compare(Comparison cmp, int64_t a, int64_t b);

struct KnownNumber {
  Scalar value;           // none where an operand is unknown, or the instruction makes no sizes
  bool overflow = false;  // the instruction fails whenever it runs
};
KnownNumber ComputeNumber(const Instruction& inst, std::span<const Scalar> registers);

}  // namespace relayvm::graph
