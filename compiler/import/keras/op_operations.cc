// Operations of Keras 3 and functions of TensorFlow, which the lines between layers become: x + 1,
// ops.mean(x). Shapes, places and products stand in op_arrays.cc.
#include <algorithm>
#include <cmath>

#include "compiler/import/composite/activations.h"
#include "compiler/import/composite/normalise.h"
#include "compiler/import/keras/operands.h"

namespace relayvm::import::keras {

namespace {

// Whole numbers become real where the result is.
Term RealOf(LayerContext& n, const Value& v) {
  return {n, IsFloat(v.dtype()) ? v : n.b().Cast(v, DType::kFloat32)};
}

// --- Two operands ---

using TwoFn = Term (*)(const Term& x, const Term& y);
template <TwoFn kApply, bool kReal = false>
Outputs Two(LayerContext& n) {
  const std::vector<Term> all = Operands(n);
  if (all.size() != 2) return n.Unsupported("expected two operands, found {}", all.size());
  const bool real = kReal && n.site.parameters.empty();
  return {real ? kApply(RealOf(n, all[0]), RealOf(n, all[1])) : kApply(all[0], all[1])};
}
template <OpName kName>
Term By(const Term& x, const Term& y) {
  return x.Call(kName.chars, y);
}
template <OpName kName>
Outputs Truths(LayerContext& n) {
  const std::vector<Term> all = Operands(n);
  if (all.size() != 2) return n.Unsupported("expected two operands, found {}", all.size());
  return {all[0].As(DType::kBool).Call(kName.chars, all[1].As(DType::kBool))};
}
// Of whole numbers TensorFlow's division gives doubles.
Outputs Divide(LayerContext& n) {
  const std::vector<Term> all = Operands(n);
  if (all.size() != 2) return n.Unsupported("expected two operands, found {}", all.size());
  if (!n.site.parameters.empty() && !IsFloat(all[0].dtype())) {
    const DType wide = DTypeBits(all[0].dtype()) >= 32 ? DType::kFloat64 : DType::kFloat32;
    return {all[0].As(wide) / all[1].As(wide)};
  }
  return {RealOf(n, all[0]) / RealOf(n, all[1])};
}
// Any number of operands.
template <TwoFn kApply>
Outputs Several(LayerContext& n) {
  const std::vector<Term> all = Operands(n);
  if (all.empty()) return n.Fail("expected operands");
  Term y = all[0];
  for (size_t i = 1; i < all.size(); ++i) y = kApply(y, all[i]);
  return {y};
}
// Whole numbers by way of doubles, which are exact to 2^53.
Term PowerOf(const Term& x, const Term& y) {
  if (IsFloat(x.dtype())) return x.Call("power", y);
  return x.As(DType::kFloat64).Call("power", y.As(DType::kFloat64)).As(x.dtype());
}
Term LogAddExp(const Term& x, const Term& y) { return Maximum(x, y) + Log1p(Exp(-Abs(x - y))); }
Term Hypotenuse(const Term& x, const Term& y) { return Sqrt(x * x + y * y); }
Term DifferenceSquared(const Term& x, const Term& y) { return (x - y) * (x - y); }
Term QuotientOrZero(const Term& x, const Term& y) {
  return Select(Equal(y, 0), (x * 0.0), x / Select(Equal(y, 0), y * 0.0 + 1.0, y));
}

// --- One operand ---

using OneFn = Term (*)(const Term& x);
template <OneFn kApply, bool kReal = true>
Outputs One(LayerContext& n) {
  const std::vector<Term> all = Operands(n);
  if (all.empty()) return n.Fail("expected an operand");
  return {kApply(kReal ? RealOf(n, all[0]) : all[0])};
}
template <OpName kName>
Term Plain(const Term& x) {
  return x.Call(kName.chars);
}
template <OpName kName, bool kReal = true>
Outputs Active(LayerContext& n) {
  const Term x(n, n.Input(0));
  return {n.ActivatedBy(kName.chars, kReal ? RealOf(n, x) : x)};
}
Term Truncated(const Term& x) { return IsFloat(x.dtype()) ? x.Call("trunc") : x; }
Term SquareOf(const Term& x) { return x * x; }
Term ReciprocalOf(const Term& x) { return 1.0 / x; }
// log(1 + x), also where 1 + x is nearly 1.
Term LogOfOneMore(const Term& x) {
  const Term u = x + 1;
  const Term near = u.Call("log") * x / Select(Equal(u, 1), u, u - 1);
  return Select(Equal(u, 1), x, Select(Abs(x) < 0.5, near, u.Call("log")));
}
Term ExpLessOne(const Term& x) {
  const Term u = Exp(x);
  const Term near = (u - 1) * x / Select(Equal(u, 1), u * 2.0, u).Call("log");
  return Select(Equal(u, 1), x, Select(Abs(x) < 0.5, near, u - 1));
}
Term NotOf(const Term& x) { return Not(x.As(DType::kBool)); }
Term Degrees(const Term& x) { return x * (180 / M_PI); }
Term Radians(const Term& x) { return x * (M_PI / 180); }
Term PowerOfTwo(const Term& x) { return Exp(x * M_LN2); }
Outputs Gelu(LayerContext& n) {
  const Term x = RealOf(n, n.Input(0));
  return {n.Bool("approximate", n.site.parameters.empty()) ? TanhGeluOf(x) : GeluOf(x)};
}
Outputs Elu(LayerContext& n) {
  return {FindActivation("elu")->apply(RealOf(n, n.Input(0)), n.Float("alpha", 1), 0)};
}
Outputs Celu(LayerContext& n) {
  const Term x = RealOf(n, n.Input(0));
  const double alpha = n.Float("alpha", 1);
  return {Maximum(x, x.Number(0)) + Minimum((Exp(x / alpha) - 1) * alpha, x.Number(0))};
}
Outputs LeakyReluOf(LayerContext& n) {
  return {
      FindActivation("leakyrelu")->apply(RealOf(n, n.Input(0)), n.Float("negative_slope", 0.2), 0)};
}
template <bool kSoft>
Outputs Shrink(LayerContext& n) {
  const Term x = RealOf(n, n.Input(0)), zero = x.Number(0);
  const double least = n.Float("threshold", 0.5);
  if (!kSoft) return {Select(Abs(x) > least, x, zero)};
  return {Select(x > least, x - least, Select(x < -least, x + least, zero))};
}
Outputs Threshold(LayerContext& n) {
  const Term x = RealOf(n, n.Input(0));
  return {Select(x > n.Float("threshold", 0), x, x.Number(n.Float("default_value", 0)))};
}
Outputs Glu(LayerContext& n) {
  const Term x = RealOf(n, n.Input(0));
  const int axis = n.Axis(n.Int("axis", -1), x.rank());
  const std::vector<Value> parts =
      n.b().Ops("split", {x}, {{"indices_or_sections", 2}, {"axis", axis}});
  if (parts.size() != 2) return {};
  return {Term(n, parts[0]) * Term(n, parts[1]).Call("sigmoid")};
}
template <OpName kName>
Outputs Softmax(LayerContext& n) {
  Term x = RealOf(n, n.Input(0));
  if (const Json* axis = n.Setting("axis"); axis != nullptr && axis->is_array())
    return n.Unsupported("several axes");
  return {x.Call(kName.chars, {{"axis", n.Axis(n.Int("axis", -1), x.rank())}})};
}

// --- Reductions ---

// All axes where none is said.
std::vector<int64_t> ReducedAxes(LayerContext& n, int rank) {
  std::vector<int64_t> axes = n.Ints("axis", Iota(rank));
  for (int64_t& axis : axes) axis = n.Axis(axis, rank);
  return axes;
}
// Sums of small integers have more bits, and bools become numbers.
Term Widened(LayerContext& n, const Term& x) {
  if (!n.site.parameters.empty()) return x;
  if (x.dtype() == DType::kBool || (!IsFloat(x.dtype()) && DTypeBits(x.dtype()) < 32))
    return x.As(IsUnsignedInt(x.dtype()) && x.dtype() != DType::kBool ? DType::kUInt32
                                                                      : DType::kInt32);
  return x;
}
enum class Takes : uint8_t { kAny, kWide, kReal, kBool };
template <OpName kName, Takes kTakes>
Outputs Over(LayerContext& n) {
  Term x(n, n.Input(0));
  if (kTakes == Takes::kWide) x = Widened(n, x);
  if (kTakes == Takes::kReal && n.site.parameters.empty()) x = RealOf(n, x);
  if (kTakes == Takes::kBool) x = x.As(DType::kBool);
  const std::string_view name(kName.chars);
  const bool keep = n.Bool("keepdims", false);
  Term y = name == "max" || name == "min" ? Extreme(x, name, ReducedAxes(n, x.rank()), keep)
                                          : x.Over(name, ReducedAxes(n, x.rank()), keep);
  if (!n.IsNull("initial")) {
    const Term initial = y.Number(n.Float("initial", 0));
    y = name == "max" ? Maximum(initial, y) : Minimum(initial, y);
  }
  return {y};
}
// The mean of (x - mean)^2; `root`: its root.
template <bool kRoot>
Outputs Deviation(LayerContext& n) {
  const Term x = RealOf(n, n.Input(0));
  const std::vector<int64_t> axes = ReducedAxes(n, x.rank());
  const Term centred = x - Mean(x, axes);
  const Term y = (centred * centred).Over("mean", axes, n.Bool("keepdims", false));
  return {kRoot ? Sqrt(y) : y};
}
Outputs Moments(LayerContext& n) {
  const Term x = RealOf(n, n.Input(0));
  std::vector<int64_t> axes = n.Ints("axes");
  for (int64_t& axis : axes) axis = n.Axis(axis, x.rank());
  const Term centred = x - Mean(x, axes);
  const bool keep = n.Bool("keepdims", false);
  return {x.Over("mean", axes, keep), (centred * centred).Over("mean", axes, keep)};
}
Outputs LogSumExp(LayerContext& n) {
  const Term x = RealOf(n, n.Input(0));
  const std::vector<int64_t> axes = ReducedAxes(n, x.rank());
  const Term most = Max(x, axes);
  const Term safe = Select(most.Call("isfinite"), most, most.Number(0));
  const Term y = Sum(Exp(x - safe), axes).Call("log") + safe;
  return {n.Bool("keepdims", false) ? y.value() : n.b().Squeeze(y, axes)};
}
Outputs CountNonzero(LayerContext& n) {
  const Term x(n, n.Input(0));
  const Term counts = Not(Equal(x, 0)).As(DType::kInt32);
  return {counts.Over("sum", ReducedAxes(n, x.rank()), false)};
}
Outputs PeakToPeak(LayerContext& n) {
  const Term x(n, n.Input(0));
  const std::vector<int64_t> axes = ReducedAxes(n, x.rank());
  const bool keep = n.Bool("keepdims", false);
  return {Extreme(x, "max", axes, keep) - Extreme(x, "min", axes, keep)};
}
Outputs AverageOf(LayerContext& n) {
  const std::vector<Term> all = Operands(n);
  if (all.empty()) return n.Fail("expected an operand");
  const Term x = RealOf(n, all[0]);
  const std::vector<int64_t> axes = ReducedAxes(n, x.rank());
  if (all.size() == 1) return {x.Over("mean", axes, false)};
  Term weights = RealOf(n, all[1]).As(x.dtype());
  if (weights.rank() == 1 && x.rank() > 1 && axes.size() == 1)
    weights = Along(weights, static_cast<int>(axes[0]), x.rank());
  const Term all_weights = weights + x * 0.0;
  return {(x * weights).Over("sum", axes, false) / all_weights.Over("sum", axes, false)};
}
// Of vectors, and of matrices as a whole.
Outputs Norm(LayerContext& n) {
  const Term x = RealOf(n, n.Input(0));
  const std::vector<int64_t> axes = ReducedAxes(n, x.rank());
  const bool keep = n.Bool("keepdims", false);
  const Json* ord = n.Setting("ord");
  const bool none = ord == nullptr || ord->is_null();
  const std::string name = !none && ord->is_string() ? ord->get<std::string>() : "";
  const bool matrix = axes.size() == 2;
  if (none || (matrix && name == "fro") || (!matrix && ord->is_number() && ord->get<double>() == 2))
    return {Sqrt((x * x).Over("sum", axes, keep))};
  if (matrix || axes.size() != 1) return n.Unsupported("ord: of matrices, expected none or fro");
  if (name == "inf" || name == "Infinity") return {Extreme(Abs(x), "max", axes, keep)};
  if (!ord->is_number()) return n.Unsupported("ord: '{}'", name);
  const double power = ord->get<double>();
  if (power == 1) return {Abs(x).Over("sum", axes, keep)};
  if (power == 0) return {Not(Equal(x, 0)).As(x.dtype()).Over("sum", axes, keep)};
  const Term sum = Abs(x).Call("power", x.Number(power)).Over("sum", axes, keep);
  return {sum.Call("power", sum.Number(1 / power))};
}
Outputs Normalize(LayerContext& n) {
  const Term x = RealOf(n, n.Input(0));
  const std::vector<int64_t> axes = ReducedAxes(n, x.rank());
  const double order = n.Float("order", 2), least = n.Float("epsilon", 1e-12);
  if (order == 2) {
    const Term size = Sum(x * x, axes);
    const double floor = n.site.parameters.empty() && n.IsNull("epsilon") ? 1e-7 * 1e-7 : least;
    return {x * Maximum(size, size.Number(floor)).Call("rsqrt")};
  }
  const Term sum = Sum(Abs(x).Call("power", x.Number(order)), axes);
  const Term size = sum.Call("power", sum.Number(1 / order));
  return {x / Maximum(size, size.Number(n.Float("epsilon", 1e-7)))};
}

// --- Choices and types ---

Outputs Clip(LayerContext& n) {
  Term x(n, n.Input(0));
  const auto is_real = [&](const char* key) {
    const Json* v = n.Setting(key);
    return v != nullptr && v->is_number_float();
  };
  if (!IsFloat(x.dtype()) && (is_real("x_min") || is_real("x_max")) && n.site.parameters.empty())
    x = x.As(DType::kFloat32);
  Term y = x;
  if (!n.IsNull("x_min")) y = Maximum(x.Number(n.Float("x_min", 0)), y);
  if (!n.IsNull("x_max")) y = Minimum(x.Number(n.Float("x_max", 0)), y);
  return {y};
}
Outputs WhereOf(LayerContext& n) {
  const std::vector<Operand> all = OperandsOf(n);
  if (all.size() != 3 || !all[0].tensor)
    return n.Unsupported("expected a condition and two choices");
  const std::vector<Term> choices = TypedOperands(n, all, 1, n.site.parameters.empty());
  return {Select(Term(n, all[0].tensor).As(DType::kBool), choices[0], choices[1])};
}
Outputs CastOf(LayerContext& n) {
  const Json* dtype = n.Setting("dtype");
  std::string name = dtype != nullptr && dtype->is_string() ? dtype->get<std::string>() : "";
  if (dtype != nullptr && dtype->is_object()) {
    if (const Json* config = Member(*dtype, "config")) name = TextAt(*config, "name");
  }
  const auto to = ParseDType(name);
  if (!to) return n.Unsupported("dtype '{}'", name);
  return {n.b().Cast(n.Input(0), *to)};
}
Outputs SameOf(LayerContext& n) { return {n.Input(0)}; }
Outputs IsNan(LayerContext& n) {
  const Term x = RealOf(n, n.Input(0));
  return {x.Call("isnan")};
}

constexpr LayerDef kMathOperations[] = {
    {"Abs", 1, 1, One<Plain<"abs">, false>},
    {"Absolute", 1, 1, One<Plain<"abs">, false>},
    {"Add", 1, 2, Two<By<"add">>},
    {"AddN", 1, -1, Several<By<"add">>},
    {"All", 1, 1, Over<"all", Takes::kBool>},
    {"Amax", 1, 1, Over<"max", Takes::kAny>},
    {"Amin", 1, 1, Over<"min", Takes::kAny>},
    {"Any", 1, 1, Over<"any", Takes::kBool>},
    {"Arccos", 1, 1, One<Plain<"acos">, true>},
    {"Arccosh", 1, 1, One<Plain<"acosh">, true>},
    {"Arcsin", 1, 1, One<Plain<"asin">, true>},
    {"Arcsinh", 1, 1, One<Plain<"asinh">, true>},
    {"Arctan", 1, 1, One<Plain<"atan">, true>},
    {"Arctanh", 1, 1, One<Plain<"atanh">, true>},
    {"Average", 1, 2, AverageOf},
    {"BitwiseAnd", 1, 2, Two<By<"bitwise_and">>},
    {"BitwiseInvert", 1, 1, One<Plain<"bitwise_not">, false>},
    {"BitwiseLeftShift", 1, 2, Two<By<"left_shift">>},
    {"BitwiseNot", 1, 1, One<Plain<"bitwise_not">, false>},
    {"BitwiseOr", 1, 2, Two<By<"bitwise_or">>},
    {"BitwiseRightShift", 1, 2, Two<By<"right_shift">>},
    {"BitwiseXor", 1, 2, Two<By<"bitwise_xor">>},
    {"Cast", 1, 1, CastOf},
    {"Ceil", 1, 1, One<Plain<"ceil">, true>},
    {"Celu", 1, 1, Celu},
    {"Clip", 1, 1, Clip},
    {"ConvertToTensor", 1, 1, SameOf},
    {"Copy", 1, 1, SameOf},
    {"Cos", 1, 1, One<Plain<"cos">, true>},
    {"Cosh", 1, 1, One<Plain<"cosh">, true>},
    {"CountNonzero", 1, 1, CountNonzero},
    {"Deg2rad", 1, 1, One<Radians, true>},
    {"Divide", 1, 2, Divide},
    {"DivideNoNan", 1, 2, Two<QuotientOrZero, true>},
    {"Elu", 1, 1, Elu},
    {"Equal", 1, 2, Two<By<"equal">>},
    {"Erf", 1, 1, One<Plain<"erf">, true>},
    {"Exp", 1, 1, One<Plain<"exp">, true>},
    {"Exp2", 1, 1, One<PowerOfTwo, true>},
    {"Expm1", 1, 1, One<ExpLessOne, true>},
    {"Fabs", 1, 1, One<Plain<"abs">, true>},
    {"Floor", 1, 1, One<Plain<"floor">, true>},
    {"FloorDivide", 1, 2, Two<By<"floor_divide">>},
    {"Fmax", 1, 2, Two<Larger>},
    {"Fmin", 1, 2, Two<Smaller>},
    {"Fmod", 1, 2, Two<By<"trunc_mod">>},
    {"Gelu", 1, 1, Gelu},
    {"Glu", 1, 1, Glu},
    {"Greater", 1, 2, Two<By<"greater">>},
    {"GreaterEqual", 1, 2, Two<By<"greater_equal">>},
    {"HardShrink", 1, 1, Shrink<false>},
    {"HardSigmoid", 1, 1, Active<"hard_sigmoid">},
    {"HardSilu", 1, 1, Active<"hard_silu">},
    {"HardSwish", 1, 1, Active<"hard_silu">},
    {"HardTanh", 1, 1, Active<"hard_tanh">},
    {"Hypot", 1, 2, Two<Hypotenuse, true>},
    {"Identity", 1, 1, SameOf},
    {"Isfinite", 1, 1, One<Plain<"isfinite">, true>},
    {"Isinf", 1, 1, One<Plain<"isinf">, true>},
    {"Isnan", 1, 1, IsNan},
    {"LeakyRelu", 1, 1, LeakyReluOf},
    {"LeftShift", 1, 2, Two<By<"left_shift">>},
    {"Less", 1, 2, Two<By<"less">>},
    {"LessEqual", 1, 2, Two<By<"less_equal">>},
    {"Log", 1, 1, One<Plain<"log">, true>},
    {"Log10", 1, 1, One<Plain<"log10">, true>},
    {"Log1p", 1, 1, One<LogOfOneMore, true>},
    {"Log2", 1, 1, One<Plain<"log2">, true>},
    {"LogSigmoid", 1, 1, Active<"log_sigmoid">},
    {"LogSoftmax", 1, 1, Softmax<"nn.log_softmax">},
    {"Logaddexp", 1, 2, Two<LogAddExp, true>},
    {"LogicalAnd", 1, 2, Truths<"logical_and">},
    {"LogicalNot", 1, 1, One<NotOf, false>},
    {"LogicalOr", 1, 2, Truths<"logical_or">},
    {"LogicalXor", 1, 2, Truths<"logical_xor">},
    {"Logsumexp", 1, 1, LogSumExp},
    {"Max", 1, 1, Over<"max", Takes::kAny>},
    {"Maximum", 1, 2, Two<By<"maximum">>},
    {"Mean", 1, 1, Over<"mean", Takes::kReal>},
    {"Min", 1, 1, Over<"min", Takes::kAny>},
    {"Minimum", 1, 2, Two<By<"minimum">>},
    {"Mod", 1, 2, Two<By<"floor_mod">>},
    {"Moments", 1, 1, Moments},
    {"Multiply", 1, 2, Two<By<"multiply">>},
    {"Negative", 1, 1, One<Plain<"negative">, false>},
    {"Norm", 1, 1, Norm},
    {"Normalize", 1, 1, Normalize},
    {"NotEqual", 1, 2, Two<By<"not_equal">>},
    {"Power", 1, 2, Two<PowerOf>},
    {"Prod", 1, 1, Over<"prod", Takes::kWide>},
    {"Ptp", 1, 1, PeakToPeak},
    {"Rad2deg", 1, 1, One<Degrees, true>},
    {"Real", 1, 1, SameOf},
    {"Reciprocal", 1, 1, One<ReciprocalOf, true>},
    {"Relu", 1, 1, Active<"relu", false>},
    {"Relu6", 1, 1, Active<"relu6", false>},
    {"RightShift", 1, 2, Two<By<"right_shift">>},
    {"Round", 1, 1, One<Plain<"round_even">, false>},
    {"Rsqrt", 1, 1, One<Plain<"rsqrt">, true>},
    {"Selu", 1, 1, Active<"selu">},
    {"Sigmoid", 1, 1, One<Plain<"sigmoid">, true>},
    {"Sign", 1, 1, One<Plain<"sign">, false>},
    {"Silu", 1, 1, Active<"silu">},
    {"Sin", 1, 1, One<Plain<"sin">, true>},
    {"Sinh", 1, 1, One<Plain<"sinh">, true>},
    {"SoftShrink", 1, 1, Shrink<true>},
    {"Softmax", 1, 1, Softmax<"nn.softmax">},
    {"Softplus", 1, 1, Active<"softplus">},
    {"Softsign", 1, 1, Active<"softsign">},
    {"SparsePlus", 1, 1, Active<"sparse_plus">},
    {"SparseSigmoid", 1, 1, Active<"sparse_sigmoid">},
    {"Sparsemax", 1, 1, Active<"sparsemax">},
    {"Sqrt", 1, 1, One<Plain<"sqrt">, true>},
    {"Square", 1, 1, One<SquareOf, false>},
    {"SquaredDifference", 1, 2, Two<DifferenceSquared>},
    {"Squareplus", 1, 1, Active<"squareplus">},
    {"Std", 1, 1, Deviation<true>},
    {"StopGradient", 1, 1, SameOf},
    {"Subtract", 1, 2, Two<By<"subtract">>},
    {"Sum", 1, 1, Over<"sum", Takes::kWide>},
    {"Tan", 1, 1, One<Plain<"tan">, true>},
    {"Tanh", 1, 1, One<Plain<"tanh">, true>},
    {"TanhShrink", 1, 1, Active<"tanh_shrink">},
    {"Threshold", 1, 1, Threshold},
    {"TrueDivide", 1, 2, Divide},
    {"Trunc", 1, 1, One<Truncated, false>},
    {"Var", 1, 1, Deviation<false>},
    {"Where", 1, 3, WhereOf},
};

}  // namespace

std::span<const LayerDef> MathOperations() { return kMathOperations; }

}  // namespace relayvm::import::keras
