// Operators that repeat elements, and their adjoints that sum what was repeated: broadcast_to,
// collapse_sum_to, tile, repeat.
#include "kernels/op/broadcast.h"

#include "kernels/op/define.h"

namespace relayvm {

using te::Expr;

Result<OpResult> InferBroadcastTo(TypeContext& ctx, const std::vector<Dim>& shape) {
  const TensorType& data = ctx.tensor(0);
  if (shape.size() < data.shape.size()) {
    return Invalid("shape {} has fewer dims than the data, {}", ShapeToString(shape),
                   ShapeToString(data.shape));
  }
  size_t lead = shape.size() - data.shape.size();
  for (size_t i = 0; i < data.shape.size(); ++i) {
    // The data's dim must be 1 or the target: their broadcast must be the target.
    if (data.shape[i].is_const(1) || data.shape[i] == shape[lead + i]) continue;
    RELAYVM_ASSIGN_OR_RETURN(Dim d, ctx.Broadcast(data.shape[i], shape[lead + i], "shape"));
    RELAYVM_RETURN_IF_ERROR(ctx.RequireEqual(d, shape[lead + i], "shape"));
  }
  return OpResult(TensorType{shape, data.dtype});
}

std::vector<te::Tensor> ComputeBroadcastTo(const ComputeContext& ctx) {
  const std::vector<Dim>& shape = ctx.outputs[0].shape;
  return {te::Compute("broadcast_to", shape,
                      [&](const ExprList& i) { return LoadBroadcast(ctx.inputs[0], shape, i); })};
}

Result<OpResult> InferTile(TypeContext& ctx, const std::vector<Dim>& reps) {
  const TensorType& data = ctx.tensor(0);
  size_t rank = std::max(data.shape.size(), reps.size());
  TensorType out{{}, data.dtype};
  for (size_t i = 0; i < rank; ++i) {
    Dim dim(1);
    Dim rep(1);
    if (i + data.shape.size() >= rank) dim = data.shape[i + data.shape.size() - rank];
    if (i + reps.size() >= rank) rep = reps[i + reps.size() - rank];
    out.shape.push_back(dim * rep);
  }
  return OpResult(std::move(out));
}

std::vector<te::Tensor> ComputeTile(const ComputeContext& ctx) {
  const te::Tensor& data = ctx.inputs[0];
  const std::vector<Dim>& shape = ctx.outputs[0].shape;
  return {te::Compute("tile", shape, [&](const ExprList& i) {
    ExprList at;
    size_t lead = shape.size() - data->shape.size();
    for (size_t k = 0; k < data->shape.size(); ++k) {
      const Dim& d = data->shape[k];
      if (d.is_const(1)) {
        at.push_back(Int(0));
      } else if (d == shape[lead + k]) {
        at.push_back(i[lead + k]);
      } else {
        at.push_back(FloorModExpr(i[lead + k], te::DimValue(d)));
      }
    }
    return te::Load(data, std::move(at));
  })};
}

namespace {

OpDef BroadcastTo() {
  OpDef def;
  def.name = "broadcast_to";
  def.attrs = {Required("shape", AttrKind::kDims), Optional("dtype", AttrKind::kDType, "")};
  def.fusion = FusionClass::kBroadcast;
  def.infer = [](TypeContext& ctx) -> Result<OpResult> {
    std::vector<Dim> shape = ctx.attrs().Dims("shape");
    RELAYVM_RETURN_IF_ERROR(RequireSizes(ctx, shape));
    return InferBroadcastTo(ctx, shape);
  };
  def.compute = ComputeBroadcastTo;
  return def;
}

OpDef BroadcastToLike() {
  OpDef def;
  def.name = "broadcast_to_like";
  def.num_args = 2;
  def.fusion = FusionClass::kBroadcast;
  def.shape_args = {1};
  def.infer = [](TypeContext& ctx) -> Result<OpResult> {
    return InferBroadcastTo(ctx, ctx.tensor(1).shape);
  };
  def.compute = ComputeBroadcastTo;
  return def;
}

// --- collapse_sum ---

Result<OpResult> InferCollapse(TypeContext& ctx, const std::vector<Dim>& target) {
  const TensorType& data = ctx.tensor(0);
  RELAYVM_RETURN_IF_ERROR(RequireNumber(data));
  if (target.size() > data.shape.size()) {
    return Invalid("shape {} has more dims than the data, {}", ShapeToString(target),
                   ShapeToString(data.shape));
  }
  size_t lead = data.shape.size() - target.size();
  for (size_t i = 0; i < target.size(); ++i) {
    if (target[i].is_const(1) || target[i] == data.shape[lead + i]) continue;
    RELAYVM_ASSIGN_OR_RETURN(Dim d, ctx.Broadcast(target[i], data.shape[lead + i], "shape"));
    RELAYVM_RETURN_IF_ERROR(ctx.RequireEqual(d, data.shape[lead + i], "shape"));
  }
  return OpResult(TensorType{target, data.dtype});
}

// Sums leading dims, and dims that are 1 in the result. A dim d whose target t may be 1 or d at run
// time is summed over d - t + 1 elements from the output's index on: all of them when t is 1, one
// when t is d.
std::vector<te::Tensor> ComputeCollapse(const ComputeContext& ctx) {
  const te::Tensor& data = ctx.inputs[0];
  const std::vector<Dim>& target = ctx.outputs[0].shape;
  return {te::Compute("collapse_sum", target, [&](const ExprList& i) {
    std::vector<te::Axis> reduced;
    ExprList at;
    size_t lead = data->shape.size() - target.size();
    for (size_t k = 0; k < data->shape.size(); ++k) {
      const Dim& d = data->shape[k];
      if (k >= lead && target[k - lead] == d) {
        at.push_back(i[k - lead]);
        continue;
      }
      Dim extent = k < lead ? d : d - target[k - lead] + Dim(1);
      reduced.push_back(te::MakeAxis("k" + std::to_string(k), extent));
      Expr index = te::AxisValue(reduced.back());
      bool shifted = k >= lead && !target[k - lead].is_const(1);
      at.push_back(shifted ? i[k - lead] + index : index);
    }
    Expr value = te::Load(data, std::move(at));
    if (reduced.empty()) return value;
    return te::Reduce(te::ReduceKind::kSum, value, std::move(reduced), data->dtype);
  })};
}

OpDef CollapseSum(std::string name, bool like) {
  OpDef def;
  def.name = std::move(name);
  def.num_args = 2;
  def.fusion = FusionClass::kReduction;
  def.shape_args = {1};
  def.infer = [like](TypeContext& ctx) -> Result<OpResult> {
    if (like) return InferCollapse(ctx, ctx.tensor(1).shape);
    RELAYVM_ASSIGN_OR_RETURN(std::vector<Dim> shape, ctx.Elements(1));
    RELAYVM_RETURN_IF_ERROR(RequireSizes(ctx, shape));
    return InferCollapse(ctx, shape);
  };
  def.compute = ComputeCollapse;
  return def;
}

// --- tile, repeat ---

OpDef Tile() {
  OpDef def;
  def.name = "tile";
  def.attrs = {Required("reps", AttrKind::kInts)};
  def.fusion = FusionClass::kBroadcast;
  def.infer = [](TypeContext& ctx) -> Result<OpResult> {
    std::vector<Dim> reps = ctx.attrs().Dims("reps");
    for (const Dim& r : reps) {
      if (r.value() < 0) return Invalid("reps has a negative element, {}", r.value());
    }
    return InferTile(ctx, reps);
  };
  def.compute = ComputeTile;
  return def;
}

OpDef Repeat() {
  OpDef def;
  def.name = "repeat";
  def.attrs = {Required("repeats", AttrKind::kInt), Optional("axis", AttrKind::kInt)};
  def.fusion = FusionClass::kBroadcast;
  def.infer = [](TypeContext& ctx) -> Result<OpResult> {
    const TensorType& data = ctx.tensor(0);
    int64_t repeats = ctx.attrs().Int("repeats");
    if (repeats < 0) return Invalid("repeats is {}", repeats);
    auto given = ctx.attrs().OptionalInt("axis");
    if (!given) return OpResult(TensorType{{ProductOf(data.shape) * Dim(repeats)}, data.dtype});
    RELAYVM_ASSIGN_OR_RETURN(int axis, NormalizeAxis(*given, data.rank()));
    TensorType out = data;
    Dim& d = out.shape[static_cast<size_t>(axis)];
    d = d * Dim(repeats);
    return OpResult(std::move(out));
  };
  def.compute = [](const ComputeContext& ctx) -> std::vector<te::Tensor> {
    const te::Tensor& data = ctx.inputs[0];
    auto given = ctx.attrs.OptionalInt("axis");
    Expr repeats = Int(ctx.attrs.Int("repeats"));
    return {te::Compute("repeat", ctx.outputs[0].shape, [&](const ExprList& i) {
      if (!given) return te::Load(data, Unravel(FloorDivExpr(i[0], repeats), data->shape));
      ExprList at = i;
      Expr& index = at[static_cast<size_t>(CanonicalAxis(*given, data->rank()))];
      index = FloorDivExpr(index, repeats);
      return te::Load(data, std::move(at));
    })};
  };
  return def;
}

}  // namespace

void DefineBroadcast(OpTable& table) {
  table.Add(BroadcastTo());
  table.Add(BroadcastToLike());
  table.Add(CollapseSum("collapse_sum_to", false));
  table.Add(CollapseSum("collapse_sum_like", true));
  table.Add(Tile());
  table.Add(Repeat());
}

}  // namespace relayvm
