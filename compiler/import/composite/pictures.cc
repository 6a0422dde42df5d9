#include "compiler/import/composite/pictures.h"

#include <algorithm>

namespace relayvm::import {

std::optional<Term> AffineGridOf(const Term& theta, const Term& size, bool align_corners) {
  TypedBuilder& b = theta.b();
  if (theta.rank() != 3 || !theta.value().dim(1).is_const() || size.rank() != 1)
    return b.Fail("theta: expected (batch, 2, 3) or (batch, 3, 4)");
  const int64_t spatial = theta.value().dim(1).value();
  if ((spatial != 2 && spatial != 3) || !theta.value().dim(2).is_const(spatial + 1) ||
      !size.value().dim(0).is_const(spatial + 2)) {
    return b.Fail("theta: expected (batch, 2, 3) or (batch, 3, 4), and a size of 4 or 5 numbers");
  }
  std::optional<Term> grid;
  // x comes first in theta, last among the extents.
  for (int64_t i = 0; i < spatial; ++i) {
    const int64_t dim = spatial - 1 - i;
    const Term extent = AsScalar(size.Slice(0, dim + 2, dim + 3));
    const Term count = extent.As(theta.dtype());
    const Term at = Range(extent).As(theta.dtype());
    const Term place = align_corners ? at * 2.0 / Maximum(count - 1, count.Number(1)) - 1.0
                                     : (at * 2.0 + 1.0) / count - 1.0;
    const Term row = theta.Slice(2, i, i + 1).Reshape({0, static_cast<int>(spatial)});
    // (n, 1.., d) times the position along its dim.
    const Term part =
        row.Expand(1, static_cast<int>(spatial)) *
        place.Expand(1, static_cast<int>(spatial - dim)).Expand(0, static_cast<int>(dim + 1));
    grid = grid ? *grid + part : part;
  }
  const Term shift = theta.Slice(2, spatial, spatial + 1).Reshape({0, static_cast<int>(spatial)});
  return *grid + shift.Expand(1, static_cast<int>(spatial));
}

namespace {

// Pixels between pixels: x (batch, channels, height, width) at rows and columns (batch, groups of
// channels, taps, height, width of the result), as (batch, channels, taps, height, width). What
// lies outside is 0.
Term SampledAt(const Term& x, const Term& row, const Term& column) {
  TypedBuilder& b = x.b();
  const auto fold = [&](const Term& v, const std::vector<Value>& dims) {
    return Term(b, ShapedAs(b, v, dims));
  };
  const auto relative = [&](const Term& at, int axis) {  // -1 to 1 are the outer edges of pixels
    return (at * 2 + 1) / Extent(b, x, axis).As(x.dtype()) - 1;
  };
  const Value groups = b.DimOf(row, 1), taps = b.DimOf(row, 2);
  const Value batches = Term(b, b.DimOf(x, 0)) * Term(b, groups);
  const Value rows = Term(b, taps) * Term(b, b.DimOf(row, 3));
  const Term grid(b, b.Concat({relative(column, 3).Expand(5), relative(row, 2).Expand(5)}, 5));
  const Term planes = fold(x, {batches, b.Ints({-1}), b.DimOf(x, 2), b.DimOf(x, 3)});
  const Term drawn =
      planes.Call("image.grid_sample",
                  fold(grid, {batches, rows, b.DimOf(row, 4), b.Ints({2})}).Transpose({0, 3, 1, 2}),
                  {{"method", "bilinear"},
                   {"padding_mode", "zeros"},
                   {"align_corners", false},
                   {"layout", "NCHW"}});
  return fold(drawn, {b.DimOf(x, 0), b.DimOf(x, 1), taps, b.DimOf(row, 3), b.DimOf(row, 4)});
}

}  // namespace

std::optional<Term> DeformedConv(TypedBuilder& b, const DeformedConvSpec& spec) {
  const Term x(b, spec.x), w(b, spec.weight), offset(b, spec.offset);
  if (x.rank() != 4 || w.rank() != 4 || offset.rank() != 4)
    return b.Fail(StatusCode::kUnsupported, "expected data, weights and offsets of rank 4");
  for (int i = 0; i < 4; ++i) {
    if (!w.value().dim(i).is_const())
      return b.Fail(StatusCode::kUnsupported, "the weights' dims must be known");
  }
  const int64_t height = w.value().dim(2).value(), width = w.value().dim(3).value();
  constexpr int64_t kMostTaps = 1 << 20;  // they are listed
  if (height > kMostTaps || width > kMostTaps || height * width > kMostTaps)
    return b.Fail(StatusCode::kUnsupported, "kernels of more than 2^20 elements are not supported");
  if (w.value().dim(0).value() > INT32_MAX || w.value().dim(1).value() > INT32_MAX)
    return b.Fail("the weights have too many channels");
  const int64_t group = spec.groups, sets = spec.offset_groups, taps = height * width,
                outs = w.value().dim(0).value(), ins = w.value().dim(1).value();
  const std::vector<int64_t>&strides = spec.strides, &dilations = spec.dilations, &pads = spec.pads;
  if (strides.size() != 2 || dilations.size() != 2 || pads.size() != 4 || group < 1 || sets < 1 ||
      taps < 1 || outs < 1 || outs % group != 0 || (ins * group) % sets != 0 ||
      std::any_of(
          dilations.begin(), dilations.end(), [](int64_t d) { return d < 1 || d > INT32_MAX; })) {
    return b.Fail("expected 2 strides and dilations, 4 pads, and groups that divide the channels");
  }
  // Offsets by group, tap, and row or column.
  const auto part = [&](const Term& v, int64_t parts) {
    return Term(
        b,
        ShapedAs(b, v, {b.DimOf(v, 0), b.Ints({sets, taps, parts}), b.DimOf(v, 2), b.DimOf(v, 3)}));
  };
  const Term pairs = part(offset, 2);
  const auto at = [&](int axis) {
    const Term moved(b, b.Squeeze(pairs.Slice(3, axis, axis + 1), {3}));
    const auto a = static_cast<size_t>(axis);
    const Term place = RangeOf(b, moved, 3 + axis) * static_cast<double>(strides[a]) -
                       static_cast<double>(pads[a]);
    std::vector<int64_t> taps_at;
    for (int64_t i = 0; i < taps; ++i) {
      taps_at.push_back((axis == 0 ? i / width : i % width) * dilations[a]);
    }
    const Term tap = Term(b, b.Ints(taps_at)).Expand(1, 2);
    return moved + tap.As(x.dtype()) + (axis == 0 ? place.Expand(1) : place).As(x.dtype());
  };
  Term columns = SampledAt(x, at(0), at(1));
  if (spec.mask) {
    const Term weight(b, b.Squeeze(part(Term(b, spec.mask), 1), {3}));
    columns = columns * weight.Call("repeat", {{"repeats", ins * group / sets}, {"axis", 1}});
  }
  // (batch, group, inputs of a group * taps, places) as a product with the weights of each group.
  const Value places = ProductOfDims(b, columns, 3, 5);
  const Term matrix(b, ShapedAs(b, columns, {b.DimOf(x, 0), b.Ints({group, ins * taps}), places}));
  const Term product(b, MatMulOf(b, w.Reshape({1, group, outs / group, ins * taps}), matrix));
  return Term(b,
              ShapedAs(b, product,
                       {b.DimOf(x, 0), b.Ints({outs}), b.DimOf(columns, 3), b.DimOf(columns, 4)}));
}

}  // namespace relayvm::import
