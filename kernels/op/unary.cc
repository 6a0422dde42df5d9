// Elementwise functions of one tensor: mathematics, rounding, tests, conversion, clip, constants of
// the same shape.
#include <cmath>
#include <limits>

#include "kernels/op/define.h"
#include "kernels/op/op_helpers.h"

namespace relayvm {
namespace {

using te::Expr;
using te::UnaryOp;

using ValueFn = std::function<Expr(const Expr& x)>;
using DTypeRule = Status (*)(const TensorType& t, std::string_view what);

// An operator on each element; `result` is the result's dtype where it isn't the argument's.
OpDef UnaryDef(const std::string& name, DTypeRule rule, ValueFn fn,
               std::optional<DType> result = std::nullopt) {
  OpDef def;
  def.name = name;
  def.fusion = FusionClass::kElementwise;
  def.layout = LayoutRule::kAgnostic;
  def.infer = [rule, result](TypeContext& ctx) -> Result<OpResult> {
    RELAYVM_RETURN_IF_ERROR(rule(ctx.tensor(0), "data"));
    return OpResult(TensorType{ctx.tensor(0).shape, result.value_or(ctx.tensor(0).dtype)});
  };
  def.compute = [name, fn = std::move(fn)](const ComputeContext& ctx) -> std::vector<te::Tensor> {
    return {Elementwise(name, ctx, [&](const ExprList& v) { return fn(v[0]); })};
  };
  return def;
}

void AddFloatFunction(OpTable& table, std::string name, UnaryOp op) {
  table.Add(UnaryDef(std::move(name), RequireFloat, [op](const Expr& x) { return Unary(op, x); }));
}

// Rounding leaves integers as they are.
void AddRounding(OpTable& table, std::string name, UnaryOp op) {
  table.Add(UnaryDef(std::move(name), RequireNumber,
                     [op](const Expr& x) { return IsFloat(x->dtype) ? Unary(op, x) : x; }));
}

// isnan and its kin: bool; of an integer the answer is known.
void AddTest(OpTable& table, std::string name, UnaryOp op, bool of_integer) {
  table.Add(UnaryDef(
      std::move(name), AnyDType,
      [=](const Expr& x) {
        return IsFloat(x->dtype) ? Unary(op, x) : te::IntImm(of_integer ? 1 : 0, DType::kBool);
      },
      DType::kBool));
}

// `bound` as a value of `dtype`: integers truncate, and what is out of their range saturates.
Expr Bound(double bound, DType dtype) {
  if (IsFloat(dtype)) return te::FloatImm(bound, dtype);
  int bits = DTypeBits(dtype);
  bool is_signed = IsSignedInt(dtype);
  double low = is_signed ? -std::ldexp(1.0, bits - 1) : 0.0;
  double high = std::ldexp(1.0, is_signed ? bits - 1 : bits);  // one beyond the largest
  if (std::isnan(bound) || bound <= low) {
    return te::IntImm(is_signed ? std::numeric_limits<int64_t>::min() >> (64 - bits) : 0, dtype);
  }
  if (bound >= high) {
    uint64_t top = ~uint64_t{0} >> (64 - bits + (is_signed ? 1 : 0));
    return te::IntImm(static_cast<int64_t>(top), dtype);
  }
  if (bound >= 9223372036854775808.0) {  // uint64 only
    return te::IntImm(static_cast<int64_t>(static_cast<uint64_t>(bound)), dtype);
  }
  return te::IntImm(static_cast<int64_t>(bound), dtype);
}

OpDef Clip() {
  OpDef def;
  def.name = "clip";
  def.layout = LayoutRule::kAgnostic;
  def.attrs = {Required("a_min", AttrKind::kFloat), Required("a_max", AttrKind::kFloat)};
  def.fusion = FusionClass::kElementwise;
  def.infer = [](TypeContext& ctx) -> Result<OpResult> {
    RELAYVM_RETURN_IF_ERROR(RequireNumber(ctx.tensor(0)));
    return OpResult(ctx.tensor(0));
  };
  // The upper bound first, in this order: min(NaN, b) is b, so a NaN gives the upper bound.
  def.compute = [](const ComputeContext& ctx) -> std::vector<te::Tensor> {
    DType dtype = ctx.inputs[0]->dtype;
    Expr low = Bound(ctx.attrs.Float("a_min"), dtype);
    Expr high = Bound(ctx.attrs.Float("a_max"), dtype);
    return {Elementwise("clip", ctx,
                        [&](const ExprList& v) { return MaxExpr(MinExpr(v[0], high), low); })};
  };
  return def;
}

OpDef Cast() {
  OpDef def;
  def.name = "cast";
  def.layout = LayoutRule::kAgnostic;
  def.attrs = {Required("dtype", AttrKind::kDType)};
  def.fusion = FusionClass::kElementwise;
  def.infer = [](TypeContext& ctx) -> Result<OpResult> {
    const TensorType& data = ctx.tensor(0);
    return OpResult(TensorType{data.shape, DTypeOr(ctx.attrs(), "dtype", data.dtype)});
  };
  def.compute = [](const ComputeContext& ctx) -> std::vector<te::Tensor> {
    return {Elementwise("cast", ctx,
                        [&](const ExprList& v) { return te::Cast(v[0], ctx.outputs[0].dtype); })};
  };
  return def;
}

OpDef CastLike() {
  OpDef def;
  def.name = "cast_like";
  def.num_args = 2;
  def.fusion = FusionClass::kElementwise;
  def.shape_args = {1};
  def.infer = [](TypeContext& ctx) -> Result<OpResult> {
    return OpResult(TensorType{ctx.tensor(0).shape, ctx.tensor(1).dtype});
  };
  def.compute = [](const ComputeContext& ctx) -> std::vector<te::Tensor> {
    return {te::Compute("cast_like", ctx.outputs[0].shape, [&](const ExprList& i) {
      return te::Cast(te::Load(ctx.inputs[0], i), ctx.outputs[0].dtype);
    })};
  };
  return def;
}

OpDef ReinterpretDef() {
  OpDef def;
  def.name = "reinterpret";
  def.attrs = {Required("dtype", AttrKind::kDType)};
  def.fusion = FusionClass::kElementwise;
  def.infer = [](TypeContext& ctx) -> Result<OpResult> {
    const TensorType& data = ctx.tensor(0);
    DType to = DTypeOr(ctx.attrs(), "dtype", data.dtype);
    // Bits other than 0 and 1 would not be a bool, so bool counts as one bit wide.
    if (DTypeBits(to) != DTypeBits(data.dtype)) {
      return Invalid("{} and {} differ in width", DTypeName(data.dtype), DTypeName(to));
    }
    return OpResult(TensorType{data.shape, to});
  };
  def.compute = [](const ComputeContext& ctx) -> std::vector<te::Tensor> {
    return {Elementwise("reinterpret", ctx, [&](const ExprList& v) {
      DType to = ctx.outputs[0].dtype;
      return v[0]->dtype == to ? v[0] : te::Reinterpret(v[0], to);
    })};
  };
  return def;
}

// x < 0 ? -1 : x > 0 ? 1 : 0, so that NaN gives 0.
Expr Sign(const Expr& x) {
  Expr zero = te::Const(0, x->dtype);
  Expr positive = te::Select(Greater(x, zero), te::Const(1, x->dtype), zero);
  if (IsUnsignedInt(x->dtype)) return positive;
  return te::Select(x < zero, te::Const(-1, x->dtype), positive);
}

Expr Abs(const Expr& x) {
  return IsFloat(x->dtype) || IsSignedInt(x->dtype) ? Unary(UnaryOp::kAbs, x) : x;
}

void DefineMath(OpTable& table) {
  AddFloatFunction(table, "exp", UnaryOp::kExp);
  AddFloatFunction(table, "log", UnaryOp::kLog);
  AddFloatFunction(table, "log2", UnaryOp::kLog2);
  AddFloatFunction(table, "log10", UnaryOp::kLog10);
  AddFloatFunction(table, "sqrt", UnaryOp::kSqrt);
  AddFloatFunction(table, "rsqrt", UnaryOp::kRsqrt);
  AddFloatFunction(table, "sigmoid", UnaryOp::kSigmoid);
  AddFloatFunction(table, "tanh", UnaryOp::kTanh);
  AddFloatFunction(table, "erf", UnaryOp::kErf);
  AddFloatFunction(table, "sin", UnaryOp::kSin);
  AddFloatFunction(table, "cos", UnaryOp::kCos);
  AddFloatFunction(table, "tan", UnaryOp::kTan);
  AddFloatFunction(table, "asin", UnaryOp::kAsin);
  AddFloatFunction(table, "acos", UnaryOp::kAcos);
  AddFloatFunction(table, "atan", UnaryOp::kAtan);
  AddFloatFunction(table, "sinh", UnaryOp::kSinh);
  AddFloatFunction(table, "cosh", UnaryOp::kCosh);
  AddFloatFunction(table, "asinh", UnaryOp::kAsinh);
  AddFloatFunction(table, "acosh", UnaryOp::kAcosh);
  AddFloatFunction(table, "atanh", UnaryOp::kAtanh);
  // TVM's FastMath forms are approximations of these; ours are fast and within their bounds
  // already.
  AddFloatFunction(table, "fast_exp", UnaryOp::kExp);
  AddFloatFunction(table, "fast_tanh", UnaryOp::kTanh);
  AddFloatFunction(table, "fast_erf", UnaryOp::kErf);
}

}  // namespace

void DefineUnary(OpTable& table) {
  DefineMath(table);
  AddRounding(table, "floor", UnaryOp::kFloor);
  AddRounding(table, "ceil", UnaryOp::kCeil);
  AddRounding(table, "trunc", UnaryOp::kTrunc);
  AddRounding(table, "round", UnaryOp::kRound);
  AddRounding(table, "round_even", UnaryOp::kRoundEven);  // halves to even, as IEEE and ONNX
  AddTest(table, "isnan", UnaryOp::kIsNan, false);
  AddTest(table, "isinf", UnaryOp::kIsInf, false);
  AddTest(table, "isfinite", UnaryOp::kIsFinite, true);
  table.Add(UnaryDef("abs", AnyDType, Abs));
  table.Add(UnaryDef("sign", RequireNumber, Sign));
  table.Add(UnaryDef("negative", RequireNumber,
                     [](const Expr& x) { return Unary(UnaryOp::kNegative, x); }));
  table.Add(
      UnaryDef("logical_not", RequireBool, [](const Expr& x) { return Unary(UnaryOp::kNot, x); }));
  table.Add(UnaryDef("bitwise_not", RequireIntegerOrBool,
                     [](const Expr& x) { return Unary(UnaryOp::kNot, x); }));
  table.Add(UnaryDef("copy", AnyDType, [](const Expr& x) { return x; }));
  for (bool one : {false, true}) {
    // Only the shape of the operand counts: there may be nothing to load.
    OpDef def = UnaryDef(one ? "ones_like" : "zeros_like", AnyDType, nullptr);
    def.shape_args = {0};
    def.compute = [one](const ComputeContext& ctx) -> std::vector<te::Tensor> {
      const TensorType& out = ctx.outputs[0];
      return {te::Compute("like", out.shape,
                          [&](const ExprList&) { return te::Const(one ? 1 : 0, out.dtype); })};
    };
    table.Add(std::move(def));
  }
  table.Add(Clip());
  table.Add(Cast());
  table.Add(CastLike());
  table.Add(ReinterpretDef());
}

}  // namespace relayvm
