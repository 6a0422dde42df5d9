// Operators on two tensors with numpy broadcasting, and `where`. Both dtypes must be equal: nothing
// is promoted.
#include "kernels/op/define.h"
#include "kernels/op/op_helpers.h"

namespace relayvm {
namespace {

using te::BinaryOp;
using te::Expr;
using te::UnaryOp;

using BinaryFn = std::function<Expr(const Expr& a, const Expr& b)>;
using DTypeRule = Status (*)(const TensorType& t, std::string_view what);

void AddBinary(OpTable& table, const std::string& name, DTypeRule rule, BinaryFn fn,
               bool to_bool = false) {
  OpDef def;
  def.name = name;
  def.num_args = 2;
  def.fusion = FusionClass::kBroadcast;
  def.layout = LayoutRule::kAgnostic;
  def.infer = [rule, to_bool](TypeContext& ctx) -> Result<OpResult> {
    const TensorType& a = ctx.tensor(0);
    const TensorType& b = ctx.tensor(1);
    RELAYVM_RETURN_IF_ERROR(RequireSameDType(a, b));
    RELAYVM_RETURN_IF_ERROR(rule(a, "operands"));
    RELAYVM_ASSIGN_OR_RETURN(std::vector<Dim> shape,
                             BroadcastShapes(ctx, a.shape, b.shape, "operands"));
    return OpResult(TensorType{std::move(shape), to_bool ? DType::kBool : a.dtype});
  };
  def.compute = [name, fn = std::move(fn)](const ComputeContext& ctx) -> std::vector<te::Tensor> {
    const std::vector<Dim>& shape = ctx.outputs[0].shape;
    return {te::Compute(name, shape, [&](const ExprList& i) {
      return fn(LoadBroadcast(ctx.inputs[0], shape, i), LoadBroadcast(ctx.inputs[1], shape, i));
    })};
  };
  table.Add(std::move(def));
}

void AddPlain(OpTable& table, std::string name, DTypeRule rule, BinaryOp op) {
  AddBinary(table, std::move(name), rule,
            [op](const Expr& a, const Expr& b) { return Binary(op, a, b); });
}

void AddComparison(OpTable& table, std::string name, BinaryOp op) {
  AddBinary(
      table, std::move(name), AnyDType,
      [op](const Expr& a, const Expr& b) { return Binary(op, a, b); }, true);
}

Expr Quotient(const Expr& a, const Expr& b) { return Binary(BinaryOp::kDivide, a, b); }

Expr FloorDivide(const Expr& a, const Expr& b) {
  if (IsFloat(a->dtype)) return Unary(UnaryOp::kFloor, Quotient(a, b));
  return Binary(BinaryOp::kFloorDivide, a, b);
}

Expr TruncDivide(const Expr& a, const Expr& b) {
  return IsFloat(a->dtype) ? Unary(UnaryOp::kTrunc, Quotient(a, b)) : Quotient(a, b);
}

// On floats the two remainders are what TVM computes, a - rounded(a / b) * b, and not an exact
// fmod.
Expr FloorMod(const Expr& a, const Expr& b) {
  return IsFloat(a->dtype) ? a - FloorDivide(a, b) * b : Binary(BinaryOp::kFloorMod, a, b);
}

Expr TruncMod(const Expr& a, const Expr& b) {
  return IsFloat(a->dtype) ? a - TruncDivide(a, b) * b : Binary(BinaryOp::kMod, a, b);
}

OpDef Where() {
  OpDef def;
  def.name = "where";
  def.layout = LayoutRule::kAgnostic;
  def.num_args = 3;
  def.fusion = FusionClass::kBroadcast;
  def.infer = [](TypeContext& ctx) -> Result<OpResult> {
    const TensorType& x = ctx.tensor(1);
    const TensorType& y = ctx.tensor(2);
    RELAYVM_RETURN_IF_ERROR(RequireSameDType(x, y));
    RELAYVM_ASSIGN_OR_RETURN(std::vector<Dim> values,
                             BroadcastShapes(ctx, x.shape, y.shape, "values"));
    RELAYVM_ASSIGN_OR_RETURN(
        std::vector<Dim> shape,
        BroadcastShapes(ctx, ctx.tensor(0).shape, values, "condition and values"));
    return OpResult(TensorType{std::move(shape), x.dtype});
  };
  def.compute = [](const ComputeContext& ctx) -> std::vector<te::Tensor> {
    const std::vector<Dim>& shape = ctx.outputs[0].shape;
    return {te::Compute("where", shape, [&](const ExprList& i) {
      return te::Select(te::Cast(LoadBroadcast(ctx.inputs[0], shape, i), DType::kBool),
                        LoadBroadcast(ctx.inputs[1], shape, i),
                        LoadBroadcast(ctx.inputs[2], shape, i));
    })};
  };
  return def;
}

}  // namespace

void DefineBinary(OpTable& table) {
  AddPlain(table, "add", RequireNumber, BinaryOp::kAdd);
  AddPlain(table, "subtract", RequireNumber, BinaryOp::kSubtract);
  AddPlain(table, "multiply", RequireNumber, BinaryOp::kMultiply);
  AddPlain(table, "divide", RequireNumber, BinaryOp::kDivide);
  AddBinary(table, "floor_divide", RequireNumber, FloorDivide);
  AddBinary(table, "trunc_divide", RequireNumber, TruncDivide);
  AddPlain(table, "mod", RequireNumber, BinaryOp::kMod);
  AddBinary(table, "floor_mod", RequireNumber, FloorMod);
  AddBinary(table, "trunc_mod", RequireNumber, TruncMod);
  AddPlain(table, "power", RequireFloat, BinaryOp::kPower);
  AddPlain(table, "maximum", AnyDType, BinaryOp::kMax);
  AddPlain(table, "minimum", AnyDType, BinaryOp::kMin);
  AddComparison(table, "equal", BinaryOp::kEqual);
  AddComparison(table, "not_equal", BinaryOp::kNotEqual);
  AddComparison(table, "less", BinaryOp::kLess);
  AddComparison(table, "less_equal", BinaryOp::kLessEqual);
  AddComparison(table, "greater", BinaryOp::kGreater);
  AddComparison(table, "greater_equal", BinaryOp::kGreaterEqual);
  AddPlain(table, "logical_and", RequireBool, BinaryOp::kAnd);
  AddPlain(table, "logical_or", RequireBool, BinaryOp::kOr);
  AddPlain(table, "logical_xor", RequireBool, BinaryOp::kXor);
  AddPlain(table, "bitwise_and", RequireIntegerOrBool, BinaryOp::kAnd);
  AddPlain(table, "bitwise_or", RequireIntegerOrBool, BinaryOp::kOr);
  AddPlain(table, "bitwise_xor", RequireIntegerOrBool, BinaryOp::kXor);
  AddPlain(table, "left_shift", RequireInteger, BinaryOp::kShiftLeft);
  AddPlain(table, "right_shift", RequireInteger, BinaryOp::kShiftRight);
  table.Add(Where());
}

}  // namespace relayvm
