// te expressions to graph nodes: inlining, with one environment for each (tensor, indices) it is
// inlined at.
#include "kernels/codegen/graph.h"

namespace relayvm::codegen {

using te::ExprKind;

const Node* Lowering::Lower(const te::Expr& e) { return LowerIn(*e, top_); }

const Node* Lowering::LowerIn(const te::ExprNode& e, Environment& env) {
  auto found = env.done.find(&e);
  if (found != env.done.end()) return found->second;
  const Node* n = LowerNew(e, env);
  env.done[&e] = n;
  return n;
}

const Node* Lowering::LowerNew(const te::ExprNode& e, Environment& env) {
  auto operand = [&](size_t i) { return LowerIn(*e.operands[i], env); };
  switch (e.kind) {
    case ExprKind::kIntImm:
      return graph_.Int(e.int_value, e.dtype);
    case ExprKind::kFloatImm:
      return graph_.Float(e.float_value, e.dtype);
    case ExprKind::kAxis: {
      auto it = env.axes.find(e.axis.get());
      return it != env.axes.end() ? it->second : graph_.Axis(e.axis.get());
    }
    case ExprKind::kDim:
      return graph_.DimOf(e.dim);
    case ExprKind::kLoad:
      return LowerLoad(e, env);
    case ExprKind::kUnary:
      return graph_.Unary(e.unary, operand(0));
    case ExprKind::kBinary: {
      const Node* a = operand(0);
      return graph_.Binary(e.binary, a, operand(1));
    }
    case ExprKind::kCast:
      return graph_.Cast(operand(0), e.dtype);
    case ExprKind::kReinterpret:
      return graph_.Reinterpret(operand(0), e.dtype);
    case ExprKind::kSelect: {
      const Node* condition = operand(0);
      if (condition->kind == NodeKind::kInt) return operand(condition->int_value != 0 ? 1 : 2);
      const Node* if_true = operand(1);
      return graph_.Select(condition, if_true, operand(2));
    }
    case ExprKind::kReduce:
      return LowerReduce(e, env);
    case ExprKind::kChecked: {
      const Node* value = operand(0);
      const Node* least = operand(1);
      return graph_.Checked(value, least, operand(2), e.int_value);
    }
  }
  return nullptr;
}

const Node* Lowering::LowerReduce(const te::ExprNode& e, Environment& env) {
  // A reduction that is inlined more than once needs axes of its own each time: one may stand
  // inside the other.
  std::vector<const te::AxisNode*> axes;
  for (const te::Axis& axis : e.axes) {
    const te::AxisNode* own = axis.get();
    if (reduce_axis_uses_[own]++ > 0) own = graph_.NewAxis(axis->name, axis->extent);
    env.axes[axis.get()] = graph_.Axis(own);
    axes.push_back(own);
  }
  const Node* body = LowerIn(*e.operands[0], env);
  return graph_.Reduce(e.reduce, body, std::move(axes), e.dtype, e.select_last);
}

const Node* Lowering::LowerLoad(const te::ExprNode& e, Environment& env) {
  const te::TensorNode* tensor = e.tensor.get();
  Place place = place_(tensor);
  if (place == Place::kValue) return graph_.LoadValue(tensor);
  std::vector<const Node*> indices;
  for (const te::Expr& index : e.operands) indices.push_back(LowerIn(*index, env));
  if (place == Place::kMemory) return graph_.Load(tensor, indices);
  if (place == Place::kStaged) return graph_.LoadAt(tensor, std::move(indices));
  for (size_t i : inlined_of_[tensor]) {
    if (inlined_[i].indices == indices) return inlined_[i].value;
  }
  is_exhausted_ = is_exhausted_ || inlined_.size() + open_ >= most_;
  if (is_exhausted_) return graph_.LoadValue(tensor);
  Environment inner;
  for (size_t i = 0; i < indices.size(); ++i) inner.axes[tensor->axes[i].get()] = indices[i];
  ++open_;
  const Node* value = LowerIn(*tensor->body, inner);
  --open_;
  if (is_exhausted_) return value;
  inlined_of_[tensor].push_back(inlined_.size());
  inlined_.push_back({tensor, std::move(indices), value});
  return value;
}

}  // namespace relayvm::codegen
