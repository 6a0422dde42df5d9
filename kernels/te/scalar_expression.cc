#include "kernels/te/scalar_expression.h"

#include <unordered_set>

namespace relayvm::te {
namespace {

// More than this is faster as a kernel, and smaller.
constexpr size_t kMaxNodes = 64;

bool FitsRegister(DType t) { return t != DType::kFloat16 && t != DType::kBFloat16; }

// Logic and bits of floats are not worth instructions.
bool OnIntegersOnly(const ExprNode& e) {
  if (e.kind == ExprKind::kUnary) return e.unary == UnaryOp::kNot;
  return e.kind == ExprKind::kBinary && e.binary >= BinaryOp::kAnd &&
         e.binary <= BinaryOp::kShiftRight;
}

}  // namespace

bool IsApproximate(const ExprNode& e) {
  if (e.kind == ExprKind::kUnary) {
    return e.unary >= UnaryOp::kExp && e.unary <= UnaryOp::kAtanh && e.unary != UnaryOp::kSqrt;
  }
  if (e.kind != ExprKind::kBinary) return false;
  return e.binary == BinaryOp::kAtan2 || (e.binary == BinaryOp::kPower && IsFloat(e.dtype));
}

bool IsScalarExpression(const Tensor& t) {
  if (t->rank() != 0 || t->is_placeholder()) return false;
  struct Part {
    const ExprNode* e;
    bool is_chosen;  // a side of a select, which instructions evaluate in any case
  };
  std::vector<Part> work = {{t->body.get(), false}};
  std::unordered_set<const ExprNode*> seen;
  while (!work.empty()) {
    const auto [e, is_chosen] = work.back();
    work.pop_back();
    if (!seen.insert(e).second) continue;
    if (seen.size() > kMaxNodes || !FitsRegister(e->dtype)) return false;
    if (IsApproximate(*e)) return false;
    if (OnIntegersOnly(*e) && IsFloat(e->operands[0]->dtype)) return false;
    switch (e->kind) {
      case ExprKind::kAxis:
      case ExprKind::kReduce:
        return false;
      case ExprKind::kChecked:
        if (is_chosen) return false;
        break;
      case ExprKind::kLoad:
        if (e->tensor->rank() != 0) return false;
        if (!e->tensor->is_placeholder()) work.push_back({e->tensor->body.get(), is_chosen});
        break;
      default:
        break;
    }
    for (size_t i = 0; i < e->operands.size(); ++i) {
      const bool is_side = e->kind == ExprKind::kSelect && i > 0;
      work.push_back({e->operands[i].get(), is_chosen || is_side});
    }
  }
  return true;
}

}  // namespace relayvm::te
