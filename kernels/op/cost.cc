#include "kernels/op/cost.h"

#include <algorithm>
#include <limits>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace relayvm {
namespace {

// In simple operations. A transcendental function is a polynomial of about this many.
constexpr int kTranscendental = 16;
constexpr int kExpensive = kExpensiveElement;

int CostOf(te::UnaryOp op) {
  switch (op) {
    case te::UnaryOp::kExp:
    case te::UnaryOp::kSoftmaxExp:
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
  int OperationsOf(const te::Tensor& t) {
    if (t->body != nullptr) Visit(t->body);
    return std::min(cost_, kExpensive);
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
      case te::ExprKind::kChecked:
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

// Where computations read placeholders. What is read through a computation in between counts as
// read from where that one is.
class ReadFinder {
 public:
  explicit ReadFinder(size_t inputs) : reads_(inputs), seen_(inputs) {}

  void Visit(const te::Tensor& t) { VisitTensor(*t, {1, true, false}); }
  std::vector<InputReads> Take() && { return std::move(reads_); }

 private:
  using Indices = std::vector<const te::ExprNode*>;

  void VisitTensor(const te::TensorNode& t, const InputReads& from) {
    if (t.is_placeholder()) return;
    std::unordered_map<const te::TensorNode*, std::set<Indices>> inner;  // computed ones
    std::unordered_map<const te::TensorNode*, InputReads> inner_reads;
    std::vector<const te::ExprNode*> work = {t.body.get()};
    std::unordered_set<const te::ExprNode*> entered;
    std::vector<const te::TensorNode*> order;
    while (!work.empty()) {
      const te::ExprNode* e = work.back();
      work.pop_back();
      if (!entered.insert(e).second) continue;
      for (const te::Expr& operand : e->operands) work.push_back(operand.get());
      if (e->kind != te::ExprKind::kLoad) continue;
      const te::TensorNode& read = *e->tensor;
      Indices indices;
      for (const te::Expr& index : e->operands) indices.push_back(index.get());
      const bool own = IsOwnPlace(t, *e);
      const bool crosses = !own && Crosses(t, *e);
      if (read.is_placeholder()) {
        const auto input = static_cast<size_t>(read.input_index);
        if (own && from.own) {
          reads_[input].places += reads_[input].own ? 0 : 1;
          reads_[input].own = true;
        } else if (seen_[input].insert(std::move(indices)).second) {
          reads_[input].places += from.places;
        }
        reads_[input].crosses = reads_[input].crosses || crosses || from.crosses;
        continue;
      }
      InputReads& at = inner_reads[&read];
      if (at.places == 0) order.push_back(&read);
      if (own ? !at.own : inner[&read].insert(std::move(indices)).second) at.places += from.places;
      at.own = at.own || (own && from.own);
      at.crosses = at.crosses || crosses || from.crosses;
    }
    for (const te::TensorNode* read : order) {
      InputReads from_here = inner_reads.at(read);
      from_here.own = from_here.own && from_here.places == 1;
      from_here.places = std::min<int64_t>(from_here.places, kManyPlaces);
      if (visited_.insert(read).second) VisitTensor(*read, from_here);
    }
  }

  // Each index is the result's own one, that of a reduction, or the only one.
  static bool IsOwnPlace(const te::TensorNode& t, const te::ExprNode& load) {
    const std::vector<Dim>& shape = load.tensor->shape;
    for (size_t d = 0; d < shape.size(); ++d) {
      const te::ExprNode& index = *load.operands[d];
      if (shape[d].is_const(1)) continue;
      if (index.kind != te::ExprKind::kAxis) return false;
      const auto at = std::ranges::find(t.axes, index.axis);
      if (at == t.axes.end()) continue;
      // Of a result of higher rank, counted from the last axis, as operators broadcast.
      if (t.axes.end() - at != static_cast<ptrdiff_t>(shape.size() - d) &&
          at - t.axes.begin() != static_cast<ptrdiff_t>(d)) {
        return false;
      }
    }
    return true;
  }

  static bool Crosses(const te::TensorNode& t, const te::ExprNode& load) {
    std::vector<const te::ExprNode*> work;
    for (const te::Expr& index : load.operands) work.push_back(index.get());
    std::unordered_set<const te::ExprNode*> entered;
    while (!work.empty()) {
      const te::ExprNode* e = work.back();
      work.pop_back();
      if (!entered.insert(e).second) continue;
      if (e->kind == te::ExprKind::kLoad) return true;
      for (const te::Expr& operand : e->operands) work.push_back(operand.get());
    }
    const auto is_many = [](const Dim& d) { return !d.is_const(1); };
    const std::vector<Dim>& shape = load.tensor->shape;
    const auto read = std::ranges::find_if(shape, is_many);
    const auto outermost = std::ranges::find_if(t.shape, is_many);
    if (read == shape.end() || outermost == t.shape.end()) return false;
    const te::ExprNode& index = *load.operands[static_cast<size_t>(read - shape.begin())];
    return index.kind != te::ExprKind::kAxis ||
           index.axis != t.axes[static_cast<size_t>(outermost - t.shape.begin())];
  }

  static constexpr int64_t kManyPlaces = 1 << 20;
  std::vector<InputReads> reads_;
  std::vector<std::set<Indices>> seen_;  // places of each input that are not the own one
  std::unordered_set<const te::TensorNode*> visited_;
};

double ElementsOf(const std::vector<Dim>& dims, const SizeOfSymbol& sizes) {
  double n = 1;
  for (const Dim& d : dims) {
    const std::optional<int64_t> size = d.is_const() ? d.value()
                                        : sizes      ? d.Evaluate(sizes)
                                                     : std::nullopt;
    if (!size) return std::numeric_limits<double>::infinity();
    n *= static_cast<double>(std::max<int64_t>(*size, 0));
  }
  return n;
}

// The operations of one element of `root`; notes the computations that it loads.
double WorkOfElement(const te::ExprNode* root, const SizeOfSymbol& sizes,
                     std::vector<const te::TensorNode*>& loaded) {
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
    for (const te::Axis& axis : e.axes) t *= ElementsOf({axis->extent}, sizes);
    for (const te::Expr& operand : e.operands) {
      double& inner = times[operand.get()];
      inner = std::max(inner, t);
    }
  }
  return work;
}

}  // namespace

double WorkOf(std::span<const te::Tensor> outputs, const SizeOfSymbol& sizes) {
  std::vector<const te::TensorNode*> work;
  for (const te::Tensor& t : outputs) work.push_back(t.get());
  std::unordered_set<const te::TensorNode*> counted;
  double sum = 0;
  while (!work.empty()) {
    const te::TensorNode* t = work.back();
    work.pop_back();
    if (t->is_placeholder() || !counted.insert(t).second) continue;
    double elements = ElementsOf(t->shape, sizes);
    double of_element = WorkOfElement(t->body.get(), sizes, work);
    if (elements > 0) sum += elements * of_element;
  }
  return sum;
}

ElementCost CostOfElement(const OpDef& op, const Attrs& attrs, std::span<const TensorType> inputs,
                          std::span<const TensorType> outputs) {
  std::vector<te::Tensor> placeholders;
  for (const TensorType& t : inputs) {
    auto index = static_cast<int>(placeholders.size());
    placeholders.push_back(te::Placeholder("x", t.shape, t.dtype, index));
  }
  ElementCost cost;
  ReadFinder reads(inputs.size());
  for (const te::Tensor& t : op.compute(ComputeContext{attrs, placeholders, outputs})) {
    cost.operations = std::max(cost.operations, Counter().OperationsOf(t));
    reads.Visit(t);
  }
  cost.expensive = cost.operations >= kExpensive;
  cost.reads = std::move(reads).Take();
  return cost;
}

bool IsExpensive(const OpDef& op, const Attrs& attrs, std::span<const TensorType> inputs,
                 std::span<const TensorType> outputs) {
  return CostOfElement(op, attrs, inputs, outputs).expensive;
}

}  // namespace relayvm
