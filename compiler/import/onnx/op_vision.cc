// Pictures, boxes and small matrices: GridSample, AffineGrid, RoiAlign, NonMaxSuppression, Det,
// Einsum.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/import/composite/matrices.h"
#include "compiler/import/composite/nms.h"
#include "compiler/import/composite/pictures.h"
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

Outputs AffineGrid(NodeContext& n) {
  const Term size = Term(n.b(), NotNegative({n, 1, "size"})).As(DType::kInt64);
  const auto grid = AffineGridOf(Term(n, 0), size, n.Int("align_corners", 0) != 0);
  return grid ? Outputs{*grid} : Outputs{};
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

Outputs Det(NodeContext& n) {
  const auto y = DeterminantOf(Term(n, 0));
  return y ? Outputs{*y} : Outputs{};
}
Outputs Inverse(NodeContext& n) {
  const auto y = InverseOf(Term(n, 0));
  return y ? Outputs{*y} : Outputs{};
}

Outputs Einsum(NodeContext& n) {
  return {n.b().Op("einsum", {n.b().Tuple(n.inputs())}, {{"equation", n.String("equation", "")}})};
}

Outputs BitCast(NodeContext& n) {
  const DType to = n.Type("to", DType::kFloat32);
  return {n.b().Op("reinterpret", {n.Input(0)}, {{"dtype", std::string(DTypeName(to))}})};
}

// --- DeformConv ---

// Inputs: data, weights, offsets of each tap at each place (rows and columns in turn), bias,
// weights of taps at each place.
Outputs DeformConv(NodeContext& n) {
  DeformedConvSpec spec{.x = n.Input(0), .weight = n.Input(1), .offset = n.Input(2), .mask = {}};
  spec.groups = n.Count("group", 1);
  spec.offset_groups = n.Count("offset_group", 1);
  spec.strides = n.Ints("strides", {1, 1});
  spec.dilations = n.Ints("dilations", {1, 1});
  spec.pads = n.Ints("pads", {0, 0, 0, 0});
  if (n.Has(4)) spec.mask = n.Input(4);
  auto y = DeformedConv(n, spec);
  if (!y) return {};
  if (n.Has(3)) y = *y + Along(Term(n, 3), 1, 4);
  return {*y};
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
