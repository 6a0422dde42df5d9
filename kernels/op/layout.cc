// Operators that permute elements: transpose, layout_transform, reverse, reverse_sequence,
// invert_permutation.
#include "kernels/op/define.h"
#include "kernels/op/layouts.h"
#include "kernels/op/op_helpers.h"

namespace relayvm {
namespace {

using te::Expr;

std::vector<int64_t> TransposeAxes(const Attrs& attrs, int rank) {
  // Only None reverses; an empty list is the identity of a scalar.
  if (auto given = attrs.OptionalInts("axes"); given && !(given->empty() && rank > 0)) {
    return *given;
  }
  std::vector<int64_t> axes;
  for (int i = rank; i-- > 0;) axes.push_back(i);
  return axes;
}

std::optional<std::vector<int64_t>> Permutation(const Attrs& attrs, int rank) {
  std::vector<int64_t> axes = TransposeAxes(attrs, rank);
  for (int64_t& axis : axes) axis = CanonicalAxis(axis, rank);
  return axes;
}

OpDef Transpose() {
  OpDef def;
  def.name = "transpose";
  def.attrs = {Optional("axes", AttrKind::kInts)};
  def.fusion = FusionClass::kInjective;
  def.permutation = Permutation;
  def.infer = [](TypeContext& ctx) -> Result<OpResult> {
    const TensorType& data = ctx.tensor(0);
    RELAYVM_ASSIGN_OR_RETURN(
        std::vector<int> axes,
        NormalizeAxes(TransposeAxes(ctx.attrs(), data.rank()), data.rank(), "axes: axis"));
    if (axes.size() != data.shape.size()) {
      return Invalid("axes has {} elements, the data {} dims", axes.size(), data.rank());
    }
    TensorType out{{}, data.dtype};
    for (int axis : axes) out.shape.push_back(data.shape[static_cast<size_t>(axis)]);
    return OpResult(std::move(out));
  };
  def.compute = [](const ComputeContext& ctx) -> std::vector<te::Tensor> {
    const te::Tensor& data = ctx.inputs[0];
    const std::vector<int64_t> axes = *Permutation(ctx.attrs, data->rank());
    return {te::Compute("transpose", ctx.outputs[0].shape, [&](const ExprList& i) {
      ExprList at(i.size());
      for (size_t k = 0; k < i.size(); ++k) at[static_cast<size_t>(axes[k])] = i[k];
      return te::Load(data, std::move(at));
    })};
  };
  return def;
}

OpDef LayoutTransform() {
  OpDef def;
  def.name = "layout_transform";
  def.attrs = {Required("src_layout", AttrKind::kString),
               Required("dst_layout", AttrKind::kString)};
  def.fusion = FusionClass::kInjective;
  def.permutation = [](const Attrs& attrs, int rank) -> std::optional<std::vector<int64_t>> {
    const std::string &from = attrs.String("src_layout"), &to = attrs.String("dst_layout");
    if (std::ssize(from) != rank || std::ssize(to) != rank) return std::nullopt;  // blocks
    std::vector<int64_t> axes;
    for (const char c : to) axes.push_back(static_cast<int64_t>(from.find(c)));
    return axes;
  };
  def.infer = [](TypeContext& ctx) -> Result<OpResult> {
    const TensorType& data = ctx.tensor(0);
    RELAYVM_ASSIGN_OR_RETURN(Layout from, Layout::Parse(ctx.attrs().String("src_layout")));
    RELAYVM_ASSIGN_OR_RETURN(Layout to, Layout::Parse(ctx.attrs().String("dst_layout")));
    RELAYVM_ASSIGN_OR_RETURN(std::vector<Dim> shape, TransformShape(ctx, data.shape, from, to));
    return OpResult(TensorType{std::move(shape), data.dtype});
  };
  def.compute = [](const ComputeContext& ctx) -> std::vector<te::Tensor> {
    Layout from = *Layout::Parse(ctx.attrs.String("src_layout"));
    Layout to = *Layout::Parse(ctx.attrs.String("dst_layout"));
    return {TransformTensor(ctx.inputs[0], from, to, ctx.outputs[0].shape)};
  };
  return def;
}

OpDef Reverse() {
  OpDef def;
  def.name = "reverse";
  def.attrs = {Required("axis", AttrKind::kInt)};
  def.fusion = FusionClass::kInjective;
  def.infer = [](TypeContext& ctx) -> Result<OpResult> {
    const TensorType& data = ctx.tensor(0);
    RELAYVM_RETURN_IF_ERROR(NormalizeAxis(ctx.attrs().Int("axis"), data.rank()).status());
    return OpResult(data);
  };
  def.compute = [](const ComputeContext& ctx) -> std::vector<te::Tensor> {
    const te::Tensor& data = ctx.inputs[0];
    auto axis = static_cast<size_t>(CanonicalAxis(ctx.attrs.Int("axis"), data->rank()));
    return {te::Compute("reverse", data->shape, [&](const ExprList& i) {
      ExprList at = i;
      at[axis] = te::DimValue(data->shape[axis] - Dim(1)) - i[axis];
      return te::Load(data, std::move(at));
    })};
  };
  return def;
}

// The first lengths[b] elements along seq_axis are reversed, for each index b of batch_axis. A
// length beyond the axis reverses all of it.
OpDef ReverseSequence() {
  OpDef def;
  def.name = "reverse_sequence";
  def.num_args = 2;
  def.attrs = {Optional("seq_axis", AttrKind::kInt, 1), Optional("batch_axis", AttrKind::kInt, 0)};
  def.fusion = FusionClass::kInjective;
  def.infer = [](TypeContext& ctx) -> Result<OpResult> {
    const TensorType& data = ctx.tensor(0);
    const TensorType& lengths = ctx.tensor(1);
    RELAYVM_RETURN_IF_ERROR(RequireRank(lengths, 1, "seq_lengths"));
    RELAYVM_RETURN_IF_ERROR(RequireInteger(lengths, "seq_lengths"));
    RELAYVM_RETURN_IF_ERROR(
        NormalizeAxis(ctx.attrs().Int("seq_axis"), data.rank(), "seq_axis").status());
    RELAYVM_ASSIGN_OR_RETURN(
        int batch, NormalizeAxis(ctx.attrs().Int("batch_axis"), data.rank(), "batch_axis"));
    RELAYVM_RETURN_IF_ERROR(ctx.RequireEqual(lengths.shape[0],
                                             data.shape[static_cast<size_t>(batch)],
                                             "seq_lengths and the batch axis"));
    return OpResult(data);
  };
  def.compute = [](const ComputeContext& ctx) -> std::vector<te::Tensor> {
    const te::Tensor& data = ctx.inputs[0];
    auto seq = static_cast<size_t>(CanonicalAxis(ctx.attrs.Int("seq_axis"), data->rank()));
    auto batch = static_cast<size_t>(CanonicalAxis(ctx.attrs.Int("batch_axis"), data->rank()));
    return {te::Compute("reverse_sequence", data->shape, [&](const ExprList& i) {
      Expr length =
          MinExpr(ToIndex(te::Load(ctx.inputs[1], {i[batch]})), te::DimValue(data->shape[seq]));
      ExprList at = i;
      at[seq] = te::Select(i[seq] < length, length - Int(1) - i[seq], i[seq]);
      return te::Load(data, std::move(at));
    })};
  };
  return def;
}

// out[data[i]] = i: the sum of the positions whose element is the output's index, of which a
// permutation has one.
OpDef InvertPermutation() {
  OpDef def;
  def.name = "invert_permutation";
  def.fusion = FusionClass::kReduction;
  def.infer = [](TypeContext& ctx) -> Result<OpResult> {
    RELAYVM_RETURN_IF_ERROR(RequireRank(ctx.tensor(0), 1));
    RELAYVM_RETURN_IF_ERROR(RequireInteger(ctx.tensor(0)));
    RELAYVM_RETURN_IF_ERROR(
        RequireHolds(ctx, ctx.tensor(0).dtype, ctx.tensor(0).shape[0] - 1, "the last position"));
    return OpResult(ctx.tensor(0));
  };
  def.compute = [](const ComputeContext& ctx) -> std::vector<te::Tensor> {
    const te::Tensor& data = ctx.inputs[0];
    return {te::Compute("invert_permutation", data->shape, [&](const ExprList& i) {
      te::Axis k = te::MakeAxis("k", data->shape[0]);
      Expr hit = ToIndex(te::Load(data, {te::AxisValue(k)})) == i[0];
      Expr position = te::Select(hit, te::AxisValue(k), Int(0));
      return te::Cast(te::Reduce(te::ReduceKind::kSum, position, {k}, DType::kInt64), data->dtype);
    })};
  };
  return def;
}

}  // namespace

void DefineLayout(OpTable& table) {
  table.Add(Transpose());
  table.Add(LayoutTransform());
  table.Add(Reverse());
  table.Add(ReverseSequence());
  table.Add(InvertPermutation());
}

}  // namespace relayvm
