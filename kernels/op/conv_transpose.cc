// Transposed convolutions: nn.conv1d_transpose nn.conv2d_transpose nn.conv3d_transpose.
// The kernel's I is the input's channels, its O the output's channels of one group. Each output
// position gathers the taps k with (y + padding - k * dilation) divisible by the stride. Stateless.
// Tested by conv_test.cc.
#include <algorithm>
#include <utility>

#include "kernels/op/conv.h"
#include "kernels/op/implied_args.h"
#include "kernels/op/nn_helpers.h"

namespace relayvm {
namespace {

using nn::Indices;
using te::Expr;
using te::Tensor;

ConvClass Transposed(int spatial) { return {.spatial = spatial, .is_transposed = true}; }

}  // namespace

Result<OpResult> InferConvTranspose(TypeContext& tc, int spatial) {
  const TensorType& data = tc.tensor(0);
  const TensorType& kernel = tc.tensor(1);
  if (data.dtype != kernel.dtype && !(IsInt(data.dtype) && IsInt(kernel.dtype))) {
    return nn::RequireSameDType(data.dtype, kernel.dtype, "the dtypes of data and kernel");
  }
  RELAYVM_ASSIGN_OR_RETURN(ConvProblem p, ReadConv(Transposed(spatial), tc.attrs(), data, kernel));
  RELAYVM_RETURN_IF_ERROR(
      tc.RequireEqual(p.in_channels, p.kernel_in, "the channels of data and of the kernel"));
  if (p.groups > 1) {
    RELAYVM_RETURN_IF_ERROR(
        tc.RequireEqual(Dim::FloorMod(p.in_channels, p.groups), 0, "the channels modulo groups"));
  }
  RELAYVM_RETURN_IF_ERROR(CheckConvAttrs(tc, p.out_channels, p.kernel_extent));
  for (int s = 0; s < spatial; ++s) {
    RELAYVM_RETURN_IF_ERROR(tc.RequireAtLeast(p.out_extent[s], 0, "the output's extent"));
  }
  return OpResult(TensorType{ConvShape(p), p.sum_type});
}

std::vector<Tensor> ComputeConvTranspose(const ComputeContext& c, int spatial) {
  const Tensor& data = c.inputs[0];
  const Tensor& kernel = c.inputs[1];
  const std::string letters(nn::SpatialLetters(spatial));
  const ConvProblem p = *ReadConv(Transposed(spatial), c.attrs, {data->shape, data->dtype},
                                  {kernel->shape, kernel->dtype});
  const DType dtype = c.outputs[0].dtype;
  return {
      te::Compute(fmt::format("conv{}d_transpose", spatial), ConvShape(p), [&](const Indices& i) {
        const Expr channel = p.out.Logical('C', i);
        const Dim group_in = Dim::FloorDiv(p.kernel_in, p.groups);
        std::vector<te::Axis> axes = {te::MakeAxis("ic", group_in)};
        Expr in_channel = te::AxisValue(axes.back());
        Expr kernel_out = channel;
        if (p.groups > 1) {
          const Expr per_group = te::DimValue(p.kernel_out);
          in_channel = FloorDivExpr(channel, per_group) * te::DimValue(group_in) + in_channel;
          kernel_out = FloorModExpr(channel, per_group);
        }
        Indices position, tap;
        std::vector<Expr> hits;
        for (int s = 0; s < spatial; ++s) {
          axes.push_back(te::MakeAxis(fmt::format("k{}", static_cast<char>(letters[s] - 'A' + 'a')),
                                      p.kernel_extent[s]));
          tap.push_back(te::AxisValue(axes.back()));
          Expr at =
              p.out.Logical(letters[s], i) + Int(p.padding.before[s]) - tap[s] * Int(p.dilation[s]);
          hits.push_back(at >= Int(0));
          if (p.strides[s] > 1) {
            hits.push_back(FloorModExpr(at, Int(p.strides[s])) == Int(0));
            at = FloorDivExpr(at, Int(p.strides[s]));
          }
          hits.push_back(at < te::DimValue(p.in_extent[s]));
          position.push_back(at);
        }
        const Expr x = te::Load(data, p.data.Physical([&](char axis) {
          if (axis == 'N') return p.out.Logical('N', i);
          if (axis == 'C') return in_channel;
          return position[letters.find(axis)];
        }));
        const Expr w = te::Load(kernel, p.kernel.Physical([&](char axis) {
          if (axis == 'O') return kernel_out;
          if (axis == 'I') return in_channel;
          return tap[letters.find(axis)];
        }));
        const Expr value = te::Cast(x, dtype) * te::Cast(w, dtype);
        return te::Reduce(te::ReduceKind::kSum,
                          te::Select(nn::AndAll(hits), value, te::Const(0, dtype)), axes, dtype);
      })};
}

void DefineConvTranspose(OpTable& table) {
  for (int spatial = 1; spatial <= 3; ++spatial) {
    OpDef op;
    op.name = fmt::format("nn.conv{}d_transpose", spatial);
    op.num_args = 2;
    op.attrs = ConvFields(spatial, true);
    op.implied_args = implied::ConvTranspose;
    op.layout = LayoutRule::kChooses;
    op.conv = Transposed(spatial);
    op.fusion = FusionClass::kOutElementwise;
    op.infer = [spatial](TypeContext& tc) { return InferConvTranspose(tc, spatial); };
    op.compute = [spatial](const ComputeContext& c) { return ComputeConvTranspose(c, spatial); };
    table.Add(std::move(op));
  }
}

}  // namespace relayvm
