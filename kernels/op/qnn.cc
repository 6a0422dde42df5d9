// The qnn dialect, elementwise part: qnn.quantize qnn.dequantize qnn.requantize qnn.add
// qnn.subtract qnn.mul qnn.concatenate qnn.leaky_relu and the functions of one tensor. Products are
// in qnn_products.cc. The meaning is what TVM lowers these to: integer arithmetic with fixed-point
// multiplication, saturated at the end. Stateless. Tested by qnn_test.cc.
#include "kernels/op/qnn.h"

#include <utility>

#include "kernels/op/define.h"
#include "kernels/op/qnn_parts.h"

namespace relayvm {
namespace {

using nn::Indices;
using qnn::MakeRequantizer;
using qnn::Multiplier;
using qnn::Parameter;
using qnn::Requantizer;
using qnn::Rounding;
using te::Expr;
using te::Tensor;

constexpr DType kReal = DType::kFloat32;

// The axis of a vector parameter; 0 where all are scalars and it does not matter.
int AxisOf(const Attrs& attrs, std::string_view name, const Tensor& data) {
  return data->shape.empty() ? 0 : qnn::ParameterAxis(attrs.Int(name), data->shape.size());
}

Status RequireQuantized(DType t, std::string_view what) {
  if (IsInt(t) && DTypeBytes(t) <= 4 && t != DType::kUInt32) return OkStatus();
  return Invalid("{} is {}, expected int8, uint8, int16, uint16 or int32", what, DTypeName(t));
}

// --- Quantize, dequantize, requantize ---

Expr Quantized(const Expr& real, const Expr& scale, const Expr& zero_point, DType dtype) {
  const Expr steps = te::Unary(te::UnaryOp::kRound, nn::Divide(real, te::Cast(scale, real->dtype)));
  return qnn::Saturate(steps + te::Cast(zero_point, real->dtype), dtype);
}

Expr Dequantized(const Expr& q, const Expr& scale, const Expr& zero_point) {
  // In floats, which vectors convert from int32 and whose difference does not wrap.
  const DType exact = DTypeBits(q->dtype) <= 16 ? kReal : DType::kFloat64;
  const Expr steps = te::Cast(q, exact) - te::Cast(zero_point, exact);
  return te::Cast(steps, kReal) * te::Cast(scale, kReal);
}

OpDef QuantizeOp() {
  OpDef op;
  op.name = "qnn.quantize";
  op.num_args = 3;
  op.attrs = {Required("out_dtype", AttrKind::kDType), Optional("axis", AttrKind::kInt, -1)};
  op.fusion = FusionClass::kElementwise;
  op.infer = [](TypeContext& tc) -> Result<OpResult> {
    const TensorType& data = tc.tensor(0);
    const int64_t axis = tc.attrs().Int("axis");
    RELAYVM_RETURN_IF_ERROR(RequireFloat(data));
    RELAYVM_RETURN_IF_ERROR(qnn::RequireParameter(tc, 1, data.shape, axis, "output_scale"));
    RELAYVM_RETURN_IF_ERROR(qnn::RequireParameter(tc, 2, data.shape, axis, "output_zero_point"));
    const DType dtype = DTypeOr(tc.attrs(), "out_dtype", DType::kInt8);
    RELAYVM_RETURN_IF_ERROR(RequireQuantized(dtype, "out_dtype"));
    return OpResult(TensorType{data.shape, dtype});
  };
  op.compute = [](const ComputeContext& c) -> std::vector<Tensor> {
    const int axis = AxisOf(c.attrs, "axis", c.inputs[0]);
    return {te::Compute("quantize", c.inputs[0]->shape, [&](const Indices& i) {
      return Quantized(te::Load(c.inputs[0], i), Parameter(c.inputs[1], i, axis),
                       Parameter(c.inputs[2], i, axis), c.outputs[0].dtype);
    })};
  };
  return op;
}

OpDef DequantizeOp() {
  OpDef op;
  op.name = "qnn.dequantize";
  op.num_args = 3;
  op.attrs = {Optional("out_dtype", AttrKind::kDType, "float32"),
              Optional("axis", AttrKind::kInt, -1)};
  op.fusion = FusionClass::kElementwise;
  op.infer = [](TypeContext& tc) -> Result<OpResult> {
    const TensorType& data = tc.tensor(0);
    const int64_t axis = tc.attrs().Int("axis");
    RELAYVM_RETURN_IF_ERROR(RequireQuantized(data.dtype, "data"));
    RELAYVM_RETURN_IF_ERROR(qnn::RequireParameter(tc, 1, data.shape, axis, "input_scale"));
    RELAYVM_RETURN_IF_ERROR(qnn::RequireParameter(tc, 2, data.shape, axis, "input_zero_point"));
    const DType dtype = DTypeOr(tc.attrs(), "out_dtype", kReal);
    if (!IsFloat(dtype)) return Invalid("out_dtype is {}, expected a float", DTypeName(dtype));
    return OpResult(TensorType{data.shape, dtype});
  };
  op.compute = [](const ComputeContext& c) -> std::vector<Tensor> {
    const int axis = AxisOf(c.attrs, "axis", c.inputs[0]);
    return {te::Compute("dequantize", c.inputs[0]->shape, [&](const Indices& i) {
      return te::Cast(Dequantized(te::Load(c.inputs[0], i), Parameter(c.inputs[1], i, axis),
                                  Parameter(c.inputs[2], i, axis)),
                      c.outputs[0].dtype);
    })};
  };
  return op;
}

// compute_dtype float32 or float64.
Expr RequantizeReal(const ComputeContext& c, const Indices& i, int axis, DType real,
                    Rounding rounding) {
  const auto param = [&](size_t k) { return Parameter(c.inputs[k], i, axis); };
  const Expr ratio = te::Cast(
      nn::Divide(te::Cast(param(1), DType::kFloat64), te::Cast(param(3), DType::kFloat64)), real);
  const Expr value = (te::Cast(te::Load(c.inputs[0], i), real) - te::Cast(param(2), real)) * ratio +
                     te::Cast(param(4), real);
  const Expr rounded = rounding == Rounding::kUpward
                           ? te::Unary(te::UnaryOp::kFloor, value + te::FloatImm(0.5, real))
                           : te::Unary(te::UnaryOp::kRound, value);
  return qnn::Saturate(rounded, c.outputs[0].dtype);
}

OpDef RequantizeOp() {
  OpDef op;
  op.name = "qnn.requantize";
  op.num_args = 5;
  op.attrs = {Optional("axis", AttrKind::kInt, -1), Optional("rounding", AttrKind::kString, "None"),
              Optional("compute_dtype", AttrKind::kString, "None"),
              Optional("out_dtype", AttrKind::kDType, "int8")};
  op.fusion = FusionClass::kElementwise;
  op.infer = [](TypeContext& tc) -> Result<OpResult> {
    const TensorType& data = tc.tensor(0);
    const int64_t axis = tc.attrs().Int("axis");
    RELAYVM_RETURN_IF_ERROR(RequireQuantized(data.dtype, "data"));
    constexpr const char* kNames[] = {"", "input_scale", "input_zero_point", "output_scale",
                                      "output_zero_point"};
    for (size_t i = 1; i < 5; ++i) {
      RELAYVM_RETURN_IF_ERROR(qnn::RequireParameter(tc, i, data.shape, axis, kNames[i]));
    }
    RELAYVM_RETURN_IF_ERROR(qnn::ParseRounding(tc.attrs().String("rounding")).status());
    const std::string& compute = tc.attrs().String("compute_dtype");
    if (compute != "None" && compute != "int64" && compute != "float32" && compute != "float64") {
      return Invalid("compute_dtype is \"{}\", expected int64, float32 or float64", compute);
    }
    const DType dtype = DTypeOr(tc.attrs(), "out_dtype", DType::kInt8);
    RELAYVM_RETURN_IF_ERROR(RequireQuantized(dtype, "out_dtype"));
    return OpResult(TensorType{data.shape, dtype});
  };
  op.compute = [](const ComputeContext& c) -> std::vector<Tensor> {
    const int axis = AxisOf(c.attrs, "axis", c.inputs[0]);
    const Rounding rounding = *qnn::ParseRounding(c.attrs.String("rounding"));
    const std::string& compute = c.attrs.String("compute_dtype");
    const std::vector<Dim>& shape = c.inputs[0]->shape;
    if (compute == "float32" || compute == "float64") {
      return {te::Compute("requantize", shape, [&](const Indices& i) {
        return RequantizeReal(c, i, axis, *ParseDType(compute), rounding);
      })};
    }
    Requantizer requantize = MakeRequantizer(c.inputs[1], c.inputs[2], c.inputs[3], c.inputs[4],
                                             axis, c.outputs[0].dtype);
    requantize.rounding = rounding;
    return {te::Compute("requantize", shape, [&](const Indices& i) {
      return qnn::Saturate(requantize(te::Load(c.inputs[0], i), i), c.outputs[0].dtype);
    })};
  };
  return op;
}

// --- Binary ---
// Arguments: lhs, rhs, then scale and zero point of lhs, rhs and the result.

Result<OpResult> InferBinary(TypeContext& tc) {
  const TensorType &lhs = tc.tensor(0), &rhs = tc.tensor(1);
  RELAYVM_RETURN_IF_ERROR(RequireQuantized(lhs.dtype, "lhs"));
  RELAYVM_RETURN_IF_ERROR(RequireSameDType(lhs, rhs));
  const int64_t lhs_axis = tc.attrs().Int("lhs_axis"), rhs_axis = tc.attrs().Int("rhs_axis");
  RELAYVM_RETURN_IF_ERROR(qnn::RequireParameter(tc, 2, lhs.shape, lhs_axis, "lhs_scale"));
  RELAYVM_RETURN_IF_ERROR(qnn::RequireParameter(tc, 3, lhs.shape, lhs_axis, "lhs_zero_point"));
  RELAYVM_RETURN_IF_ERROR(qnn::RequireParameter(tc, 4, rhs.shape, rhs_axis, "rhs_scale"));
  RELAYVM_RETURN_IF_ERROR(qnn::RequireParameter(tc, 5, rhs.shape, rhs_axis, "rhs_zero_point"));
  for (size_t i : {6, 7}) {
    RELAYVM_RETURN_IF_ERROR(
        qnn::RequireParameter(tc, i, lhs.shape, lhs_axis, "an output parameter"));
  }
  RELAYVM_ASSIGN_OR_RETURN(std::vector<Dim> shape,
                           BroadcastShapes(tc, lhs.shape, rhs.shape, "lhs and rhs"));
  return OpResult(TensorType{std::move(shape), lhs.dtype});
}

OpDef BinaryOp(std::string name) {
  OpDef op;
  op.name = std::move(name);
  op.num_args = 8;
  op.attrs = {Optional("lhs_axis", AttrKind::kInt, -1), Optional("rhs_axis", AttrKind::kInt, -1)};
  op.fusion = FusionClass::kBroadcast;
  op.infer = InferBinary;
  return op;
}

// An operand brought to the result's scale: what requantize(load) gives at index tuple `i` of the
// result.
struct Operand {
  const Tensor& data;
  const std::vector<Dim>& shape;  // of the result

