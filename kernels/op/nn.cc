// Activations and small nn operators: nn.relu nn.leaky_relu nn.prelu nn.bias_add nn.dropout
// nn.batch_flatten nn.fifo_buffer. Stateless. Tested by nn_test.cc.
#include <utility>

#include "kernels/op/define.h"
#include "kernels/op/implied_args.h"
#include "kernels/op/nn_helpers.h"
#include "kernels/op/nn_parts.h"

namespace relayvm {
namespace {

using nn::Indices;
using te::Expr;
using te::Tensor;

// x where it is above 0, else `otherwise`. NaN is not above 0.
Expr PositiveOr(const Expr& x, Expr otherwise) {
  return te::Select(Greater(x, te::Const(0, x->dtype)), x, std::move(otherwise));
}

Result<OpResult> SameAsInput(TypeContext& tc) { return OpResult(tc.tensor(0)); }

OpDef ReluOp() {
  OpDef op;
  op.name = "nn.relu";
  op.layout = LayoutRule::kAgnostic;
  op.fusion = FusionClass::kElementwise;
  op.infer = SameAsInput;
  op.compute = [](const ComputeContext& c) -> std::vector<Tensor> {
    return {te::Compute("relu", c.inputs[0]->shape, [&](const Indices& i) {
      return MaxExpr(te::Load(c.inputs[0], i), te::Const(0, c.inputs[0]->dtype));
    })};
  };
  return op;
}

OpDef LeakyReluOp() {
  OpDef op;
  op.name = "nn.leaky_relu";
  op.layout = LayoutRule::kAgnostic;
  op.attrs = {{"alpha", AttrKind::kFloat, false, 0.25}};
  op.fusion = FusionClass::kElementwise;
  op.infer = SameAsInput;
  op.compute = [](const ComputeContext& c) -> std::vector<Tensor> {
    const Expr alpha = te::Const(c.attrs.Float("alpha"), c.inputs[0]->dtype);
    return {te::Compute("leaky_relu", c.inputs[0]->shape, [&](const Indices& i) {
      const Expr x = te::Load(c.inputs[0], i);
      return PositiveOr(x, x * alpha);
    })};
  };
  return op;
}

// A vector argument along `axis` of the data, or one element for all of it.
Result<OpResult> InferAlongAxis(TypeContext& tc, const char* name) {
  const TensorType& data = tc.tensor(0);
  const TensorType& vector = tc.tensor(1);
  RELAYVM_ASSIGN_OR_RETURN(int axis, NormalizeAxis(tc.attrs().Int("axis"), data.rank()));
  RELAYVM_RETURN_IF_ERROR(RequireRank(vector, 1, name));
  RELAYVM_RETURN_IF_ERROR(nn::RequireSameDType(vector.dtype, data.dtype,
                                               fmt::format("the dtypes of {} and data", name)));
  if (vector.shape[0].is_const(1)) return OpResult(data);
  RELAYVM_RETURN_IF_ERROR(tc.RequireEqual(vector.shape[0], data.shape[axis],
                                          fmt::format("{} and axis {} of data", name, axis)));
  return OpResult(data);
}

Expr LoadAlongAxis(const ComputeContext& c, const Indices& i) {
  const Tensor& vector = c.inputs[1];
  if (vector->shape[0].is_const(1)) return te::Load(vector, {Int(0)});
  return te::Load(vector, {i[CanonicalAxis(c.attrs.Int("axis"), c.inputs[0]->rank())]});
}

OpDef PReluOp() {
  OpDef op;
  op.name = "nn.prelu";
  op.num_args = 2;
  op.attrs = {{"axis", AttrKind::kInt, false, 1}};
  op.fusion = FusionClass::kBroadcast;
  op.implied_args = implied::VectorsAlongAxis;
  op.layout = LayoutRule::kFollows;
  op.infer = [](TypeContext& tc) { return InferAlongAxis(tc, "alpha"); };
  op.compute = [](const ComputeContext& c) -> std::vector<Tensor> {
    return {te::Compute("prelu", c.inputs[0]->shape, [&](const Indices& i) {
      const Expr x = te::Load(c.inputs[0], i);
      return PositiveOr(x, x * LoadAlongAxis(c, i));
    })};
  };
  return op;
}

OpDef BiasAddOp() {
  OpDef op;
  op.name = "nn.bias_add";
  op.num_args = 2;
  op.attrs = {{"axis", AttrKind::kInt, false, 1}};
  op.fusion = FusionClass::kBroadcast;
  op.implied_args = implied::VectorsAlongAxis;
  op.layout = LayoutRule::kFollows;
  op.infer = [](TypeContext& tc) { return InferAlongAxis(tc, "bias"); };
  op.compute = [](const ComputeContext& c) -> std::vector<Tensor> {
    return {te::Compute("bias_add", c.inputs[0]->shape, [&](const Indices& i) {
      return te::Load(c.inputs[0], i) + LoadAlongAxis(c, i);
    })};
  };
  return op;
}

// Inference: the data, and a mask that keeps everything.
OpDef DropoutOp() {
  OpDef op;
  op.name = "nn.dropout";
  op.layout = LayoutRule::kAgnostic;
  op.decompose = [](CallWriter& w) -> std::optional<std::vector<CallWriter::Value>> {
    return {{w.Arg(0), w.Call("ones_like", {w.Arg(0)})}};
  };
  op.attrs = {{"rate", AttrKind::kFloat, false, 0.5}};
  op.infer = [](TypeContext& tc) -> Result<OpResult> {
    return OpResult::Tuple({tc.tensor(0), tc.tensor(0)});
  };
  op.compute = [](const ComputeContext& c) -> std::vector<Tensor> {
    const Tensor& x = c.inputs[0];
    return {Identity(x), te::Compute("dropout_mask", x->shape,
                                     [&](const Indices&) { return te::Const(1, x->dtype); })};
  };
  return op;
}

OpDef BatchFlattenOp() {
  OpDef op;
  op.name = "nn.batch_flatten";
  op.fusion = FusionClass::kInjective;
  op.is_view = true;
  op.infer = [](TypeContext& tc) -> Result<OpResult> {
    const TensorType& data = tc.tensor(0);
    if (data.rank() < 1) return Invalid("data has rank 0, expected at least 1");
    const Dim rest = ProductOf(std::span(data.shape).subspan(1));
    return OpResult(TensorType{{data.shape[0], rest}, data.dtype});
  };
  op.compute = [](const ComputeContext& c) -> std::vector<Tensor> {
    const Tensor& x = c.inputs[0];
    const std::vector<Dim> rest(x->shape.begin() + 1, x->shape.end());
    return {te::Compute("batch_flatten", c.outputs[0].shape, [&](const Indices& i) {
      Indices at = Unravel(i[1], rest);
      at.insert(at.begin(), i[0]);
      return te::Load(x, at);
    })};
  };
  return op;
}

// The last elements of buffer ++ data along `axis`, as many as the buffer holds.
OpDef FifoBufferOp() {
  OpDef op;
  op.name = "nn.fifo_buffer";
  op.num_args = 2;
  op.attrs = {{"axis", AttrKind::kInt, false, 0}};
  op.infer = [](TypeContext& tc) -> Result<OpResult> {
    const TensorType& data = tc.tensor(0);
    const TensorType& buffer = tc.tensor(1);
    RELAYVM_RETURN_IF_ERROR(RequireRank(buffer, data.rank(), "buffer"));
    RELAYVM_RETURN_IF_ERROR(nn::RequireSameDType(data.dtype, buffer.dtype, "data and buffer"));
    RELAYVM_ASSIGN_OR_RETURN(int axis, NormalizeAxis(tc.attrs().Int("axis"), data.rank()));
    for (int d = 0; d < data.rank(); ++d) {
      if (d == axis) continue;
      RELAYVM_RETURN_IF_ERROR(tc.RequireEqual(data.shape[d], buffer.shape[d],
                                              fmt::format("dimension {} of data and buffer", d)));
    }
    return OpResult(buffer);
  };
  op.compute = [](const ComputeContext& c) -> std::vector<Tensor> {
    const Tensor& data = c.inputs[0];
    const Tensor& buffer = c.inputs[1];
    const int axis = CanonicalAxis(c.attrs.Int("axis"), data->rank());
    return {te::Compute("fifo_buffer", buffer->shape, [&](const Indices& i) {
      const Expr length = te::DimValue(buffer->shape[axis]);
      const Expr position = i[axis] + te::DimValue(data->shape[axis]);
      Indices old = i, fresh = i;
      old[axis] = position;
      fresh[axis] = position - length;
      return te::Select(position < length, te::Load(buffer, old), te::Load(data, fresh));
    })};
  };
  return op;
}

}  // namespace

void DefineNn(OpTable& table) {
  table.Add(ReluOp());
  table.Add(LeakyReluOp());
  table.Add(PReluOp());
  table.Add(BiasAddOp());
  table.Add(DropoutOp());
  table.Add(BatchFlattenOp());
  table.Add(FifoBufferOp());
  DefineNnPad(table);
  DefineNnUpsampling(table);
  DefineNnLoss(table);
  DefineNnWindow(table);
  DefineNnSparse(table);
  DefineSignal(table);
}

}  // namespace relayvm
