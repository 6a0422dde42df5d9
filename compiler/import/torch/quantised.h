// Quantised tensors of PyTorch: integers, with how they stand for numbers beside them
// (argument.h). Tested by op_quantised_test.cc.
#pragma once

#include <optional>
#include <string_view>

#include "compiler/import/torch/convert.h"
#include "compiler/import/torch/tensors.h"

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

// A tensor of a file as an argument: quantised ones with their scales and zero points.
Argument TensorArgument(TypedBuilder& b, TorchTensor tensor, const std::string& name);

// The numbers of a dtype that a quantised tensor has: qint8 -128..127, quint8 0..255.
struct QuantisedRange {
  double low, high;
};
QuantisedRange RangeOfIntegers(DType dtype);
// The dtype of the integers of TorchScript's qint8, quint8, qint32; nullopt for others.
std::optional<DType> DTypeOfQuantised(int64_t torch);

// The call with argument 0 as plain numbers.
Call OnNumbers(const Call& n);
// A converter for quantised tensors too, whose first result has a range of its own: 256ths of
// `kSpan`, from 0 on or around it.
template <Converter kOf, int kSpan, bool kAround>
Results QuantisedToRange(Call& n) {
  const auto q = n.Arg(size_t{0}).quantised;
  if (q == nullptr) return kOf(n);
  Call plain = OnNumbers(n);
  Results results = kOf(plain);
  const double low = RangeOfIntegers(q->dtype).low;
  if (!results.empty()) {
    results[0] =
        QuantisedAs(Term(n.b(), results[0].value),
                    QuantisedBy(n.b(), kSpan / 256.0, kAround ? low + 128 : low, q->dtype));
  }
  return results;
}
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
