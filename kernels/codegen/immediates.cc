#include "kernels/codegen/immediates.h"

#include <cmath>
#include <unordered_set>

#include "kernels/codegen/rewriter.h"
#include "kernels/codegen/schedule.h"
#include "kernels/te/scalar.h"

namespace relayvm::codegen {

using te::BinaryOp;
using te::ExprKind;
using te::ExprNode;
using te::TensorNode;

namespace {

// What an expression is to those that use it, as a set of bits.
using Use = uint8_t;
constexpr Use kIndex = 1;     // decides what a load reads
constexpr Use kGuard = 2;     // decides which side of a select is evaluated
constexpr Use kHelpful = 4;   // Immediate::helpful
constexpr Use kExponent = 8;  // of a power
constexpr Use kLimit = 32;    // of a minimum or maximum
constexpr Use kHinted = 16;   // stands in a computation whose form the scheduler knows
constexpr Use kInherited = kIndex | kGuard | kHinted;

// The code generator knows these powers.
bool IsSpecialExponent(double e) {
  return e == 3 || (std::abs(e) <= 2 && e * 2 == std::floor(e * 2));
}

Use OfOperand(const ExprNode& e, size_t i) {
  if (e.kind == ExprKind::kSelect) return i == 0 ? kGuard : 0;
  if (e.kind == ExprKind::kChecked) return i == 0 ? 0 : kIndex;
  if (e.kind != ExprKind::kBinary) return 0;
  switch (e.binary) {
    case BinaryOp::kDivide:
    case BinaryOp::kFloorDivide:
    case BinaryOp::kMod:
    case BinaryOp::kFloorMod:
    case BinaryOp::kShiftLeft:
    case BinaryOp::kShiftRight:
      return i == 1 ? kHelpful : 0;
    case BinaryOp::kPower:
      return i == 1 ? kHelpful | kExponent : 0;
    case BinaryOp::kMultiply:
      return IsFloat(e.dtype) ? 0 : kHelpful;
    case BinaryOp::kMin:
    case BinaryOp::kMax:
      return i == 1 && IsFloat(e.dtype) ? kLimit : 0;
    default:
      return 0;
  }
}

bool IsImmediate(const ExprNode& e) {
  return e.kind == ExprKind::kIntImm || e.kind == ExprKind::kFloatImm;
}

// Those of int8 and uint8: what is within them is no large number and no NaN.
bool IsLimitOfBytes(double x) { return x == 0 || x == 255 || x == -128 || x == 127; }

bool MayBeScalar(const ExprNode& e, Use use) {
  if (e.dtype == DType::kBool || (use & (kIndex | kHinted)) != 0) return false;
  if ((use & kLimit) != 0 && IsLimitOfBytes(e.float_value)) return false;
  // The comparisons of indices that guard a load are of dtype int64.
  if (e.dtype == DType::kInt64 && (use & kGuard) != 0) return false;
  return (use & kExponent) == 0 || !IsSpecialExponent(e.float_value);
}

int64_t BitsOf(const ExprNode& e) {
  if (e.kind == ExprKind::kIntImm) return e.int_value;
  int64_t bits = 0;
  te::WriteElement(e.dtype, te::FloatScalar(e.float_value), &bits);
  return bits;
}

}  // namespace

// Visits users before what they use.
class Immediates::Finder {
 public:
  explicit Finder(Immediates& out) : out_(out) {}

  void Run(const KernelSpec& spec) {
    std::vector<te::Tensor> order = TensorsInOrder(spec.outputs);
    for (size_t i = order.size(); i-- > 0;) {
      if (!order[i]->is_placeholder()) VisitTensor(*order[i]);
    }
  }

 private:
  void VisitTensor(const TensorNode& t) {
    std::vector<const te::Expr*> order = OperandsFirst(t.body);
    std::unordered_map<const ExprNode*, Use> uses;
    uses[t.body.get()] =
        static_cast<Use>(tensor_uses_[&t] | (t.hint == te::ScheduleHint::kNone ? Use{0} : kHinted));
    for (size_t i = order.size(); i-- > 0;) {
      const ExprNode& e = **order[i];
      Use use = uses[&e];
      if (IsImmediate(e)) {
        // Computations may share a node.
        Use all = immediate_uses_[&e] |= use;
        if (MayBeScalar(e, all)) {
          out_.found_[&e] = {*order[i], BitsOf(e), (all & kHelpful) != 0};
        } else {
          out_.found_.erase(&e);
        }
        continue;
      }
      PassOn(e, use, uses);
    }
  }

