// Pictures, boxes and small matrices: GridSample, AffineGrid, RoiAlign, NonMaxSuppression, Det,
// Einsum.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/import/composite/nms.h"
#include "compiler/import/onnx/checked.h"

namespace relayvm::import {

namespace {

Outputs GridSample(NodeContext& n) {
  std::string method = n.String("mode", "bilinear");
  if (method == "linear") method = "bilinear";
  if (method == "cubic") method = "bicubic";
  const std::string padding = n.String("padding_mode", "zeros");
  const int rank = n.Input(0).rank();
  if (rank != 4 && rank != 5) return n.Unsupported("expected 2 or 3 spatial dims");
  return {n.b().Op("image.grid_sample",
                   {n.Input(0), Term(n, 1).Transpose(AxisMoved(rank, rank - 1, 1))},
                   {{"method", method},
                    {"padding_mode", padding},
                    {"align_corners", n.Int("align_corners", 0) != 0},
                    {"layout", rank == 4 ? "NCHW" : "NCDHW"}})};
}

// theta (n, d, d+1), size (n, c, extents..): the positions from -1 to 1 of a picture, transformed.
Outputs AffineGrid(NodeContext& n) {
  const Term theta(n, 0);
  const Term size = Term(n.b(), NotNegative({n, 1, "size"})).As(DType::kInt64);
  const bool align = n.Int("align_corners", 0) != 0;
  if (theta.rank() != 3 || !theta.value().dim(1).is_const() || size.rank() != 1)
    return n.Fail("theta: expected (batch, 2, 3) or (batch, 3, 4)");
  const int64_t spatial = theta.value().dim(1).value();
  if ((spatial != 2 && spatial != 3) || !theta.value().dim(2).is_const(spatial + 1) ||
      !size.value().dim(0).is_const(spatial + 2)) {
    return n.Fail("theta: expected (batch, 2, 3) or (batch, 3, 4), and a size of 4 or 5 numbers");
  }
  std::optional<Term> grid;
  // x comes first in theta, last among the extents.
  for (int64_t i = 0; i < spatial; ++i) {
    const int64_t dim = spatial - 1 - i;
    const Term extent = AsScalar(size.Slice(0, dim + 2, dim + 3));
    const Term count = extent.As(theta.dtype());
    const Term at = Range(extent).As(theta.dtype());
    const Term place = align ? at * 2.0 / Maximum(count - 1, count.Number(1)) - 1.0
                             : (at * 2.0 + 1.0) / count - 1.0;
    const Term row = theta.Slice(2, i, i + 1).Reshape({0, static_cast<int>(spatial)});
    // (n, 1.., d) times the position along its dim.
    const Term part =
        row.Expand(1, static_cast<int>(spatial)) *
        place.Expand(1, static_cast<int>(spatial - dim)).Expand(0, static_cast<int>(dim + 1));
    grid = grid ? *grid + part : part;
  }
  const Term shift = theta.Slice(2, spatial, spatial + 1).Reshape({0, static_cast<int>(spatial)});
  return {*grid + shift.Expand(1, static_cast<int>(spatial))};
}

// --- Regions and boxes ---

Outputs RoiAlign(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Term rois(n, 1);
  const std::string mode = n.String("mode", "avg");
  if (mode != "avg" && mode != "max") return n.Fail("mode: expected avg or max, found {}", mode);
  if (rois.rank() != 2 || n.Input(2).rank() != 1) return n.Fail("rois: expected (regions, 4)");
  const std::string fallback = n.opset() < 16 ? "output_half_pixel" : "half_pixel";
  const bool aligned = n.String("coordinate_transformation_mode", fallback) == "half_pixel";
  const Term pictures = Checked({n, 2, "batch_indices"}, n.Input(2), 0, b.DimOf(n.Input(0), 0));
  const Value boxes = b.Concat({pictures.As(rois.dtype()).Expand(1), rois}, 1);
  return {b.Op("vision.roi_align", {n.Input(0), boxes},
               {{"pooled_size", AttrList{n.Int("output_height", 1), n.Int("output_width", 1)}},
                {"spatial_scale", n.Float("spatial_scale", 1)},
                {"sample_ratio", n.Int("sampling_ratio", 0)},
                {"mode", mode == "max" ? "max_corner" : "avg"},
                {"aligned", aligned}})};
}

Outputs MaxRoiPool(NodeContext& n) {
  TypedBuilder& b = n.b();
  Term rois(n, 1);
  if (rois.rank() != 2 || !rois.value().dim(1).is_const(5))
    return n.Fail("rois: expected (regions, 5)");
  const Term picture = Checked({n, 1, "the picture of a region, rois"},
                               rois.Slice(1, 0, 1).As(DType::kInt64), 0, b.DimOf(n.Input(0), 0));
  rois = Term(b, b.Concat({picture.As(rois.dtype()), rois.Slice(1, 1, INT64_MAX)}, 1));
  return {b.Op("vision.roi_pool", {n.Input(0), rois},
               {{"pooled_size", ListOf(n.Ints("pooled_shape"))},
                {"spatial_scale", n.Float("spatial_scale", 1)}})};
}

// Inputs: data, boxes as parts of a picture, the picture of each, the size of the results.
Outputs CropAndResize(NodeContext& n) {
  const auto size = n.ConstantInts(3, "crop_size");
  if (!size) return {};
  if (n.Input(0).rank() != 4 || size->size() != 2 || (*size)[0] < 1 || (*size)[1] < 1)
    return n.Fail("expected data of rank 4 and a crop_size of two positive numbers");
  const Term pictures = Checked({n, 2, "batch_indices"}, n.Input(2), 0, n.b().DimOf(n.Input(0), 0));
  const std::string mode = n.String("mode", "bilinear");
  return {n.b().Op("image.crop_and_resize", {n.Input(0), n.Input(1), pictures},
                   {{"crop_size", ListOf(*size)},
                    {"layout", "NCHW"},
                    {"method", mode == "nearest" ? "nearest_neighbor" : mode},
                    {"extrapolation_value", n.Float("extrapolation_value", 0)}})};
}

Outputs NonMaxSuppression(NodeContext& n) {
  if (n.Input(0).rank() != 3) return n.Fail("boxes: expected (batch, boxes, 4)");
  const auto scalar = [&](size_t i) { return n.Has(i) ? AsScalar(Term(n, i)).value() : Value{}; };
  const Value overlap =
      n.Has(3)
          ? Fraction({n, 3, "iou_threshold"}, AsScalar(Term(n, 3)), /*below_one=*/false).value()
          : Value{};
  return {NonMaxSuppressed(n, {.boxes = n.Input(0),
                               .scores = n.Input(1),
                               .centres = n.Int("center_point_box", 0) != 0,
                               .most = scalar(2),
                               .iou_threshold = overlap,
                               .score_threshold = scalar(4)})};
}

// --- Small matrices ---

// By elimination: the pivot is the row with the largest first element.
Outputs Det(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Term x(n, 0);
  const int rank = x.rank();
  if (rank < 2 || !x.value().dim(-1).is_const() || x.value().dim(-1) != x.value().dim(-2))
    return n.Unsupported("expected square matrices whose extent is known when compiling");
  const int64_t size = x.value().dim(-1).value();
  if (size > 64) return n.Unsupported("matrices of more than 64 rows are not supported");
  Term m(b, ShapedAs(b, x, {ProductOfDims(b, x, 0, rank - 2), b.Ints({size, size})}));
  Term det = m.Over("prod", {1, 2}, false).Call("ones_like");
  for (int64_t k = size; k >= 1; --k) {
    const Term column = m.Slice(2, 0, 1);  // (n, k, 1)
    const Term pivot =
        Abs(column).Call("argmax", {{"axis", AttrList{1}}, {"keepdims", true}}).As(DType::kInt64);
    const Term is_pivot = Equal(Term(b, b.Ints(Iota(k))).Expand(1), pivot);  // (n, k, 1)
    const Term row = Sum(Select(is_pivot, m, m.Number(0)), {1});             // (n, 1, k)
    const Term head = row.Slice(2, 0, 1);                                    // (n, 1, 1)
    const Term flips = Select(pivot > 0, head.Number(-1), head.Number(1));
    det = det * (head * flips).Reshape({-1});
    if (k == 1) break;
    const Term first = m.Slice(1, 0, 1);
    const Term rest = Select(is_pivot, first, m).Slice(1, 1, INT64_MAX);
    const Term factor = rest.Slice(2, 0, 1) / Select(Equal(head, 0), head.Number(1), head);
    m = (rest - factor * row).Slice(2, 1, INT64_MAX);
  }
  std::vector<Value> dims;
  for (int i = 0; i + 2 < rank; ++i) dims.push_back(b.DimOf(x, i));
  return {ShapedAs(b, det, dims)};
}

// By elimination of each column in turn from all other rows, beside the unit matrix.
Outputs Inverse(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Term x(n, 0);
  const int rank = x.rank();
  if (rank < 2 || Dim::ProvablyDifferent(x.value().dim(-1), x.value().dim(-2)))
    return n.Fail("expected square matrices");
  const Value size = b.DimOf(x, -1);
  const Term m(b, ShapedAs(b, x, {ProductOfDims(b, x, 0, rank - 2), size, size}));
  const Term row = RangeOf(b, m, 1).Expand(1);                             // (s, 1)
  const Term unit = Equal(row, RangeOf(b, m, 1)).As(m.dtype()).Expand(0);  // (1, s, s)
  const auto step = [&](const TypedBuilder::State& s) -> TypedBuilder::State {
    const Term k(b, s[0]), now(b, s[1]);
    const Term column = now.Take(k, 2).Expand(2);  // (n, s, 1)
    const Term left = Select(row >= k, Abs(column), column.Number(-1));
    const Term pivot =
        left.Call("argmax", {{"axis", AttrList{1}}, {"keepdims", true}}).As(DType::kInt64);
    const Term is_pivot = Equal(row, pivot), is_here = Equal(row, k);
    const Term found = Sum(Select(is_pivot, now, now.Number(0)), {1});  // (n, 1, 2s)
    const Term scaled = found / found.Take(k, 2).Expand(2);
    const Term moved = Select(is_pivot, now.Take(k, 1).Expand(1), now);
    const Term rest = moved - moved.Take(k, 2).Expand(2) * scaled;
    return {k + 1, Select(is_here, scaled, rest)};
  };
  const Value both = b.Concat({m, m * 0.0 + unit}, 2);
  const TypedBuilder::State last = b.While(
      {b.Int(0), both},
      [&](const TypedBuilder::State& s) { return Term(b, s[0]) < Extent(b, m, 1); }, step);
  if (!b.status().ok() || last.size() != 2) return {};
  const Term y = Term(b, last[1]).Take(RangeOf(b, m, 1) + Extent(b, m, 1), 2);
  return {ShapedAs(b, y, {b.ShapeOf(x)})};
}

Outputs Einsum(NodeContext& n) {
  return {n.b().Op("einsum", {n.b().Tuple(n.inputs())}, {{"equation", n.String("equation", "")}})};
}

Outputs BitCast(NodeContext& n) {
  const DType to = n.Type("to", DType::kFloat32);
  return {n.b().Op("reinterpret", {n.Input(0)}, {{"dtype", std::string(DTypeName(to))}})};
}

// --- DeformConv ---

// Pixels between pixels: x (batch, channels, height, width) at rows and columns (batch, groups of
// channels, taps, height, width of the result), as (batch, channels, taps, height, width). What
// lies outside is 0.
std::optional<Term> Sampled(NodeContext& n, const Term& x, const Term& row, const Term& column) {
  TypedBuilder& b = n.b();
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
  const std::vector<Value> drawn =
      n.As("GridSample", 16, {planes, fold(grid, {batches, rows, b.DimOf(row, 4), b.Ints({2})})});
  if (drawn.empty()) return std::nullopt;
  return fold({b, drawn[0]},
              {b.DimOf(x, 0), b.DimOf(x, 1), taps, b.DimOf(row, 3), b.DimOf(row, 4)});
}

// Inputs: data, weights, offsets of each tap at each place (rows and columns in turn), bias,
// weights of taps at each place.
Outputs DeformConv(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Term x(n, 0), w(n, 1), offset(n, 2);
  if (x.rank() != 4 || w.rank() != 4 || offset.rank() != 4)
    return n.Unsupported("expected data, weights and offsets of rank 4");
  for (int i = 0; i < 4; ++i) {
    if (!w.value().dim(i).is_const()) return n.Unsupported("the weights' dims must be known");
  }
  const int64_t height = w.value().dim(2).value(), width = w.value().dim(3).value();
  constexpr int64_t kMostTaps = 1 << 20;  // they are listed
  if (height > kMostTaps || width > kMostTaps || height * width > kMostTaps)
    return n.Unsupported("kernels of more than 2^20 elements are not supported");
  if (w.value().dim(0).value() > INT32_MAX || w.value().dim(1).value() > INT32_MAX)
    return n.Fail("the weights have too many channels");
  const int64_t group = n.Count("group", 1), sets = n.Count("offset_group", 1),
                taps = height * width, outs = w.value().dim(0).value(),
                ins = w.value().dim(1).value();
  const std::vector<int64_t> strides = n.Ints("strides", {1, 1}),
                             dilations = n.Ints("dilations", {1, 1}),
                             pads = n.Ints("pads", {0, 0, 0, 0});
  if (strides.size() != 2 || dilations.size() != 2 || pads.size() != 4 || group < 1 || sets < 1 ||
      taps < 1 || outs < 1 || outs % group != 0 || (ins * group) % sets != 0 ||
      std::any_of(
          dilations.begin(), dilations.end(), [](int64_t d) { return d < 1 || d > INT32_MAX; })) {
    return n.Fail("expected 2 strides and dilations, 4 pads, and groups that divide the channels");
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
  const auto sampled = Sampled(n, x, at(0), at(1));
  if (!sampled) return {};
  Term columns = *sampled;
  if (n.Has(4)) {
    const Term weight(b, b.Squeeze(part(Term(n, 4), 1), {3}));
    columns = columns * weight.Call("repeat", {{"repeats", ins * group / sets}, {"axis", 1}});
  }
  // (batch, group, inputs of a group * taps, places) as a product with the weights of each group.
  const Value places = ProductOfDims(b, columns, 3, 5);
  const Term matrix(b, ShapedAs(b, columns, {b.DimOf(x, 0), b.Ints({group, ins * taps}), places}));
  const Term product(b, MatMulOf(n, w.Reshape({1, group, outs / group, ins * taps}), matrix));
  Term y(b, ShapedAs(b, product,
                     {b.DimOf(x, 0), b.Ints({outs}), b.DimOf(columns, 3), b.DimOf(columns, 4)}));
  if (n.Has(3)) y = y + Along(Term(n, 3), 1, 4);
  return {y};
}

constexpr OperatorDef kVisionOperators[] = {
    {"DeformConv", 3, 5, DeformConv, 19},
    {"AffineGrid", 2, 2, AffineGrid, 20},
    {"BitCast", 1, 1, BitCast, 26},
    {"Det", 1, 1, Det, 11},
    {"Einsum", 1, -1, Einsum, 12},
    {"GridSample", 2, 2, GridSample, 16},
    {"MaxRoiPool", 2, 2, MaxRoiPool},
    {"NonMaxSuppression", 2, 5, NonMaxSuppression, 10},
    {"RoiAlign", 3, 3, RoiAlign, 10},
    {"GridSample", 2, 2, GridSample, 1, kMicrosoft},
    {"CropAndResize", 4, 4, CropAndResize, 1, kMicrosoft},
    {"Inverse", 1, 1, Inverse, 1, kMicrosoft},
};

}  // namespace

std::span<const OperatorDef> VisionOperators() { return kVisionOperators; }

}  // namespace relayvm::import
