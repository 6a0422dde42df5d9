// Detection operators: vision.non_max_suppression vision.all_class_non_max_suppression
// vision.regular_non_max_suppression vision.get_valid_counts vision.roi_align vision.roi_pool
// vision.proposal vision.multibox_prior vision.multibox_transform_loc vision.yolo_reorg. Results
// whose true size depends on the data are as large as they can be and padded, as in Relay.
// Stateless. Tested by vision_test.cc.
#include <bit>
#include <cmath>
#include <utility>

#include "kernels/op/define.h"
#include "kernels/op/op_helpers.h"

namespace relayvm {
namespace {

using te::Expr;
using te::Tensor;

int64_t Bits(double x) { return std::bit_cast<int64_t>(x); }

Status RequireScalar(const TensorType& t, std::string_view what) {
  for (const Dim& d : t.shape) {
    if (!d.is_const(1)) {
      return Invalid("{} has shape {}, expected a scalar", what, ShapeToString(t.shape));
    }
  }
  return OkStatus();
}

// --- Box selection ---

OpDef GetValidCountsOp() {
  OpDef op;
  op.name = "vision.get_valid_counts";
  op.attrs_class = "GetValidCountsAttrs";
  op.print_attrs_class = true;
  op.num_args = 2;
  op.attrs = {Optional("score_threshold", AttrKind::kAny),
              PlainInt(Optional("id_index", AttrKind::kInt, 0)),
              PlainInt(Optional("score_index", AttrKind::kInt, 1))};
  op.infer = [](TypeContext& tc) -> Result<OpResult> {
    const TensorType& data = tc.tensor(0);
    RELAYVM_RETURN_IF_ERROR(RequireRank(data, 3));
    RELAYVM_RETURN_IF_ERROR(RequireFloat(data));
    RELAYVM_RETURN_IF_ERROR(RequireScalar(tc.tensor(1), "score_threshold"));
    if (tc.attrs().Int("score_index") < 0) return Invalid("score_index is negative");
    RELAYVM_RETURN_IF_ERROR(RequireHolds(tc, DType::kInt32, data.shape[1], "the number of boxes"));
    return OpResult::Tuple({TensorType{{data.shape[0]}, DType::kInt32}, data,
                            TensorType{{data.shape[0], data.shape[1]}, DType::kInt32}});
  };
  op.builtin = [](const ComputeContext& c) -> BuiltinCall {
    return {"get_valid_counts", {c.attrs.Int("id_index"), c.attrs.Int("score_index")}};
  };
  return op;
}

OpDef NonMaxSuppressionOp() {
  OpDef op;
  op.name = "vision.non_max_suppression";
  op.attrs_class = "NonMaximumSuppressionAttrs";
  op.print_attrs_class = true;
  op.num_args = 5;
  op.attrs = {Optional("force_suppress", AttrKind::kBool, false),
              PlainInt(Optional("top_k", AttrKind::kInt, -1)),
              PlainInt(Optional("coord_start", AttrKind::kInt, 2)),
              PlainInt(Optional("score_index", AttrKind::kInt, 1)),
              PlainInt(Optional("id_index", AttrKind::kInt, 0)),
              Optional("return_indices", AttrKind::kBool, true),
              Optional("invalid_to_bottom", AttrKind::kBool, false)};
  op.infer = [](TypeContext& tc) -> Result<OpResult> {
    const TensorType& data = tc.tensor(0);
    RELAYVM_RETURN_IF_ERROR(RequireRank(data, 3));
    RELAYVM_RETURN_IF_ERROR(RequireFloat(data));
    RELAYVM_RETURN_IF_ERROR(RequireRank(tc.tensor(1), 1, "valid_count"));
    RELAYVM_RETURN_IF_ERROR(RequireInteger(tc.tensor(1), "valid_count"));
    RELAYVM_RETURN_IF_ERROR(tc.RequireEqual(data.shape[0], tc.tensor(1).shape[0], "the batch"));
    RELAYVM_RETURN_IF_ERROR(RequireScalar(tc.tensor(3), "max_output_size"));
    RELAYVM_RETURN_IF_ERROR(RequireScalar(tc.tensor(4), "iou_threshold"));
    // Without return_indices anything may stand for indices: it is not read.
    if (!tc.attrs().Bool("return_indices")) return OpResult(data);
    RELAYVM_RETURN_IF_ERROR(RequireInteger(tc.tensor(2), "indices"));
    RELAYVM_RETURN_IF_ERROR(RequireHolds(tc, DType::kInt32, data.shape[1], "the number of boxes"));
    RELAYVM_RETURN_IF_ERROR(RequireShapeEqual(tc, tc.tensor(2).shape,
                                              {data.shape[0], data.shape[1]}, "indices and boxes"));
    return OpResult::Tuple({TensorType{{data.shape[0], data.shape[1]}, DType::kInt32},
                            TensorType{{data.shape[0], 1}, DType::kInt32}});
  };
  op.builtin = [](const ComputeContext& c) -> BuiltinCall {
    const Attrs& a = c.attrs;
    const bool indices = a.Bool("return_indices");
    return {indices ? "non_max_suppression_indices" : "non_max_suppression",
            {a.Bool("force_suppress") ? 1 : 0, a.Int("top_k"), a.Int("coord_start"),
             a.Int("score_index"), a.Int("id_index"), indices ? 1 : 0,
             a.Bool("invalid_to_bottom") ? 1 : 0}};
  };
  return op;
}

// boxes (batch, n, 4), scores (batch, classes, n)
OpDef AllClassNmsOp() {
  OpDef op;
  op.name = "vision.all_class_non_max_suppression";
  op.attrs_class = "AllClassNonMaximumSuppressionAttrs";
  op.print_attrs_class = true;
  op.num_args = 5;
  op.attrs = {Optional("output_format", AttrKind::kString, "onnx")};
  op.infer = [](TypeContext& tc) -> Result<OpResult> {
    const TensorType &boxes = tc.tensor(0), &scores = tc.tensor(1);
    RELAYVM_RETURN_IF_ERROR(RequireRank(boxes, 3, "boxes"));
    RELAYVM_RETURN_IF_ERROR(RequireRank(scores, 3, "scores"));
    RELAYVM_RETURN_IF_ERROR(RequireFloat(boxes, "boxes"));
    RELAYVM_RETURN_IF_ERROR(RequireSameDType(boxes, scores));
    RELAYVM_RETURN_IF_ERROR(tc.RequireEqual(boxes.shape[0], scores.shape[0], "the batch"));
    RELAYVM_RETURN_IF_ERROR(
        tc.RequireEqual(boxes.shape[1], scores.shape[2], "the number of boxes"));
    RELAYVM_RETURN_IF_ERROR(tc.RequireEqual(boxes.shape[2], 4, "the coordinates of a box"));
    for (size_t i = 2; i < 5; ++i) RELAYVM_RETURN_IF_ERROR(RequireScalar(tc.tensor(i), "a limit"));
    const std::string& format = tc.attrs().String("output_format");
    const Dim& batch = scores.shape[0];
    const Dim per_batch = scores.shape[1] * scores.shape[2];
    if (format == "onnx") {
      return OpResult::Tuple(
          {TensorType{{batch * per_batch, 3}, DType::kInt64}, TensorType{{1}, DType::kInt64}});
    }
    // Any other name is TensorFlow's, as in TVM.
    return OpResult::Tuple({TensorType{{batch, per_batch, 2}, DType::kInt64},
                            TensorType{{batch, per_batch}, DType::kFloat32},
                            TensorType{{batch}, DType::kInt64}});
  };
  op.builtin = [](const ComputeContext& c) -> BuiltinCall {
    return {
        c.attrs.String("output_format") == "onnx" ? "all_class_nms" : "all_class_nms_tensorflow",
        {}};
  };
  return op;
}

// boxes (batch, n, 4) as (top, left, bottom, right), scores (batch, n, classes), where the scores
// of classes that do not count (the background) come first.
OpDef RegularNmsOp() {
  OpDef op;
  op.name = "vision.regular_non_max_suppression";
  op.attrs_class = "RegularNonMaximumSuppressionAttrs";
  op.print_attrs_class = true;
  op.num_args = 2;
  op.attrs = {PlainInt(Required("max_detections_per_class", AttrKind::kInt)),
              PlainInt(Required("max_detections", AttrKind::kInt)),
              PlainInt(Required("num_classes", AttrKind::kInt)),
              Required("iou_threshold", AttrKind::kFloat),
              Required("score_threshold", AttrKind::kFloat)};
  op.infer = [](TypeContext& tc) -> Result<OpResult> {
    const TensorType &boxes = tc.tensor(0), &scores = tc.tensor(1);
    RELAYVM_RETURN_IF_ERROR(RequireRank(boxes, 3, "boxes"));
    RELAYVM_RETURN_IF_ERROR(RequireRank(scores, 3, "scores"));
    RELAYVM_RETURN_IF_ERROR(RequireFloat(boxes, "boxes"));
    RELAYVM_RETURN_IF_ERROR(RequireSameDType(boxes, scores));
    RELAYVM_RETURN_IF_ERROR(tc.RequireEqual(boxes.shape[0], scores.shape[0], "the batch"));
    RELAYVM_RETURN_IF_ERROR(
        tc.RequireEqual(boxes.shape[1], scores.shape[1], "the number of boxes"));
    RELAYVM_RETURN_IF_ERROR(tc.RequireEqual(boxes.shape[2], 4, "the coordinates of a box"));
    const int64_t most = tc.attrs().Int("max_detections");
    const int64_t classes = tc.attrs().Int("num_classes");
    if (most < 0 || classes < 0 || tc.attrs().Int("max_detections_per_class") < 0) {
      return Invalid(
          "max_detections, max_detections_per_class and num_classes must not be negative");
    }
    RELAYVM_RETURN_IF_ERROR(tc.RequireAtLeast(scores.shape[2], classes, "the classes with scores"));
    RELAYVM_RETURN_IF_ERROR(RequireHolds(tc, DType::kInt32, Dim(most), "max_detections"));
    const Dim& batch = boxes.shape[0];
    return OpResult::Tuple(
        {TensorType{{batch, most, 4}, boxes.dtype}, TensorType{{batch, most}, DType::kFloat32},
         TensorType{{batch, most}, scores.dtype}, TensorType{{batch}, DType::kInt32}});
  };
  op.builtin = [](const ComputeContext& c) -> BuiltinCall {
    return {"regular_nms",
            {c.attrs.Int("max_detections_per_class"), c.attrs.Int("num_classes"),
             Bits(c.attrs.Float("iou_threshold")), Bits(c.attrs.Float("score_threshold"))}};
  };
  return op;
}

// --- Regions of interest ---

// data (n, c, h, w) or (n, h, w, c), rois (r, 5): batch index, then two corners.
Result<OpResult> InferRoi(TypeContext& tc) {
  const TensorType &data = tc.tensor(0), &rois = tc.tensor(1);
  RELAYVM_RETURN_IF_ERROR(RequireRank(data, 4));
  RELAYVM_RETURN_IF_ERROR(RequireFloat(data));
  RELAYVM_RETURN_IF_ERROR(RequireRank(rois, 2, "rois"));
  RELAYVM_RETURN_IF_ERROR(RequireFloat(rois, "rois"));
  RELAYVM_RETURN_IF_ERROR(tc.RequireEqual(rois.shape[1], 5, "the numbers of a region"));
  const std::vector<int64_t> size = tc.attrs().Ints("pooled_size");
  if (size.size() != 2 || size[0] < 1 || size[1] < 1) {
    return Invalid("pooled_size must be two positive numbers");
  }
  const std::string& layout = tc.attrs().String("layout");
  if (layout == "NCHW") {
    return OpResult(TensorType{{rois.shape[0], data.shape[1], size[0], size[1]}, data.dtype});
  }
  if (layout != "NHWC") return Unsupported("layout {}, expected NCHW or NHWC", layout);
  return OpResult(TensorType{{rois.shape[0], size[0], size[1], data.shape[3]}, data.dtype});
}

// What a bin takes of its samples: their average, their maximum, or the maximum of their corners,
// each times its weight, which is ONNX's max. The kernel's number; -1: there is no such mode.
int64_t RoiMode(std::string_view mode) {
  return mode == "avg" ? 0 : mode == "max" ? 1 : mode == "max_corner" ? 2 : -1;
}

OpDef RoiAlignOp() {
  OpDef op;
  op.name = "vision.roi_align";
  op.attrs_class = "ROIAlignAttrs";
  op.print_attrs_class = true;
  op.num_args = 2;
  op.attrs = {Required("pooled_size", AttrKind::kInts),
              Required("spatial_scale", AttrKind::kFloat),
              PlainInt(Optional("sample_ratio", AttrKind::kInt, -1)),
              Optional("layout", AttrKind::kString, "NCHW"),
              Optional("mode", AttrKind::kString, "avg"),
              Optional("aligned", AttrKind::kBool, false)};
  op.infer = [](TypeContext& tc) -> Result<OpResult> {
    const std::string& mode = tc.attrs().String("mode");
    if (RoiMode(mode) < 0) {
      return Invalid("mode is \"{}\", expected avg, max or max_corner", mode);
    }
    return InferRoi(tc);
  };
  op.builtin = [](const ComputeContext& c) -> BuiltinCall {
    return {"roi_align",
            {Bits(c.attrs.Float("spatial_scale")), c.attrs.Int("sample_ratio"),
             c.attrs.String("layout") == "NHWC" ? 1 : 0, RoiMode(c.attrs.String("mode")),
             c.attrs.Bool("aligned") ? 1 : 0}};
  };
  return op;
}

OpDef RoiPoolOp() {
  OpDef op;
  op.name = "vision.roi_pool";
  op.attrs_class = "ROIPoolAttrs";
  op.print_attrs_class = true;
  op.num_args = 2;
  op.attrs = {Required("pooled_size", AttrKind::kInts), Required("spatial_scale", AttrKind::kFloat),
              Optional("layout", AttrKind::kString, "NCHW")};
  op.infer = InferRoi;
  op.builtin = [](const ComputeContext& c) -> BuiltinCall {
    return {"roi_pool",
            {Bits(c.attrs.Float("spatial_scale")), c.attrs.String("layout") == "NHWC" ? 1 : 0}};
  };
  return op;
}

OpDef ProposalOp() {
  OpDef op;
  op.name = "vision.proposal";
  op.attrs_class = "ProposalAttrs";
  op.print_attrs_class = true;
  op.num_args = 3;
  op.attrs = {Optional("scales", AttrKind::kFloats, AttrList{4.0, 8.0, 16.0, 32.0}),
              Optional("ratios", AttrKind::kFloats, AttrList{0.5, 1.0, 2.0}),
              PlainInt(Optional("feature_stride", AttrKind::kInt, 16)),
              Optional("threshold", AttrKind::kFloat, 0.7),
              PlainInt(Optional("rpn_pre_nms_top_n", AttrKind::kInt, 6000)),
              PlainInt(Optional("rpn_post_nms_top_n", AttrKind::kInt, 300)),
              PlainInt(Optional("rpn_min_size", AttrKind::kInt, 16)),
              Optional("iou_loss", AttrKind::kBool, false)};
  op.infer = [](TypeContext& tc) -> Result<OpResult> {
    const TensorType &probability = tc.tensor(0), &deltas = tc.tensor(1), &info = tc.tensor(2);
    const Attrs& attrs = tc.attrs();
    RELAYVM_RETURN_IF_ERROR(RequireRank(probability, 4, "cls_prob"));
    RELAYVM_RETURN_IF_ERROR(RequireRank(deltas, 4, "bbox_pred"));
    RELAYVM_RETURN_IF_ERROR(RequireRank(info, 2, "im_info"));
    for (size_t i = 0; i < 3; ++i) {
      if (tc.tensor(i).dtype != DType::kFloat32) return Unsupported("dtypes other than float32");
    }
    if (attrs.Int("feature_stride") < 1 || attrs.Int("rpn_post_nms_top_n") < 0) {
      return Invalid("feature_stride and rpn_post_nms_top_n must not be negative");
    }
    const int64_t anchors =
        static_cast<int64_t>(attrs.Floats("scales").size() * attrs.Floats("ratios").size());
    const Dim& batch = probability.shape[0];
    RELAYVM_RETURN_IF_ERROR(
        tc.RequireEqual(probability.shape[1], 2 * anchors, "the channels of cls_prob"));
    RELAYVM_RETURN_IF_ERROR(RequireShapeEqual(
        tc, deltas.shape, {batch, 4 * anchors, probability.shape[2], probability.shape[3]},
        "bbox_pred"));
    RELAYVM_RETURN_IF_ERROR(RequireShapeEqual(tc, info.shape, {batch, 3}, "im_info"));
    return OpResult(TensorType{{batch * attrs.Int("rpn_post_nms_top_n"), 5}, DType::kFloat32});
  };
  op.builtin = [](const ComputeContext& c) -> BuiltinCall {
    const Attrs& a = c.attrs;
    const std::vector<double> scales = a.Floats("scales"), ratios = a.Floats("ratios");
    BuiltinCall call{
        "proposal",
        {a.Int("feature_stride"), a.Int("rpn_pre_nms_top_n"), a.Int("rpn_post_nms_top_n"),
         a.Int("rpn_min_size"), a.Bool("iou_loss") ? 1 : 0, Bits(a.Float("threshold")),
         static_cast<int64_t>(scales.size()), static_cast<int64_t>(ratios.size())}};
    for (double s : scales) call.params.push_back(Bits(s));
    for (double r : ratios) call.params.push_back(Bits(r));
    return call;
  };
  return op;
}

// --- Single-shot detection ---

// Anchor boxes for each pixel of a feature map, as (left, top, right, bottom) in parts of the
// image.
OpDef MultiboxPriorOp() {
  OpDef op;
  op.name = "vision.multibox_prior";
  op.attrs = {Optional("sizes", AttrKind::kFloats, AttrList{1.0}),
              Optional("ratios", AttrKind::kFloats, AttrList{1.0}),
              Optional("steps", AttrKind::kFloats, AttrList{-1.0, -1.0}),
              Optional("offsets", AttrKind::kFloats, AttrList{0.5, 0.5}),
              Optional("clip", AttrKind::kBool, false)};
  op.infer = [](TypeContext& tc) -> Result<OpResult> {
    const TensorType& data = tc.tensor(0);
    RELAYVM_RETURN_IF_ERROR(RequireRank(data, 4));
    RELAYVM_RETURN_IF_ERROR(RequireFloat(data));
    const size_t sizes = tc.attrs().Floats("sizes").size(),
                 ratios = tc.attrs().Floats("ratios").size();
    if (sizes < 1 || ratios < 1) return Invalid("sizes and ratios must not be empty");
    if (tc.attrs().Floats("steps").size() != 2 || tc.attrs().Floats("offsets").size() != 2) {
      return Invalid("steps and offsets must be two numbers");
    }
    const Dim boxes = data.shape[2] * data.shape[3] * Dim(static_cast<int64_t>(sizes + ratios - 1));
    return OpResult(TensorType{{1, boxes, 4}, data.dtype});
  };
  op.compute = [](const ComputeContext& c) -> std::vector<Tensor> {
    const Attrs& attrs = c.attrs;
    const DType dtype = c.outputs[0].dtype;
    const std::vector<double> sizes = attrs.Floats("sizes"), ratios = attrs.Floats("ratios");
    const std::vector<double> steps = attrs.Floats("steps"), offsets = attrs.Floats("offsets");
    const std::vector<Dim>& shape = c.inputs[0]->shape;
    const auto real = [&](double x) { return te::FloatImm(x, dtype); };
    const Expr height = te::Cast(te::DimValue(shape[2]), dtype);
    const Expr width = te::Cast(te::DimValue(shape[3]), dtype);
    const auto divide = [](Expr a, Expr b) {
      return te::Binary(te::BinaryOp::kDivide, std::move(a), std::move(b));
    };
    // Half extents of the k-th box of a pixel: each size, then the first size under each further
    // ratio.
    ExprList half_widths, half_heights;
    for (double size : sizes) {
      half_widths.push_back(divide(divide(real(size) * height, width), real(2)));
      half_heights.push_back(real(size / 2));
    }
    for (size_t r = 1; r < ratios.size(); ++r) {
      const double root = std::sqrt(ratios[r]);
      half_widths.push_back(divide(divide(real(sizes[0]) * height, width) * real(root), real(2)));
      half_heights.push_back(real(sizes[0] / root / 2));
    }
    const int64_t per_pixel = static_cast<int64_t>(half_widths.size());
    return {te::Compute("multibox_prior", c.outputs[0].shape, [&](const ExprList& i) {
      const ExprList at = Unravel(i[1], {shape[2], shape[3], Dim(per_pixel)});
      const auto center = [&](int axis, const Expr& extent) {
        const Expr position = te::Cast(at[axis], dtype) + real(offsets[axis]);
        return steps[axis] > 0 ? position * real(steps[axis]) : position * divide(real(1), extent);
      };
      const Expr is_x = FloorModExpr(i[2], Int(2)) == Int(0);
      const Expr middle = te::Select(is_x, center(1, width), center(0, height));
      const Expr half = te::Select(is_x, SelectFrom(at[2], half_widths, dtype),
                                   SelectFrom(at[2], half_heights, dtype));
      const Expr value = te::Select(i[2] < Int(2), middle - half, middle + half);
      return attrs.Bool("clip") ? Clamp(value, real(0), real(1)) : value;
    })};
  };
  return op;
}

OpDef MultiboxTransformLocOp() {
  OpDef op;
  op.name = "vision.multibox_transform_loc";
  op.num_args = 3;
  op.attrs = {Optional("clip", AttrKind::kBool, true),
              Optional("threshold", AttrKind::kFloat, 0.01),
              Optional("variances", AttrKind::kFloats, AttrList{0.1, 0.1, 0.2, 0.2}),
              Optional("keep_background", AttrKind::kBool, false)};
  op.infer = [](TypeContext& tc) -> Result<OpResult> {
    const TensorType &probability = tc.tensor(0), &location = tc.tensor(1), &anchors = tc.tensor(2);
    RELAYVM_RETURN_IF_ERROR(RequireRank(probability, 3, "cls_prob"));
    RELAYVM_RETURN_IF_ERROR(RequireFloat(probability, "cls_prob"));
    RELAYVM_RETURN_IF_ERROR(RequireSameDType(probability, location));
    RELAYVM_RETURN_IF_ERROR(RequireSameDType(probability, anchors));
    const Dim &batch = probability.shape[0], &n = probability.shape[2];
    RELAYVM_RETURN_IF_ERROR(RequireShapeEqual(tc, location.shape, {batch, n * 4}, "loc_pred"));
    RELAYVM_RETURN_IF_ERROR(RequireShapeEqual(tc, anchors.shape, {1, n, 4}, "anchors"));
    if (tc.attrs().Floats("variances").size() != 4)
      return Invalid("variances must be four numbers");
    RELAYVM_RETURN_IF_ERROR(RequireHolds(tc, DType::kInt32, n, "the number of boxes"));
    return OpResult::Tuple(
        {TensorType{{batch, n, 6}, probability.dtype}, TensorType{{batch}, DType::kInt32}});
  };
  op.builtin = [](const ComputeContext& c) -> BuiltinCall {
    BuiltinCall call{"multibox_transform_loc",
                     {c.attrs.Bool("clip") ? 1 : 0, Bits(c.attrs.Float("threshold")),
                      c.attrs.Bool("keep_background") ? 1 : 0}};
    for (double v : c.attrs.Floats("variances")) call.params.push_back(Bits(v));
    return call;
  };
  return op;
}

// Darknet's reorg: the result, read in order as (n, c, h, w) of the input's extents, takes from the
// data seen as (n, c / stride^2, h * stride, w * stride).
OpDef YoloReorgOp() {
  OpDef op;
  op.name = "vision.yolo_reorg";
  op.attrs = {Optional("stride", AttrKind::kInt, 1)};
  op.fusion = FusionClass::kInjective;
  op.infer = [](TypeContext& tc) -> Result<OpResult> {
    const TensorType& data = tc.tensor(0);
    const int64_t stride = tc.attrs().Int("stride");
    RELAYVM_RETURN_IF_ERROR(RequireRank(data, 4));
    if (stride < 1) return Invalid("stride is {}, expected at least 1", stride);
    const std::vector<Dim>& s = data.shape;
    RELAYVM_RETURN_IF_ERROR(tc.RequireEqual(Dim::FloorMod(s[1], stride * stride), 0,
                                            "the channels modulo stride squared"));
    for (int d : {2, 3}) {
      RELAYVM_RETURN_IF_ERROR(
          tc.RequireEqual(Dim::FloorMod(s[d], stride), 0, "the height and width modulo stride"));
    }
    return OpResult(TensorType{
        {s[0], s[1] * (stride * stride), Dim::FloorDiv(s[2], stride), Dim::FloorDiv(s[3], stride)},
        data.dtype});
  };
  op.compute = [](const ComputeContext& c) -> std::vector<Tensor> {
    const Tensor& x = c.inputs[0];
    const int64_t stride = c.attrs.Int("stride");
    const std::vector<Dim>& s = x->shape;
    const std::vector<Dim>& out = c.outputs[0].shape;
    const Dim groups = Dim::FloorDiv(s[1], stride * stride);
    return {te::Compute("yolo_reorg", out, [&](const ExprList& i) {
      const Expr flat = (i[1] * te::DimValue(out[2]) + i[2]) * te::DimValue(out[3]) + i[3];
      const ExprList at = Unravel(flat, {s[1], s[2], s[3]});
      const Expr group = FloorModExpr(at[0], te::DimValue(groups));
      const Expr block = FloorDivExpr(at[0], te::DimValue(groups));
      const Expr row = at[1] * Int(stride) + FloorDivExpr(block, Int(stride));
      const Expr column = at[2] * Int(stride) + FloorModExpr(block, Int(stride));
      const Expr from =
          (group * te::DimValue(s[2] * stride) + row) * te::DimValue(s[3] * stride) + column;
      ExprList source = Unravel(from, {s[1], s[2], s[3]});
      source.insert(source.begin(), i[0]);
      return te::Load(x, source);
    })};
  };
  return op;
}

}  // namespace

void DefineVision(OpTable& table) {
  table.Add(GetValidCountsOp());
  table.Add(NonMaxSuppressionOp());
  table.Add(AllClassNmsOp());
  table.Add(RegularNmsOp());
  table.Add(RoiAlignOp());
  table.Add(RoiPoolOp());
  table.Add(ProposalOp());
  table.Add(MultiboxPriorOp());
  table.Add(MultiboxTransformLocOp());
  table.Add(YoloReorgOp());
}

}  // namespace relayvm
