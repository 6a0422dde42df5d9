// Quantised products: qnn.dense qnn.batch_matmul qnn.conv1d, 2d and 3d, qnn.conv2d_transpose;
// qnn.avg_pool2d and qnn.softmax.
//
// Zero points are subtracted first (as int32), then the float operator's definition applies; so
// padding is real zero. Their result is int32 and has scale input_scale * kernel_scale. Stateless.
// Tested by qnn_test.cc.
#include <utility>

#include "kernels/op/conv.h"
#include "kernels/op/dense.h"
#include "kernels/op/layouts.h"
#include "kernels/op/pool.h"
#include "kernels/op/qnn.h"
#include "kernels/op/qnn_parts.h"

namespace relayvm {
namespace {

using nn::Indices;
using te::Expr;
using te::Tensor;

// t - zero_point as int32. A vector zero point stands along `axis`.
Tensor Shifted(const char* name, const Tensor& t, const Tensor& zero_point, int axis) {
  return te::Compute(name, t->shape, [&](const Indices& i) {
    return te::Cast(te::Load(t, i), DType::kInt32) -
           te::Cast(qnn::Parameter(zero_point, i, axis), DType::kInt32);
  });
}

Status RequireIntegers(TypeContext& tc) {
  for (size_t i : {0, 1}) RELAYVM_RETURN_IF_ERROR(RequireInteger(tc.tensor(i)));
  return OkStatus();
}

void SetOutDType(std::vector<AttrField>& fields) {
  for (AttrField& f : fields) {
    if (f.name == "out_dtype") f.fallback = "int32";
  }
}

using TypeFn = Result<OpResult> (*)(TypeContext&);
using ComputeFn = std::vector<Tensor> (*)(const ComputeContext&);

// Arguments: data, kernel, their zero points, their scales (which do not change the integers).
// `kernel_axis` is the kernel's axis of output channels, -1 where the layout tells.
OpDef ProductOp(std::string name, std::vector<AttrField> fields, TypeFn infer, ComputeFn compute,
                int kernel_axis) {
  OpDef op;
  op.name = std::move(name);
  op.num_args = 6;
  op.attrs = std::move(fields);
  SetOutDType(op.attrs);
  op.fusion = FusionClass::kOutElementwise;
  const auto axis_of = [kernel_axis](const Attrs& attrs) -> int {
    if (kernel_axis >= 0) return kernel_axis;
    const Result<Layout> layout = Layout::Parse(attrs.String("kernel_layout"));
    return layout.ok() ? std::max(layout->Position('O'), 0) : 0;
  };
  op.infer = [infer, axis_of](TypeContext& tc) -> Result<OpResult> {
    RELAYVM_RETURN_IF_ERROR(RequireIntegers(tc));
    RELAYVM_RETURN_IF_ERROR(
        qnn::RequireParameter(tc, 2, tc.tensor(0).shape, -1, "input_zero_point"));
    RELAYVM_RETURN_IF_ERROR(
        qnn::RequireParameter(tc, 3, tc.tensor(1).shape, axis_of(tc.attrs()), "kernel_zero_point"));
    return infer(tc);
  };
  op.compute = [compute, axis_of](const ComputeContext& c) {
    const Tensor inputs[2] = {
        Shifted("data_shifted", c.inputs[0], c.inputs[2], c.inputs[0]->rank() - 1),
        Shifted("kernel_shifted", c.inputs[1], c.inputs[3], axis_of(c.attrs))};
    return compute(ComputeContext{c.attrs, inputs, c.outputs});
  };
  return op;
}

template <int kSpatial>
Result<OpResult> InferConvOf(TypeContext& tc) {
  return InferConv(tc, kSpatial);
}
template <int kSpatial>
std::vector<Tensor> ComputeConvOf(const ComputeContext& c) {
  return ComputeConv(c, kSpatial);
}
Result<OpResult> InferConv2dTranspose(TypeContext& tc) { return InferConvTranspose(tc, 2); }
std::vector<Tensor> ComputeConv2dTranspose(const ComputeContext& c) {
  return ComputeConvTranspose(c, 2);
}
Result<OpResult> InferDense(TypeContext& tc) { return InferMatmul(tc, false, true); }
std::vector<Tensor> ComputeDense(const ComputeContext& c) {
  return ComputeMatmul(c, "qnn_dense", false, true);
}

// --- avg_pool2d, softmax ---
// Arguments: data, its scale and zero point, those of the result.

Status RequireParameters(TypeContext& tc) {
  RELAYVM_RETURN_IF_ERROR(RequireInteger(tc.tensor(0)));
  for (size_t i = 1; i < 5; ++i) {
    for (const Dim& d : tc.tensor(i).shape) {
      if (!d.is_const(1)) return Unsupported("scales and zero points that are no scalars");
    }
  }
  return OkStatus();
}

OpDef AvgPoolOp() {
  OpDef op;
  op.name = "qnn.avg_pool2d";
  op.num_args = 5;
  op.attrs = PoolFields(2, false);
  op.fusion = FusionClass::kOutElementwise;
  op.infer = [](TypeContext& tc) -> Result<OpResult> {
    RELAYVM_RETURN_IF_ERROR(RequireParameters(tc));
    return InferPool(tc, 2);
  };
  op.compute = [](const ComputeContext& c) -> std::vector<Tensor> {
    // The input is brought to the result's scale first; int32 averages truncate, and padding is the
    // integer 0.
    const Tensor& x = c.inputs[0];
    const qnn::Requantizer requantize = qnn::MakeRequantizer(c.inputs[1], c.inputs[2], c.inputs[3],
                                                             c.inputs[4], x->rank() - 1, x->dtype);
    const Tensor inputs[1] = {te::Compute("requantized", x->shape, [&](const Indices& i) {
      return qnn::Saturate(requantize(te::Load(x, i), i), DType::kInt32);
    })};
    const Tensor pooled = ComputePool(ComputeContext{c.attrs, inputs, c.outputs}, 2, false)[0];
    return {te::Compute("qnn_avg_pool2d", pooled->shape, [&](const Indices& i) {
      return qnn::Saturate(te::Load(pooled, i), c.outputs[0].dtype);
    })};
  };
  return op;
}

// Integer-only softmax, algorithm 1 of Lin et al. (arXiv:2207.01405): exp by shifts, for data in
// units of 1 / x0. The result has scale 1/128 before it is requantised.
std::vector<Tensor> ComputeIntegerSoftmax(const ComputeContext& c) {
  constexpr int kShift = 8, kOneBits = 30, kResultBits = 7;
  const Tensor& x = c.inputs[0];
  const int axis = CanonicalAxis(c.attrs.Int("axis"), x->rank());
  const auto constant = [](int64_t v) { return te::IntImm(v, DType::kInt32); };
  const auto shift_right = [](Expr a, Expr b) {
    return te::Binary(te::BinaryOp::kShiftRight, std::move(a), std::move(b));
  };
  std::vector<Dim> line = x->shape;
  line[axis] = 1;
  const auto over_axis = [&](const char* name, te::ReduceKind kind, const Tensor& t) {
    return te::Compute(name, line, [&](const Indices& i) {
      const te::Axis k = te::MakeAxis("k", x->shape[axis]);
      Indices at = i;
      at[axis] = te::AxisValue(k);
      return te::Reduce(kind, te::Load(t, at), {k}, DType::kInt32);
    });
  };
  const auto on_line = [&](const Tensor& t, Indices at) {
    at[axis] = Int(0);
    return te::Load(t, at);
  };
  const Tensor shifted = Shifted("softmax_data", x, c.inputs[2], axis);
  const Tensor max = over_axis("softmax_max", te::ReduceKind::kMax, shifted);
  const Tensor exp = te::Compute("softmax_exp", x->shape, [&](const Indices& i) {
    const Expr scale = te::Cast(qnn::Parameter(c.inputs[1], i, axis), DType::kFloat32);
    const Expr x0 = te::Cast(
        te::Unary(te::UnaryOp::kRound, nn::Divide(te::FloatImm(1, DType::kFloat32), scale)),
        DType::kInt32);
    const Expr below = te::Load(shifted, i) - on_line(max, i);
    const Expr power = below + shift_right(below, constant(1)) - shift_right(below, constant(4));
    const Expr minus_x0 = te::Unary(te::UnaryOp::kNegative, x0);
    const Expr whole = nn::Divide(power, minus_x0);
    const Expr rest = power - whole * minus_x0;
    const Expr base = shift_right(rest, constant(1)) + x0;
    const Expr left = constant(kShift) - whole;  // what is shifted out on the other side is 0
    return te::Select(left < constant(0), constant(0),
                      te::Binary(te::BinaryOp::kShiftLeft, base, left));
  });
  const Tensor sum = over_axis("softmax_sum", te::ReduceKind::kSum, exp);
  const auto scalar = [](const char* name, Expr value) {
    return te::Compute(name, {}, [&](const Indices&) { return value; });
  };
  const qnn::Requantizer requantize = qnn::MakeRequantizer(
      scalar("softmax_scale", te::FloatImm(1.0 / (1 << kResultBits), DType::kFloat32)),
      scalar("softmax_zero", constant(0)), c.inputs[3], c.inputs[4], axis, c.outputs[0].dtype);
  return {te::Compute("qnn_softmax", x->shape, [&](const Indices& i) {
    const Expr inverse = nn::Divide(constant(1 << kOneBits), on_line(sum, i));
    const Expr value = shift_right(inverse * te::Load(exp, i), constant(kOneBits - kResultBits));
    return qnn::Saturate(requantize(value, i), c.outputs[0].dtype);
  })};
}

OpDef SoftmaxOp() {
  OpDef op;
  op.name = "qnn.softmax";
  op.num_args = 5;
  op.attrs = {Optional("axis", AttrKind::kInt, -1)};
  op.fusion = FusionClass::kOutElementwise;
  op.infer = [](TypeContext& tc) -> Result<OpResult> {
    RELAYVM_RETURN_IF_ERROR(RequireParameters(tc));
    RELAYVM_RETURN_IF_ERROR(NormalizeAxis(tc.attrs().Int("axis"), tc.tensor(0).rank()).status());
    return OpResult(tc.tensor(0));
  };
  op.compute = ComputeIntegerSoftmax;
  return op;
}

}  // namespace

void DefineQnnProducts(OpTable& table) {
  OpDef dense = ProductOp(
      "qnn.dense", {Optional("units", AttrKind::kInt), Optional("out_dtype", AttrKind::kDType)},
      InferDense, ComputeDense, 0);
  dense.product = ProductClass{.is_quantised = true};
  table.Add(std::move(dense));
  OpDef batched = ProductOp(
      "qnn.batch_matmul",
      {Optional("out_dtype", AttrKind::kDType), Optional("transpose_a", AttrKind::kBool, false),
       Optional("transpose_b", AttrKind::kBool, false)},
      InferBatchMatmul, ComputeBatchMatmul, 0);
  batched.product = ProductClass{.is_batched = true, .is_quantised = true};
  table.Add(std::move(batched));
  const auto conv = [&](ConvClass kind, TypeFn infer, ComputeFn compute) {
    kind.is_quantised = true;
    OpDef op = ProductOp(OperatorOf(kind), ConvFields(kind.spatial, kind.is_transposed), infer,
                         compute, -1);
    op.conv = kind;
    table.Add(std::move(op));
  };
  // TVM has none of 1 and 3 axes.
  conv({.spatial = 1}, InferConvOf<1>, ComputeConvOf<1>);
  conv({.spatial = 2}, InferConvOf<2>, ComputeConvOf<2>);
  conv({.spatial = 3}, InferConvOf<3>, ComputeConvOf<3>);
  conv({.spatial = 2, .is_transposed = true}, InferConv2dTranspose, ComputeConv2dTranspose);
  table.Add(AvgPoolOp());
  table.Add(SoftmaxOp());
}

}  // namespace relayvm
