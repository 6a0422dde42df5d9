// Convolutions: nn.conv1d nn.conv2d nn.conv3d in every layout, with groups, and the transposed ones
// (conv_transpose.cc).
//
// The kernel's O and I are those of its layout. Where groups == C == O and I > 1 the convolution is
// depthwise with a multiplier: output channel o reads input channel o / I (so Relay writes the
// kernel of a depthwise convolution in HWOI). Stateless. Tested by conv_test.cc.
#include "kernels/op/conv.h"

#include <utility>

#include "kernels/op/define.h"
#include "kernels/op/implied_args.h"
#include "kernels/op/nn_helpers.h"

namespace relayvm {
namespace {

using nn::Indices;
using te::Expr;
using te::Tensor;

// What the attributes and the operand types of a convolution say.
struct ConvPlan : ConvGeometry {
  Dim out_channels;
  std::vector<Dim> out_extent;
  bool depthwise_multiplier = false;
  std::vector<Dim> out_shape;
};

Result<ConvPlan> PlanConv(const Attrs& attrs, int spatial, const std::vector<Dim>& data_shape,
                          const std::vector<Dim>& kernel_shape) {
  const std::string letters(nn::SpatialLetters(spatial));
  ConvPlan p;
  RELAYVM_ASSIGN_OR_RETURN(static_cast<ConvGeometry&>(p),
                           ReadConvGeometry(attrs, spatial, "OI", data_shape, kernel_shape));
  p.depthwise_multiplier = p.groups > 1 && p.in_channels.is_const(p.groups) &&
                           p.kernel_out.is_const(p.groups) && !p.kernel_in.is_const(1);
  p.out_channels = p.depthwise_multiplier ? p.kernel_out * p.kernel_in : p.kernel_out;
  for (int s = 0; s < spatial; ++s) {
    p.out_extent.push_back(nn::WindowExtent(p.in_extent[s],
                                            p.padding.before[s] + p.padding.after[s],
                                            p.kernel_extent[s], p.strides[s], p.dilation[s]));
  }
  p.out_shape = p.out.Shape([&](char axis) {
    if (axis == 'N') return p.batch;
    if (axis == 'C') return p.out_channels;
    return p.out_extent[letters.find(axis)];
  });
  return p;
}

}  // namespace

Result<ConvGeometry> ReadConvGeometry(const Attrs& attrs, int spatial,
                                      std::string_view kernel_capitals,
                                      const std::vector<Dim>& data_shape,
                                      const std::vector<Dim>& kernel_shape) {
  const std::string letters(nn::SpatialLetters(spatial));
  ConvGeometry g;
  g.spatial = spatial;
  const std::string& data_layout = attrs.String("data_layout");
  RELAYVM_ASSIGN_OR_RETURN(g.data, Layout::Parse(data_layout, "NC" + letters, "data_layout"));
  RELAYVM_ASSIGN_OR_RETURN(
      g.kernel, Layout::Parse(attrs.String("kernel_layout"), std::string(kernel_capitals) + letters,
                              "kernel_layout"));
  const std::string& out_layout = attrs.String("out_layout");
  RELAYVM_ASSIGN_OR_RETURN(g.out, Layout::Parse(out_layout.empty() ? data_layout : out_layout,
                                                "NC" + letters, "out_layout"));
  if (g.data.rank() != static_cast<int>(data_shape.size())) {
    return Invalid("data has rank {}, expected {}", data_shape.size(), data_layout);
  }
  if (g.kernel.rank() != static_cast<int>(kernel_shape.size())) {
    return Invalid("the kernel has rank {}, expected {}", kernel_shape.size(),
                   attrs.String("kernel_layout"));
  }
  RELAYVM_ASSIGN_OR_RETURN(g.strides,
                           nn::ExpandSpatial(attrs.Ints("strides"), spatial, 1, "strides"));
  RELAYVM_ASSIGN_OR_RETURN(g.dilation,
                           nn::ExpandSpatial(attrs.Ints("dilation"), spatial, 1, "dilation"));
  RELAYVM_ASSIGN_OR_RETURN(g.padding, nn::ExpandPadding(attrs.Ints("padding"), spatial));
  g.groups = attrs.Int("groups");
  if (g.groups < 1) return Invalid("groups is {}, expected at least 1", g.groups);

  g.batch = g.data.Extent('N', data_shape);
  g.in_channels = g.data.Extent('C', data_shape);
  g.kernel_out = g.kernel.Extent('O', kernel_shape);
  g.kernel_in = g.kernel.Extent('I', kernel_shape);
  for (char letter : letters) {
    g.in_extent.push_back(g.data.Extent(letter, data_shape));
    g.kernel_extent.push_back(g.kernel.Extent(letter, kernel_shape));
  }
  return g;
}

Result<OpResult> InferConv(TypeContext& tc, int spatial) {
  const Attrs& attrs = tc.attrs();
  const TensorType& data = tc.tensor(0);
  const TensorType& kernel = tc.tensor(1);
  const bool widens = data.dtype == DType::kFloat32 && kernel.dtype == DType::kFloat16;
  if (data.dtype != kernel.dtype && !(IsInt(data.dtype) && IsInt(kernel.dtype)) && !widens) {
    return nn::RequireSameDType(data.dtype, kernel.dtype, "the dtypes of data and kernel");
  }
  RELAYVM_ASSIGN_OR_RETURN(ConvPlan p, PlanConv(attrs, spatial, data.shape, kernel.shape));
  if (!p.depthwise_multiplier) {
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
  return OpResult(TensorType{p.out_shape, attrs.OptionalDType("out_dtype").value_or(data.dtype)});
}

std::vector<Tensor> ComputeConv(const ComputeContext& c, int spatial) {
  const Tensor& data = c.inputs[0];
  const Tensor& kernel = c.inputs[1];
  const std::string letters(nn::SpatialLetters(spatial));
  const ConvPlan p = *PlanConv(c.attrs, spatial, data->shape, kernel->shape);
  const DType dtype = c.outputs[0].dtype;
  const Tensor out =
      te::Compute(fmt::format("conv{}d", spatial), p.out_shape, [&](const Indices& i) {
        const Expr channel = p.out.Logical('C', i);
        std::vector<te::Axis> axes;
        te::Axis channel_axis;
        Expr in_channel, kernel_out = channel, kernel_in;
        if (p.depthwise_multiplier) {
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
          const std::string layout = c.attrs.String("data_layout");
          axes.insert(layout.find('C') < layout.find(letters[0]) ? axes.begin() : axes.end(),
                      channel_axis);
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
  auto hint = std::make_shared<te::ConvHint>();
  hint->strides = p.strides;
  hint->padding_before = p.padding.before;
  hint->dilation = p.dilation;
  hint->groups = p.groups;
  hint->data_layout = c.attrs.String("data_layout");
  hint->kernel_layout = c.attrs.String("kernel_layout");
  node->conv = std::move(hint);
  return {node};
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
  return op;
}

AttrList Repeat(int64_t value, int n) { return AttrList(static_cast<size_t>(n), AttrValue(value)); }

}  // namespace

std::vector<AttrField> ConvFields(int spatial, bool transpose) {
  const std::string letters(nn::SpatialLetters(spatial));
  std::vector<AttrField> fields = {
      {"strides", AttrKind::kInts, false, Repeat(1, spatial)},
      {"padding", AttrKind::kInts, false, Repeat(0, spatial)},
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
  DefineConvTranspose(table);
}

}  // namespace relayvm