  void PassOn(const ExprNode& e, Use use, std::unordered_map<const ExprNode*, Use>& uses) {
    if (e.kind == ExprKind::kLoad) {
      tensor_uses_[e.tensor.get()] |= use & static_cast<Use>(~kHinted);
      for (const te::Expr& index : e.operands) uses[index.get()] |= kIndex;
      return;
    }
    Use inherited = use & kInherited;
    bool compares = e.kind == ExprKind::kBinary && te::IsComparison(e.binary);
    if (compares && !positions_.contains(&e)) inherited &= static_cast<Use>(~kGuard);
    for (size_t i = 0; i < e.operands.size(); ++i) {
      uses[e.operands[i].get()] |= static_cast<Use>(inherited | OfOperand(e, i));
    }
  }

  // The nodes of `root`, operands first; notes those whose value is computed from a position.
  std::vector<const te::Expr*> OperandsFirst(const te::Expr& root) {
    std::vector<const te::Expr*> order;
    std::unordered_set<const ExprNode*> entered;
    std::vector<std::pair<const te::Expr*, bool>> stack = {{&root, false}};
    while (!stack.empty()) {
      auto [e, expanded] = stack.back();
      stack.pop_back();
      if (!expanded) {
        if (!entered.insert(e->get()).second) continue;
        stack.push_back({e, true});
        for (const te::Expr& operand : (*e)->operands) stack.push_back({&operand, false});
        continue;
      }
      order.push_back(e);
      bool position = (*e)->kind == ExprKind::kAxis || (*e)->kind == ExprKind::kDim;
      for (const te::Expr& operand : (*e)->operands) {
        bool reads = (*e)->kind == ExprKind::kLoad;
        position = position || (!reads && positions_.contains(operand.get()));
      }
      if (position) positions_.insert(e->get());
    }
    return order;
  }

  Immediates& out_;
  std::unordered_map<const TensorNode*, Use> tensor_uses_;
  std::unordered_map<const ExprNode*, Use> immediate_uses_;
  std::unordered_set<const ExprNode*> positions_;
};

Immediates::Immediates(const KernelSpec& spec) { Finder(*this).Run(spec); }

const Immediate* Immediates::Find(const ExprNode& e) const {
  auto at = found_.find(&e);
  return at == found_.end() ? nullptr : &at->second;
}

KernelSpec WithScalars(KernelSpec spec, const std::vector<te::Expr>& immediates) {
  spec.by_value.resize(spec.inputs.size(), false);
  std::unordered_map<const ExprNode*, te::Expr> loads;
  for (const te::Expr& e : immediates) {
    te::Tensor scalar =
        te::Placeholder("scalar", {}, e->dtype, static_cast<int>(spec.inputs.size()));
    spec.inputs.push_back(scalar);
    spec.by_value.push_back(true);
    loads[e.get()] = te::Load(scalar, {});
  }
  std::unordered_map<const TensorNode*, te::Tensor> done;
  for (const te::Tensor& t : TensorsInOrder(spec.outputs)) {
    done[t.get()] = t;
    if (t->is_placeholder()) continue;
    Rewriter rewriter([&](const te::Expr& e) -> te::Expr {
      if (auto load = loads.find(e.get()); load != loads.end()) return load->second;
      if (e->kind != ExprKind::kLoad) return nullptr;
      // No immediate in an index is replaced.
      const te::Tensor& tensor = done.at(e->tensor.get());
      return tensor == e->tensor ? e : te::Load(tensor, e->operands);
    });
    te::Expr body = rewriter.Rewrite(t->body);
    if (body.get() == t->body.get()) continue;
    auto node = std::make_shared<TensorNode>(*t);
    node->body = std::move(body);
    for (te::Tensor& input : node->hint_inputs) {
      if (auto at = done.find(input.get()); at != done.end()) input = at->second;
    }
    done[t.get()] = std::move(node);
  }
  for (te::Tensor& t : spec.outputs) t = done.at(t.get());
  return spec;
}

}  // namespace relayvm::codegen
