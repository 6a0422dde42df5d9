// Quantised tensors of PyTorch: integers, with how they stand for numbers beside them
// (argument.h). Tested by op_quantised_test.cc.
#pragma once

#include <optional>
#include <string_view>

#include "compiler/import/torch/convert.h"

namespace relayvm::import::torch {

// By one scale.
Quantisation QuantisedBy(TypedBuilder& b, double scale, double zero_point, DType dtype);
// The scale, or zero point (in that dtype), where it meets the tensor's elements: rank 0, or along
// the axis.
Term ScaleOf(TypedBuilder& b, const Quantisation& q, int rank);
Term ZeroPointOf(TypedBuilder& b, const Quantisation& q, int rank, DType dtype);
// The numbers that a quantised tensor stands for (float32); of others itself.
Term NumbersOf(TypedBuilder& b, const Argument& a);
// x as integers, which lie in `low`..`high` where these are given.
Argument QuantisedAs(const Term& x, const Quantisation& q, std::optional<double> low = std::nullopt,
                     std::optional<double> high = std::nullopt);
// The integers `v` with that meaning.
Argument WithMeaning(Value v, const Quantisation& q);

// The call with argument 0 as plain numbers.
Call OnNumbers(const Call& n);
// A converter for quantised tensors too: of those its first result is quantised as argument 0 is.
template <Converter kOf>
Results Requantising(Call& n) {
  const auto q = n.Arg(size_t{0}).quantised;
  if (q == nullptr) return kOf(n);
  Call plain = OnNumbers(n);
  Results results = kOf(plain);
  if (!results.empty()) results[0] = QuantisedAs(Term(n.b(), results[0].value), *q);
  return results;
}

}  // namespace relayvm::import::torch
