// Quantised numbers: (q - zero point) * scale. What the operators of ai.onnx and com.microsoft share.
#pragma once

#include <optional>

#include "compiler/import/onnx/arithmetic.h"

namespace relayvm::import {

// Whole numbers held in float, cast to an integer dtype of at most 16 bits within its limits.
Value Saturate(const Term& x, ElementKind type);
// round(x / scale) + zero_point, halves to even, saturated.
Value Quantised(const Term& x, const Term& scale, const std::optional<Term>& zero_point,
                ElementKind type);
Term Dequantised(const Term& x, const Term& scale, const std::optional<Term>& zero_point);

// Input `i` as a scalar, where it is given.
std::optional<Term> OptionalScalar(NodeContext& n, size_t i);
// By inputs whose scale and zero point are scalars.
Term DequantisedInput(NodeContext& n, size_t data, size_t scale, size_t zero_point);
Value QuantisedOutput(NodeContext& n, const Term& y, size_t scale, size_t zero_point,
                      DType fallback);

// The operands of a product of bytes less their zero points: those of the data are one number, those
// of the weights one or (rank 1) one for each output channel.
struct ByteProduct {
  Value x, x_zero, w, w_zero;
};
// Nullopt for other operands. Zero points that are left out are 0.
std::optional<ByteProduct> ByteProductOf(NodeContext& n, const Value& x, const Value& x_zero,
                                         const Value& w, const Value& w_zero);
// The int32 convolution or matrix product of them (qnn.conv2d, qnn.dense ...), which becomes one of
// bytes (compiler/transforms/integer_products.h); nullopt where that one does not take it.
std::optional<Value> ByteConvOf(NodeContext& n, const ByteProduct& p);
std::optional<Value> ByteMatMulOf(NodeContext& n, const ByteProduct& p);

// The int32 product of integers less their zero points (which may be left out).
Term IntegerProduct(NodeContext& n, const Value& a, const Value& a_zero, const Value& w,
                    const Value& w_zero);

// Of an int32 sum: round(sum * factor) + zero_point, halves to even, saturated.
Value Requantised(const Term& sum, const Term& factor, const std::optional<Term>& zero,
                  DType dtype);
// The int32 convolution of them, by the node's attributes; nullopt where the node has an error.
std::optional<Value> IntegerConv(NodeContext& n, const Value& x, const Value& x_zero,
                                 const Value& w, const Value& w_zero);
// Integers less their zero points (which may be left out), int32. A vector stands along `axis`.
Term ShiftedBy(NodeContext& n, const Value& v, const Value& zero_point, int axis);

// QuantizeLinear of what a node computes from DequantizeLinear: the node on integers (qdq.cc).
// Nullopt where it is no such node.
std::optional<Value> QuantisedInIntegers(NodeContext& n, const Term& scale,
                                         const std::optional<Term>& zero_point, DType dtype);

// What a Conv, Gemm or MatMul of dequantised bytes computes, in real numbers: a sum of integers, scaled
// (qdq.cc). Nullopt for other nodes.
std::optional<Value> DequantisedProduct(NodeContext& n);

// DynamicQuantizeLinear: to uint8 by the extremes of the data.
struct DynamicallyQuantised {
  Term data, scale, zero_point;
};
DynamicallyQuantised QuantiseDynamically(const Term& x);

}  // namespace relayvm::import
