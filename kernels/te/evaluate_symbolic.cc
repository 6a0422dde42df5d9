// EvaluateSymbolic: element by element, over Dims. Meant for shape tensors, which are short.
#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <unordered_set>
#include <variant>

#include "bytecode/base/dim.h"
#include "kernels/te/evaluate.h"
#include "kernels/te/scalar.h"

namespace relayvm::te {
namespace {

// Beyond this many elements or reduction steps a tensor is data, not a shape.
constexpr int64_t kMaxElements = 4096;

// An integer (or bool) as a Dim, or a float constant.
using Value = std::variant<Dim, double>;
using MaybeValue = std::optional<Value>;
using Elements = std::vector<MaybeValue>;

std::optional<std::vector<int64_t>> StaticShape(const TensorNode& t) {
  std::vector<int64_t> shape;
  int64_t size = 1;
  for (const Dim& d : t.shape) {
    if (!d.is_const() || d.value() < 0) return std::nullopt;
    shape.push_back(d.value());
    if (__builtin_mul_overflow(size, d.value(), &size) || size > kMaxElements) return std::nullopt;
  }
  return shape;
}

class SymbolicEvaluator {
 public:
  explicit SymbolicEvaluator(const std::unordered_map<const TensorNode*, Elements>& tensors)
      : tensors_(tensors) {}

  void BindAxis(const AxisNode* axis, int64_t value) { axes_[axis] = value; }

  MaybeValue Eval(const ExprNode& e) {
    switch (e.kind) {
      case ExprKind::kIntImm:
        return Dim(e.int_value);
      case ExprKind::kFloatImm:
        return e.float_value;
      case ExprKind::kAxis: {
        auto it = axes_.find(e.axis.get());
        if (it == axes_.end()) return std::nullopt;
        return Dim(it->second);
      }
      case ExprKind::kDim:
        return Held(e.dim, e.dtype);
      case ExprKind::kLoad:
        return EvalLoad(e);
      case ExprKind::kUnary: {
        MaybeValue x = Eval(*e.operands[0]);
        return x ? EvalUnary(e, *x) : std::nullopt;
      }
      case ExprKind::kBinary: {
        MaybeValue a = Eval(*e.operands[0]);
        MaybeValue b = Eval(*e.operands[1]);
        return a && b ? EvalBinary(e.binary, e.operands[0]->dtype, *a, *b) : std::nullopt;
      }
      case ExprKind::kCast: {
        MaybeValue x = Eval(*e.operands[0]);
        return x ? EvalCast(e.operands[0]->dtype, e.dtype, *x) : std::nullopt;
      }
      case ExprKind::kReinterpret: {
        auto x = ConstantOf(Eval(*e.operands[0]));
        if (!x) return std::nullopt;
        return FromScalar(ApplyReinterpret(e.operands[0]->dtype, e.dtype, *x), e.dtype);
      }
      case ExprKind::kSelect: {
        auto condition = ConstantOf(Eval(*e.operands[0]));
        if (!condition) return std::nullopt;
        return Eval(*e.operands[condition->i != 0 ? 1 : 2]);
      }
      case ExprKind::kReduce:
        return EvalReduce(e);
      case ExprKind::kChecked: {
        MaybeValue x = Eval(*e.operands[0]);
        const MaybeValue least = Eval(*e.operands[1]), end = Eval(*e.operands[2]);
        if (!x || !least || !end) return std::nullopt;
        const Dim& d = std::get<Dim>(*x);
        const bool holds = KnownNonNegative(d - std::get<Dim>(*least)) &&
                           KnownNonNegative(std::get<Dim>(*end) - Dim(1) - d);
        return holds ? x : std::nullopt;
      }
    }
    return std::nullopt;
  }

