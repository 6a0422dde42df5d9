// qnn.simulated_quantize and qnn.simulated_dequantize: what quantisation does to real numbers,
// without the change of dtype. Which integers are simulated is an argument, so that a program can
// be calibrated without being compiled anew. Stateless. Tested by qnn_test.cc.
#include <utility>

#include "kernels/op/define.h"
#include "kernels/op/qnn.h"
#include "kernels/op/qnn_parts.h"

namespace relayvm {
namespace {

using te::Expr;
using te::Tensor;

// Codes of the simulated dtype; any other leaves the data as it is.
constexpr std::pair<int64_t, DType> kCodes[] = {
    {1, DType::kInt8}, {2, DType::kUInt8}, {3, DType::kInt32}};

// Checks a scale or zero point: one number, or a vector along the axis. One of an open length may
// be either when the program runs.
Status RequireSimulated(TypeContext& tc, size_t i, const std::vector<Dim>& shape, int64_t axis,
                        std::string_view what) {
  const TensorType& t = tc.tensor(i);
  if (t.rank() != 1 || t.shape[0].is_const()) {
    return qnn::RequireParameter(tc, i, shape, axis, what);
  }
  RELAYVM_ASSIGN_OR_RETURN(int at, NormalizeAxis(axis, static_cast<int>(shape.size())));
  return BroadcastShapes(tc, t.shape, {shape[at]}, what).status();
}

Expr SimulatedParameter(const Tensor& t, const Tensor& data, const ExprList& at, int axis) {
  if (t->rank() != 1 || t->shape[0].is_const()) return qnn::Parameter(t, at, axis);
  return te::Load(t, BroadcastIndices(t->shape, {data->shape[axis]}, {at[axis]}));
}

// Arguments: data, code, scale, zero point.
Result<OpResult> InferSimulated(TypeContext& tc) {
  const TensorType& data = tc.tensor(0);
  const int64_t axis = tc.attrs().Int("axis");
  RELAYVM_RETURN_IF_ERROR(RequireFloat(data));
  RELAYVM_RETURN_IF_ERROR(RequireRank(tc.tensor(1), 0, "the code of the dtype"));
  RELAYVM_RETURN_IF_ERROR(RequireNumber(tc.tensor(1), "the code of the dtype"));
  RELAYVM_RETURN_IF_ERROR(RequireSimulated(tc, 2, data.shape, axis, "scale"));
  RELAYVM_RETURN_IF_ERROR(RequireSimulated(tc, 3, data.shape, axis, "zero_point"));
  return OpResult(data);
}

// One element: `lowest` and `highest` are those of the simulated dtype.
using Simulation = Expr (*)(const Expr& value, const Expr& scale, const Expr& zero_point,
                            int64_t lowest, int64_t highest);

Expr SimulateQuantize(const Expr& value, const Expr& scale, const Expr& zero_point, int64_t lowest,
                      int64_t highest) {
  const DType real = value->dtype;
  const Expr steps = te::Unary(te::UnaryOp::kRound, nn::Divide(value, scale)) + zero_point;
  return Clamp(steps, te::FloatImm(static_cast<double>(lowest), real),
               te::FloatImm(static_cast<double>(highest), real));
}

Expr SimulateDequantize(const Expr& value, const Expr& scale, const Expr& zero_point, int64_t,
                        int64_t) {
  return (value - zero_point) * scale;
}

OpDef SimulatedOp(std::string name, std::vector<AttrField> attrs, Simulation simulate) {
  OpDef op;
  op.name = std::move(name);
  op.num_args = 4;
  op.attrs = std::move(attrs);
  op.fusion = FusionClass::kElementwise;
  op.infer = InferSimulated;
  op.compute = [simulate](const ComputeContext& c) -> std::vector<Tensor> {
    const Tensor& data = c.inputs[0];
    const int axis =
        data->shape.empty() ? 0 : qnn::ParameterAxis(c.attrs.Int("axis"), data->shape.size());
    return {te::Compute("simulated", data->shape, [&](const ExprList& i) {
      const Expr value = te::Load(data, i);
      const auto parameter = [&](size_t k) {
        return te::Cast(SimulatedParameter(c.inputs[k], data, i, axis), value->dtype);
      };
      const Expr scale = parameter(2), zero_point = parameter(3);
      const Expr code = te::Cast(Scalar(c.inputs[1]), DType::kInt64);
      Expr result = value;
      for (const auto& [number, dtype] : kCodes) {
        result = te::Select(
            code == Int(number),
            simulate(value, scale, zero_point, qnn::LowestOf(dtype), qnn::HighestOf(dtype)),
            result);
      }
      return result;
    })};
  };
  return op;
}

}  // namespace

void DefineQnnSimulated(OpTable& table) {
  const AttrField axis = Optional("axis", AttrKind::kInt, -1);
  table.Add(SimulatedOp("qnn.simulated_quantize", {axis}, SimulateQuantize));
  // out_dtype is printed, but the result has the data's dtype.
  table.Add(SimulatedOp("qnn.simulated_dequantize", {Optional("out_dtype", AttrKind::kAny), axis},
                        SimulateDequantize));
}

}  // namespace relayvm
