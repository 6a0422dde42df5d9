// Arithmetic on quantised values, shared by the files that define qnn.*. A real number is scale *
// (q - zero_point).
//
// Scales and zero points are tensors: scalars, or vectors along one axis. The integer multipliers
// that TVM computes at compile time (a scale ratio as significand * 2^exponent) are computed by
// expressions here, so scales may be any tensor; where they are constants, so are the multipliers.
// Stateless. Tested by qnn_test.cc.
#pragma once

#include <string>

#include "kernels/op/nn_helpers.h"

namespace relayvm::qnn {

// The limits of an integer dtype of at most 32 bits.
int64_t LowestOf(DType t);
int64_t HighestOf(DType t);

// The element of a scale or zero point for index tuple `at` of the data: the only one, or that of
// the position along `axis`.
te::Expr Parameter(const te::Tensor& t, const ExprList& at, int axis);
// `value` clipped to dtype's range and converted; of that dtype, it is unchanged.
te::Expr Saturate(te::Expr value, DType dtype);
// Checks that argument i is a scalar, or a vector along `axis` of a tensor of shape `shape`.
Status RequireParameter(TypeContext& tc, size_t i, const std::vector<Dim>& shape, int64_t axis,
                        std::string_view what);
// The axis counted from 0 (-1 is the last).
int ParameterAxis(int64_t axis, size_t rank);

enum class Rounding { kUpward /* halves up */, kToNearest /* halves away from zero */ };
Result<Rounding> ParseRounding(const std::string& text);  // "None" is UPWARD

// A ratio of scales as a fixed-point number, one a scale: 31 bits and an exponent, in the form that
// the loops take it in. round(v * ratio) = (clamp(v, -limit, limit) * factor + half) >> shift,
// where limit is such that no product wraps and that what it clamps saturates.
struct Multiplier {
  te::Tensor factor, limit, half, shift;  // int64
  DType result = DType::kInt64;           // kInt32 where this is enough to saturate from
  bool halves_first = false;              // the product is halved before `half` is added
};
// numerator / denominator, elementwise over scalars and vectors, for results that Saturate brings
// to `out`. `of_products`: for values that are products.
Multiplier MakeMultiplier(const te::Tensor& numerator, const te::Tensor& denominator, DType out,
                          bool of_products = false);
// round(value * multiplier) as m.result; `value` is of any integer dtype. One of more than 32 bits
// (q less a zero point) counts as at most 3 * 2^30; of products, 2^32.
te::Expr FixedPointMultiply(const te::Expr& value, const Multiplier& m, const ExprList& at,
                            int axis, Rounding rounding);

// The zero point of a result, to be added to it before that saturates.
te::Expr ZeroOut(const te::Tensor& zero_point, const Multiplier& m, const ExprList& at, int axis);

// A tensor under one scale and zero point brought to others, as multiplier.result that is not yet
// saturated.
struct Requantizer {
  te::Tensor zero_in, zero_out;
  Multiplier multiplier;
  int axis = 0;
  Rounding rounding = Rounding::kUpward;

  te::Expr operator()(const te::Expr& value, const ExprList& at) const;
};
Requantizer MakeRequantizer(const te::Tensor& scale_in, const te::Tensor& zero_in,
                            const te::Tensor& scale_out, const te::Tensor& zero_out, int axis,
                            DType out);

// The product of two scales, float32.
te::Tensor MultiplyScales(const te::Tensor& a, const te::Tensor& b);

// Numbers along K that products of bytes read as a word.
inline constexpr int64_t kQuad = 4;
// Whether a convolution with groups of so many channels is best a product of bytes: not where it is
// depthwise or nearly so, which direct convolutions serve, nor where a group's inputs are no words
// of four.
inline bool TakesByteConvolution(int64_t group_inputs, int64_t group_outputs, int64_t groups) {
  return group_outputs > 4 && group_inputs > 0 && (groups == 1 || group_inputs % kQuad == 0);
}

}  // namespace relayvm::qnn
