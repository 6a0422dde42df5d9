#include "kernels/op/cost.h"

#include <unordered_set>

namespace relayvm {
namespace {

// In simple operations. A transcendental function is a polynomial of about this many.
constexpr int kTranscendental = 16;
constexpr int kExpensive = kTranscendental;

int CostOf(te::UnaryOp op) {
  switch (op) {
    case te::UnaryOp::kExp:
    case te::UnaryOp::kLog:
    case te::UnaryOp::kLog2:
    case te::UnaryOp::kLog10:
    case te::UnaryOp::kSigmoid:
    case te::UnaryOp::kTanh:
    case te::UnaryOp::kErf:
    case te::UnaryOp::kSin:
    case te::UnaryOp::kCos:
    case te::UnaryOp::kTan:
    case te::UnaryOp::kAsin:
    case te::UnaryOp::kAcos:
    case te::UnaryOp::kAtan:
    case te::UnaryOp::kSinh:
    case te::UnaryOp::kCosh:
    case te::UnaryOp::kAsinh:
    case te::UnaryOp::kAcosh:
    case te::UnaryOp::kAtanh:
      return kTranscendental;
    default:
      return 1;
  }
}

// Adds up an expression's operations, each node once. Arithmetic on indices is not counted: the
// code generator moves most of it out of the inner loop.
class Counter {
 public:
  bool IsExpensive(const te::Tensor& t) {
    if (t->body != nullptr) Visit(t->body);
    return cost_ >= kExpensive;
  }

 private:
  void Visit(const te::Expr& e) {
    if (cost_ >= kExpensive || !seen_.insert(e.get()).second) return;
    switch (e->kind) {
      case te::ExprKind::kLoad:
        if (e->tensor->body != nullptr) Visit(e->tensor->body);
        return;
      case te::ExprKind::kReduce:
        cost_ = kExpensive;
        return;
      case te::ExprKind::kUnary:
        cost_ += CostOf(e->unary);
        break;
      case te::ExprKind::kBinary: {
        const bool is_power =
            e->binary == te::BinaryOp::kPower || e->binary == te::BinaryOp::kAtan2;
        cost_ += is_power ? kTranscendental : 1;
        break;
      }
      case te::ExprKind::kCast:
      case te::ExprKind::kSelect:
        cost_ += 1;
        break;
      default:
        break;
    }
    for (const te::Expr& operand : e->operands) Visit(operand);
  }

  std::unordered_set<const te::ExprNode*> seen_;
  int cost_ = 0;
};

}  // namespace

bool IsExpensive(const OpDef& op, const Attrs& attrs, std::span<const TensorType> inputs,
                 std::span<const TensorType> outputs) {
  std::vector<te::Tensor> placeholders;
  for (const TensorType& t : inputs) {
    auto index = static_cast<int>(placeholders.size());
    placeholders.push_back(te::Placeholder("x", t.shape, t.dtype, index));
  }
  for (const te::Tensor& t : op.compute(ComputeContext{attrs, placeholders, outputs})) {
    if (Counter().IsExpensive(t)) return true;
  }
  return false;
}

}  // namespace relayvm
