#include "kernels/te/te.h"

#include <cassert>
#include <cmath>
#include <unordered_map>
#include <utility>

#include "kernels/te/scalar.h"

namespace relayvm::te {
namespace {

std::shared_ptr<ExprNode> NewNode(ExprKind kind, DType dtype) {
  auto node = std::make_shared<ExprNode>();
  node->kind = kind;
  node->dtype = dtype;
  return node;
}

bool IsImm(const Expr& e) { return e->kind == ExprKind::kIntImm || e->kind == ExprKind::kFloatImm; }
bool IsInt(const Expr& e, int64_t v) { return e->kind == ExprKind::kIntImm && e->int_value == v; }

Scalar ImmValue(const Expr& e) {
  return e->kind == ExprKind::kIntImm ? IntScalar(e->int_value) : FloatScalar(e->float_value);
}

Expr ImmOf(Scalar v, DType dtype) {
  return IsFloat(dtype) ? FloatImm(v.f, dtype) : IntImm(v.i, dtype);
}

// The expression as a Dim, if it is a constant or a dimension of dtype int64.
bool AsDim(const Expr& e, Dim& out) {
  if (e->dtype != DType::kInt64) return false;
  if (e->kind == ExprKind::kIntImm) {
    out = Dim(e->int_value);
    return true;
  }
  if (e->kind == ExprKind::kDim) {
    out = e->dim;
    return true;
  }
  return false;
}

// Dims do not wrap: only dimension-sized constants take part.
bool SmallEnough(const Dim& d) {
  constexpr int64_t kLimit = int64_t{1} << 31;
  return !d.is_const() || (d.value() > -kLimit && d.value() < kLimit);
}

// Decides a comparison of dimensions whose difference is bounded; null when it cannot.
Expr CompareDims(BinaryOp op, const Dim& a, const Dim& b) {
  if (op == BinaryOp::kGreater) return CompareDims(BinaryOp::kLess, b, a);
  if (op == BinaryOp::kGreaterEqual) return CompareDims(BinaryOp::kLessEqual, b, a);
  Dim difference = b - a;
  auto low = difference.LowerBound();
  auto high = difference.UpperBound();
  auto truth = [](bool v) { return IntImm(v, DType::kBool); };
  switch (op) {
    case BinaryOp::kLess:
      if (low && *low > 0) return truth(true);
      if (high && *high <= 0) return truth(false);
      return nullptr;
    case BinaryOp::kLessEqual:
      if (low && *low >= 0) return truth(true);
      if (high && *high < 0) return truth(false);
      return nullptr;
    default:
      if (a == b) return truth(op == BinaryOp::kEqual);
      if (Dim::ProvablyDifferent(a, b)) return truth(op == BinaryOp::kNotEqual);
      return nullptr;
  }
}

Expr FoldDims(BinaryOp op, const Dim& a, const Dim& b) {
  if (!SmallEnough(a) || !SmallEnough(b)) return nullptr;
  if (IsComparison(op)) return CompareDims(op, a, b);
  auto low = b.LowerBound();
  bool positive = low && *low > 0;
  switch (op) {
    case BinaryOp::kAdd:
      return DimValue(a + b);
    case BinaryOp::kSubtract:
      return DimValue(a - b);
    case BinaryOp::kMultiply:
      return DimValue(a * b);
    case BinaryOp::kMin:
      return DimValue(Dim::Min(a, b));
    case BinaryOp::kMax:
      return DimValue(Dim::Max(a, b));
    case BinaryOp::kFloorDivide:
      return positive ? DimValue(Dim::FloorDiv(a, b)) : nullptr;
    case BinaryOp::kFloorMod:
      return positive ? DimValue(Dim::FloorMod(a, b)) : nullptr;
    default:
      return nullptr;
  }
}

// x op identity, identity op x, and the like; null when nothing applies.
Expr SimplifyInt(BinaryOp op, const Expr& a, const Expr& b) {
  Dim x;
  Dim y;
  if (AsDim(a, x) && AsDim(b, y)) {
    if (Expr folded = FoldDims(op, x, y)) return folded;
  }
  bool is_bool = a->dtype == DType::kBool;
  switch (op) {
    case BinaryOp::kAdd:
      if (IsInt(a, 0)) return b;
      if (IsInt(b, 0)) return a;
      // (x + c) + d: constants gather at the end.
      if (b->kind == ExprKind::kIntImm && a->kind == ExprKind::kBinary &&
          a->binary == BinaryOp::kAdd && a->operands[1]->kind == ExprKind::kIntImm) {
        return Binary(BinaryOp::kAdd, a->operands[0], Binary(BinaryOp::kAdd, a->operands[1], b));
      }
      return nullptr;
    case BinaryOp::kSubtract:
      if (IsInt(b, 0)) return a;
      return a.get() == b.get() ? IntImm(0, a->dtype) : nullptr;
    case BinaryOp::kMultiply:
      if (IsInt(a, 0) || IsInt(b, 1)) return a;
      if (IsInt(b, 0) || IsInt(a, 1)) return b;
      return nullptr;
    case BinaryOp::kDivide:
    case BinaryOp::kFloorDivide:
      return IsInt(b, 1) || IsInt(a, 0) ? a : nullptr;
    case BinaryOp::kMod:
    case BinaryOp::kFloorMod:
      if (IsInt(a, 0)) return a;
      return IsInt(b, 1) ? IntImm(0, a->dtype) : nullptr;
    case BinaryOp::kMin:
    case BinaryOp::kMax:
      return a.get() == b.get() ? a : nullptr;
    case BinaryOp::kAnd:
      if (IsInt(a, 0) || (is_bool && IsInt(b, 1))) return a;
      if (IsInt(b, 0) || (is_bool && IsInt(a, 1))) return b;
      return nullptr;
    case BinaryOp::kOr:
      if (IsInt(b, 0) || (is_bool && IsInt(a, 1))) return a;
      if (IsInt(a, 0) || (is_bool && IsInt(b, 1))) return b;
      return nullptr;
    default:
      return nullptr;
  }
}

}  // namespace

// --- Building ---

Expr IntImm(int64_t value, DType dtype) {
  auto node = NewNode(ExprKind::kIntImm, dtype);
  node->int_value = WrapInteger(value, dtype);
  return node;
}

Expr FloatImm(double value, DType dtype) {
  auto node = NewNode(ExprKind::kFloatImm, dtype);
  node->float_value = RoundToDType(value, dtype);
  return node;
}

Expr Const(double value, DType dtype) {
  if (IsFloat(dtype)) return FloatImm(value, dtype);
  return IntImm(ApplyCast(DType::kFloat64, dtype, FloatScalar(value)).i, dtype);
}

Expr DimValue(const Dim& dim) {
  if (dim.is_const()) return IntImm(dim.value());
  auto node = NewNode(ExprKind::kDim, DType::kInt64);
  node->dim = dim;
  return node;
}

Expr AxisValue(const Axis& axis) {
  if (axis->extent.is_const(1)) return IntImm(0);
  auto node = NewNode(ExprKind::kAxis, DType::kInt64);
  node->axis = axis;
  return node;
}

Expr Load(const Tensor& tensor, std::vector<Expr> indices) {
  assert(indices.size() == tensor->shape.size());
  auto node = NewNode(ExprKind::kLoad, tensor->dtype);
  node->tensor = tensor;
  node->operands = std::move(indices);
  return node;
}

Expr Unary(UnaryOp op, Expr x) {
  if (IsImm(x)) return ImmOf(ApplyUnary(op, x->dtype, ImmValue(x)), ResultDType(op, x->dtype));
  auto node = NewNode(ExprKind::kUnary, ResultDType(op, x->dtype));
  node->unary = op;
  node->operands = {std::move(x)};
  return node;
}

Expr Binary(BinaryOp op, Expr a, Expr b) {
  assert(a->dtype == b->dtype);
  DType dtype = ResultDType(op, a->dtype);
  if (IsImm(a) && IsImm(b))
    return ImmOf(ApplyBinary(op, a->dtype, ImmValue(a), ImmValue(b)), dtype);
  if (IsFloat(a->dtype)) {
    bool b_is_one = b->kind == ExprKind::kFloatImm && b->float_value == 1;
    if (b_is_one && (op == BinaryOp::kMultiply || op == BinaryOp::kDivide)) return a;
    if (op == BinaryOp::kMultiply && a->kind == ExprKind::kFloatImm && a->float_value == 1)
      return b;
  } else if (Expr simpler = SimplifyInt(op, a, b)) {
    return simpler;
  }
  auto node = NewNode(ExprKind::kBinary, dtype);
  node->binary = op;
  node->operands = {std::move(a), std::move(b)};
  return node;
}

Expr Cast(Expr x, DType dtype) {
  if (x->dtype == dtype) return x;
  if (IsImm(x)) return ImmOf(ApplyCast(x->dtype, dtype, ImmValue(x)), dtype);
  auto node = NewNode(ExprKind::kCast, dtype);
  node->operands = {std::move(x)};
  return node;
}

Expr Reinterpret(Expr x, DType dtype) {
  assert(DTypeBytes(x->dtype) == DTypeBytes(dtype));
  if (x->dtype == dtype) return x;
  auto node = NewNode(ExprKind::kReinterpret, dtype);
  node->operands = {std::move(x)};
  return node;
}

Expr Select(Expr condition, Expr if_true, Expr if_false) {
  assert(condition->dtype == DType::kBool && if_true->dtype == if_false->dtype);
  if (condition->kind == ExprKind::kIntImm) return condition->int_value != 0 ? if_true : if_false;
  if (if_true.get() == if_false.get()) return if_true;
  auto node = NewNode(ExprKind::kSelect, if_true->dtype);
  node->operands = {std::move(condition), std::move(if_true), std::move(if_false)};
  return node;
}

Expr Checked(Expr value, Expr least, Expr end, int64_t number) {
  assert(value->dtype == DType::kInt64 && number > 0);
  auto node = NewNode(ExprKind::kChecked, DType::kInt64);
  node->operands = {std::move(value), std::move(least), std::move(end)};
  node->int_value = number;
  return node;
}

Expr Reduce(ReduceKind kind, Expr body, std::vector<Axis> axes, DType dtype, bool select_last) {
  if (dtype == DType::kBFloat16 && (kind == ReduceKind::kSum || kind == ReduceKind::kProd)) {
    auto widen = [](const Expr& e) { return Cast(e, DType::kFloat32); };
    const bool is_product = body->kind == ExprKind::kBinary && body->binary == BinaryOp::kMultiply;
    Expr wide = is_product ? widen(body->operands[0]) * widen(body->operands[1]) : widen(body);
    return Cast(Reduce(kind, std::move(wide), std::move(axes), DType::kFloat32), dtype);
  }
  auto node = NewNode(ExprKind::kReduce, dtype);
  node->reduce = kind;
  node->operands = {std::move(body)};
  node->axes = std::move(axes);
  node->select_last = select_last;
  return node;
}

Axis MakeAxis(std::string name, Dim extent) {
  return std::make_shared<const AxisNode>(AxisNode{std::move(name), std::move(extent)});
}

Tensor Placeholder(std::string name, std::vector<Dim> shape, DType dtype, int input_index) {
  auto node = std::make_shared<TensorNode>();
  node->name = std::move(name);
  node->shape = std::move(shape);
  node->dtype = dtype;
  node->input_index = input_index;
  return node;
}

Tensor Compute(std::string name, std::vector<Dim> shape, const BodyFn& body) {
  auto node = std::make_shared<TensorNode>();
  node->name = std::move(name);
  node->shape = std::move(shape);
  std::vector<Expr> indices;
  for (size_t i = 0; i < node->shape.size(); ++i) {
    node->axes.push_back(MakeAxis("i" + std::to_string(i), node->shape[i]));
    indices.push_back(AxisValue(node->axes.back()));
  }
  node->body = body(indices);
  node->dtype = node->body->dtype;
  return node;
}

// --- Rewriting ---

namespace {

// Rebuilds an expression bottom-up with an explicit stack; each shared node once.
class Rewriter {
 public:
  using AxisFn = std::function<Expr(const Axis&)>;
  using TensorFn = std::function<Tensor(const Tensor&)>;
  Rewriter(AxisFn axis_fn, TensorFn tensor_fn)
      : axis_fn_(std::move(axis_fn)), tensor_fn_(std::move(tensor_fn)) {}

