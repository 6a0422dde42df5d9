// Operators that make a tensor from a shape or a few scalars: zeros, full, arange, shape_of ...
#include <array>
#include <cmath>
#include <limits>

#include "bytecode/base/arithmetic.h"
#include "kernels/op/define.h"
#include "kernels/op/op_helpers.h"
#include "kernels/op/shape_rules.h"

namespace relayvm {
namespace {

using te::Expr;

// The dims of attribute `shape`, all known.
Result<std::vector<Dim>> ShapeAttr(const Attrs& attrs) {
  std::vector<Dim> shape = attrs.Dims("shape");
  for (const Dim& d : shape) {
    if (d.ContainsAny()) return Invalid("shape {} has an unknown dim", ShapeToString(shape));
    if (auto high = d.UpperBound(); high && *high < 0) {
      return Invalid("shape {} has a negative dim", ShapeToString(shape));
    }
  }
  return shape;
}

te::Tensor Filled(std::string name, const TensorType& type, Expr value) {
  return te::Compute(std::move(name), type.shape, [&](const ExprList&) { return value; });
}

OpDef ConstantFill(const std::string& name, double value) {
  OpDef def;
  def.name = name;
  def.num_args = 0;
  def.attrs = {Required("shape", AttrKind::kDims), Optional("dtype", AttrKind::kDType, "")};
  def.fusion = FusionClass::kElementwise;
  def.infer = [](TypeContext& ctx) -> Result<OpResult> {
    RELAYVM_ASSIGN_OR_RETURN(std::vector<Dim> shape, ShapeAttr(ctx.attrs()));
    return OpResult(TensorType{std::move(shape), DTypeOr(ctx.attrs(), "dtype", DType::kFloat32)});
  };
  def.compute = [name, value](const ComputeContext& ctx) -> std::vector<te::Tensor> {
    return {Filled(name, ctx.outputs[0], te::Const(value, ctx.outputs[0].dtype))};
  };
  return def;
}

OpDef Full() {
  OpDef def;
  def.name = "full";
  def.attrs = {Optional("shape", AttrKind::kDims, AttrList{}),
               Optional("dtype", AttrKind::kDType, "")};
  def.fusion = FusionClass::kElementwise;
  def.infer = [](TypeContext& ctx) -> Result<OpResult> {
    RELAYVM_RETURN_IF_ERROR(RequireRank(ctx.tensor(0), 0, "the fill value"));
    RELAYVM_ASSIGN_OR_RETURN(std::vector<Dim> shape, ShapeAttr(ctx.attrs()));
    return OpResult(
        TensorType{std::move(shape), DTypeOr(ctx.attrs(), "dtype", ctx.tensor(0).dtype)});
  };
  def.compute = [](const ComputeContext& ctx) -> std::vector<te::Tensor> {
    const TensorType& out = ctx.outputs[0];
    return {Filled("full", out, te::Cast(Scalar(ctx.inputs[0]), out.dtype))};
  };
  return def;
}

OpDef FullLike() {
  OpDef def;
  def.name = "full_like";
  def.num_args = 2;
  def.fusion = FusionClass::kElementwise;
  def.shape_args = {0};
  def.infer = [](TypeContext& ctx) -> Result<OpResult> {
    RELAYVM_RETURN_IF_ERROR(RequireRank(ctx.tensor(1), 0, "the fill value"));
    return OpResult(ctx.tensor(0));
  };
  def.compute = [](const ComputeContext& ctx) -> std::vector<te::Tensor> {
    const TensorType& out = ctx.outputs[0];
    return {Filled("full_like", out, te::Cast(Scalar(ctx.inputs[1]), out.dtype))};
  };
  return def;
}

// --- arange ---

// Lengths are computed in float64, as large as indices can be.
constexpr int64_t kMaxFloatLength = 9'000'000'000'000'000;

// A range from `first` to `last`: `dtype` holds all between.
Status RequireHoldsRange(TypeContext& ctx, DType dtype, const Dim& first, const Dim& last) {
  RELAYVM_RETURN_IF_ERROR(RequireHolds(ctx, dtype, Dim::Max(first, last), "the largest element"));
  const int64_t least = !IsSignedInt(dtype) ? 0 : -(int64_t{1} << (DTypeBits(dtype) - 2)) * 2;
  return ctx.RequireAtLeast(Dim::Min(first, last), Dim(least),
                            fmt::format("the least element as {}", DTypeName(dtype)));
}

// Of integers of `dtype`, or of floats.
Result<Dim> FloatRangeLength(TypeContext& ctx, DType dtype) {
  double v[3];
  bool known = true;
  for (size_t i = 0; i < 3; ++i) {
    auto value = ctx.ConstantFloats(i);
    known = known && value && value->size() == 1;
    if (known) v[i] = (*value)[0];
  }
  if (known) {
    double length = std::ceil((v[1] - v[0]) / v[2]);
    if (v[2] == 0 || !(std::abs(length) < static_cast<double>(kMaxFloatLength))) {
      return Invalid("the range from {} to {} by {} is not finite", v[0], v[1], v[2]);
    }
    if (!(length > 0)) return Dim(0);
    if (!IsFloat(dtype)) {
      // An integer of 64 bits is the nearest one to what it doesn't hold.
      const auto whole = [](double x) { return Dim(FloatToInteger(x, DType::kInt64)); };
      RELAYVM_RETURN_IF_ERROR(
          RequireHoldsRange(ctx, dtype, whole(v[0]), whole(v[0] + (length - 1) * v[2])));
    }
    return Dim(static_cast<int64_t>(length));
  }
  using Step = ScalarStep;
  constexpr double kNoNumber = -std::numeric_limits<double>::infinity();
  RELAYVM_ASSIGN_OR_RETURN(
      Dim length, ctx.ComputeDim(std::array{Step{"cast", {Step::Argument{0}}, DType::kFloat64},
                                            Step{"cast", {Step::Argument{1}}, DType::kFloat64},
                                            Step{"cast", {Step::Argument{2}}, DType::kFloat64},
                                            Step{"subtract", {Step::Earlier{1}, Step::Earlier{0}}},
                                            Step{"divide", {Step::Earlier{3}, Step::Earlier{2}}},
                                            Step{"ceil", {Step::Earlier{4}}},
                                            Step{"maximum", {Step::Earlier{5}, kNoNumber}},
                                            Step{"cast", {Step::Earlier{6}}, DType::kInt64}}));
  // What is no number or infinite becomes the least or the greatest integer: the maximum of NaN and
  // another is the other.
  RELAYVM_RETURN_IF_ERROR(
      RequireAtMost(ctx, length, Dim(kMaxFloatLength), "the length of the range"));
  RELAYVM_RETURN_IF_ERROR(
      ctx.RequireAtLeast(length, Dim(-kMaxFloatLength), "the length of the range"));
  if (!IsFloat(dtype)) {
    // 0 where there are none.
    const auto element = [&](bool last) {
      return ctx.ComputeDim(std::array{
          Step{"cast", {Step::Argument{0}}, DType::kFloat64},
          Step{"cast", {Step::Argument{1}}, DType::kFloat64},
          Step{"cast", {Step::Argument{2}}, DType::kFloat64},
          Step{"subtract", {Step::Earlier{1}, Step::Earlier{0}}},
          Step{"divide", {Step::Earlier{3}, Step::Earlier{2}}}, Step{"ceil", {Step::Earlier{4}}},
          Step{"maximum", {Step::Earlier{5}, 0.0}}, Step{"minimum", {Step::Earlier{6}, 1.0}},
          Step{"subtract", {Step::Earlier{6}, Step::Earlier{7}}},
          Step{"multiply", {Step::Earlier{8}, Step::Earlier{2}}},
          Step{"add", {Step::Earlier{0}, Step::Earlier{9}}},
          Step{"multiply", {Step::Earlier{last ? 10U : 0U}, Step::Earlier{7}}},
          Step{"cast", {Step::Earlier{11}}, DType::kInt64}});
    };
    RELAYVM_ASSIGN_OR_RETURN(Dim first, element(false));
    RELAYVM_ASSIGN_OR_RETURN(Dim last, element(true));
    RELAYVM_RETURN_IF_ERROR(RequireHoldsRange(ctx, dtype, first, last));
  }
  return Dim::Max(Dim(0), length);
}

// Of an `dtype` that may be narrower than start, stop and step.
Result<Dim> IntRangeLength(TypeContext& ctx, DType dtype) {
  Dim v[3];
  for (size_t i = 0; i < 3; ++i) {
    RELAYVM_ASSIGN_OR_RETURN(std::vector<Dim> elements, ctx.Elements(i));
    v[i] = elements[0];
  }
  const Dim& step = v[2];
  if (step.is_const(0)) return Invalid("the step is 0");
  if (!step.is_const()) {
    RELAYVM_RETURN_IF_ERROR(RequireNonzero(ctx, step, "the step"));
  }
  // ceil(x / y) = -floor(-x / y), of any signs.
  Dim length = step.is_const() && step.value() > 0 ? Dim::CeilDiv(v[1] - v[0], step)
                                                   : Dim(0) - Dim::FloorDiv(v[0] - v[1], step);
  length = Dim::Max(Dim(0), length);
  if (dtype == ctx.tensor(0).dtype || IsFloat(dtype) || length.is_const(0)) return length;
  const Dim last = v[0] + (length - Dim::Min(Dim(1), length)) * step;
  RELAYVM_RETURN_IF_ERROR(RequireHoldsRange(ctx, dtype, v[0], last));
  return length;
}

OpDef Arange() {
  OpDef def;
  def.name = "arange";
  def.num_args = 3;
  // start, stop and step repeat the arguments, which alone count.
  def.attrs = {Optional("start", AttrKind::kAny), Optional("stop", AttrKind::kAny),
               Optional("step", AttrKind::kAny), Optional("dtype", AttrKind::kDType, "")};
  def.fusion = FusionClass::kInjective;
  def.shape_args = {1};
  def.infer = [](TypeContext& ctx) -> Result<OpResult> {
    for (size_t i = 0; i < 3; ++i) {
      RELAYVM_RETURN_IF_ERROR(RequireRank(ctx.tensor(i), 0, "start, stop and step"));
      RELAYVM_RETURN_IF_ERROR(RequireNumber(ctx.tensor(i), "start, stop and step"));
      RELAYVM_RETURN_IF_ERROR(RequireSameDType(ctx.tensor(0), ctx.tensor(i)));
    }
    const DType dtype = DTypeOr(ctx.attrs(), "dtype", ctx.tensor(0).dtype);
    RELAYVM_ASSIGN_OR_RETURN(Dim length, IsFloat(ctx.tensor(0).dtype) ? FloatRangeLength(ctx, dtype)
                                                                      : IntRangeLength(ctx, dtype));
    return OpResult(TensorType{{length}, dtype});
  };
  def.compute = [](const ComputeContext& ctx) -> std::vector<te::Tensor> {
    DType dtype = ctx.inputs[0]->dtype;
    return {te::Compute("arange", ctx.outputs[0].shape, [&](const ExprList& i) {
      Expr offset = te::Cast(i[0], dtype) * Scalar(ctx.inputs[2]);
      return te::Cast(Scalar(ctx.inputs[0]) + offset, ctx.outputs[0].dtype);
    })};
  };
  return def;
}

// --- Shapes as data ---

OpDef ShapeOf(std::string name, DType fallback) {
  OpDef def;
  def.name = std::move(name);
  def.attrs = {Optional("dtype", AttrKind::kDType, "")};
  def.fusion = FusionClass::kInjective;
  def.infer = [fallback](TypeContext& ctx) -> Result<OpResult> {
    const DType dtype = DTypeOr(ctx.attrs(), "dtype", fallback);
    for (const Dim& d : ctx.tensor(0).shape) {
      RELAYVM_RETURN_IF_ERROR(RequireHolds(ctx, dtype, d, "a size"));
    }
    return OpResult(TensorType{{Dim(ctx.tensor(0).rank())}, dtype});
  };
  def.compute = [](const ComputeContext& ctx) -> std::vector<te::Tensor> {
    DType dtype = ctx.outputs[0].dtype;
    ExprList dims;
    for (const Dim& d : ctx.inputs[0]->shape) dims.push_back(te::Cast(te::DimValue(d), dtype));
    return {te::Compute("shape_of", ctx.outputs[0].shape,
                        [&](const ExprList& i) { return SelectFrom(i[0], dims, dtype); })};
  };
  return def;
}

OpDef NdarraySize() {
  OpDef def;
  def.name = "ndarray_size";
  def.attrs = {Optional("dtype", AttrKind::kDType, "")};
  def.fusion = FusionClass::kInjective;
  def.infer = [](TypeContext& ctx) -> Result<OpResult> {
    const DType dtype = DTypeOr(ctx.attrs(), "dtype", DType::kInt32);
    RELAYVM_RETURN_IF_ERROR(RequireHolds(ctx, dtype, ProductOf(ctx.tensor(0).shape), "a size"));
    return OpResult(TensorType{{}, dtype});
  };
  def.compute = [](const ComputeContext& ctx) -> std::vector<te::Tensor> {
    Dim size = ProductOf(ctx.inputs[0]->shape);
    return {
        Filled("ndarray_size", ctx.outputs[0], te::Cast(te::DimValue(size), ctx.outputs[0].dtype))};
  };
  return def;
}

}  // namespace

void DefineCreation(OpTable& table) {
  table.Add(ConstantFill("zeros", 0));
  table.Add(ConstantFill("ones", 1));
  table.Add(Full());
  table.Add(FullLike());
  table.Add(Arange());
  table.Add(ShapeOf("shape_of", DType::kInt32));
  table.Add(ShapeOf("vm.shape_of", DType::kInt64));
  table.Add(NdarraySize());
}

}  // namespace relayvm
