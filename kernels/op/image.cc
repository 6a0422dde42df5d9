// image.resize1d/2d/3d and crop_and_resize. Sampling by a grid and dilation are in image_sample.cc.
#include "kernels/op/image.h"

#include "kernels/op/define.h"
#include "kernels/op/layouts.h"
#include "kernels/op/resize.h"

namespace relayvm {

using te::Expr;

std::vector<AttrField> ResizeAttrs(int spatial) {
  constexpr const char* kLayouts[] = {"NCW", "NCHW", "NCDHW"};
  return {Optional("size", AttrKind::kDims),
          Optional("roi", AttrKind::kFloats),
          Optional("layout", AttrKind::kString, kLayouts[spatial - 1]),
          Optional("method", AttrKind::kString, "linear"),
          Optional("coordinate_transformation_mode", AttrKind::kString, "half_pixel"),
          Optional("rounding_method", AttrKind::kString, "round"),
          Optional("cubic_alpha", AttrKind::kFloat, -0.5),
          Optional("cubic_exclude", AttrKind::kInt, 0),
          Optional("extrapolation_value", AttrKind::kFloat, 0.0),
          Optional("out_dtype", AttrKind::kDType, "")};
}

ResizeMode ReadResizeMode(const Attrs& attrs) {
  ResizeMode mode;
  mode.method = attrs.String("method");
  mode.coordinates = attrs.String("coordinate_transformation_mode");
  mode.rounding = attrs.String("rounding_method");
  mode.cubic_alpha = attrs.Float("cubic_alpha");
  mode.cubic_exclude = attrs.Int("cubic_exclude") != 0;
  mode.extrapolation = attrs.Float("extrapolation_value");
  return mode;
}

// TVM's order of a region of interest: in 1-d and 2-d the starts then the ends in the order of the
// axes; in 3-d it takes the first of each for W, the last for D.
size_t RoiIndex(size_t axis, size_t spatial) { return spatial == 3 ? 2 - axis : axis; }

Result<OpResult> InferResize(TypeContext& ctx, const std::vector<Dim>& size, int spatial,
                             const ResizeMode& mode, DType dtype) {
  const TensorType& data = ctx.tensor(0);
  const std::string& layout = ctx.attrs().String("layout");
  RELAYVM_RETURN_IF_ERROR(CheckResizeMode(mode));
  RELAYVM_RETURN_IF_ERROR(RequireNumber(data));
  RELAYVM_ASSIGN_OR_RETURN(std::vector<int> axes, SpatialAxes(layout, spatial));
  RELAYVM_ASSIGN_OR_RETURN(Layout parsed, Layout::Parse(layout));
  RELAYVM_RETURN_IF_ERROR(RequireRank(data, parsed.rank()));
  if (size.size() != axes.size()) {
    return Invalid("size needs {} elements, not {}", axes.size(), size.size());
  }
  RELAYVM_RETURN_IF_ERROR(RequireSizes(ctx, size));
  TensorType out{data.shape, dtype};
  for (size_t k = 0; k < axes.size(); ++k) {
    auto i = static_cast<size_t>(axes[k]);
    if (auto low = data.shape[i].LowerBound(); !low || *low < 1) {
      RELAYVM_RETURN_IF_ERROR(
          ctx.RequireAtLeast(data.shape[i], Dim::Min(Dim(1), size[k]), "the extent of an axis"));
    }
    out.shape[i] = size[k];
  }
  return OpResult(std::move(out));
}

namespace {

OpDef ResizeDef(int spatial) {
  OpDef def;
  def.name = "image.resize" + std::to_string(spatial) + "d";
  def.attrs = ResizeAttrs(spatial);
  def.fusion = FusionClass::kInjective;
  def.infer = [spatial](TypeContext& ctx) -> Result<OpResult> {
    const Attrs& attrs = ctx.attrs();
    bool uses_roi = attrs.String("coordinate_transformation_mode") == "tf_crop_and_resize";
    size_t count = attrs.Floats("roi").size();
    if (uses_roi && count != 2 * static_cast<size_t>(spatial)) {
      return Invalid("roi needs {} elements, not {}", 2 * spatial, count);
    }
    return InferResize(ctx, attrs.Dims("size"), spatial, ReadResizeMode(attrs),
                       DTypeOr(attrs, "out_dtype", ctx.tensor(0).dtype));
  };
  def.compute = [spatial](const ComputeContext& ctx) -> std::vector<te::Tensor> {
    std::vector<double> roi = ctx.attrs.Floats("roi");
    auto count = static_cast<size_t>(spatial);
    auto roi_of = [&](size_t axis, const ExprList&) {
      size_t k = RoiIndex(axis, count);
      return std::pair(te::FloatImm(roi[k], DType::kFloat32),
                       te::FloatImm(roi[k + count], DType::kFloat32));
    };
    return {ResizeTensor(ctx.inputs[0], *SpatialAxes(ctx.attrs.String("layout"), spatial),
                         ctx.outputs[0], ReadResizeMode(ctx.attrs), roi_of)};
  };
  return def;
}

// --- crop_and_resize ---

ResizeMode CropMode(const Attrs& attrs) {
  ResizeMode mode;
  const std::string& method = attrs.String("method");
  mode.method = method == "bilinear" ? "linear" : method;
  mode.coordinates = "tf_crop_and_resize";
  mode.rounding = "round";
  mode.extrapolation = attrs.Float("extrapolation_value");
  return mode;
}

// Box b, (y1, x1, y2, x2) as fractions of image box_indices[b], resampled to crop_size.
OpDef CropAndResize() {
  OpDef def;
  def.name = "image.crop_and_resize";
  def.num_args = 3;
  def.attrs = {Required("crop_size", AttrKind::kDims),
               Optional("layout", AttrKind::kString, "NCHW"),
               Optional("method", AttrKind::kString, "bilinear"),
               Optional("extrapolation_value", AttrKind::kFloat, 0.0),
               Optional("out_dtype", AttrKind::kDType, "")};
  def.fusion = FusionClass::kInjective;
  def.infer = [](TypeContext& ctx) -> Result<OpResult> {
    const TensorType& data = ctx.tensor(0);
    const TensorType& boxes = ctx.tensor(1);
    const TensorType& which = ctx.tensor(2);
    const std::string& text = ctx.attrs().String("layout");
    RELAYVM_RETURN_IF_ERROR(CheckResizeMode(CropMode(ctx.attrs())));
    RELAYVM_RETURN_IF_ERROR(RequireNumber(data));
    RELAYVM_RETURN_IF_ERROR(RequireRank(boxes, 2, "boxes"));
    RELAYVM_RETURN_IF_ERROR(RequireFloat(boxes, "boxes"));
    RELAYVM_RETURN_IF_ERROR(ctx.RequireEqual(boxes.shape[1], Dim(4), "the numbers of a box"));
    RELAYVM_RETURN_IF_ERROR(RequireRank(which, 1, "box_indices"));
    RELAYVM_RETURN_IF_ERROR(RequireInteger(which, "box_indices"));
    RELAYVM_RETURN_IF_ERROR(
        ctx.RequireEqual(boxes.shape[0], which.shape[0], "boxes and box_indices"));
    RELAYVM_ASSIGN_OR_RETURN(std::vector<int> axes, SpatialAxes(text, 2));
    RELAYVM_ASSIGN_OR_RETURN(Layout layout, Layout::Parse(text));
    RELAYVM_RETURN_IF_ERROR(RequireRank(data, layout.rank()));
    std::vector<Dim> size = ctx.attrs().Dims("crop_size");
    if (size.size() != 2) return Invalid("crop_size needs 2 elements, not {}", size.size());
    RELAYVM_RETURN_IF_ERROR(RequireSizes(ctx, size));
    TensorType out{data.shape, DTypeOr(ctx.attrs(), "out_dtype", data.dtype)};
    out.shape[static_cast<size_t>(layout.Position('N'))] = which.shape[0];
    for (size_t k = 0; k < 2; ++k) out.shape[static_cast<size_t>(axes[k])] = size[k];
    for (char c : std::string_view("NHW")) {
      const Dim& extent = data.shape[static_cast<size_t>(layout.Position(c))];
      if (auto low = extent.LowerBound(); low && *low >= 1) continue;
      RELAYVM_RETURN_IF_ERROR(ctx.RequireAtLeast(extent, Dim::Min(Dim(1), ProductOf(out.shape)),
                                                 "the extent of the image"));
    }
    return OpResult(std::move(out));
  };
  def.compute = [](const ComputeContext& ctx) -> std::vector<te::Tensor> {
    const te::Tensor& data = ctx.inputs[0];
    const std::string& layout = ctx.attrs.String("layout");
    auto batch = static_cast<size_t>(Layout::Parse(layout)->Position('N'));
    auto roi_of = [&](size_t axis, const ExprList& i) {
      auto at = [&](size_t k) {
        return te::Cast(te::Load(ctx.inputs[1], {i[batch], Int(static_cast<int64_t>(k))}),
                        DType::kFloat32);
      };
      return std::pair(at(axis), at(axis + 2));
    };
    auto source = [&](ExprList& i) {
      i[batch] = ClampIndex(te::Load(ctx.inputs[2], {i[batch]}), data->shape[batch]);
    };
    return {ResizeTensor(data, *SpatialAxes(layout, 2), ctx.outputs[0], CropMode(ctx.attrs), roi_of,
                         source)};
  };
  return def;
}

}  // namespace

void DefineImage(OpTable& table) {
  for (int spatial : {1, 2, 3}) table.Add(ResizeDef(spatial));
  table.Add(CropAndResize());
  DefineImageSampling(table);
}

}  // namespace relayvm
