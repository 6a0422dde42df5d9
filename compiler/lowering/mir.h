// MIR: a function's bytecode on virtual registers. Lowering appends instructions; liveness,
// register allocation and memory planning turn them into bytecode. Straight code and forward jumps
// only: a loop in Relay is a tail call, so the linear order of instructions is a topological order
// of the control flow. Tested by liveness_test.cc and lower_test.cc.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "bytecode/base/dim.h"
#include "bytecode/opcode.h"
#include "compiler/ir/source.h"

namespace relayvm::lower {

enum class Bank : uint8_t { kScalar, kObject };

// A virtual register; scalar and object registers are numbered apart.
using Reg = uint32_t;
using Label = uint32_t;

struct MBuffer {
  BufferKind kind;
  uint32_t index;  // virtual register, constant or virtual slot
  bool take = false;
};

// One operand, of the kind that the opcode table gives for its position.
struct MOperand {
  int64_t value = 0;             // register, immediate, index, label
  bool take = false;             // RIN
  std::vector<uint32_t> regs;    // ILIST, OLIST, RLIST; labels for TARGETS
  std::vector<bool> takes;       // RLIST
  std::vector<MBuffer> buffers;  // BUFS

  MOperand() = default;
  MOperand(int64_t v) : value(v) {}  // NOLINT(google-explicit-constructor)
  MOperand(std::vector<uint32_t> r) : regs(std::move(r)), takes(regs.size(), false) {}  // NOLINT
  // NOLINTNEXTLINE(google-explicit-constructor)
  MOperand(std::vector<MBuffer> b) : buffers(std::move(b)) {}
};

struct MInst {
  bool is_label = false;  // then `label` starts here and the rest is unused
  Label label = 0;
  Opcode op{};
  std::vector<MOperand> operands;
  ir::Span span;
  std::vector<ir::Span> checks;  // of kernels: where each of its checks is from (OpDef::checks)
  Dim bytes;  // of kTensorAlloc and kTensorReuse: the size of the result; 0 when it is not known
  std::optional<double> tasks;  // of kernels: what its work is worth, where that is known
};

// A virtual arena slot: memory for a tensor of static size that lives and dies in the frame.
struct MSlot {
  uint64_t bytes = 0;
  // Where it is a subview of another slot: a tensor that is joined with others, or taken from one.
  struct Part {
    uint32_t whole;
    uint64_t offset;  // bytes, a multiple of 64
  };
  std::optional<Part> part = std::nullopt;
};

struct MFunction {
  std::vector<MInst> code;
  // Virtual registers used; the first num_*_args of each bank are the arguments.
  uint32_t num_scalars = 0, num_objects = 0;
  uint32_t num_scalar_args = 0, num_object_args = 0;
  uint32_t num_labels = 0;
  std::vector<MSlot> slots;
  // Slots whose tensor a kernel may overwrite with its result: (read, written), of one size.
  std::vector<std::pair<uint32_t, uint32_t>> in_place;
};

// The slot that each is a subview of, maybe by others between them, and where in it; itself for
// most.
std::vector<MSlot::Part> SlotRoots(const MFunction& function);

// What an instruction touches, by the opcode table. `take` is null for scalars.
void ForEachUse(MInst& inst, const std::function<void(Bank, uint32_t& reg, bool* take)>& fn);
void ForEachDef(MInst& inst, const std::function<void(Bank, uint32_t& reg)>& fn);
void ForEachSlot(MInst& inst, const std::function<void(uint32_t& slot)>& fn);
void ForEachTarget(const MInst& inst, const std::function<void(Label)>& fn);
// True when control never continues at the next instruction.
bool EndsBlock(const MInst& inst);
// True for an instruction that only computes its result: removable when the result is unused.
bool IsPure(const MInst& inst);

}  // namespace relayvm::lower
