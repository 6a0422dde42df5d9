// Fixed-point multiplication of int32 by a q31 number: what quantised operators become.
//
// x * m * 2^shift, where m is a q31 fraction (multiplier / 2^31): in int64, x is shifted left by a
// positive shift, multiplied, rounded half up and shifted right by 31 minus a negative shift.
#include <algorithm>

#include "kernels/op/define.h"
#include "kernels/op/op_helpers.h"

namespace relayvm {
namespace {

using te::BinaryOp;
using te::Expr;

constexpr int64_t kQ = 31;

Expr ShiftLeft(Expr a, Expr b) { return Binary(BinaryOp::kShiftLeft, std::move(a), std::move(b)); }
Expr ShiftRight(Expr a, Expr b) {
  return Binary(BinaryOp::kShiftRight, std::move(a), std::move(b));
}

// x, multiplier and shifts are int64; the shifts may be null. A shift that moves all bits out gives
// 0.
Expr Multiply(Expr x, const Expr& multiplier, const Expr& left, const Expr& right) {
  if (left) x = ShiftLeft(x, Clamp(left, Int(0), Int(62)));
  Expr total = Int(kQ);
  if (right) total = total + Clamp(right, Int(1 - kQ), Int(62 - kQ));
  Expr rounded = x * multiplier + ShiftLeft(Int(1), total - Int(1));
  return te::Cast(ShiftRight(rounded, total), DType::kInt32);
}

Status RequireInt32(const TensorType& t, std::string_view what) {
  if (t.dtype == DType::kInt32) return OkStatus();
  return Invalid("{} must be int32, not {}", what, DTypeName(t.dtype));
}

OpDef FixedPointMultiply() {
  OpDef def;
  def.name = "fixed_point_multiply";
  def.attrs = {Required("multiplier", AttrKind::kInt), Required("shift", AttrKind::kInt)};
  def.fusion = FusionClass::kElementwise;
  def.infer = [](TypeContext& ctx) -> Result<OpResult> {
    RELAYVM_RETURN_IF_ERROR(RequireInt32(ctx.tensor(0), "data"));
    return OpResult(ctx.tensor(0));
  };
  def.compute = [](const ComputeContext& ctx) -> std::vector<te::Tensor> {
    int64_t shift = std::clamp<int64_t>(ctx.attrs.Int("shift"), -64, 64);
    Expr multiplier = Int(ctx.attrs.Int("multiplier"));
    Expr left = shift > 0 ? Int(shift) : nullptr;
    Expr right = shift < 0 ? Int(-shift) : nullptr;
    return {Elementwise("fixed_point_multiply", ctx, [&](const ExprList& v) {
      return Multiply(ToIndex(v[0]), multiplier, left, right);
    })};
  };
  return def;
}

// Multiplier and shifts are tensors over the axes `axes` of the data.
OpDef FixedPointMultiplyPerAxis() {
  OpDef def;
  def.name = "fixed_point_multiply_per_axis";
  def.num_args = 4;
  def.attrs = {Optional("is_lshift_required", AttrKind::kBool, false),
               Optional("is_rshift_required", AttrKind::kBool, false),
               Required("axes", AttrKind::kInts)};
  def.fusion = FusionClass::kBroadcast;
  def.infer = [](TypeContext& ctx) -> Result<OpResult> {
    const TensorType& data = ctx.tensor(0);
    RELAYVM_RETURN_IF_ERROR(RequireInt32(data, "data"));
    RELAYVM_ASSIGN_OR_RETURN(std::vector<int> axes,
                             NormalizeAxes(ctx.attrs().Ints("axes"), data.rank()));
    constexpr std::string_view kNames[] = {"data", "the multiplier", "the left shift",
                                           "the right shift"};
    std::vector<Dim> expected;
    for (int axis : axes) expected.push_back(data.shape[static_cast<size_t>(axis)]);
    for (size_t i = 1; i < 4; ++i) {
      bool used = i == 1 || ctx.attrs().Bool(i == 2 ? "is_lshift_required" : "is_rshift_required");
      if (!used) continue;
      RELAYVM_RETURN_IF_ERROR(RequireInteger(ctx.tensor(i), kNames[i]));
      RELAYVM_RETURN_IF_ERROR(RequireShapeEqual(ctx, ctx.tensor(i).shape, expected, kNames[i]));
    }
    return OpResult(data);
  };
  def.compute = [](const ComputeContext& ctx) -> std::vector<te::Tensor> {
    int rank = ctx.inputs[0]->rank();
    std::vector<int64_t> axes = ctx.attrs.Ints("axes");
    return {te::Compute("fixed_point_multiply", ctx.outputs[0].shape, [&](const ExprList& i) {
      ExprList at;
      for (int64_t axis : axes) at.push_back(i[static_cast<size_t>(CanonicalAxis(axis, rank))]);
      auto parameter = [&](size_t k, bool used) -> Expr {
        return used ? ToIndex(te::Load(ctx.inputs[k], at)) : nullptr;
      };
      return Multiply(ToIndex(te::Load(ctx.inputs[0], i)), parameter(1, true),
                      parameter(2, ctx.attrs.Bool("is_lshift_required")),
                      parameter(3, ctx.attrs.Bool("is_rshift_required")));
    })};
  };
  return def;
}

}  // namespace

void DefineFixedPoint(OpTable& table) {
  table.Add(FixedPointMultiply());
  table.Add(FixedPointMultiplyPerAxis());
}

}  // namespace relayvm
