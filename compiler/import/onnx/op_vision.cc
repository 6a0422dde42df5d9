// Pictures, boxes and small matrices: GridSample, AffineGrid, RoiAlign, NonMaxSuppression, Det,
// Einsum.
#include <fmt/format.h>

#include <cmath>

#include "compiler/import/onnx/arithmetic.h"

namespace relayvm::import {

namespace {

using Outputs = std::vector<Value>;

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
  const Term size = Term(n, 1).As(DType::kInt64);
  const bool align = n.Int("align_corners", 0) != 0;
  if (theta.rank() != 3 || !theta.value().dim(1).is_const() || size.rank() != 1) {
    return n.Fail("theta: expected (batch, 2, 3) or (batch, 3, 4)");
  }
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
  if (mode != "avg" && mode != "max") {
    return n.Fail(fmt::format("mode: expected avg or max, found {}", mode));
  }
  if (rois.rank() != 2 || n.Input(2).rank() != 1) return n.Fail("rois: expected (regions, 4)");
  const std::string fallback = n.opset() < 16 ? "output_half_pixel" : "half_pixel";
  const bool aligned = n.String("coordinate_transformation_mode", fallback) == "half_pixel";
  const Value boxes = b.Concat({Term(n, 2).As(rois.dtype()).Expand(1), rois}, 1);
  return {b.Op("vision.roi_align", {n.Input(0), boxes},
               {{"pooled_size", AttrList{n.Int("output_height", 1), n.Int("output_width", 1)}},
                {"spatial_scale", n.Float("spatial_scale", 1)},
                {"sample_ratio", n.Int("sampling_ratio", 0)},
                {"mode", mode == "max" ? "max_corner" : "avg"},
                {"aligned", aligned}})};
}

Outputs MaxRoiPool(NodeContext& n) {
  return {n.b().Op("vision.roi_pool", n.inputs(),
                   {{"pooled_size", ListOf(n.Ints("pooled_shape"))},
                    {"spatial_scale", n.Float("spatial_scale", 1)}})};
}

Outputs NonMaxSuppression(NodeContext& n) {
  TypedBuilder& b = n.b();
  Term boxes(n, 0);
  if (boxes.rank() != 3) return n.Fail("boxes: expected (batch, boxes, 4)");
  if (n.Int("center_point_box", 0) != 0) {
    const Term centre = boxes.Slice(2, 0, 2), half = boxes.Slice(2, 2, 4) / 2;
    boxes = Term(b, b.Concat({centre - half, centre + half}, 2));
  }
  const auto limit = [&](size_t i, double fallback) {
    return n.Has(i) ? AsScalar(Term(n, i)).value() : b.Scalar(fallback, DType::kFloat32);
  };
  const Value most = n.Has(2) ? AsScalar(Term(n, 2)).As(DType::kInt64).value() : b.Int(0);
  const std::vector<Value> found =
      b.Ops("vision.all_class_non_max_suppression",
            {boxes, n.Input(1), most, limit(3, 0), limit(4, -HUGE_VAL)}, {});
  if (found.size() < 2) return {};
  return {b.Op("dyn.strided_slice", {found[0], b.Ints({0}), found[1], b.Ints({1})})};
}

// --- Small matrices ---

// By elimination: the pivot is the row with the largest first element.
Outputs Det(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Term x(n, 0);
  const int rank = x.rank();
  if (rank < 2 || !x.value().dim(-1).is_const() || x.value().dim(-1) != x.value().dim(-2)) {
    return n.Unsupported("expected square matrices whose extent is known when compiling");
  }
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

Outputs Einsum(NodeContext& n) {
  return {n.b().Op("einsum", {n.b().Tuple(n.inputs())}, {{"equation", n.String("equation", "")}})};
}

Outputs BitCast(NodeContext& n) {
  const DType to = n.Type("to", DType::kFloat32);
  return {n.b().Op("reinterpret", {n.Input(0)}, {{"dtype", std::string(DTypeName(to))}})};
}

constexpr OperatorDef kOperators[] = {
    {"AffineGrid", 2, 2, AffineGrid, 20},
    {"BitCast", 1, 1, BitCast, 26},
    {"Det", 1, 1, Det, 11},
    {"Einsum", 1, -1, Einsum, 12},
    {"GridSample", 2, 2, GridSample, 16},
    {"MaxRoiPool", 2, 2, MaxRoiPool},
    {"NonMaxSuppression", 2, 5, NonMaxSuppression, 10},
    {"RoiAlign", 3, 3, RoiAlign, 10},
    {"GridSample", 2, 2, GridSample, 1, kMicrosoft},
};

}  // namespace

std::span<const OperatorDef> VisionOperators() { return kOperators; }

}  // namespace relayvm::import