 private:
  static std::optional<Scalar> ConstantOf(const MaybeValue& v) {
    if (!v) return std::nullopt;
    if (const double* f = std::get_if<double>(&*v)) return FloatScalar(*f);
    const Dim& d = std::get<Dim>(*v);
    if (!d.is_const()) return std::nullopt;
    return IntScalar(d.value());
  }
  static Value FromScalar(Scalar s, DType t) {
    if (IsFloat(t)) return s.f;
    return Dim(s.i);
  }
  static bool KnownNonNegative(const Dim& d) {
    auto low = d.LowerBound();
    return low && *low >= 0;
  }
  static Dim Absolute(const Dim& d) { return Dim::Max(d, Dim(0) - d); }
  // Rounds toward 0. REQUIRES: q > 0.
  static Dim TruncDiv(const Dim& p, const Dim& q) {
    return Dim::FloorDiv(Dim::Max(p, 0), q) - Dim::FloorDiv(Dim::Max(Dim(0) - p, 0), q);
  }
  // With the sign of p. REQUIRES: q > 0.
  static Dim TruncMod(const Dim& p, const Dim& q) {
    return Dim::FloorMod(Dim::Max(p, 0), q) - Dim::FloorMod(Dim::Max(Dim(0) - p, 0), q);
  }
  // The number `d` as a tensor of dtype `t` holds it: a Value is always what the program computes.
  // That of an int64 is taken to fit: who computes it at run time checks (lower_dim.cc).
  static MaybeValue Held(const Dim& d, DType t) {
    if (t == DType::kInt64) return d;
    if (t == DType::kInt32) return Dim::Int32(d);
    auto low = d.LowerBound();
    auto high = d.UpperBound();
    auto fits = [&](int64_t v) { return WrapInteger(v, t) == v; };
    const bool unsigned64 = t == DType::kUInt64;  // a Dim does not tell its upper half from int64's
    if (low && (unsigned64 ? *low >= 0 : high && fits(*low) && fits(*high))) return d;
    return std::nullopt;
  }
  // Whether a formula in which dims count as what they are, not as int32 wraps them, is good.
  static bool IsSize(const Dim& d) { return KnownNonNegative(d.WithoutInt32()); }

  MaybeValue EvalLoad(const ExprNode& e) {
    const Elements& elements = tensors_.at(e.tensor.get());
    int64_t flat = 0;
    for (size_t i = 0; i < e.operands.size(); ++i) {
      auto index = ConstantOf(Eval(*e.operands[i]));
      const Dim& extent = e.tensor->shape[i];
      if (!index || !extent.is_const() || index->i < 0 || index->i >= extent.value())
        return std::nullopt;
      flat = flat * extent.value() + index->i;
    }
    if (static_cast<size_t>(flat) >= elements.size()) return std::nullopt;
    return elements[static_cast<size_t>(flat)];
  }

  static MaybeValue EvalUnary(const ExprNode& e, const Value& x) {
    DType t = e.operands[0]->dtype;
    if (auto constant = ConstantOf(x))
      return FromScalar(ApplyUnary(e.unary, t, *constant), e.dtype);
    const Dim& d = std::get<Dim>(x);
    switch (e.unary) {
      case UnaryOp::kNegative:
        return Held(Dim(0) - d, t);
      case UnaryOp::kAbs:
        return IsSize(d) ? Held(Absolute(d), t) : std::nullopt;
      case UnaryOp::kFloor:
      case UnaryOp::kCeil:
      case UnaryOp::kTrunc:
      case UnaryOp::kRound:
      case UnaryOp::kRoundEven:
        return d;
      default:
        return std::nullopt;
    }
  }

  static MaybeValue EvalCompare(BinaryOp op, const Dim& a, const Dim& b) {
    Expr decided = Binary(op, DimValue(a), DimValue(b));
    if (decided->kind != ExprKind::kIntImm) return std::nullopt;
    return Dim(decided->int_value);
  }

