// Elementwise operators and products.
#include <cmath>
#include <numbers>

#include "compiler/import/onnx/convert.h"
#include "compiler/import/onnx/quantised.h"

namespace relayvm::import {

namespace {

// --- Arithmetic ---

Value Fold(NodeContext& n, const char* op) {
  Value sum = n.Input(0);
  for (size_t i = 1; i < n.num_inputs(); ++i) sum = n.b().Op(op, {sum, n.Input(i)});
  return sum;
}

template <OpName kName>
Outputs Variadic(NodeContext& n) {
  return {Fold(n, kName.chars)};
}

Outputs Mean(NodeContext& n) {
  const Value sum = Fold(n, "add");
  return {n.b().Op("divide", {sum, Like(n, sum, static_cast<double>(n.num_inputs()))})};
}

// Before opset 7 the second operand broadcasts from an axis on.
Outputs OldBroadcast(NodeContext& n, const char* op) {
  Value right = n.Input(1);
  const int rank = n.Input(0).rank();
  if (n.Int("broadcast", 0) != 0 && n.HasAttr("axis")) {
    const int axis = n.Axis(n.Int("axis", 0), rank);
    const int after = rank - axis - right.rank();
    if (after > 0) right = n.b().ExpandDims(right, right.rank(), after);
  }
  return {n.b().Op(op, {n.Input(0), right})};
}

template <OpName kName>
Outputs Binary(NodeContext& n) {
  return OldBroadcast(n, kName.chars);
}

// Of floats in float64, so that quotients of float32 are whole; what is divided by infinity stays.
Outputs Mod(NodeContext& n) {
  TypedBuilder& b = n.b();
  const DType dtype = n.Input(0).dtype();
  if (n.Int("fmod", 0) == 0 || !IsFloat(dtype)) {
    return {b.Op(n.Int("fmod", 0) != 0 ? "trunc_mod" : "floor_mod", n.inputs())};
  }
  const Value x = b.Cast(n.Input(0), DType::kFloat64), y = b.Cast(n.Input(1), DType::kFloat64);
  const Value stays = b.Op("logical_and", {b.Op("isinf", {y}), b.Op("isfinite", {x})});
  return {b.Cast(b.Op("where", {stays, x, b.Op("trunc_mod", {x, y})}), dtype)};
}

// Base and exponent may differ in dtype; the result has the base's.
Outputs Pow(NodeContext& n) {
  const DType dtype = n.Input(0).dtype();
  const DType exponent = n.Input(1).dtype();
  const DType wide = !IsFloat(dtype)                                           ? DType::kFloat64
                     : exponent == DType::kFloat64 && dtype != DType::kFloat64 ? DType::kFloat64
                                                                               : dtype;
  TypedBuilder& b = n.b();
  return {b.Cast(b.Op("power", {b.Cast(n.Input(0), wide), b.Cast(n.Input(1), wide)}), dtype)};
}

Outputs BitShift(NodeContext& n) {
  return {n.b().Op(n.String("direction", "") == "LEFT" ? "left_shift" : "right_shift", n.inputs())};
}

Outputs Reciprocal(NodeContext& n) {
  return {n.b().Op("divide", {Like(n, n.Input(0), 1), n.Input(0)})};
}

Outputs IsInf(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Value x = n.Input(0);
  const bool negative = n.Int("detect_negative", 1) != 0,
             positive = n.Int("detect_positive", 1) != 0;
  if (negative && positive) return {b.Op("isinf", {x})};
  if (!negative && !positive) return {b.Op("zeros_like", {b.Op("isinf", {x})})};
  return {b.Op("equal", {x, Like(n, x, negative ? -HUGE_VAL : HUGE_VAL)})};
}

// NaN stays NaN, of either operand.
// (maximum and minimum give NaN where the second operand is.)
Value MinOrMax(NodeContext& n, const char* op) {
  TypedBuilder& b = n.b();
  Value out = n.Input(0);
  for (size_t i = 1; i < n.num_inputs(); ++i) {
    const Value next = n.Input(i);
    const Value chosen = b.Op(op, {out, next});
    out = IsFloat(out.dtype()) ? b.Op("where", {b.Op("isnan", {out}), out, chosen}) : chosen;
  }
  return out;
}

template <OpName kName>
Outputs Extreme(NodeContext& n) {
  return {MinOrMax(n, kName.chars)};
}

Outputs Clip(NodeContext& n) {
  TypedBuilder& b = n.b();
  Value x = n.Input(0);
  const bool attributes = n.opset() < 11;
  const Value low = attributes && n.HasAttr("min") ? Like(n, x, n.Float("min", 0)) : n.Input(1),
              high = attributes && n.HasAttr("max") ? Like(n, x, n.Float("max", 0)) : n.Input(2);
  if (low) x = b.Op("maximum", {low, x});
  if (high) x = b.Op("minimum", {high, x});
  return {x};
}

Outputs Sign(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Value x = n.Input(0), sign = b.Op("sign", {x});
  return {IsFloat(x.dtype()) ? b.Op("where", {b.Op("isnan", {x}), x, sign}) : sign};
}

// --- Activations ---

Outputs Relu(NodeContext& n) { return {n.b().Op("maximum", {Like(n, n.Input(0), 0), n.Input(0)})}; }

Outputs LeakyRelu(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Value x = n.Input(0);
  return {b.Op("where", {b.Op("less", {x, Like(n, x, 0)}),
                         b.Op("multiply", {x, Like(n, x, n.Float("alpha", 0.01))}), x})};
}

// x where x > 0, else `negative`.
Value PositiveOr(NodeContext& n, const Value& x, const Value& negative) {
  return n.b().Op("where", {n.b().Op("greater", {x, Like(n, x, 0)}), x, negative});
}

Value ExpMinusOne(NodeContext& n, const Value& x) {
  return n.b().Op("subtract", {n.b().Op("exp", {x}), Like(n, x, 1)});
}

Outputs Elu(NodeContext& n) {
  const Value x = n.Input(0);
  const Value negative = n.b().Op("multiply", {ExpMinusOne(n, x), Like(n, x, n.Float("alpha", 1))});
  return {PositiveOr(n, x, negative)};
}

Outputs Celu(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Value x = n.Input(0);
  const double alpha = n.Float("alpha", 1);
  const Value scaled = b.Op("divide", {x, Like(n, x, alpha)});
  return {PositiveOr(n, x, b.Op("multiply", {ExpMinusOne(n, scaled), Like(n, x, alpha)}))};
}

Outputs Selu(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Value x = n.Input(0);
  const double alpha = n.Float("alpha", 1.67326319217681884765625);
  const double gamma = n.Float("gamma", 1.05070102214813232421875);
  const Value inner = PositiveOr(n, x, b.Op("multiply", {ExpMinusOne(n, x), Like(n, x, alpha)}));
  return {b.Op("multiply", {inner, Like(n, x, gamma)})};
}

Outputs ThresholdedRelu(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Value x = n.Input(0);
  return {b.Op("where", {b.Op("greater", {x, Like(n, x, n.Float("alpha", 1))}), x, Like(n, x, 0)})};
}

Value ClippedLine(NodeContext& n, const Value& x, double alpha, double beta) {
  TypedBuilder& b = n.b();
  const Value line = b.Op("add", {b.Op("multiply", {x, Like(n, x, alpha)}), Like(n, x, beta)});
  return b.Op("maximum", {Like(n, x, 0), b.Op("minimum", {Like(n, x, 1), line})});
}

Outputs HardSigmoid(NodeContext& n) {
  return {ClippedLine(n, n.Input(0), n.Float("alpha", 0.2), n.Float("beta", 0.5))};
}
Outputs HardSwish(NodeContext& n) {
  return {n.b().Op("multiply", {n.Input(0), ClippedLine(n, n.Input(0), 1.0 / 6, 0.5)})};
}

// log(1 + e^x), where e^x does not overflow.
Outputs SoftplusOf(NodeContext& n) { return {Softplus(Term(n, 0))}; }
Outputs Mish(NodeContext& n) {
  const Term x(n, 0);
  return {x * Softplus(x).Call("tanh")};
}
Outputs Softsign(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Value x = n.Input(0);
  return {b.Op("divide", {x, b.Op("add", {b.Op("abs", {x}), Like(n, x, 1)})})};
}
Outputs Shrink(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Value x = n.Input(0);
  const double lambda = n.Float("lambd", 0.5), bias = n.Float("bias", 0);
  const Value low = b.Op("where", {b.Op("less", {x, Like(n, x, -lambda)}),
                                   b.Op("add", {x, Like(n, x, bias)}), Like(n, x, 0)});
  return {b.Op("where", {b.Op("greater", {x, Like(n, x, lambda)}),
                         b.Op("subtract", {x, Like(n, x, bias)}), low})};
}
Outputs PRelu(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Value x = n.Input(0);
  Value slope = n.Input(1);
  // Before opset 7 a vector has one number for each channel.
  if (n.opset() < 7 && slope.rank() == 1 && x.rank() > 1) {
    slope = slope.dim(0).is_const(1) ? b.Reshape(slope, {}) : b.ExpandDims(slope, 1, x.rank() - 2);
  }
  return {b.Op("where", {b.Op("less", {x, Like(n, x, 0)}), b.Op("multiply", {x, slope}), x})};
}

Outputs Gelu(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Value x = n.Input(0);
  const Value half = b.Op("multiply", {x, Like(n, x, 0.5)});
  if (n.String("approximate", "none") == "tanh") {
    const Value cube = b.Op("multiply", {x, b.Op("multiply", {x, x})});
    const Value inner =
        b.Op("multiply", {b.Op("add", {x, b.Op("multiply", {cube, Like(n, x, 0.044715)})}),
                          Like(n, x, std::sqrt(2 * std::numbers::inv_pi))});
    return {b.Op("multiply", {half, b.Op("add", {b.Op("tanh", {inner}), Like(n, x, 1)})})};
  }
  const Value erf = b.Op("erf", {b.Op("multiply", {x, Like(n, x, std::numbers::sqrt2 / 2)})});
  return {b.Op("multiply", {half, b.Op("add", {erf, Like(n, x, 1)})})};
}

Outputs Swish(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Value x = n.Input(0);
  const double alpha = n.Float("alpha", 1);
  const Value scaled = alpha == 1 ? x : b.Op("multiply", {x, Like(n, x, alpha)});
  return {b.Op("multiply", {x, b.Op("sigmoid", {scaled})})};
}

Outputs Not(NodeContext& n) { return {n.b().Op("logical_not", {n.Input(0)})}; }

// --- Products ---

Outputs MatMul(NodeContext& n) {
  if (auto y = DequantisedProduct(n)) return {*y};
  return {MatMulOf(n, n.Input(0), n.Input(1))};
}

Outputs Gemm(NodeContext& n) {
  if (auto y = DequantisedProduct(n)) return {*y};
  TypedBuilder& b = n.b();
  const Value a = n.Input(0), w = n.Input(1);
  Value product =
      b.Op("nn.matmul", {a, w},
           {{"transpose_a", n.Int("transA", 0) != 0}, {"transpose_b", n.Int("transB", 0) != 0}});
  const double alpha = n.Float("alpha", 1), beta = n.Float("beta", 1);
  if (alpha != 1) product = b.Op("multiply", {product, Like(n, product, alpha)});
  if (!n.Has(2) || beta == 0) return {product};
  Value c = n.Input(2);
  if (beta != 1) c = b.Op("multiply", {c, Like(n, c, beta)});
  return {b.Op("add", {product, c})};
}

constexpr OperatorDef kMathOperators[] = {
    {"Abs", 1, 1, Same<"abs">},
    {"Acos", 1, 1, Same<"acos">},
    {"Acosh", 1, 1, Same<"acosh">},
    {"Add", 2, 2, Binary<"add">},
    {"And", 2, 2, Binary<"logical_and">},
    {"Asin", 1, 1, Same<"asin">},
    {"Asinh", 1, 1, Same<"asinh">},
    {"Atan", 1, 1, Same<"atan">},
    {"Atanh", 1, 1, Same<"atanh">},
    {"BitShift", 2, 2, BitShift},
    {"BitwiseAnd", 2, 2, Same<"bitwise_and">},
    {"BitwiseNot", 1, 1, Same<"bitwise_not">},
    {"BitwiseOr", 2, 2, Same<"bitwise_or">},
    {"BitwiseXor", 2, 2, Same<"bitwise_xor">},
    {"Ceil", 1, 1, Same<"ceil">},
    {"Celu", 1, 1, Celu},
    {"Clip", 1, 3, Clip},
    {"Cos", 1, 1, Same<"cos">},
    {"Cosh", 1, 1, Same<"cosh">},
    {"Div", 2, 2, Binary<"divide">},
    {"Elu", 1, 1, Elu},
    {"Equal", 2, 2, Binary<"equal">},
    {"Erf", 1, 1, Same<"erf">},
    {"Exp", 1, 1, Same<"exp">},
    {"Floor", 1, 1, Same<"floor">},
    {"Gelu", 1, 1, Gelu},
    {"Gemm", 2, 3, Gemm},
    {"Greater", 2, 2, Binary<"greater">},
    {"GreaterOrEqual", 2, 2, Same<"greater_equal">},
    {"HardSigmoid", 1, 1, HardSigmoid},
    {"HardSwish", 1, 1, HardSwish},
    {"IsInf", 1, 1, IsInf},
    {"IsNaN", 1, 1, Same<"isnan">},
    {"LeakyRelu", 1, 1, LeakyRelu},
    {"Less", 2, 2, Binary<"less">},
    {"LessOrEqual", 2, 2, Same<"less_equal">},
    {"Log", 1, 1, Same<"log">},
    {"MatMul", 2, 2, MatMul},
    {"Max", 1, -1, Extreme<"maximum">},
    {"Mean", 1, -1, Mean},
    {"Min", 1, -1, Extreme<"minimum">},
    {"Mish", 1, 1, Mish},
    {"Mod", 2, 2, Mod},
    {"Mul", 2, 2, Binary<"multiply">},
    {"Neg", 1, 1, Same<"negative">},
    {"Not", 1, 1, Not},
    {"Or", 2, 2, Binary<"logical_or">},
    {"PRelu", 2, 2, PRelu},
    {"Pow", 2, 2, Pow},
    {"Reciprocal", 1, 1, Reciprocal},
    {"Relu", 1, 1, Relu},
    {"Round", 1, 1, Same<"round_even">},
    {"Selu", 1, 1, Selu},
    {"Shrink", 1, 1, Shrink},
    {"Sigmoid", 1, 1, Same<"sigmoid">},
    {"Sign", 1, 1, Sign},
    {"Sin", 1, 1, Same<"sin">},
    {"Sinh", 1, 1, Same<"sinh">},
    {"Softplus", 1, 1, SoftplusOf},
    {"Softsign", 1, 1, Softsign},
    {"Sqrt", 1, 1, Same<"sqrt">},
    {"Sub", 2, 2, Binary<"subtract">},
    {"Sum", 1, -1, Variadic<"add">},
    {"Swish", 1, 1, Swish},
    {"Tan", 1, 1, Same<"tan">},
    {"Tanh", 1, 1, Same<"tanh">},
    {"ThresholdedRelu", 1, 1, ThresholdedRelu},
    {"Xor", 2, 2, Binary<"logical_xor">},
};

}  // namespace

std::span<const OperatorDef> MathOperators() { return kMathOperators; }

}  // namespace relayvm::import
