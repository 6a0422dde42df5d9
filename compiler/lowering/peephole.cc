#include "compiler/lowering/peephole.h"

namespace relayvm::lower {
namespace {

Comparison Negated(Comparison c) {
  switch (c) {
    case Comparison::kEq:
      return Comparison::kNe;
    case Comparison::kNe:
      return Comparison::kEq;
    case Comparison::kLt:
      return Comparison::kGe;
    case Comparison::kLe:
      return Comparison::kGt;
    case Comparison::kGt:
      return Comparison::kLe;
    case Comparison::kGe:
      return Comparison::kLt;
  }
  return c;
}

}  // namespace

void FuseCompareAndBranch(MFunction& f) {
  std::vector<uint32_t> uses(f.num_scalars, 0);
  for (MInst& inst : f.code) {
    ForEachUse(inst, [&](Bank bank, uint32_t& r, bool*) {
      if (bank == Bank::kScalar) ++uses[r];
    });
  }
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

}  // namespace relayvm::lower
