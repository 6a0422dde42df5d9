// Operators that give the same elements, in the same order, another shape. All are views: `compute`
// says what they mean.
#include <algorithm>

#include "kernels/op/define.h"
#include "kernels/op/op_helpers.h"
#include "kernels/op/shape_rules.h"

namespace relayvm {
namespace {

using InferFn = std::function<Result<OpResult>(TypeContext&)>;

OpDef ViewDef(std::string name, std::vector<AttrField> attrs, InferFn infer) {
  OpDef def;
  def.name = std::move(name);
  def.attrs = std::move(attrs);
  def.fusion = FusionClass::kInjective;
  def.is_view = true;
  def.infer = [infer = std::move(infer)](TypeContext& ctx) -> Result<OpResult> {
    return infer(ctx);
  };
  def.compute = [](const ComputeContext& ctx) -> std::vector<te::Tensor> {
    return {ReshapeTensor(ctx.inputs[0], ctx.outputs[0].shape)};
  };
  return def;
}

std::vector<AttrField> ReshapeAttrs() {
  return {Required("newshape", AttrKind::kDims), Optional("allowzero", AttrKind::kBool, false)};
}

Result<OpResult> InferReshape(TypeContext& ctx) {
  const TensorType& data = ctx.tensor(0);
  RELAYVM_ASSIGN_OR_RETURN(
      std::vector<Dim> shape,
      ReshapeDims(ctx, data.shape, ctx.attrs().Dims("newshape"), ctx.attrs().Bool("allowzero")));
  return OpResult(TensorType{std::move(shape), data.dtype});
}

// The codes are read from the back: shape, codes and result reversed.
Result<OpResult> InferReverseReshape(TypeContext& ctx) {
  const TensorType& data = ctx.tensor(0);
  std::vector<Dim> in(data.shape.rbegin(), data.shape.rend());
  std::vector<Dim> codes = ctx.attrs().Dims("newshape");
  std::reverse(codes.begin(), codes.end());
  RELAYVM_ASSIGN_OR_RETURN(std::vector<Dim> shape,
                           ReshapeDims(ctx, in, codes, ctx.attrs().Bool("allowzero")));
  std::reverse(shape.begin(), shape.end());
  return OpResult(TensorType{std::move(shape), data.dtype});
}

// lhs[:lhs_begin] + rhs[rhs_begin:rhs_end] + lhs[lhs_end:].
Result<OpResult> InferReshapeLike(TypeContext& ctx) {
  const TensorType& lhs = ctx.tensor(0);
  const TensorType& rhs = ctx.tensor(1);
  auto range = [&](std::string_view begin_name, std::string_view end_name,
                   int rank) -> Result<std::pair<int64_t, int64_t>> {
    int64_t begin = ctx.attrs().Int(begin_name);
    int64_t end = ctx.attrs().OptionalInt(end_name).value_or(rank);
    if (begin < 0) begin += rank;
    if (end < 0) end += rank;
    if (begin < 0 || end > rank || begin > end) {
      return Invalid("{} and {} are {} and {}, no range of {} dims", begin_name, end_name, begin,
                     end, rank);
    }
    return std::pair(begin, end);
  };
  RELAYVM_ASSIGN_OR_RETURN(auto left, range("lhs_begin", "lhs_end", lhs.rank()));
  RELAYVM_ASSIGN_OR_RETURN(auto right, range("rhs_begin", "rhs_end", rhs.rank()));
  std::vector<Dim> shape(lhs.shape.begin(), lhs.shape.begin() + left.first);
  shape.insert(shape.end(), rhs.shape.begin() + right.first, rhs.shape.begin() + right.second);
  shape.insert(shape.end(), lhs.shape.begin() + left.second, lhs.shape.end());
  RELAYVM_RETURN_IF_ERROR(
      ctx.RequireEqual(ProductOf(lhs.shape), ProductOf(shape), "the number of elements"));
  return OpResult(TensorType{std::move(shape), lhs.dtype});
}

Result<OpResult> InferExpandDims(TypeContext& ctx) {
  const TensorType& data = ctx.tensor(0);
  int64_t count = ctx.attrs().Int("num_newaxis");
  if (count < 0 || count > 64) return Invalid("num_newaxis is {}", count);
  RELAYVM_ASSIGN_OR_RETURN(int axis, NormalizeAxis(ctx.attrs().Int("axis"), data.rank() + 1));
  TensorType out = data;
  out.shape.insert(out.shape.begin() + axis, static_cast<size_t>(count), Dim(1));
  return OpResult(std::move(out));
}

Result<OpResult> InferSqueeze(TypeContext& ctx) {
  const TensorType& data = ctx.tensor(0);
  std::vector<bool> remove(data.shape.size(), false);
  if (auto given = ctx.attrs().OptionalInts("axis")) {
    RELAYVM_ASSIGN_OR_RETURN(std::vector<int> axes, NormalizeAxes(*given, data.rank()));
    for (int axis : axes) {
      size_t i = static_cast<size_t>(axis);
      RELAYVM_RETURN_IF_ERROR(ctx.RequireEqual(data.shape[i], Dim(1), "a squeezed axis"));
      remove[i] = true;
    }
  } else {
    for (size_t i = 0; i < data.shape.size(); ++i) {
      if (!data.shape[i].is_const()) {
        return Invalid(
            "axis must be given: dim {} of shape {} is not known at compile time, so the rank of "
            "the result is not either",
            i, ShapeToString(data.shape));
      }
      remove[i] = data.shape[i].is_const(1);
    }
  }
  TensorType out{{}, data.dtype};
  for (size_t i = 0; i < data.shape.size(); ++i) {
    if (!remove[i]) out.shape.push_back(data.shape[i]);
  }
  return OpResult(std::move(out));
}

}  // namespace

void DefineReshape(OpTable& table) {
  table.Add(ViewDef("reshape", ReshapeAttrs(), InferReshape));
  table.Add(ViewDef("contrib_reverse_reshape", ReshapeAttrs(), InferReverseReshape));

  OpDef like =
      ViewDef("reshape_like",
              {Optional("lhs_begin", AttrKind::kInt, 0), Optional("lhs_end", AttrKind::kInt),
               Optional("rhs_begin", AttrKind::kInt, 0), Optional("rhs_end", AttrKind::kInt)},
              InferReshapeLike);
  like.num_args = 2;
  like.shape_args = {1};
  table.Add(std::move(like));

  OpDef expand = ViewDef(
      "expand_dims", {Required("axis", AttrKind::kInt), Optional("num_newaxis", AttrKind::kInt, 1)},
      InferExpandDims);
  expand.fusion = FusionClass::kBroadcast;
  table.Add(std::move(expand));

  table.Add(ViewDef("squeeze", {Optional("axis", AttrKind::kInts)}, InferSqueeze));
}

}  // namespace relayvm