  static MaybeValue EvalBinary(BinaryOp op, DType t, const Value& a, const Value& b) {
    auto x = ConstantOf(a);
    auto y = ConstantOf(b);
    if (x && y) return FromScalar(ApplyBinary(op, t, *x, *y), ResultDType(op, t));
    if (IsFloat(t)) return std::nullopt;
    const Dim& p = std::get<Dim>(a);
    const Dim& q = std::get<Dim>(b);
    if (t == DType::kBool && !IsComparison(op)) return std::nullopt;
    // As an int64, which a Dim is, the upper half of uint64 is negative.
    const bool ring =
        op == BinaryOp::kAdd || op == BinaryOp::kSubtract || op == BinaryOp::kMultiply;
    if (t == DType::kUInt64 && !ring && !(KnownNonNegative(p) && KnownNonNegative(q)))
      return std::nullopt;
    if (IsComparison(op)) return EvalCompare(op, p, q);
    auto q_low = q.LowerBound();
    bool q_positive = q_low && *q_low > 0;
    switch (op) {
      case BinaryOp::kAdd:
        return Held(p + q, t);
      case BinaryOp::kSubtract:
        return Held(p - q, t);
      case BinaryOp::kMultiply:
        return Held(p * q, t);
      case BinaryOp::kMin:
        return Dim::Min(p, q);
      case BinaryOp::kMax:
        return Dim::Max(p, q);
      case BinaryOp::kDivide:
        return q_positive && IsSize(p) ? MaybeValue(TruncDiv(p, q)) : std::nullopt;
      case BinaryOp::kMod:
        return q_positive && IsSize(p) ? MaybeValue(TruncMod(p, q)) : std::nullopt;
      case BinaryOp::kFloorDivide:
        return q_positive ? MaybeValue(Dim::FloorDiv(p, q)) : std::nullopt;
      case BinaryOp::kFloorMod:
        return q_positive ? MaybeValue(Dim::FloorMod(p, q)) : std::nullopt;
      default:
        return std::nullopt;
    }
  }

  static MaybeValue EvalCast(DType from, DType to, const Value& x) {
    if (auto constant = ConstantOf(x)) return FromScalar(ApplyCast(from, to, *constant), to);
    const Dim& d = std::get<Dim>(x);
    if (to == DType::kBool) return EvalCompare(BinaryOp::kNotEqual, d, Dim(0));
    return IsFloat(to) ? std::nullopt : Held(d, to);
  }

  MaybeValue EvalReduce(const ExprNode& e) {
    int64_t total = 1;
    for (const Axis& axis : e.axes) {
      if (!axis->extent.is_const() || axis->extent.value() < 0) return std::nullopt;
      if (__builtin_mul_overflow(total, axis->extent.value(), &total) || total > kMaxElements)
        return std::nullopt;
    }
    DType t = e.operands[0]->dtype;
    bool is_arg = e.reduce == ReduceKind::kArgMax || e.reduce == ReduceKind::kArgMin;
    Value best = FromScalar(ReduceIdentity(e.reduce, t), t);
    int64_t position = -1;
    for (int64_t step = 0; step < total; ++step) {
      int64_t rest = step;
      for (size_t i = e.axes.size(); i-- > 0;) {
        axes_[e.axes[i].get()] = rest % e.axes[i]->extent.value();
        rest /= e.axes[i]->extent.value();
      }
      MaybeValue x = Eval(*e.operands[0]);
      if (!x) return std::nullopt;
      if (!is_arg) {
        // max(lowest, x) and the like: Dims do not hold the identity's value well.
        bool is_extreme = e.reduce == ReduceKind::kMax || e.reduce == ReduceKind::kMin;
        MaybeValue next = is_extreme && step == 0 ? x : EvalBinary(Combiner(e.reduce), t, best, *x);
        if (!next) return std::nullopt;
        best = *next;
        continue;
      }
      BinaryOp better = e.reduce == ReduceKind::kArgMax ? BinaryOp::kGreater : BinaryOp::kLess;
      if (e.select_last)
        better = e.reduce == ReduceKind::kArgMax ? BinaryOp::kGreaterEqual : BinaryOp::kLessEqual;
      auto wins = step == 0 ? std::optional<Scalar>(IntScalar(1))
                            : ConstantOf(EvalBinary(better, t, *x, best));
      if (!wins) return std::nullopt;
      if (wins->i == 0) continue;
      best = *x;
      position = step;
    }
    if (is_arg) return Dim(std::max<int64_t>(position, 0));
    return best;
  }

