#include "compiler/import/composite/fourier.h"

#include <numbers>

namespace relayvm::import {

namespace {

constexpr double kTurn = 2 * std::numbers::pi;

// Cosines and sines of 2 pi j k / count, j below `rows`, k below `columns`. Angles are reduced as
// whole numbers first, so that they are exact.
struct Waves {
  Term cos, sin;
};
Waves MakeWaves(const Term& rows, const Term& columns, const Term& count, DType dtype) {
  const Term product = Range(rows).Expand(1) * Range(columns);
  const Term angle =
      product.Call("floor_mod", count).As(DType::kFloat64) * kTurn / count.As(DType::kFloat64);
  return {Cos(angle).As(dtype), Sin(angle).As(dtype)};
}

// Part `i` of the numbers of `x` (.., length, parts), as a matrix of rows of that length.
Term PartOf(const Term& x, int64_t i) {
  TypedBuilder& b = x.b();
  const int rank = x.rank();
  const Term plane(b, b.Squeeze(x.Slice(rank - 1, i, i + 1), {rank - 1}));
  return {b, ShapedAs(b, plane, {ProductOfDims(b, plane, 0, rank - 2), b.DimOf(plane, -1)})};
}

// Matrix `y`, of one or more parts, to the first axes of `x`, `count` numbers and their parts.
Term WithFirstAxesOf(const Term& x, const Term& y, const Term& count, int64_t parts) {
  TypedBuilder& b = x.b();
  std::vector<Value> dims;
  for (int i = 0; i + 2 < x.rank(); ++i) dims.push_back(b.DimOf(x, i));
  dims.push_back(AsVector(count));
  dims.push_back(b.Ints({parts}));
  return {b, ShapedAs(b, y, dims)};
}

}  // namespace

// A cosine is the same at j and at count - j, a sine its opposite: sums and differences of the two
// leave half of the products.
Term FourierTransform(const Term& x, const Term& length, const Term& bins, bool inverse) {
  TypedBuilder& b = x.b();
  const Term half = OneSidedBins(length, true), j = Range(half);
  const Term mirror = (length - j).Call("floor_mod", length);
  const Waves waves = MakeWaves(half, bins, length, x.dtype());
  // What is its own mirror is summed twice.
  const Term weight = Select(Equal(j, mirror), x.Number(0.5), x.Number(1));
  const Term cos = waves.cos * weight.Expand(1);
  const auto first = [&](const Term& v) {
    const Dim& all = v.value().dim(-1);
    return all.is_const() ? v.Slice(1, 0, all.value() / 2 + 1) : v.Take(j, 1);
  };
  const auto by_cos = [&](const Term& v) {
    return (first(v) + v.Take(mirror, 1)).Call("nn.matmul", cos);
  };
  const auto by_sin = [&](const Term& v) {
    return (first(v) - v.Take(mirror, 1)).Call("nn.matmul", waves.sin);
  };
  const Term re = PartOf(x, 0);
  const double sign = inverse ? 1 : -1;
  Term out_re = by_cos(re), out_im = by_sin(re) * sign;
  if (!x.value().dim(-1).is_const(1)) {
    const Term im = PartOf(x, 1);
    out_re = out_re - by_sin(im) * sign;
    out_im = out_im + by_cos(im);
  }
  Term y(b, b.Op("stack", {b.Tuple({out_re, out_im})}, {{"axis", 2}}));
  if (inverse) y = y / length.As(x.dtype());
  return WithFirstAxesOf(x, y, bins, 2);
}

Term RealFourierInverse(const Term& x, const Term& length, const Term& bins) {
  const Waves waves = MakeWaves(bins, length, length, x.dtype());
  const Term k = Range(bins);
  const Term alone = Or(Equal(k, 0), Equal(k * 2, length));
  const Term weight = Select(alone, x.Number(1), x.Number(2)) / length.As(x.dtype());
  const Term y = (PartOf(x, 0) * weight).Call("nn.matmul", waves.cos) -
                 (PartOf(x, 1) * weight).Call("nn.matmul", waves.sin);
  return WithFirstAxesOf(x, y, length, 1);
}

Term OneSidedBins(const Term& length, bool onesided) { return onesided ? length / 2 + 1 : length; }

Term WindowOfCosines(const Term& size, bool periodic, double a0, double a1, double a2) {
  const Term steps = periodic ? size : size - 1;
  const Term turn = Range(size).As(DType::kFloat64) * kTurn / steps.As(DType::kFloat64);
  Term y = a0 - a1 * Cos(turn);
  if (a2 != 0) y = y + a2 * Cos(turn * 2);
  return y;
}

}  // namespace relayvm::import