  Expr Rewrite(const Expr& root) {
    std::vector<std::pair<const Expr*, bool>> stack = {{&root, false}};
    while (!stack.empty()) {
      auto [e, expanded] = stack.back();
      stack.pop_back();
      if (done_.contains(e->get())) continue;
      if (expanded) {
        done_[e->get()] = Rebuild(*e);
        continue;
      }
      stack.push_back({e, true});
      for (const Expr& operand : (*e)->operands) stack.push_back({&operand, false});
    }
    return done_.at(root.get());
  }

 private:
  Expr Rebuild(const Expr& e) {
    if (e->kind == ExprKind::kAxis) {
      Expr replacement = axis_fn_ ? axis_fn_(e->axis) : nullptr;
      return replacement ? replacement : e;
    }
    bool changed = false;
    std::vector<Expr> operands;
    operands.reserve(e->operands.size());
    for (const Expr& operand : e->operands) {
      operands.push_back(done_.at(operand.get()));
      changed = changed || operands.back().get() != operand.get();
    }
    Tensor tensor = e->tensor;
    if (tensor && tensor_fn_) {
      if (Tensor replacement = tensor_fn_(tensor); replacement && replacement != tensor) {
        tensor = std::move(replacement);
        changed = true;
      }
    }
    if (!changed) return e;
    switch (e->kind) {
      case ExprKind::kLoad:
        return Load(tensor, std::move(operands));
      case ExprKind::kUnary:
        return Unary(e->unary, operands[0]);
      case ExprKind::kBinary:
        return Binary(e->binary, operands[0], operands[1]);
      case ExprKind::kCast:
        return Cast(operands[0], e->dtype);
      case ExprKind::kReinterpret:
        return Reinterpret(operands[0], e->dtype);
      case ExprKind::kSelect:
        return Select(operands[0], operands[1], operands[2]);
      case ExprKind::kReduce:
        return Reduce(e->reduce, operands[0], e->axes, e->dtype, e->select_last);
      case ExprKind::kChecked:
        return Checked(operands[0], operands[1], operands[2], e->int_value);
      default:
        return e;
    }
  }