  static BinaryOp Combiner(ReduceKind kind) {
    switch (kind) {
      case ReduceKind::kSum:
        return BinaryOp::kAdd;
      case ReduceKind::kProd:
        return BinaryOp::kMultiply;
      case ReduceKind::kMax:
        return BinaryOp::kMax;
      case ReduceKind::kMin:
        return BinaryOp::kMin;
      case ReduceKind::kAll:
        return BinaryOp::kAnd;
      default:
        return BinaryOp::kOr;
    }
  }

  const std::unordered_map<const TensorNode*, Elements>& tensors_;
  std::unordered_map<const AxisNode*, int64_t> axes_;
};

std::vector<const TensorNode*> LoadedTensors(const TensorNode& t) {
  std::vector<const TensorNode*> out;
  if (t.is_placeholder()) return out;
  std::vector<const ExprNode*> stack = {t.body.get()};
  std::unordered_set<const void*> seen;
  while (!stack.empty()) {
    const ExprNode* e = stack.back();
    stack.pop_back();
    if (!seen.insert(e).second) continue;
    if (e->tensor && seen.insert(e->tensor.get()).second) out.push_back(e->tensor.get());
    for (const Expr& operand : e->operands) stack.push_back(operand.get());
  }
  return out;
}

Elements ElementsOf(const TensorNode& t, std::span<const std::optional<std::vector<Dim>>> inputs,
                    const std::unordered_map<const TensorNode*, Elements>& tensors) {
  auto shape = StaticShape(t);
  if (!shape) return {};
  Elements elements;
  if (t.is_placeholder()) {
    size_t i = static_cast<size_t>(t.input_index);
    if (t.input_index < 0 || i >= inputs.size() || !inputs[i]) return {};
    for (const Dim& d : *inputs[i]) elements.push_back(d.is_any() ? MaybeValue() : MaybeValue(d));
    return elements;
  }
  int64_t size = 1;
  for (int64_t d : *shape) size *= d;
  SymbolicEvaluator evaluator(tensors);
  for (int64_t flat = 0; flat < size; ++flat) {
    int64_t rest = flat;
    for (size_t i = shape->size(); i-- > 0;) {
      evaluator.BindAxis(t.axes[i].get(), rest % (*shape)[i]);
      rest /= (*shape)[i];
    }
    elements.push_back(evaluator.Eval(*t.body));
  }
  return elements;
}

}  // namespace

std::optional<std::vector<Dim>> EvaluateSymbolic(
    const Tensor& output, std::span<const std::optional<std::vector<Dim>>> inputs) {
  if (IsFloat(output->dtype) || output->dtype == DType::kString || !StaticShape(*output))
    return std::nullopt;
  std::unordered_map<const TensorNode*, Elements> tensors;
  std::vector<std::pair<const TensorNode*, bool>> stack = {{output.get(), false}};
  while (!stack.empty()) {
    auto [t, expanded] = stack.back();
    stack.pop_back();
    if (tensors.contains(t)) continue;
    if (expanded) {
      Elements elements = ElementsOf(*t, inputs, tensors);
      tensors[t] = std::move(elements);
      continue;
    }
    stack.push_back({t, true});
    for (const TensorNode* load : LoadedTensors(*t)) stack.push_back({load, false});
  }
  const Elements& elements = tensors.at(output.get());
  int64_t size = 1;
  for (const Dim& d : output->shape) size *= d.value();
  if (elements.size() != static_cast<size_t>(size)) return std::nullopt;
  std::vector<Dim> dims;
  for (const MaybeValue& v : elements) {
    if (!v || !std::holds_alternative<Dim>(*v)) return std::nullopt;
    dims.push_back(std::get<Dim>(*v));
  }
  return dims;
}

}  // namespace relayvm::te