  Indices At(const Indices& i) const { return BroadcastIndices(data->shape, shape, i); }
};

OpDef AddOp(std::string name, bool subtract) {
  OpDef op = BinaryOp(std::move(name));
  op.compute = [subtract](const ComputeContext& c) -> std::vector<Tensor> {
    const std::vector<Dim>& shape = c.outputs[0].shape;
    const Operand lhs{c.inputs[0], shape}, rhs{c.inputs[1], shape};
    const Tensor &scale = c.inputs[6], &zero = c.inputs[7];
    const DType dtype = c.outputs[0].dtype;
    const Requantizer to_left = MakeRequantizer(c.inputs[2], c.inputs[3], scale, zero,
                                                AxisOf(c.attrs, "lhs_axis", lhs.data), dtype);
    const Requantizer to_right = MakeRequantizer(c.inputs[4], c.inputs[5], scale, zero,
                                                 AxisOf(c.attrs, "rhs_axis", rhs.data), dtype);
    return {te::Compute(subtract ? "qnn_subtract" : "qnn_add", shape, [&](const Indices& i) {
      const Expr a = to_left(te::Load(lhs.data, lhs.At(i)), lhs.At(i));
      const Expr b = to_right(te::Load(rhs.data, rhs.At(i)), rhs.At(i));
      const Expr z = qnn::ZeroOut(zero, to_left.multiplier, lhs.At(i), to_left.axis);
      return qnn::Saturate(subtract ? a - b + z : a + b - z, dtype);
    })};
  };
  return op;
}

OpDef MulOp() {
  OpDef op = BinaryOp("qnn.mul");
  op.compute = [](const ComputeContext& c) -> std::vector<Tensor> {
    const std::vector<Dim>& shape = c.outputs[0].shape;
    const Operand lhs{c.inputs[0], shape}, rhs{c.inputs[1], shape};
    const int lhs_axis = AxisOf(c.attrs, "lhs_axis", lhs.data);
    const int rhs_axis = AxisOf(c.attrs, "rhs_axis", rhs.data);
    const bool is_wide = DTypeBits(lhs.data->dtype) > 8;
    const Multiplier multiplier = qnn::MakeMultiplier(qnn::MultiplyScales(c.inputs[2], c.inputs[4]),
                                                      c.inputs[6], c.outputs[0].dtype, is_wide);
    // Vector scales stand along the axis of the operand that has them.
    const bool by_rhs = c.inputs[2]->shape.empty() && !c.inputs[4]->shape.empty();
    return {te::Compute("qnn_mul", shape, [&](const Indices& i) {
      const Indices left = lhs.At(i), right = rhs.At(i);
      // So that no product of two wraps: no zero point of 8 bits is out of this range.
      const auto within = [](const Expr& e, int64_t most) {
        return Clamp(ToIndex(e), Int(-most), Int(most));
      };
      const auto steps = [&](const Expr& q, const Expr& zero) {
        if (!is_wide) {
          return te::Cast(q, DType::kInt32) - te::Cast(within(zero, 1 << 14), DType::kInt32);
        }
        return within(ToIndex(q) - ToIndex(zero), int64_t{1} << 31);
      };
      const Expr a = steps(te::Load(lhs.data, left), Parameter(c.inputs[3], left, lhs_axis));
      const Expr b = steps(te::Load(rhs.data, right), Parameter(c.inputs[5], right, rhs_axis));
      const Expr scaled =
          by_rhs ? qnn::FixedPointMultiply(a * b, multiplier, right, rhs_axis, Rounding::kUpward)
                 : qnn::FixedPointMultiply(a * b, multiplier, left, lhs_axis, Rounding::kUpward);
      return qnn::Saturate(scaled + qnn::ZeroOut(c.inputs[7], multiplier, left, lhs_axis),
                           c.outputs[0].dtype);
    })};
  };
  return op;
}

// Arguments: tuple of tensors, tuple of their scales, tuple of their zero points, scale and zero
// point of the result.
OpDef ConcatenateOp() {
  OpDef op;
  op.name = "qnn.concatenate";
  op.num_args = 5;
  op.tuple_args = {0, 1, 2};
  op.along_axis = AlongAxis::kRescales;
  op.attrs = {Optional("axis", AttrKind::kInt, 0)};
  op.fusion = FusionClass::kInjective;
  op.infer = [](TypeContext& tc) -> Result<OpResult> {
    const std::vector<TensorType>& data = tc.arg(0).tensors;
    if (tc.arg(1).tensors.size() != data.size() || tc.arg(2).tensors.size() != data.size()) {
      return Invalid("{} tensors have {} scales and {} zero points", data.size(),
                     tc.arg(1).tensors.size(), tc.arg(2).tensors.size());
    }
    TensorType result = data[0];
    RELAYVM_RETURN_IF_ERROR(RequireQuantized(result.dtype, "data"));
    RELAYVM_ASSIGN_OR_RETURN(int axis, NormalizeAxis(tc.attrs().Int("axis"), result.rank()));
    for (int k : {1, 2}) {
      for (const TensorType& t : tc.arg(k).tensors) {
        for (const Dim& d : t.shape) {
          if (!d.is_const(1)) return Unsupported("scales and zero points that are no scalars");
        }
      }
    }
    for (size_t t = 1; t < data.size(); ++t) {
      RELAYVM_RETURN_IF_ERROR(RequireSameDType(data[0], data[t]));
      RELAYVM_RETURN_IF_ERROR(RequireRank(data[t], result.rank()));
      for (int d = 0; d < result.rank(); ++d) {
        if (d == axis) {
          result.shape[d] = result.shape[d] + data[t].shape[d];
          continue;
        }
        RELAYVM_RETURN_IF_ERROR(
            tc.RequireEqual(data[0].shape[d], data[t].shape[d], fmt::format("dimension {}", d)));
      }
    }
    return OpResult(std::move(result));
  };
  op.compute = [](const ComputeContext& c) -> std::vector<Tensor> {
    const size_t n = (c.inputs.size() - 2) / 3;
    const int axis = CanonicalAxis(c.attrs.Int("axis"), c.inputs[0]->rank());
    std::vector<Requantizer> requantize;
    for (size_t t = 0; t < n; ++t) {
      requantize.push_back(MakeRequantizer(c.inputs[n + t], c.inputs[2 * n + t], c.inputs[3 * n],
                                           c.inputs[3 * n + 1], axis, c.outputs[0].dtype));
    }
    return {te::Compute("qnn_concatenate", c.outputs[0].shape, [&](const Indices& i) {
      std::vector<Dim> start = {0};
      for (size_t t = 0; t + 1 < n; ++t) start.push_back(start.back() + c.inputs[t]->shape[axis]);
      Expr value;
      for (size_t t = n; t-- > 0;) {
        Indices at = i;
        at[axis] = i[axis] - te::DimValue(start[t]);
        const Expr part =
            qnn::Saturate(requantize[t](te::Load(c.inputs[t], at), at), c.outputs[0].dtype);
        value = value == nullptr
                    ? part
                    : te::Select(i[axis] < te::DimValue(start[t] + c.inputs[t]->shape[axis]), part,
                                 value);
      }
      return value;
    })};
  };
  return op;
}

// --- One tensor ---
// Arguments: data, its scale and zero point, those of the result.

OpDef UnaryOp(std::string name) {
  OpDef op;
  op.name = std::move(name);
  op.num_args = 5;
  op.fusion = FusionClass::kElementwise;
  op.infer = [](TypeContext& tc) -> Result<OpResult> {
    const TensorType& data = tc.tensor(0);
    RELAYVM_RETURN_IF_ERROR(RequireQuantized(data.dtype, "data"));
    for (size_t i = 1; i < 5; ++i) {
      RELAYVM_RETURN_IF_ERROR(
          qnn::RequireParameter(tc, i, data.shape, -1, "a scale or zero point"));
    }
    return OpResult(data);
  };
  return op;
}

// Integer arithmetic alone: alpha * q + (1 - alpha) * zero point below the zero point, both
// products in fixed point.
OpDef QnnLeakyReluOp() {
  OpDef op = UnaryOp("qnn.leaky_relu");
  op.attrs = {Optional("alpha", AttrKind::kFloat, 0.25)};
  op.compute = [](const ComputeContext& c) -> std::vector<Tensor> {
    const Tensor& x = c.inputs[0];
    const int axis = static_cast<int>(x->shape.size()) - 1;
    const Requantizer requantize =
        MakeRequantizer(c.inputs[1], c.inputs[2], c.inputs[3], c.inputs[4], axis, x->dtype);
    const auto constant = [](double v) {
      return te::Compute("constant", {},
                         [&](const Indices&) { return te::FloatImm(v, DType::kFloat64); });
    };
    const double alpha = c.attrs.Float("alpha");
    const Multiplier slope = qnn::MakeMultiplier(constant(alpha), constant(1), x->dtype);
    const Multiplier rest = qnn::MakeMultiplier(constant(1 - alpha), constant(1), x->dtype);
    return {te::Compute("qnn_leaky_relu", x->shape, [&](const Indices& i) {
      const Expr q = requantize(te::Load(x, i), i);
      const Expr zero = qnn::ZeroOut(c.inputs[4], requantize.multiplier, i, axis);
      const Expr below = qnn::FixedPointMultiply(q, slope, i, axis, Rounding::kUpward) +
                         qnn::FixedPointMultiply(zero, rest, i, axis, Rounding::kUpward);
      return qnn::Saturate(te::Select(q < zero, below, q), c.outputs[0].dtype);
    })};
  };
  return op;
}

// Through real numbers: quantize(fn(dequantize(x))).
OpDef RealFunctionOp(std::string name, Expr (*fn)(const Expr&)) {
  OpDef op = UnaryOp(std::move(name));
  op.compute = [fn](const ComputeContext& c) -> std::vector<Tensor> {
    const Tensor& x = c.inputs[0];
    const int axis = static_cast<int>(x->shape.size()) - 1;
    return {te::Compute("qnn_function", x->shape, [&](const Indices& i) {
      const Expr real = Dequantized(te::Load(x, i), Parameter(c.inputs[1], i, axis),
                                    Parameter(c.inputs[2], i, axis));
      return Quantized(fn(real), Parameter(c.inputs[3], i, axis), Parameter(c.inputs[4], i, axis),
                       c.outputs[0].dtype);
    })};
  };
  return op;
}

template <te::UnaryOp kOp>
Expr Apply(const Expr& x) {
  return te::Unary(kOp, x);
}

Expr HardSwish(const Expr& x) {
  const auto real = [&](double v) { return te::FloatImm(v, x->dtype); };
  return nn::Divide(x * Clamp(x + real(3), real(0), real(6)), real(6));
}

}  // namespace

void DefineQnn(OpTable& table) {
  table.Add(QuantizeOp());
  table.Add(DequantizeOp());
  table.Add(RequantizeOp());
  table.Add(AddOp("qnn.add", false));
  table.Add(AddOp("qnn.subtract", true));
  table.Add(MulOp());
  table.Add(ConcatenateOp());
  table.Add(QnnLeakyReluOp());
  table.Add(RealFunctionOp("qnn.abs", Apply<te::UnaryOp::kAbs>));
  table.Add(RealFunctionOp("qnn.erf", Apply<te::UnaryOp::kErf>));
  table.Add(RealFunctionOp("qnn.exp", Apply<te::UnaryOp::kExp>));
  table.Add(RealFunctionOp("qnn.log", Apply<te::UnaryOp::kLog>));
  table.Add(RealFunctionOp("qnn.sqrt", Apply<te::UnaryOp::kSqrt>));
  table.Add(RealFunctionOp("qnn.rsqrt", Apply<te::UnaryOp::kRsqrt>));
  table.Add(RealFunctionOp("qnn.sigmoid", Apply<te::UnaryOp::kSigmoid>));
  table.Add(RealFunctionOp("qnn.tanh", Apply<te::UnaryOp::kTanh>));
  table.Add(RealFunctionOp("qnn.hardswish", HardSwish));
  DefineQnnProducts(table);
  DefineQnnSimulated(table);
}

}  // namespace relayvm
