// nn.conv2d_backward_weight: the gradient of a two-dimensional convolution by its kernel.
// Arguments: the gradient of the convolution's result, the convolution's data. As in TVM,
// data_layout is that of the first, kernel_layout that of the second, and out_layout the kernel's.
// Stateless. Tested by conv_test.cc.
#include <utility>

#include "kernels/op/conv.h"
#include "kernels/op/nn_helpers.h"

namespace relayvm {
namespace {

using nn::Indices;
using te::Expr;
using te::Tensor;

constexpr std::string_view kSpatial = "HW";

// The attributes of the convolution itself.
Attrs Forward(const Attrs& attrs) {
  Attrs forward = attrs;
  const std::string& kernel = attrs.String("out_layout");
  forward.Set("data_layout", attrs.String("kernel_layout"));
  forward.Set("kernel_layout", kernel.empty() ? "OIHW" : kernel);
  forward.Set("out_layout", attrs.String("data_layout"));
  return forward;
}

Result<TensorType> KernelOf(const Attrs& forward, const TensorType& grad, const TensorType& data) {
  if (!forward.Has("kernel_size")) return Invalid("kernel_size must be given");
  RELAYVM_ASSIGN_OR_RETURN(std::vector<int64_t> size,
                           nn::ExpandSpatial(forward.Ints("kernel_size"), 2, 1, "kernel_size"));
  RELAYVM_ASSIGN_OR_RETURN(Layout grads,
                           Layout::Parse(forward.String("out_layout"), "NCHW", "data_layout"));
  RELAYVM_ASSIGN_OR_RETURN(Layout datas,
                           Layout::Parse(forward.String("data_layout"), "NCHW", "kernel_layout"));
  RELAYVM_ASSIGN_OR_RETURN(Layout kernels,
                           Layout::Parse(forward.String("kernel_layout"), "OIHW", "out_layout"));
  RELAYVM_RETURN_IF_ERROR(RequireRank(grad, grads.rank(), "the gradient"));
  RELAYVM_RETURN_IF_ERROR(RequireRank(data, datas.rank(), "data"));
  const int64_t groups = forward.Int("groups");
  if (groups < 1) return Invalid("groups is {}, expected at least 1", groups);
  const Dim in = Dim::FloorDiv(datas.Extent('C', data.shape), groups);
  return TensorType{kernels.Shape([&](char axis) {
                      if (axis == 'O') return grads.Extent('C', grad.shape);
                      return axis == 'I' ? in : Dim(size[kSpatial.find(axis)]);
                    }),
                    data.dtype};
}

Result<OpResult> InferWeightGradient(TypeContext& tc) {
  const TensorType& grad = tc.tensor(0);
  const TensorType& data = tc.tensor(1);
  RELAYVM_RETURN_IF_ERROR(nn::RequireSameDType(grad.dtype, data.dtype, "gradient and data"));
  const Attrs forward = Forward(tc.attrs());
  RELAYVM_ASSIGN_OR_RETURN(TensorType kernel, KernelOf(forward, grad, data));
  RELAYVM_ASSIGN_OR_RETURN(ConvProblem p, ReadConv({2}, forward, data, kernel));
  RELAYVM_RETURN_IF_ERROR(CheckConvAttrs(tc, p.out_channels, p.kernel_extent));
  RELAYVM_RETURN_IF_ERROR(
      RequireShapeEqual(tc, grad.shape, ConvShape(p), "the gradient and the convolution's result"));
  kernel.dtype = tc.attrs().OptionalDType("out_dtype").value_or(grad.dtype);
  return OpResult(std::move(kernel));
}

std::vector<Tensor> ComputeWeightGradient(const ComputeContext& c) {
  const Tensor& grad = c.inputs[0];
  const Tensor& data = c.inputs[1];
  const TensorType& result = c.outputs[0];
  const ConvProblem p = *ReadConv({2}, Forward(c.attrs), {data->shape, data->dtype}, result);
  return {te::Compute("conv2d_backward_weight", result.shape, [&](const Indices& i) {
    const te::Axis batch = te::MakeAxis("n", p.batch);
    std::vector<te::Axis> axes = {batch};
    const Expr channel = p.kernel.Logical('O', i);
    Expr in_channel = p.kernel.Logical('I', i);
    if (p.groups > 1) {
      const Expr group =
          FloorDivExpr(channel, te::DimValue(Dim::FloorDiv(p.out_channels, p.groups)));
      in_channel = group * te::DimValue(p.kernel_in) + in_channel;
    }
    std::vector<Expr> window, position, inside;
    for (size_t s = 0; s < kSpatial.size(); ++s) {
      axes.push_back(te::MakeAxis(s == 0 ? "y" : "x", p.out_extent[s]));
      window.push_back(te::AxisValue(axes.back()));
      position.push_back(window[s] * Int(p.strides[s]) +
                         p.kernel.Logical(kSpatial[s], i) * Int(p.dilation[s]) -
                         Int(p.padding.before[s]));
      if (p.padding.before[s] > 0) inside.push_back(position[s] >= Int(0));
      if (p.padding.after[s] > 0) inside.push_back(position[s] < te::DimValue(p.in_extent[s]));
    }
    const auto load = [&](const Tensor& t, const Layout& layout, const Expr& channel_of_it,
                          const std::vector<Expr>& at) {
      return te::Cast(te::Load(t, layout.Physical([&](char axis) {
                        if (axis == 'N') return te::AxisValue(batch);
                        return axis == 'C' ? channel_of_it : at[kSpatial.find(axis)];
                      })),
                      result.dtype);
    };
    const Expr x = nn::SelectIf(nn::AndAll(inside), load(data, p.data, in_channel, position),
                                te::Const(0, result.dtype));
    return te::Reduce(te::ReduceKind::kSum, x * load(grad, p.out, channel, window), axes,
                      result.dtype);
  })};
}

}  // namespace

void DefineConvGradient(OpTable& table) {
  OpDef op;
  op.name = "nn.conv2d_backward_weight";
  op.num_args = 2;
  op.attrs = ConvFields(2, false);
  op.fusion = FusionClass::kOutElementwise;
  op.infer = InferWeightGradient;
  op.compute = ComputeWeightGradient;
  table.Add(std::move(op));
}

}  // namespace relayvm
