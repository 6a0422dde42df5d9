// Quantised numbers, (q - zero point) * scale: what formats share. Tested by quantised_test.cc.
#pragma once

#include <optional>

#include "compiler/import/arithmetic.h"

namespace relayvm::import {

struct IntegerLimits {
  double low, high;
};
// Of integers of at most 16 bits; none of other types.
std::optional<IntegerLimits> LimitsOf(ElementKind t);

// A scale or zero point where it meets data of `rank`: a scalar, a vector along `axis`, or (blocks)
// one number for each `block` elements of the axis. Nullopt and an error for another.
std::optional<Term> QuantisationParameter(TypedBuilder& b, const Value& v, const Value& data,
                                          int64_t axis, int64_t block);

// Whole numbers held in float, cast to an integer dtype of at most 16 bits within its limits.
Value Saturate(const Term& x, ElementKind type);
// round(x / scale) + zero_point, halves to even, saturated.
Value Quantised(const Term& x, const Term& scale, const std::optional<Term>& zero_point,
                ElementKind type);
Term Dequantised(const Term& x, const Term& scale, const std::optional<Term>& zero_point);

// The operands of a product of bytes less their zero points: those of the data are one number,
// those of the weights one or (rank 1) one for each output channel.
struct ByteProduct {
  Value x, x_zero, w, w_zero;
};
// Nullopt for other operands. Zero points that are left out are 0.
std::optional<ByteProduct> ByteProductOf(TypedBuilder& b, const Value& x, const Value& x_zero,
                                         const Value& w, const Value& w_zero);
// Their int32 product (qnn.dense, qnn.batch_matmul), which becomes one of bytes
// (compiler/transforms/products/integer_products.h); nullopt where that one does not take it.
std::optional<Value> ByteMatMulOf(TypedBuilder& b, const ByteProduct& p);

// The int32 product of integers less their zero points (which may be left out).
Term IntegerProduct(TypedBuilder& b, const Value& a, const Value& a_zero, const Value& w,
                    const Value& w_zero);

// Of an int32 sum: round(sum * factor) + zero_point, halves to even, saturated.
Value Requantised(const Term& sum, const Term& factor, const std::optional<Term>& zero,
                  DType dtype);
// Integers less their zero points (which may be left out), int32. A vector stands along `axis`.
Term ShiftedBy(TypedBuilder& b, const Value& v, const Value& zero_point, int axis);

// To uint8, by the extremes of the data and 0.
struct DynamicallyQuantised {
  Term data, scale, zero_point;
};
DynamicallyQuantised QuantiseDynamically(const Term& x);

}  // namespace relayvm::import