  AxisFn axis_fn_;
  TensorFn tensor_fn_;
  std::unordered_map<const ExprNode*, Expr> done_;
};

}  // namespace

void CollectLoads(const Expr& root, std::vector<Tensor>& loads) {
  std::vector<const ExprNode*> stack = {root.get()};
  std::unordered_map<const void*, bool> seen;
  while (!stack.empty()) {
    const ExprNode* e = stack.back();
    stack.pop_back();
    if (!seen.emplace(e, true).second) continue;
    if (e->tensor && seen.emplace(e->tensor.get(), true).second) loads.push_back(e->tensor);
    for (const Expr& operand : e->operands) stack.push_back(operand.get());
  }
}

Expr SubstituteAxes(const Expr& e, const std::function<Expr(const Axis&)>& axis_fn) {
  return Rewriter(axis_fn, nullptr).Rewrite(e);
}

Tensor ReplaceInputs(const Tensor& t, const std::vector<Tensor>& inputs) {
  std::unordered_map<const TensorNode*, Tensor> done;
  std::vector<std::pair<Tensor, bool>> stack = {{t, false}};
  while (!stack.empty()) {
    auto [tensor, expanded] = std::move(stack.back());
    stack.pop_back();
    if (done.contains(tensor.get())) continue;
    if (tensor->is_placeholder()) {
      size_t i = static_cast<size_t>(tensor->input_index);
      bool replaced = tensor->input_index >= 0 && i < inputs.size() && inputs[i] != nullptr;
      done[tensor.get()] = replaced ? inputs[i] : tensor;
      continue;
    }
    if (!expanded) {
      std::vector<Tensor> loads(tensor->hint_inputs);
      CollectLoads(tensor->body, loads);
      stack.push_back({tensor, true});
      for (Tensor& load : loads) stack.push_back({std::move(load), false});
      continue;
    }
    Rewriter rewriter(nullptr, [&](const Tensor& load) { return done.at(load.get()); });
    Expr body = rewriter.Rewrite(tensor->body);
    if (body.get() == tensor->body.get()) {
      done[tensor.get()] = tensor;
      continue;
    }
    auto node = std::make_shared<TensorNode>(*tensor);
    node->body = std::move(body);
    for (Tensor& input : node->hint_inputs) input = done.at(input.get());
    done[tensor.get()] = std::move(node);
  }
  return done.at(t.get());
}

}  // namespace relayvm::te
