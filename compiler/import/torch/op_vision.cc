// torchvision's operators on boxes, regions and pictures; grids of places.
#include "compiler/import/checked.h"
#include "compiler/import/composite/nms.h"
#include "compiler/import/composite/pictures.h"
#include "compiler/import/torch/convert.h"
#include "compiler/import/torch/nn_tables.h"

namespace relayvm::import::torch {

namespace {

Results Nms(Call& n) {
  TypedBuilder& b = n.b();
  Term boxes = Real(n);
  const Term scores(n, 1);
  if (boxes.rank() != 2 || scores.rank() != 1)
    return n.Fail("expected boxes of rank 2 and a score for each");
  // Boxes that end before they begin meet no others: so do points.
  const Term first = boxes.Slice(1, 0, 2), second = boxes.Slice(1, 2, 4);
  const Term turned = (second < first).As(DType::kInt32).Over("max", {1}) > 0;
  boxes = Select(turned, Term(b, b.Concat({first, first}, 1)), boxes);
  return {KeptBoxes(n, {.boxes = boxes.As(DType::kFloat32),
                        .scores = scores.As(DType::kFloat32),
                        .most = {},
                        .iou_threshold = n.Number("iou_threshold", DType::kFloat32),
                        .score_threshold = {}})};
}

// Regions (picture, x0, y0, x1, y1), whose pictures are there.
std::optional<Term> RegionsOf(const Call& n, const Term& x) {
  TypedBuilder& b = n.b();
  const Term rois(n, 1);
  if (x.rank() != 4 || rois.rank() != 2 ||
      !(rois.value().dim(1).is_const(5) || !rois.value().dim(1).is_const()))
    return n.Fail("expected data of rank 4 and regions (regions, 5)");
  const Term picture = Checked({n, 1, "the picture of a region"},
                               rois.Slice(1, 0, 1).As(DType::kInt64), 0, b.DimOf(x, 0));
  return Term(b, b.Concat({picture.As(x.dtype()), rois.Slice(1, 1, 5).As(x.dtype())}, 1));
}
Term AlignedRegions(const Call& n, const Term& x, const Term& rois, bool aligned) {
  return x.Call("vision.roi_align", rois,
                {{"pooled_size", AttrList{n.Int("pooled_height", 1), n.Int("pooled_width", 1)}},
                 {"spatial_scale", n.Float("spatial_scale", 1)},
                 {"sample_ratio", std::max<int64_t>(n.Int("sampling_ratio", 0), 0)},
                 {"mode", "avg"},
                 {"aligned", aligned}});
}
Results RoiAlign(Call& n) {
  const Term x = Real(n);
  const auto rois = RegionsOf(n, x);
  if (!rois || !n.b().status().ok()) return {};
  return {AlignedRegions(n, x, *rois, n.Bool("aligned"))};
}
// Each bin has channels of its own: of all bins of all channels those are taken.
Results PositionSensitiveRoiAlign(Call& n) {
  TypedBuilder& b = n.b();
  const Term x = Real(n);
  const auto rois = RegionsOf(n, x);
  if (!rois || !b.status().ok()) return {};
  int64_t bins = 0;
  const bool wide =
      __builtin_mul_overflow(n.Int("pooled_height", 1), n.Int("pooled_width", 1), &bins);
  if (wide || bins < 1 || bins > (1 << 16)) return n.Fail("expected 1 to 65536 bins");
  const Term all = AlignedRegions(n, x, *rois, true);
  const Term split(b, ShapedAs(b, all, {b.DimOf(all, 0), b.Ints({-1}), b.Ints({bins, bins})}));
  const Term place(b, b.Ints(Iota(bins)));
  const Term own = Equal(place.Expand(1), place);
  const Term y = Select(own, split, split.Number(0)).Over("sum", {3}, false);
  return {ShapedAs(b, y, {b.DimOf(y, 0), b.DimOf(y, 1), b.DimOf(all, 2), b.DimOf(all, 3)}),
          Argument()};
}
// Without the places of the greatest, which only gradients want.
Results RoiPool(Call& n) {
  const Term x = Real(n);
  const auto rois = RegionsOf(n, x);
  if (!rois || !n.b().status().ok()) return {};
  return {x.Call("vision.roi_pool", *rois,
                 {{"pooled_size", AttrList{n.Int("pooled_height", 1), n.Int("pooled_width", 1)}},
                  {"spatial_scale", n.Float("spatial_scale", 1)}}),
          Argument()};
}

Results DeformConv2d(Call& n) {
  DeformedConvSpec spec{.x = n.Input(0), .weight = n.Input(1), .offset = n.Input(2), .mask = {}};
  spec.groups = n.Int("groups", 1);
  spec.offset_groups = n.Int("offset_groups", 1);
  spec.strides = {n.Int("stride_h", 1), n.Int("stride_w", 1)};
  spec.dilations = {n.Int("dilation_h", 1), n.Int("dilation_w", 1)};
  const int64_t height = n.Int("pad_h"), width = n.Int("pad_w");
  spec.pads = {height, width, height, width};
  if (n.Bool("use_mask")) spec.mask = n.Tensor("mask");
  const auto y = DeformedConv(n, spec);
  if (!y) return {};
  return {*y + Along(Term(n, n.Tensor("bias")), 1, 4)};
}

Results AffineGrid(Call& n) {
  const auto y = AffineGridOf(Real(n), {n, n.Sizes("size")}, n.Bool("align_corners"));
  if (!y) return {};
  return {*y};
}

constexpr OperatorDef kVisionOperators[] = {
    {"torchvision::nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor", Nms},
    {"torchvision::roi_align(Tensor input, Tensor rois, float spatial_scale, int "
     "pooled_height, int pooled_width, int sampling_ratio, bool aligned) -> Tensor",
     RoiAlign},
    {"torchvision::roi_pool(Tensor input, Tensor rois, float spatial_scale, int "
     "pooled_height, int pooled_width) -> (Tensor, Tensor)",
     RoiPool},
    {"torchvision::ps_roi_align(Tensor input, Tensor rois, float spatial_scale, int "
     "pooled_height, int pooled_width, int sampling_ratio) -> (Tensor, Tensor)",
     PositionSensitiveRoiAlign},
    {"torchvision::deform_conv2d(Tensor input, Tensor weight, Tensor offset, Tensor mask, "
     "Tensor bias, int stride_h, int stride_w, int pad_h, int pad_w, int dilation_h, int "
     "dilation_w, int groups, int offset_groups, bool use_mask) -> Tensor",
     DeformConv2d},
    {"aten::affine_grid_generator(Tensor theta, int[] size, bool align_corners) -> Tensor",
     AffineGrid},
};

}  // namespace

OperatorTable VisionOperators() { return kVisionOperators; }

}  // namespace relayvm::import::torch
