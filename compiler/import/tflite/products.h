// What products of all kinds share (convolutions, matrices): sums of codes by integer kernels,
// their bias and scale, and products of floats with weights of 8 bits, for which data is quantised
// when it runs. Tested by operators_test.cc.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "compiler/import/tflite/quantised.h"

namespace relayvm::import::tflite {

// The sum of codes of `x`, less their zero point, times those of the weights, int32.
using SumFn = std::function<std::optional<Value>(const Value& x, const Value& x_zero)>;

// A sum whose result is along the last axis, with bias (or none), as the output's codes. `x` are
// codes of 8 bits, or of 16: these are two bytes, each of which is summed, and what they sum to is
// rounded by 15 bits of its factor, or (kInDouble) by all of it.
enum class WideRounding : uint8_t { kReduced, kInDouble };
std::optional<Value> SummedCodes(NodeContext& n, size_t x, size_t w, size_t bias, const SumFn& sum,
                                 fb::Activation activation,
                                 WideRounding rounding = WideRounding::kReduced);

// Factors of a product's sums: of its inputs' scales over the output's.
std::vector<double> ProductFactors(const Tensor& x, const Tensor& w, const Tensor& out);

// Rows of floats (axes `axes` are of one row) as codes of int8. `has_zero`: from the least to the
// greatest number of the row, else symmetric.
struct QuantisedRows {
  Term codes;
  Term scale;                // 1 along `axes`
  std::optional<Term> zero;  // float32, whole
};
QuantisedRows QuantiseRows(const Term& x, const std::vector<int64_t>& axes, bool has_zero);

// Weights of 8 bits that floats are multiplied with are signed, also where old files say uint8.
Value SignedWeights(NodeContext& n, size_t x, size_t w);
// Floats times weights of 8 bits.
bool IsHybrid(NodeContext& n, size_t x, size_t w);
// The scales of weights, along the last axis of a result.
Term ScaleOf(TypedBuilder& b, const Tensor& w);
// Whether sums of so many numbers, each a code of 8 bits times the weight's, are exact in float32.
bool IsExactInFloat(const Value& weights, int64_t channels_axis);

}  // namespace relayvm::import::tflite
