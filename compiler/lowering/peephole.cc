#include "compiler/lowering/peephole.h"

#include <utility>

#include "bytecode/base/dtype.h"

namespace relayvm::lower {
namespace {

Comparison Negated(Comparison c) {
  using enum Comparison;
  constexpr Comparison kNegated[] = {kNe, kEq, kGe, kGt, kLe, kLt};  // as the enum stands
  return kNegated[static_cast<size_t>(c)];
}

// How often each register of a bank is read.
std::vector<uint32_t> CountUses(MFunction& f, Bank of) {
  std::vector<uint32_t> uses(of == Bank::kScalar ? f.num_scalars : f.num_objects, 0);
  for (MInst& inst : f.code) {
    ForEachUse(inst, [&](Bank bank, uint32_t& r, bool*) {
      if (bank == of) ++uses[r];
    });
  }
  return uses;
}

bool IsMove(const MInst& inst) {
  return !inst.is_label && (inst.op == Opcode::kMoveI || inst.op == Opcode::kMoveR);
}

// The instruction that wraps the result of `op` to int32 as well; kWrap when there is none.
Opcode Int32Form(Opcode op) {
  switch (op) {
    case Opcode::kAddI:
      return Opcode::kAddI32;
    case Opcode::kAddImm:
      return Opcode::kAddImmI32;
    case Opcode::kSubI:
      return Opcode::kSubI32;
    case Opcode::kMulI:
      return Opcode::kMulI32;
    default:
      return Opcode::kWrap;
  }
}

}  // namespace

void FuseArithmeticAndWrap(MFunction& f) {
  std::vector<uint32_t> uses = CountUses(f, Bank::kScalar);
  std::vector<MInst> code;
  code.reserve(f.code.size());
  for (MInst& inst : f.code) {
    bool wraps = !inst.is_label && inst.op == Opcode::kWrap &&
                 inst.operands[2].value == static_cast<int64_t>(DType::kInt32);
    if (wraps && !code.empty() && !code.back().is_label) {
      MInst& before = code.back();
      Opcode fused = Int32Form(before.op);
      if (fused != Opcode::kWrap && before.operands[0].value == inst.operands[1].value &&
          uses[static_cast<size_t>(inst.operands[1].value)] == 1) {
        before.op = fused;
        before.operands[0] = inst.operands[0];
        continue;
      }
    }
    code.push_back(std::move(inst));
  }
  f.code = std::move(code);
}

void FuseCompareAndBranch(MFunction& f) {
  std::vector<uint32_t> uses = CountUses(f, Bank::kScalar);
  for (size_t i = 1; i < f.code.size(); ++i) {
    MInst& branch = f.code[i];
    const MInst& compare = f.code[i - 1];
    if (branch.is_label || compare.is_label || compare.op != Opcode::kCompareI) continue;
    if (branch.op != Opcode::kBranchIfNot && branch.op != Opcode::kBranchIf) continue;
    int64_t condition = branch.operands[0].value;
    if (compare.operands[0].value != condition || uses[static_cast<size_t>(condition)] != 1)
      continue;
    auto cmp = static_cast<Comparison>(compare.operands[1].value);
    if (branch.op == Opcode::kBranchIfNot) cmp = Negated(cmp);
    // The comparison stays behind without a use; liveness removes it.
    branch.op = Opcode::kBranchCmpI;
    branch.operands = {static_cast<int64_t>(cmp), compare.operands[2], compare.operands[3],
                       branch.operands[1]};
  }
}

void FuseResultAndMove(MFunction& f) {
  for (const Bank bank : {Bank::kScalar, Bank::kObject}) {
    const std::vector<uint32_t> uses = CountUses(f, bank);
    const auto [move, result] = bank == Bank::kScalar
                                    ? std::pair(Opcode::kMoveI, OperandKind::IOUT)
                                    : std::pair(Opcode::kMoveR, OperandKind::ROUT);
    size_t kept = 0;
    for (MInst& inst : f.code) {
      MInst* before = kept > 0 && !f.code[kept - 1].is_label ? &f.code[kept - 1] : nullptr;
      if (!inst.is_label && inst.op == move && before != nullptr &&
          GetOpcodeInfo(before->op).operands[0] == result &&
          before->operands[0].value == inst.operands[1].value &&
          uses[static_cast<size_t>(inst.operands[1].value)] == 1) {
        before->operands[0] = inst.operands[0];
        continue;
      }
      if (&inst != &f.code[kept]) f.code[kept] = std::move(inst);
      ++kept;
    }
    f.code.resize(kept);
  }
}

void DropIdleInstructions(MFunction& f) {
  std::vector<bool> is_idle(f.code.size());
  size_t last = f.code.size();  // that runs before; that many: none
  for (size_t i = 0; i < f.code.size(); ++i) {
    const MInst& inst = f.code[i];
    if (inst.is_label) {
      if (last < f.code.size() && f.code[last].op == Opcode::kJump &&
          f.code[last].operands[0].value == int64_t{inst.label}) {
        is_idle[last] = true;
      }
    } else if (IsMove(inst) && inst.operands[0].value == inst.operands[1].value) {
      is_idle[i] = true;
    } else {
      last = i;
    }
  }
  size_t i = 0;
  std::erase_if(f.code, [&](const MInst&) { return is_idle[i++]; });
}

}  // namespace relayvm::lower
