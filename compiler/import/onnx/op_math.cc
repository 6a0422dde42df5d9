// Elementwise operators and products.
#include <cmath>

#include "compiler/import/composite/activations.h"
#include "compiler/import/onnx/convert.h"
#include "compiler/import/onnx/quantised.h"

namespace relayvm::import {

namespace {

// --- Arithmetic ---

template <OpName kName>
Outputs Variadic(NodeContext& n) {
  Value sum = n.Input(0);
  for (size_t i = 1; i < n.num_inputs(); ++i) sum = n.b().Op(kName.chars, {sum, n.Input(i)});
  return {sum};
}

Outputs Mean(NodeContext& n) {
  return {Term(n.b(), Variadic<"add">(n)[0]) / static_cast<double>(n.num_inputs())};
}

// Before opset 7 the second operand broadcasts from an axis on.
template <OpName kName>
Outputs Binary(NodeContext& n) {
  Value right = n.Input(1);
  const int rank = n.Input(0).rank();
  if (n.Int("broadcast", 0) != 0 && n.HasAttr("axis")) {
    const int axis = n.Axis(n.Int("axis", 0), rank);
    const int after = rank - axis - right.rank();
    if (after > 0) right = n.b().ExpandDims(right, right.rank(), after);
  }
  return {n.b().Op(kName.chars, {n.Input(0), right})};
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

Outputs Reciprocal(NodeContext& n) { return {1 / Term(n, 0)}; }

Outputs IsInf(NodeContext& n) {
  const Term x(n, 0);
  const bool negative = n.Int("detect_negative", 1) != 0,
             positive = n.Int("detect_positive", 1) != 0;
  if (negative && positive) return {x.Call("isinf")};
  if (!negative && !positive) return {x.Call("isinf").Call("zeros_like")};
  return {Equal(x, negative ? -HUGE_VAL : HUGE_VAL)};
}

// NaN stays NaN, of either operand.
// (maximum and minimum give NaN where the second operand is.)
template <OpName kName>
Outputs Extreme(NodeContext& n) {
  Term out(n, 0);
  for (size_t i = 1; i < n.num_inputs(); ++i) {
    const Term chosen = out.Call(kName.chars, n.Input(i));
    out = IsFloat(out.dtype()) ? Select(out.Call("isnan"), out, chosen) : chosen;
  }
  return {out};
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
  const Term x(n, 0), sign = x.Call("sign");
  return {IsFloat(x.dtype()) ? Select(x.Call("isnan"), x, sign) : sign};
}

// --- Activations ---

// That of `kName`, whose parameters are the attributes alpha and `kSecond`.
template <OpName kName, OpName kSecond = "beta">
Outputs Activation(NodeContext& n) {
  const ActivationDef& def = *FindActivation(kName.chars);
  const double alpha = def.parameters > 0 ? n.Float("alpha", def.alpha) : 0,
               beta = def.parameters > 1 ? n.Float(kSecond.chars, def.beta) : 0;
  return {def.apply(Term(n, 0), alpha, beta)};
}

Outputs Celu(NodeContext& n) {
  const Term x(n, 0);
  const double alpha = n.Float("alpha", 1);
  return {Select(x > 0, x, (Exp(x / alpha) - 1) * alpha)};
}

Outputs Mish(NodeContext& n) {
  const Term x(n, 0);
  return {x * Softplus(x).Call("tanh")};
}

Outputs Shrink(NodeContext& n) {
  const Term x(n, 0);
  const double lambda = n.Float("lambd", 0.5), bias = n.Float("bias", 0);
  return {Select(x > lambda, x - bias, Select(x < -lambda, x + bias, x.Number(0)))};
}

Outputs PRelu(NodeContext& n) {
  const Term x(n, 0);
  Term slope(n, 1);
  // Before opset 7 a vector has one number for each channel.
  if (n.opset() < 7 && slope.rank() == 1 && x.rank() > 1) {
    slope = slope.value().dim(0).is_const(1) ? AsScalar(slope) : Along(slope, 1, x.rank());
  }
  return {Select(x < 0, x * slope, x)};
}

Outputs Gelu(NodeContext& n) {
  const bool nearly = n.String("approximate", "none") == "tanh";
  return {nearly ? TanhGeluOf(Term(n, 0)) : GeluOf(Term(n, 0))};
}

Outputs Swish(NodeContext& n) { return {SwishOf(Term(n, 0), n.Float("alpha", 1))}; }

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
    {"Elu", 1, 1, Activation<"elu">},
    {"Equal", 2, 2, Binary<"equal">},
    {"Erf", 1, 1, Same<"erf">},
    {"Exp", 1, 1, Same<"exp">},
    {"Floor", 1, 1, Same<"floor">},
    {"Gelu", 1, 1, Gelu},
    {"Gemm", 2, 3, Gemm},
    {"Greater", 2, 2, Binary<"greater">},
    {"GreaterOrEqual", 2, 2, Same<"greater_equal">},
    {"HardSigmoid", 1, 1, Activation<"hardsigmoid">},
    {"HardSwish", 1, 1, Activation<"hardswish">},
    {"IsInf", 1, 1, IsInf},
    {"IsNaN", 1, 1, Same<"isnan">},
    {"LeakyRelu", 1, 1, Activation<"leakyrelu">},
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
    {"Not", 1, 1, Same<"logical_not">},
    {"Or", 2, 2, Binary<"logical_or">},
    {"PRelu", 2, 2, PRelu},
    {"Pow", 2, 2, Pow},
    {"Reciprocal", 1, 1, Reciprocal},
    {"Relu", 1, 1, Activation<"relu">},
    {"Round", 1, 1, Same<"round_even">},
    {"Selu", 1, 1, Activation<"selu", "gamma">},
    {"Shrink", 1, 1, Shrink},
    {"Sigmoid", 1, 1, Same<"sigmoid">},
    {"Sign", 1, 1, Sign},
    {"Sin", 1, 1, Same<"sin">},
    {"Sinh", 1, 1, Same<"sinh">},
    {"Softplus", 1, 1, Activation<"softplus">},
    {"Softsign", 1, 1, Activation<"softsign">},
    {"Sqrt", 1, 1, Same<"sqrt">},
    {"Sub", 2, 2, Binary<"subtract">},
    {"Sum", 1, -1, Variadic<"add">},
    {"Swish", 1, 1, Swish},
    {"Tan", 1, 1, Same<"tan">},
    {"Tanh", 1, 1, Same<"tanh">},
    {"ThresholdedRelu", 1, 1, Activation<"thresholdedrelu">},
    {"Xor", 2, 2, Binary<"logical_xor">},
};

}  // namespace

std::span<const OperatorDef> MathOperators() { return kMathOperators; }

}  // namespace relayvm::import
