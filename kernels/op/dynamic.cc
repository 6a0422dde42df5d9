// The dyn dialect: operators whose shape-like attributes are tensor arguments (dyn.topk is in
// sort.cc).
//
// The relation reads those arguments as Dims (TypeContext::Elements), so that what is known at
// compile time is used, and what is not stays an expression over symbols that are bound to the
// elements when the call runs. No kernel reads them, but for positions (the begin of a slice, the
// padding before an axis, roi).
#include <algorithm>

#include "kernels/op/broadcast.h"
#include "kernels/op/define.h"
#include "kernels/op/image.h"
#include "kernels/op/indexing.h"
#include "kernels/op/layouts.h"
#include "kernels/op/slicing.h"

namespace relayvm {
namespace {

using te::Expr;

// Elements of argument i, a vector of sizes.
Result<std::vector<Dim>> SizesArg(TypeContext& ctx, size_t i) {
  RELAYVM_RETURN_IF_ERROR(RequireRank(ctx.tensor(i), 1, "the shape operand"));
  RELAYVM_ASSIGN_OR_RETURN(std::vector<Dim> sizes, ctx.Elements(i));
  RELAYVM_RETURN_IF_ERROR(RequireSizes(ctx, sizes));
  return sizes;
}

// Attributes of the static form are printed but say nothing here (shape=None, newshape=[]).
AttrField Ignored(std::string_view name) { return Optional(name, AttrKind::kAny); }

// --- Creation ---

OpDef Fill(std::string name, double value) {
  OpDef def;
  def.name = std::move(name);
  def.attrs = {Ignored("shape"), Optional("dtype", AttrKind::kDType, "")};
  def.fusion = FusionClass::kElementwise;
  def.shape_args = {0};
  def.infer = [](TypeContext& ctx) -> Result<OpResult> {
    RELAYVM_ASSIGN_OR_RETURN(std::vector<Dim> shape, SizesArg(ctx, 0));
    return OpResult(TensorType{std::move(shape), DTypeOr(ctx.attrs(), "dtype", DType::kFloat32)});
  };
  def.compute = [value](const ComputeContext& ctx) -> std::vector<te::Tensor> {
    Expr fill = te::Const(value, ctx.outputs[0].dtype);
    return {te::Compute("fill", ctx.outputs[0].shape, [&](const ExprList&) { return fill; })};
  };
  return def;
}

OpDef DynFull() {
  OpDef def;
  def.name = "dyn.full";
  def.num_args = 2;
  def.attrs = {Ignored("shape"), Optional("dtype", AttrKind::kDType, "")};
  def.fusion = FusionClass::kElementwise;
  def.shape_args = {1};
  def.infer = [](TypeContext& ctx) -> Result<OpResult> {
    RELAYVM_ASSIGN_OR_RETURN(std::vector<Dim> shape, SizesArg(ctx, 1));
    RELAYVM_RETURN_IF_ERROR(RequireRank(ctx.tensor(0), 0, "the fill value"));
    return OpResult(
        TensorType{std::move(shape), DTypeOr(ctx.attrs(), "dtype", ctx.tensor(0).dtype)});
  };
  def.compute = [](const ComputeContext& ctx) -> std::vector<te::Tensor> {
    Expr fill = te::Cast(Scalar(ctx.inputs[0]), ctx.outputs[0].dtype);
    return {te::Compute("fill", ctx.outputs[0].shape, [&](const ExprList&) { return fill; })};
  };
  return def;
}

OpDef DynOneHot() {
  OpDef def;
  def.name = "dyn.one_hot";
  def.num_args = 4;
  def.attrs = {Ignored("depth"), Optional("axis", AttrKind::kInt, -1),
               Optional("dtype", AttrKind::kDType, "")};
  def.fusion = FusionClass::kInjective;
  def.shape_args = {3};
  def.infer = [](TypeContext& ctx) -> Result<OpResult> {
    RELAYVM_ASSIGN_OR_RETURN(std::vector<Dim> depth, ctx.Elements(3));
    if (depth.size() != 1) return Invalid("depth must be one number, not {}", depth.size());
    RELAYVM_RETURN_IF_ERROR(RequireSizes(ctx, depth));
    return InferOneHot(ctx, depth[0]);
  };
  def.compute = ComputeOneHot;
  return def;
}

OpDef DynSparseToDense() {
  OpDef def;
  def.name = "dyn.sparse_to_dense";
  def.num_args = 4;
  def.shape_args = {3};
  def.infer = [](TypeContext& ctx) -> Result<OpResult> {
    RELAYVM_ASSIGN_OR_RETURN(std::vector<Dim> shape, SizesArg(ctx, 3));
    return InferSparseToDense(ctx, shape);
  };
  def.builtin = [](const ComputeContext&) -> BuiltinCall { return {"dyn_sparse_to_dense", {}}; };
  return def;
}

// --- Views ---

OpDef View(std::string name, std::vector<AttrField> attrs,
           std::function<Result<std::vector<Dim>>(TypeContext&)> shape) {
  OpDef def;
  def.name = std::move(name);
  def.num_args = 2;
  def.attrs = std::move(attrs);
  def.fusion = FusionClass::kInjective;
  def.is_view = true;
  def.shape_args = {1};
  def.infer = [shape = std::move(shape)](TypeContext& ctx) -> Result<OpResult> {
    RELAYVM_ASSIGN_OR_RETURN(std::vector<Dim> dims, shape(ctx));
    return OpResult(TensorType{std::move(dims), ctx.tensor(0).dtype});
  };
  def.compute = [](const ComputeContext& ctx) -> std::vector<te::Tensor> {
    return {ReshapeTensor(ctx.inputs[0], ctx.outputs[0].shape)};
  };
  return def;
}

Result<std::vector<Dim>> ReshapeShape(TypeContext& ctx) {
  RELAYVM_RETURN_IF_ERROR(RequireRank(ctx.tensor(1), 1, "newshape"));
  RELAYVM_ASSIGN_OR_RETURN(std::vector<Dim> codes, ctx.Elements(1));
  return ReshapeDims(ctx, ctx.tensor(0).shape, codes, ctx.attrs().Bool("allowzero"));
}

bool AreKnown(const std::vector<Dim>& numbers) {
  return std::all_of(numbers.begin(), numbers.end(), [](const Dim& d) { return d.is_const(); });
}

Result<std::vector<Dim>> SqueezeShape(TypeContext& ctx) {
  const std::vector<Dim>& in = ctx.tensor(0).shape;
  RELAYVM_ASSIGN_OR_RETURN(std::vector<Dim> axes, ctx.Elements(1));
  if (axes.size() > in.size()) {
    return Invalid("{} axes for data of rank {}", axes.size(), in.size());
  }
  if (!AreKnown(axes)) {
    return ctx.ShapeByRule({ShapeRule::kSqueeze, in, axes, 0, in.size() - axes.size()});
  }
  std::vector<bool> removed(in.size(), false);
  for (const Dim& axis : axes) {
    RELAYVM_ASSIGN_OR_RETURN(int at, NormalizeAxis(axis.value(), static_cast<int>(in.size())));
    const auto k = static_cast<size_t>(at);
    if (removed[k]) return Invalid("axis {} is given twice", at);
    RELAYVM_RETURN_IF_ERROR(ctx.RequireEqual(in[k], Dim(1), "a squeezed axis is not 1"));
    removed[k] = true;
  }
  std::vector<Dim> out;
  for (size_t k = 0; k < in.size(); ++k) {
    if (!removed[k]) out.push_back(in[k]);
  }
  return out;
}

Result<std::vector<Dim>> ExpandShape(TypeContext& ctx) {
  std::vector<Dim> out = ctx.tensor(0).shape;
  RELAYVM_ASSIGN_OR_RETURN(std::vector<Dim> axis, ctx.Elements(1));
  if (axis.size() != 1) return Invalid("axis must be one number, not {}", axis.size());
  int64_t count = ctx.attrs().Int("num_newaxis");
  if (count < 0 || count > 64) return Invalid("num_newaxis is {}", count);
  const auto rank = static_cast<int64_t>(out.size());
  const auto wider = static_cast<size_t>(rank + count);
  if (!AreKnown(axis)) return ctx.ShapeByRule({ShapeRule::kExpandDims, out, axis, 0, wider});
  RELAYVM_RETURN_IF_ERROR(ctx.RequireAtLeast(axis[0], Dim(-1 - rank), "axis"));
  RELAYVM_RETURN_IF_ERROR(RequireAtMost(ctx, axis[0], Dim(rank), "axis"));
  const int64_t at = axis[0].value() < 0 ? axis[0].value() + rank + 1 : axis[0].value();
  out.insert(out.begin() + at, static_cast<size_t>(count), Dim(1));
  return out;
}

// --- Broadcast, tile, slice, pad ---

OpDef DynBroadcastTo() {
  OpDef def;
  def.name = "dyn.broadcast_to";
  def.num_args = 2;
  def.attrs = {Ignored("shape"), Optional("dtype", AttrKind::kDType, "")};
  def.fusion = FusionClass::kBroadcast;
  def.shape_args = {1};
  def.infer = [](TypeContext& ctx) -> Result<OpResult> {
    RELAYVM_ASSIGN_OR_RETURN(std::vector<Dim> shape, SizesArg(ctx, 1));
    return InferBroadcastTo(ctx, shape);
  };
  def.compute = ComputeBroadcastTo;
  return def;
}

OpDef DynTile() {
  OpDef def;
  def.name = "dyn.tile";
  def.num_args = 2;
  def.attrs = {Ignored("reps")};
  def.fusion = FusionClass::kBroadcast;
  def.shape_args = {1};
  def.infer = [](TypeContext& ctx) -> Result<OpResult> {
    RELAYVM_ASSIGN_OR_RETURN(std::vector<Dim> reps, SizesArg(ctx, 1));
    return InferTile(ctx, reps);
  };
  def.compute = ComputeTile;
  return def;
}

OpDef DynStridedSlice() {
  OpDef def;
  def.name = "dyn.strided_slice";
  def.num_args = 4;
  def.attrs = {Ignored("begin"), Ignored("end"), Ignored("strides"),
               Optional("slice_mode", AttrKind::kString, "end"), Ignored("axes")};
  def.fusion = FusionClass::kInjective;
  def.shape_args = {2};
  def.infer = [](TypeContext& ctx) -> Result<OpResult> {
    TensorType out = ctx.tensor(0);
    RELAYVM_ASSIGN_OR_RETURN(out.shape,
                             InferSlice(ctx, out.shape, 1, ctx.attrs().String("slice_mode")));
    return OpResult(std::move(out));
  };
  def.compute = [](const ComputeContext& ctx) -> std::vector<te::Tensor> {
    return {ComputeSlice(ctx, ctx.attrs.String("slice_mode"))};
  };
  return def;
}

// pad_width is a (rank, 2) tensor: elements before and after each axis.
Result<OpResult> InferPad(TypeContext& ctx) {
  TensorType out = ctx.tensor(0);
  const TensorType& width = ctx.tensor(1);
  const std::string& mode = ctx.attrs().String("pad_mode");
  if (mode != "constant" && mode != "edge" && mode != "reflect") {
    return Invalid("pad_mode \"{}\" is not constant, edge or reflect", mode);
  }
  RELAYVM_RETURN_IF_ERROR(RequireRank(width, 2, "pad_width"));
  RELAYVM_RETURN_IF_ERROR(RequireInteger(width, "pad_width"));
  RELAYVM_RETURN_IF_ERROR(RequireRank(ctx.tensor(2), 0, "pad_value"));
  RELAYVM_RETURN_IF_ERROR(ctx.RequireEqual(width.shape[0], Dim(out.rank()), "rows of pad_width"));
  RELAYVM_RETURN_IF_ERROR(ctx.RequireEqual(width.shape[1], Dim(2), "columns of pad_width"));
  RELAYVM_ASSIGN_OR_RETURN(std::vector<Dim> widths, ctx.Elements(1));
  for (size_t i = 0; i < out.shape.size(); ++i) {
    const Dim& before = widths[2 * i];
    const Dim& after = widths[2 * i + 1];
    Dim extent = out.shape[i];
    out.shape[i] = extent + before + after;
    if (mode == "constant") {
      RELAYVM_RETURN_IF_ERROR(ctx.RequireAtLeast(out.shape[i], Dim(0), "the padded extent"));
      continue;
    }
    RELAYVM_RETURN_IF_ERROR(RequireSizes(ctx, {before, after}));
    Dim longest = Dim::Max(before, after);
    Dim needed = mode == "edge" ? Dim::Min(Dim(1), longest) : longest + Dim::Min(Dim(1), longest);
    RELAYVM_RETURN_IF_ERROR(ctx.RequireAtLeast(extent, needed, "the extent of a padded axis"));
  }
  return OpResult(std::move(out));
}

std::vector<te::Tensor> ComputeDynPad(const ComputeContext& ctx) {
  const te::Tensor& data = ctx.inputs[0];
  const std::string& mode = ctx.attrs.String("pad_mode");
  return {te::Compute("pad", ctx.outputs[0].shape, [&](const ExprList& i) {
    ExprList at;
    Expr inside = te::IntImm(1, DType::kBool);
    for (size_t k = 0; k < i.size(); ++k) {
      Expr before = ToIndex(te::Load(ctx.inputs[1], {Int(static_cast<int64_t>(k)), Int(0)}));
      Expr extent = te::DimValue(data->shape[k]);
      Expr j = i[k] - before;
      if (mode == "constant") {
        inside = inside && j >= Int(0) && j < extent;
      } else if (mode == "edge") {
        j = Clamp(j, Int(0), extent - Int(1));
      } else {
        Expr last = extent - Int(1);
        j = te::Select(j < Int(0), Int(0) - j, te::Select(Greater(j, last), last + last - j, j));
      }
      at.push_back(std::move(j));
    }
    Expr value = te::Load(data, std::move(at));
    if (mode != "constant") return value;
    return te::Select(inside, value, te::Cast(Scalar(ctx.inputs[2]), data->dtype));
  })};
}

OpDef Pad() {
  OpDef def;
  def.name = "dyn.nn.pad";
  def.num_args = 3;
  def.attrs = {Ignored("pad_width"), Optional("pad_mode", AttrKind::kString, "constant")};
  def.fusion = FusionClass::kInjective;
  def.infer = InferPad;
  def.compute = ComputeDynPad;
  return def;
}

// --- Resampling ---

OpDef Resize2d() {
  OpDef def;
  def.name = "dyn.image.resize2d";
  def.num_args = 3;
  def.attrs = ResizeAttrs(2);
  for (AttrField& field : def.attrs) {
    if (field.name == "size" || field.name == "roi") field = Ignored(field.name);
  }
  def.fusion = FusionClass::kInjective;
  def.shape_args = {1};
  def.infer = [](TypeContext& ctx) -> Result<OpResult> {
    RELAYVM_ASSIGN_OR_RETURN(std::vector<Dim> size, SizesArg(ctx, 1));
    const TensorType& roi = ctx.tensor(2);
    if (ctx.attrs().String("coordinate_transformation_mode") == "tf_crop_and_resize") {
      RELAYVM_RETURN_IF_ERROR(RequireRank(roi, 1, "roi"));
      RELAYVM_RETURN_IF_ERROR(RequireFloat(roi, "roi"));
      RELAYVM_RETURN_IF_ERROR(ctx.RequireEqual(roi.shape[0], Dim(4), "the numbers of roi"));
    }
    return InferResize(ctx, size, 2, ReadResizeMode(ctx.attrs()),
                       DTypeOr(ctx.attrs(), "out_dtype", ctx.tensor(0).dtype));
  };
  def.compute = [](const ComputeContext& ctx) -> std::vector<te::Tensor> {
    auto roi_of = [&](size_t axis, const ExprList&) {
      auto at = [&](size_t k) {
        return te::Cast(te::Load(ctx.inputs[2], {Int(static_cast<int64_t>(k))}), DType::kFloat32);
      };
      return std::pair(at(RoiIndex(axis, 2)), at(RoiIndex(axis, 2) + 2));
    };
    return {ResizeTensor(ctx.inputs[0], *SpatialAxes(ctx.attrs.String("layout"), 2), ctx.outputs[0],
                         ReadResizeMode(ctx.attrs), roi_of)};
  };
  return def;
}

// The scales are scalars, mostly floats.
Result<OpResult> InferUpsampling(TypeContext& ctx, int spatial) {
  const TensorType& data = ctx.tensor(0);
  RELAYVM_ASSIGN_OR_RETURN(std::vector<int> axes,
                           SpatialAxes(ctx.attrs().String("layout"), spatial));
  RELAYVM_RETURN_IF_ERROR(RequireRank(data, Layout::Parse(ctx.attrs().String("layout"))->rank()));
  std::vector<Dim> size;
  for (size_t k = 0; k < axes.size(); ++k) {
    const Dim& extent = data.shape[static_cast<size_t>(axes[k])];
    RELAYVM_ASSIGN_OR_RETURN(Dim scaled, ScaledExtentByArg(ctx, extent, k + 1));
    size.push_back(std::move(scaled));
  }
  return InferResize(ctx, size, spatial, ReadUpsamplingMode(ctx.attrs(), spatial), data.dtype);
}

OpDef Upsampling(int spatial) {
  OpDef def;
  def.name = spatial == 2 ? "dyn.nn.upsampling" : "dyn.nn.upsampling3d";
  def.num_args = spatial + 1;
  def.attrs = {Optional("layout", AttrKind::kString, spatial == 2 ? "NCHW" : "NCDHW"),
               Optional("method", AttrKind::kString, "nearest_neighbor"), Ignored("scale_h"),
               Ignored("scale_w")};
  if (spatial == 2) {
    def.attrs.push_back(Optional("align_corners", AttrKind::kBool, false));
  } else {
    def.attrs.push_back(Ignored("scale_d"));
    def.attrs.push_back(
        Optional("coordinate_transformation_mode", AttrKind::kString, "half_pixel"));
  }
  def.fusion = FusionClass::kInjective;
  for (int k = 1; k <= spatial; ++k) def.shape_args.push_back(k);
  def.infer = [spatial](TypeContext& ctx) { return InferUpsampling(ctx, spatial); };
  def.compute = [spatial](const ComputeContext& ctx) -> std::vector<te::Tensor> {
    return {ResizeTensor(ctx.inputs[0], *SpatialAxes(ctx.attrs.String("layout"), spatial),
                         ctx.outputs[0], ReadUpsamplingMode(ctx.attrs, spatial))};
  };
  return def;
}

}  // namespace

void DefineDynamic(OpTable& table) {
  table.Add(Fill("dyn.zeros", 0));
  table.Add(Fill("dyn.ones", 1));
  table.Add(DynFull());
  table.Add(DynOneHot());
  table.Add(DynSparseToDense());
  table.Add(View("dyn.reshape",
                 {Ignored("newshape"), Optional("allowzero", AttrKind::kBool, false)},
                 ReshapeShape));
  table.Add(View("dyn.squeeze", {Ignored("axis")}, SqueezeShape));
  OpDef expand =
      View("dyn.expand_dims",
           {PlainInt(Optional("num_newaxis", AttrKind::kInt, 1)), Ignored("axis")}, ExpandShape);
  expand.attrs_class = "DynExpandDimsAttrs";
  expand.print_attrs_class = true;
  table.Add(std::move(expand));
  table.Add(DynBroadcastTo());
  table.Add(DynTile());
  table.Add(DynStridedSlice());
  table.Add(Pad());
  table.Add(Resize2d());
  for (int spatial : {2, 3}) table.Add(Upsampling(spatial));
}

}  // namespace relayvm
