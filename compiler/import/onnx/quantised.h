// Quantised numbers by inputs of nodes: what the operators of ai.onnx and com.microsoft share.
#pragma once

#include <optional>

#include "compiler/import/composite/quantised.h"
#include "compiler/import/onnx/arithmetic.h"

namespace relayvm::import {

// Input `i` as a scalar, where it is given.
std::optional<Term> OptionalScalar(NodeContext& n, size_t i);
// By inputs whose scale and zero point are scalars.
Term DequantisedInput(NodeContext& n, size_t data, size_t scale, size_t zero_point);
Value QuantisedOutput(NodeContext& n, const Term& y, size_t scale, size_t zero_point,
                      DType fallback);

// Convolutions of composite/window.h by the node's attributes; nullopt where the node has an error.
std::optional<Value> IntegerConv(NodeContext& n, const Value& x, const Value& x_zero,
                                 const Value& w, const Value& w_zero);
std::optional<Value> ByteConvOf(NodeContext& n, const ByteProduct& p);

// QuantizeLinear of what a node computes from DequantizeLinear: the node on integers (qdq.cc).
// Nullopt where it is no such node.
std::optional<Value> QuantisedInIntegers(NodeContext& n, const Term& scale,
                                         const std::optional<Term>& zero_point, DType dtype);

// What a Conv, Gemm or MatMul of dequantised bytes computes, in real numbers: a sum of integers,
// scaled (qdq.cc). Nullopt for other nodes.
std::optional<Value> DequantisedProduct(NodeContext& n);

}  // namespace relayvm::import
