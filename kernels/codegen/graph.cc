// Interning, facts, rewriting. Index arithmetic is in graph_index.cc, lowering in lowering.cc.
#include "kernels/codegen/graph.h"

#include <algorithm>
#include <bit>
#include <unordered_set>

#include "kernels/te/scalar.h"

namespace relayvm::codegen {

using te::BinaryOp;
using te::UnaryOp;

bool Node::DependsOn(const te::AxisNode* a) const {
  return std::find(free_axes.begin(), free_axes.end(), a) != free_axes.end();
}

bool Node::IsConstInt(int64_t v) const {
  if (kind == NodeKind::kInt) return int_value == v;
  return kind == NodeKind::kLinear && operands.empty() && dim.is_const(v);
}

namespace {

size_t Mix(size_t h, size_t v) { return h ^ (v + 0x9e3779b97f4a7c15ULL + (h << 6) + (h >> 2)); }

size_t HashOf(const Node& n) {
  size_t h = static_cast<size_t>(n.kind) * 31 + static_cast<size_t>(n.dtype);
  for (const Node* operand : n.operands) h = Mix(h, operand->id);
  h = Mix(h, static_cast<size_t>(n.int_value));
  h = Mix(h, std::bit_cast<uint64_t>(n.float_value));
  h = Mix(h, static_cast<size_t>(n.unary) * 256 + static_cast<size_t>(n.binary));
  h = Mix(h, static_cast<size_t>(n.reduce) * 4 + (n.select_last ? 2 : 0) + (n.in_range ? 1 : 0));
  h = Mix(h, std::hash<const void*>()(n.axis));
  for (const te::AxisNode* axis : n.axes) h = Mix(h, std::hash<const void*>()(axis));
  for (const Dim& c : n.coefficients) h = Mix(h, c.Hash());
  h = Mix(h, n.dim.Hash());
  return Mix(h, std::hash<const void*>()(n.tensor));
}

bool Same(const Node& a, const Node& b) {
  return a.kind == b.kind && a.dtype == b.dtype && a.operands == b.operands &&
         a.int_value == b.int_value &&
         std::bit_cast<uint64_t>(a.float_value) == std::bit_cast<uint64_t>(b.float_value) &&
         a.unary == b.unary && a.binary == b.binary && a.reduce == b.reduce &&
         a.select_last == b.select_last && a.in_range == b.in_range && a.axis == b.axis &&
         a.axes == b.axes && a.coefficients == b.coefficients && a.dim == b.dim &&
         a.tensor == b.tensor;
}

uint32_t OwnCost(const Node& n) {
  switch (n.kind) {
    case NodeKind::kInt:
    case NodeKind::kFloat:
    case NodeKind::kAxis:
      return 0;
    case NodeKind::kLinear:
      return 1;
    case NodeKind::kUnary: {
      bool is_call = n.unary >= UnaryOp::kExp && n.unary <= UnaryOp::kAtanh;
      if (n.unary == UnaryOp::kSqrt || n.unary == UnaryOp::kRsqrt) return 6;
      return is_call ? 20 : 1;
    }
    case NodeKind::kBinary:
      if (n.binary == BinaryOp::kPower || n.binary == BinaryOp::kAtan2) return 50;
      if (n.binary >= BinaryOp::kDivide && n.binary <= BinaryOp::kFloorMod)
        return IsFloat(n.dtype) ? 4 : 10;
      return 1;
    default:
      return 1;
  }
}

}  // namespace

void Graph::ComputeFacts(Node& n) {
  uint64_t cost = OwnCost(n);
  for (const Node* operand : n.operands) {
    for (const te::AxisNode* axis : operand->free_axes) {
      if (!n.DependsOn(axis)) n.free_axes.push_back(axis);
    }
    n.bound = n.bound || operand->bound;
    cost += operand->cost;
  }
  switch (n.kind) {
    case NodeKind::kAxis:
      n.free_axes = {n.axis};
      break;
    case NodeKind::kLoad:
      n.safe = n.in_range && (n.operands.empty() || n.operands[0]->safe);
      n.bound = n.bound || n.operands.empty();
      break;
    case NodeKind::kLoadAt:
      n.safe = n.in_range;
      break;
    case NodeKind::kReduce:
      std::erase_if(n.free_axes, [&](const te::AxisNode* a) {
        return std::find(n.axes.begin(), n.axes.end(), a) != n.axes.end();
      });
      n.safe = n.operands[0]->safe;
      {
        int64_t steps = 1;
        for (const te::AxisNode* a : n.axes)
          steps *= a->extent.is_const() ? std::min<int64_t>(a->extent.value(), 64) : 64;
        cost = (cost + 1) * static_cast<uint64_t>(std::clamp<int64_t>(steps, 1, 64));
      }
      break;
    case NodeKind::kSelect:
      n.safe = n.operands[0]->safe;
      break;
    case NodeKind::kChecked:
      n.safe = false;
      break;
    default:
      for (const Node* operand : n.operands) n.safe = n.safe && operand->safe;
      break;
  }
  n.cost = static_cast<uint32_t>(std::min<uint64_t>(cost, 1u << 30));
}

const Node* Graph::Intern(Node node) {
  size_t hash = HashOf(node);
  auto [first, last] = interned_.equal_range(hash);
  for (auto it = first; it != last; ++it) {
    if (Same(*it->second, node)) return it->second;
  }
  node.id = static_cast<uint32_t>(nodes_.size());
  ComputeFacts(node);
  nodes_.push_back(std::move(node));
  interned_.emplace(hash, &nodes_.back());
  return &nodes_.back();
}

// --- Leaves and plain operators ---

const Node* Graph::Int(int64_t value, DType dtype) {
  constexpr int64_t kLimit = int64_t{1} << 31;
  value = WrapInteger(value, dtype);
  if (dtype == DType::kInt64 && value > -kLimit && value < kLimit) return DimOf(Dim(value));
  return Intern(Node{.kind = NodeKind::kInt, .dtype = dtype, .int_value = value});
}

const Node* Graph::Float(double value, DType dtype) {
  return Intern(Node{.kind = NodeKind::kFloat, .dtype = dtype, .float_value = value});
}

const Node* Graph::Axis(const te::AxisNode* axis) {
  if (axis->extent.is_const(1)) return DimOf(Dim(0));
  return Intern(Node{.kind = NodeKind::kAxis, .dtype = DType::kInt64, .axis = axis});
}

const Node* Graph::LoadFlat(const te::TensorNode* tensor, const Node* flat, bool in_range) {
  return Intern(Node{.kind = NodeKind::kLoad,
                     .dtype = tensor->dtype,
                     .operands = {flat},
                     .in_range = in_range,
                     .tensor = tensor});
}

const Node* Graph::Load(const te::TensorNode* tensor, const std::vector<const Node*>& indices) {
  bool in_range = true;
  for (size_t i = 0; i < indices.size(); ++i)
    in_range = in_range && Within(indices[i], tensor->shape[i]);
  return LoadFlat(tensor, Flatten(tensor->shape, indices), in_range);
}

const Node* Graph::LoadValue(const te::TensorNode* tensor) {
  return Intern(
      Node{.kind = NodeKind::kLoad, .dtype = tensor->dtype, .in_range = true, .tensor = tensor});
}

const Node* Graph::LoadAt(const te::TensorNode* tensor, std::vector<const Node*> indices) {
  bool in_range = true;
  for (size_t i = 0; i < indices.size(); ++i) {
    if (tensor->shape[i].is_const(1)) indices[i] = DimOf(Dim(0));
    in_range = in_range && Within(indices[i], tensor->shape[i]);
  }
  return Intern(Node{.kind = NodeKind::kLoadAt,
                     .dtype = tensor->dtype,
                     .operands = std::move(indices),
                     .in_range = in_range,
                     .tensor = tensor});
}

const Node* Graph::Unary(UnaryOp op, const Node* x) {
  if (x->dtype == DType::kInt64 && op == UnaryOp::kNegative) return Scale(x, Dim(-1));
  return Intern(Node{.kind = NodeKind::kUnary,
                     .dtype = te::ResultDType(op, x->dtype),
                     .operands = {x},
                     .unary = op});
}

const Node* Graph::Binary(BinaryOp op, const Node* a, const Node* b) {
  if (const Node* simpler = SimplifyBinary(op, a, b)) return simpler;
  return Intern(Node{.kind = NodeKind::kBinary,
                     .dtype = te::ResultDType(op, a->dtype),
                     .operands = {a, b},
                     .binary = op});
}

namespace {

bool IsNarrowInt(DType t) { return IsInt(t) && DTypeBytes(t) <= 2; }

// The narrow integer that x holds, through casts to wider ones.
const Node* NarrowIntOf(const Node* x) {
  while (x->kind == NodeKind::kCast && !IsNarrowInt(x->dtype) && IsSignedInt(x->dtype) &&
         IsInt(x->operands[0]->dtype) && DTypeBytes(x->operands[0]->dtype) < DTypeBytes(x->dtype)) {
    x = x->operands[0];
  }
  return IsNarrowInt(x->dtype) ? x : nullptr;
}

bool IsRounded(const Node* n) {
  return n->kind == NodeKind::kUnary && n->unary == te::UnaryOp::kRoundEven;
}

}  // namespace

bool Graph::IsLimitedTo(const Node* n, DType dtype) {
  const auto is_limit = [&](const Node* limit) {
    if (limit->kind != NodeKind::kFloat) return false;
    const double low = IsSignedInt(dtype) ? -std::exp2(DTypeBits(dtype) - 1) : 0;
    return limit->float_value >= low && limit->float_value < low + std::exp2(DTypeBits(dtype)) &&
           limit->float_value == std::floor(limit->float_value);
  };
  const auto limits = [&](const Node* x, te::BinaryOp op) {
    return x->kind == NodeKind::kBinary && x->binary == op && is_limit(x->operands[1]);
  };
  if (n->dtype != DType::kFloat32 || !IsNarrowInt(dtype)) return false;
  if (IsRounded(n)) n = n->operands[0];
  return limits(n, te::BinaryOp::kMax) && limits(n->operands[0], te::BinaryOp::kMin);
}

const Node* Graph::Cast(const Node* x, DType dtype) {
  if (x->dtype == dtype) return x;
  // A float within the limits of a narrow integer that becomes one and a float again.
  if (dtype == DType::kFloat32) {
    const Node* narrow = NarrowIntOf(x);
    if (narrow != nullptr && narrow->kind == NodeKind::kCast &&
        IsLimitedTo(narrow->operands[0], narrow->dtype)) {
      const Node* limited = narrow->operands[0];
      const bool is_whole = IsRounded(limited);
      const Node* whole = is_whole ? limited : Unary(te::UnaryOp::kTrunc, limited);
      // An integer has no -0, nor has what is at least 0: the limit is taken where both are 0.
      const Node* bounds = is_whole ? limited->operands[0] : limited;
      const bool has_minus_zero = bounds->operands[1]->float_value != 0;
      return has_minus_zero ? Binary(te::BinaryOp::kAdd, whole, Float(0, dtype)) : whole;
    }
  }
  // Rounded last, which the conversion does: limits are whole.
  if (IsLimitedTo(x, dtype) && !IsRounded(x) && IsRounded(x->operands[0]->operands[0])) {
    const Node* inner = x->operands[0];
    const Node* least = Binary(inner->binary, inner->operands[0]->operands[0], inner->operands[1]);
    x = Unary(te::UnaryOp::kRoundEven, Binary(x->binary, least, x->operands[1]));
  }
  if (x->kind == NodeKind::kLinear && x->operands.empty() && x->dim.is_const()) {
    te::Scalar v = te::ApplyCast(DType::kInt64, dtype, te::IntScalar(x->dim.value()));
    return IsFloat(dtype) ? Float(v.f, dtype) : Int(v.i, dtype);
  }
  return Intern(Node{.kind = NodeKind::kCast, .dtype = dtype, .operands = {x}});
}

const Node* Graph::Reinterpret(const Node* x, DType dtype) {
  if (x->dtype == dtype) return x;
  return Intern(Node{.kind = NodeKind::kReinterpret, .dtype = dtype, .operands = {x}});
}

const Node* Graph::Select(const Node* condition, const Node* if_true, const Node* if_false) {
  if (condition->kind == NodeKind::kInt) return condition->int_value != 0 ? if_true : if_false;
  if (if_true == if_false) return if_true;
  // Where a broadcast of a broadcast has one element, so has each of its parts.
  while (if_false->kind == NodeKind::kSelect && if_false->operands[1] == if_true &&
         Implies(if_false->operands[0], condition)) {
    if_false = if_false->operands[2];
    if (if_true == if_false) return if_true;
  }
  return Intern(Node{.kind = NodeKind::kSelect,
                     .dtype = if_true->dtype,
                     .operands = {condition, if_true, if_false}});
}

const Node* Graph::Reduce(te::ReduceKind kind, const Node* body,
                          std::vector<const te::AxisNode*> axes, DType dtype, bool select_last) {
  return Intern(Node{.kind = NodeKind::kReduce,
                     .dtype = dtype,
                     .operands = {body},
                     .reduce = kind,
                     .select_last = select_last,
                     .axes = std::move(axes)});
}

const te::AxisNode* Graph::NewAxis(std::string name, Dim extent) {
  axes_.push_back(te::AxisNode{std::move(name), std::move(extent)});
  return &axes_.back();
}

// --- Walking and rewriting ---

void AppendConjuncts(const Node* condition, std::vector<const Node*>& result) {
  const bool is_and =
      condition->kind == NodeKind::kBinary && condition->binary == te::BinaryOp::kAnd;
  if (!is_and || condition->dtype != DType::kBool) return result.push_back(condition);
  for (const Node* operand : condition->operands) AppendConjuncts(operand, result);
}

void ForEachNode(const std::vector<const Node*>& roots,
                 const std::function<void(const Node*)>& fn) {
  std::unordered_set<const Node*> done;
  std::vector<std::pair<const Node*, bool>> stack;
  for (size_t i = roots.size(); i-- > 0;) stack.push_back({roots[i], false});
  while (!stack.empty()) {
    auto [n, expanded] = stack.back();
    stack.pop_back();
    if (expanded) {
      fn(n);
      continue;
    }
    if (!done.insert(n).second) continue;
    stack.push_back({n, true});
    for (size_t i = n->operands.size(); i-- > 0;) {
      if (!done.contains(n->operands[i])) stack.push_back({n->operands[i], false});
    }
  }
}

uint64_t CostAlong(const Node* root, const te::AxisNode* axis) {
  uint64_t cost = 0;
  ForEachNode({root}, [&](const Node* n) {
    if (!n->DependsOn(axis)) return;
    uint32_t own = n->cost;
    if (n->kind != NodeKind::kReduce) {
      for (const Node* operand : n->operands) own -= std::min(own, operand->cost);
    }
    cost += own;
  });
  return cost;
}

const Node* Graph::Rebuild(const Node* n, std::vector<const Node*> operands) {
  switch (n->kind) {
    case NodeKind::kInt:
    case NodeKind::kFloat:
    case NodeKind::kAxis:
      return n;
    case NodeKind::kLinear: {
      Sum sum{{}, n->dim};
      for (size_t i = 0; i < operands.size(); ++i) AddTerm(sum, operands[i], n->coefficients[i]);
      return FromSum(std::move(sum));
    }
    case NodeKind::kLoad:
      return operands.empty() ? n : LoadFlat(n->tensor, operands[0], n->in_range);
    case NodeKind::kLoadAt: {
      const Node* load = LoadAt(n->tensor, std::move(operands));
      if (load->in_range || !n->in_range) return load;
      Node copy = *load;
      copy.in_range = true;
      copy.free_axes.clear();
      return Intern(std::move(copy));
    }
    case NodeKind::kUnary:
      return Unary(n->unary, operands[0]);
    case NodeKind::kBinary:
      return Binary(n->binary, operands[0], operands[1]);
    case NodeKind::kCast:
      return Cast(operands[0], n->dtype);
    case NodeKind::kReinterpret:
      return Reinterpret(operands[0], n->dtype);
    case NodeKind::kSelect:
      return Select(operands[0], operands[1], operands[2]);
    case NodeKind::kChecked:
      return Checked(operands[0], operands[1], operands[2], n->int_value);
    case NodeKind::kReduce:
      return Reduce(n->reduce, operands[0], n->axes, n->dtype, n->select_last);
  }
  return n;
}

const Node* Graph::Rewrite(const Node* root, const RewriteFn& fn) {
  std::unordered_map<const Node*, const Node*> done;
  ForEachNode({root}, [&](const Node* n) {
    std::vector<const Node*> operands;
    bool changed = false;
    for (const Node* operand : n->operands) {
      operands.push_back(done.at(operand));
      changed = changed || operands.back() != operand;
    }
    const Node* rebuilt = changed ? Rebuild(n, std::move(operands)) : n;
    const Node* replaced = fn(rebuilt);
    done[n] = replaced != nullptr ? replaced : rebuilt;
  });
  return done.at(root);
}

const Node* Graph::Substitute(const Node* root,
                              const std::unordered_map<const te::AxisNode*, const Node*>& axes) {
  return Rewrite(root, [&](const Node* n) -> const Node* {
    if (n->kind != NodeKind::kAxis) return nullptr;
    auto it = axes.find(n->axis);
    return it == axes.end() ? nullptr : it->second;
  });
}

}  // namespace relayvm::codegen
