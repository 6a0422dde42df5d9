#include "kernels/op/cost.h"

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <unordered_set>
#include <utility>

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

int CostOf(te::BinaryOp op) {
  bool is_power = op == te::BinaryOp::kPower || op == te::BinaryOp::kAtan2;
  return is_power ? kTranscendental : 1;
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
      case te::ExprKind::kBinary:
        cost_ += CostOf(e->binary);
        break;
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

double ElementsOf(const std::vector<Dim>& dims) {
  double n = 1;
  for (const Dim& d : dims) {
    if (!d.is_const()) return std::numeric_limits<double>::infinity();
    n *= static_cast<double>(std::max<int64_t>(d.value(), 0));
  }
  return n;
}

// The operations of one element of `root`; notes the computations that it loads.
double WorkOfElement(const te::ExprNode* root, std::vector<const te::TensorNode*>& loaded) {
  // Operands first, so that users can be walked before what they use.
  std::vector<const te::ExprNode*> order;
  std::unordered_set<const te::ExprNode*> entered;
  std::vector<std::pair<const te::ExprNode*, bool>> stack = {{root, false}};
  while (!stack.empty()) {
    auto [e, expanded] = stack.back();
    stack.pop_back();
    if (expanded) {
      order.push_back(e);
      continue;
    }
    if (!entered.insert(e).second) continue;
    stack.emplace_back(e, true);
    for (const te::Expr& operand : e->operands) stack.emplace_back(operand.get(), false);
  }
  std::unordered_map<const te::ExprNode*, double> times = {{root, 1}};  // that it is evaluated
  double work = 0;
  for (size_t i = order.size(); i-- > 0;) {
    const te::ExprNode& e = *order[i];
    double t = times[&e];
    int cost = e.kind == te::ExprKind::kUnary    ? CostOf(e.unary)
               : e.kind == te::ExprKind::kBinary ? CostOf(e.binary)
                                                 : 1;
    work += t * cost;
    if (e.kind == te::ExprKind::kLoad) loaded.push_back(e.tensor.get());
    for (const te::Axis& axis : e.axes) t *= ElementsOf({axis->extent});
    for (const te::Expr& operand : e.operands) {
      double& inner = times[operand.get()];
      inner = std::max(inner, t);
    }
  }
  return work;
}

}  // namespace

double WorkOf(std::span<const te::Tensor> outputs) {
  std::vector<const te::TensorNode*> work;
  for (const te::Tensor& t : outputs) work.push_back(t.get());
  std::unordered_set<const te::TensorNode*> counted;
  double sum = 0;
  while (!work.empty()) {
    const te::TensorNode* t = work.back();
    work.pop_back();
    if (t->is_placeholder() || !counted.insert(t).second) continue;
    double elements = ElementsOf(t->shape);
    double of_element = WorkOfElement(t->body.get(), work);
    if (elements > 0) sum += elements * of_element;
  }
  return sum;
}

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
