// Convolutions: nn.conv1d nn.conv2d nn.conv3d in every layout, with groups, and the transposed ones
// (conv_transpose.cc) and their gradients (conv_gradient.cc).
//
// The kernel's O and I are those of its layout. Where groups == C == O and I > 1 the convolution is
// depthwise with a multiplier: output channel o reads input channel o / I (so Relay writes the
// kernel of a depthwise convolution in HWOI). Stateless. Tested by conv_test.cc.
#include "kernels/op/conv.h"

#include <utility>

#include "kernels/op/define.h"
#include "kernels/op/implied_args.h"
#include "kernels/op/nn_helpers.h"
#include "kernels/op/step_order.h"

namespace relayvm {
namespace {

using nn::Indices;
using te::Expr;
using te::Tensor;

TensorType TypeOf(const Tensor& t) { return {t->shape, t->dtype}; }

}  // namespace

std::vector<Dim> ConvShape(const ConvProblem& p) {
  return p.out.Shape([&](char axis) {
    if (axis == 'N') return p.batch;
    if (axis == 'C') return p.out_channels;
    return p.out_extent[p.letters().find(axis)];
  });
}

Result<OpResult> InferConv(TypeContext& tc, int spatial) {
  const Attrs& attrs = tc.attrs();
  const TensorType& data = tc.tensor(0);
  const TensorType& kernel = tc.tensor(1);
  const bool widens = data.dtype == DType::kFloat32 && kernel.dtype == DType::kFloat16;
  if (data.dtype != kernel.dtype && !(IsInt(data.dtype) && IsInt(kernel.dtype)) && !widens) {
    return nn::RequireSameDType(data.dtype, kernel.dtype, "the dtypes of data and kernel");
  }
  RELAYVM_ASSIGN_OR_RETURN(ConvProblem p, ReadConv({spatial}, attrs, data, kernel));
  if (!p.has_multiplier) {
    RELAYVM_RETURN_IF_ERROR(
        tc.RequireEqual(p.in_channels, p.kernel_in * p.groups,
                        "the channels of data and of the kernel (times groups)"));
  }
  if (p.groups > 1) {
    RELAYVM_RETURN_IF_ERROR(tc.RequireEqual(Dim::FloorMod(p.kernel_out, p.groups), 0,
                                            "the output channels modulo groups"));
  }
  RELAYVM_RETURN_IF_ERROR(CheckConvAttrs(tc, p.out_channels, p.kernel_extent));
  for (int s = 0; s < spatial; ++s) {
    RELAYVM_RETURN_IF_ERROR(tc.RequireAtLeast(p.out_extent[s], 0, "the output's extent"));
  }
  return OpResult(TensorType{ConvShape(p), p.sum_type});
}

Tensor ConvTensor(const ConvProblem& p, const Tensor& data, const Tensor& kernel) {
  const int spatial = p.spatial();
  const std::string letters(p.letters());
  const DType dtype = p.sum_type;
  const Tensor out =
      te::Compute(fmt::format("conv{}d", spatial), ConvShape(p), [&](const Indices& i) {
        const Expr channel = p.out.Logical('C', i);
        std::vector<te::Axis> axes;
        te::Axis channel_axis;
        Expr in_channel, kernel_out = channel, kernel_in;
        if (p.has_multiplier) {
          in_channel = FloorDivExpr(channel, te::DimValue(p.kernel_in));
          kernel_out = in_channel;
          kernel_in = FloorModExpr(channel, te::DimValue(p.kernel_in));
        } else {
          channel_axis = te::MakeAxis("ic", p.kernel_in);
          in_channel = kernel_in = te::AxisValue(channel_axis);
          if (p.groups > 1) {
            const Expr group =
                FloorDivExpr(channel, te::DimValue(Dim::FloorDiv(p.kernel_out, p.groups)));
            in_channel = group * te::DimValue(p.kernel_in) + kernel_in;
          }
        }
        Indices position, tap;
        std::vector<Expr> inside;
        for (int s = 0; s < spatial; ++s) {
          axes.push_back(te::MakeAxis(fmt::format("k{}", static_cast<char>(letters[s] - 'A' + 'a')),
                                      p.kernel_extent[s]));
          tap.push_back(te::AxisValue(axes.back()));
          const Expr at = p.out.Logical(letters[s], i) * Int(p.strides[s]) +
                          tap[s] * Int(p.dilation[s]) - Int(p.padding.before[s]);
          position.push_back(at);
          if (p.padding.before[s] > 0) inside.push_back(at >= Int(0));
          if (p.padding.after[s] > 0) inside.push_back(at < te::DimValue(p.in_extent[s]));
        }
        // In the order of the layout, which float16 sums depend on.
        if (channel_axis) {
          const bool is_first = p.data.Position('C') < p.data.Position(letters[0]);
          axes.insert(is_first ? axes.begin() : axes.end(), channel_axis);
        }
        const Expr x = te::Load(data, p.data.Physical([&](char axis) {
          if (axis == 'N') return p.out.Logical('N', i);
          if (axis == 'C') return in_channel;
          return position[letters.find(axis)];
        }));
        const Expr w = te::Load(kernel, p.kernel.Physical([&](char axis) {
          if (axis == 'O') return kernel_out;
          if (axis == 'I') return kernel_in;
          return tap[letters.find(axis)];
        }));
        const Expr padded =
            nn::SelectIf(nn::AndAll(inside), te::Cast(x, dtype), te::Const(0, dtype));
        return te::Reduce(te::ReduceKind::kSum, padded * te::Cast(w, dtype), axes, dtype);
      });
  auto node = std::make_shared<te::TensorNode>(*out);
  node->hint = te::ScheduleHint::kConv;
  node->hint_inputs = {data, kernel};
  node->conv = std::make_shared<const ConvForm>(p);
  return node;
}

std::vector<Tensor> ComputeConv(const ComputeContext& c, int spatial) {
  ConvProblem p = *ReadConv({spatial}, c.attrs, TypeOf(c.inputs[0]), TypeOf(c.inputs[1]));
  p.sum_type = c.outputs[0].dtype;
  return {ConvTensor(p, c.inputs[0], c.inputs[1])};
}

namespace {

OpDef ConvOp(std::string name, int spatial) {
  OpDef op;
  op.name = std::move(name);
  op.num_args = 2;
  op.attrs = ConvFields(spatial, false);
  op.fusion = FusionClass::kOutElementwise;
  op.infer = [spatial](TypeContext& tc) { return InferConv(tc, spatial); };
  op.compute = [spatial](const ComputeContext& c) { return ComputeConv(c, spatial); };
  op.implied_args = implied::Conv;
  op.layout = LayoutRule::kChooses;
  op.conv = ConvClass{spatial};
  return op;
}

// nn.conv2d(data, kernel) whose kernel, in panels of outputs, has the order of its steps beside it.
OpDef OrderedConvOp() {
  OpDef op = ConvOp("nn.contrib_conv2d_ordered", 2);
  op.num_args = 3;
  op.infer = [](TypeContext& tc) -> Result<OpResult> {
    RELAYVM_RETURN_IF_ERROR(CheckStepOrder(tc));
    return InferConv(tc, 2);
  };
  op.compute = [](const ComputeContext& c) {
    std::vector<Tensor> out = ComputeConv(c, 2);
    auto node = std::make_shared<te::TensorNode>(*out[0]);
    node->hint_inputs.push_back(c.inputs[2]);
    return std::vector<Tensor>{node};
  };
  op.implied_args = nullptr;
  op.layout = LayoutRule::kFixed;
  op.conv = std::nullopt;
  return op;
}

AttrList Repeat(int64_t value, int n) { return AttrList(static_cast<size_t>(n), AttrValue(value)); }

}  // namespace

std::vector<AttrField> ConvFields(int spatial, bool transpose) {
  const std::string letters(nn::SpatialLetters(spatial));
  const int sides = spatial == 1 && !transpose ? 2 : spatial;  // as in TVM
  std::vector<AttrField> fields = {
      {"strides", AttrKind::kInts, false, Repeat(1, spatial)},
      {"padding", AttrKind::kInts, false, Repeat(0, sides)},
      {"dilation", AttrKind::kInts, false, Repeat(1, spatial)},
      {"groups", AttrKind::kInt, false, 1},
      {"channels", AttrKind::kInt},
      {"kernel_size", AttrKind::kInts},
      {"data_layout", AttrKind::kString, false, "NC" + letters},
      {"kernel_layout", AttrKind::kString, false, (transpose ? "IO" : "OI") + letters},
      {"out_layout", AttrKind::kString, false, ""},
      {"out_dtype", AttrKind::kDType, false, ""}};
  if (transpose) fields.push_back({"output_padding", AttrKind::kInts, false, Repeat(0, spatial)});
  return fields;
}

Status CheckConvAttrs(TypeContext& tc, const Dim& out_channels, const std::vector<Dim>& kernel) {
  const Attrs& attrs = tc.attrs();
  // 0 leaves it to the kernel.
  if (attrs.Has("channels") && attrs.Int("channels") != 0) {
    RELAYVM_RETURN_IF_ERROR(tc.RequireEqual(attrs.Int("channels"), out_channels,
                                            "channels and the kernel's output channels"));
  }
  if (!attrs.Has("kernel_size")) return OkStatus();
  std::vector<int64_t> size = attrs.Ints("kernel_size");
  if (size.size() == 1) size.assign(kernel.size(), size[0]);
  if (size.size() != kernel.size()) {
    return Invalid("kernel_size has {} values, expected {}", size.size(), kernel.size());
  }
  for (size_t s = 0; s < kernel.size(); ++s) {
    RELAYVM_RETURN_IF_ERROR(tc.RequireEqual(size[s], kernel[s], "kernel_size and the kernel"));
  }
  return OkStatus();
}

void DefineConv(OpTable& table) {
  table.Add(ConvOp("nn.conv1d", 1));
  table.Add(ConvOp("nn.conv2d", 2));
  table.Add(ConvOp("nn.conv3d", 3));
  // The same with blocked layouts, as layout passes of other compilers write them.
  table.Add(ConvOp("nn.contrib_conv2d_NCHWc", 2));
  table.Add(ConvOp("nn.contrib_depthwise_conv2d_NCHWc", 2));
  table.Add(OrderedConvOp());
  DefineConvTranspose(table);
  DefineConvGradient(table);
}

}  // namespace relayvm
