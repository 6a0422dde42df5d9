// Windowed operators that are no plain convolution: nn.deformable_conv2d (without mask) and
// nn.correlation. Stateless. Tested by nn_window_test.cc.
#include <utility>

#include "kernels/op/conv.h"
#include "kernels/op/implied_args.h"
#include "kernels/op/layouts.h"
#include "kernels/op/nn_helpers.h"
#include "kernels/op/nn_parts.h"

namespace relayvm {
namespace {

using nn::Indices;
using te::Expr;
using te::Tensor;

// --- nn.deformable_conv2d ---
// Tap (ky, kx) of output (y, x) reads the data at its regular position plus
// offset[(group, ky, kx, 0 or 1), y, x], interpolated; 0 outside.

struct DeformablePlan {
  Layout data, kernel;
  std::vector<int64_t> strides, dilation;
  nn::Padding padding;
  int64_t groups = 1, deformable_groups = 1;
  Dim batch, channels, kernel_out, kernel_in;
  Dim in[2], size[2], out[2];
  std::vector<Dim> out_shape, offset_shape;
};

Result<DeformablePlan> PlanDeformable(const Attrs& attrs, const std::vector<Dim>& data,
                                      const std::vector<Dim>& kernel) {
  DeformablePlan p;
  const std::string& layout = attrs.String("data_layout");
  RELAYVM_ASSIGN_OR_RETURN(p.data, Layout::Parse(layout, "NCHW", "data_layout"));
  RELAYVM_ASSIGN_OR_RETURN(p.kernel,
                           Layout::Parse(attrs.String("kernel_layout"), "OIHW", "kernel_layout"));
  const std::string& out_layout = attrs.String("out_layout");
  if (!out_layout.empty() && out_layout != layout) {
    return Unsupported("out_layout {} differs from data_layout {}", out_layout, layout);
  }
  if (data.size() != static_cast<size_t>(p.data.rank()) ||
      kernel.size() != static_cast<size_t>(p.kernel.rank())) {
    return Invalid("data and kernel have ranks {} and {}, expected {} and {}", data.size(),
                   kernel.size(), p.data.rank(), p.kernel.rank());
  }
  RELAYVM_ASSIGN_OR_RETURN(p.strides, nn::ExpandSpatial(attrs.Ints("strides"), 2, 1, "strides"));
  RELAYVM_ASSIGN_OR_RETURN(p.dilation, nn::ExpandSpatial(attrs.Ints("dilation"), 2, 1, "dilation"));
  RELAYVM_ASSIGN_OR_RETURN(p.padding, nn::ExpandPadding(attrs.Ints("padding"), 2));
  p.groups = attrs.Int("groups");
  p.deformable_groups = attrs.Int("deformable_groups");
  if (p.groups < 1 || p.deformable_groups < 1) {
    return Invalid("groups is {} and deformable_groups {}, expected at least 1", p.groups,
                   p.deformable_groups);
  }
  p.batch = p.data.Extent('N', data);
  p.channels = p.data.Extent('C', data);
  p.kernel_out = p.kernel.Extent('O', kernel);
  p.kernel_in = p.kernel.Extent('I', kernel);
  for (int s = 0; s < 2; ++s) {
    const char letter = "HW"[s];
    p.in[s] = p.data.Extent(letter, data);
    p.size[s] = p.kernel.Extent(letter, kernel);
    p.out[s] = nn::WindowExtent(p.in[s], p.padding.before[s] + p.padding.after[s], p.size[s],
                                p.strides[s], p.dilation[s]);
  }
  const auto shape = [&](const Dim& channels) {
    return p.data.Shape([&](char axis) {
      if (axis == 'N') return p.batch;
      if (axis == 'C') return channels;
      return p.out[axis == 'W'];
    });
  };
  p.out_shape = shape(p.kernel_out);
  p.offset_shape = shape(p.size[0] * p.size[1] * (2 * p.deformable_groups));
  return p;
}

Result<OpResult> InferDeformable(TypeContext& tc) {
  const TensorType &data = tc.tensor(0), &offset = tc.tensor(1), &kernel = tc.tensor(2);
  RELAYVM_RETURN_IF_ERROR(RequireFloat(data));
  RELAYVM_RETURN_IF_ERROR(RequireSameDType(data, offset));
  RELAYVM_RETURN_IF_ERROR(RequireSameDType(data, kernel));
  RELAYVM_ASSIGN_OR_RETURN(DeformablePlan p, PlanDeformable(tc.attrs(), data.shape, kernel.shape));
  RELAYVM_RETURN_IF_ERROR(
      tc.RequireEqual(p.channels, p.kernel_in * p.groups, "the channels of data and kernel"));
  RELAYVM_RETURN_IF_ERROR(tc.RequireEqual(Dim::FloorMod(p.channels, p.deformable_groups), 0,
                                          "the channels modulo deformable_groups"));
  RELAYVM_RETURN_IF_ERROR(tc.RequireEqual(Dim::FloorMod(p.kernel_out, p.groups), 0,
                                          "the output channels modulo groups"));
  RELAYVM_RETURN_IF_ERROR(CheckConvAttrs(tc, p.kernel_out, {p.size[0], p.size[1]}));
  RELAYVM_RETURN_IF_ERROR(RequireShapeEqual(tc, offset.shape, p.offset_shape, "offset"));
  return OpResult(TensorType{p.out_shape, DTypeOr(tc.attrs(), "out_dtype", data.dtype)});
}

std::vector<Tensor> ComputeDeformable(const ComputeContext& c) {
  const Tensor &data = c.inputs[0], &offset = c.inputs[1], &kernel = c.inputs[2];
  const DeformablePlan p = *PlanDeformable(c.attrs, data->shape, kernel->shape);
  const DType real = data->dtype;
  const DType dtype = c.outputs[0].dtype;
  const Expr per_group = te::DimValue(Dim::FloorDiv(p.channels, p.deformable_groups));
  // The data as the taps see it: (n, channel, ky, kx, y, x).
  const Tensor sampled = te::Compute(
      "deformed", {p.batch, p.channels, p.size[0], p.size[1], p.out[0], p.out[1]},
      [&](const Indices& i) {
        const Expr pair = FloorDivExpr(i[1], per_group) * te::DimValue(p.size[0] * p.size[1]) +
                          i[2] * te::DimValue(p.size[1]) + i[3];
        Expr position[2], inside;
        for (int s = 0; s < 2; ++s) {
          const Expr shift = te::Load(offset, p.data.Physical([&](char axis) {
            if (axis == 'N') return i[0];
            if (axis == 'C') return pair * Int(2) + Int(s);
            return i[axis == 'W' ? 5 : 4];
          }));
          const Expr regular = i[4 + s] * Int(p.strides[s]) + i[2 + s] * Int(p.dilation[s]) -
                               Int(p.padding.before[s]);
          position[s] = te::Cast(regular, real) + shift;
          const Expr in = position[s] >= te::Const(0, real) &&
                          position[s] < te::Cast(te::DimValue(p.in[s]), real);
          inside = inside == nullptr ? in : inside && in;
        }
        Expr value = te::Const(0, real);
        const auto floor = [](const Expr& x) { return te::Unary(te::UnaryOp::kFloor, x); };
        for (int corner = 0; corner < 4; ++corner) {
          const int step[2] = {corner / 2, corner % 2};
          Expr at[2], weight = te::Const(1, real), exists;
          for (int s = 0; s < 2; ++s) {
            const Expr low = floor(position[s]);
            const Expr fraction = position[s] - low;
            weight = weight * (step[s] == 1 ? fraction : te::Const(1, real) - fraction);
            at[s] = ToIndex(low) + Int(step[s]);
            if (step[s] == 0) continue;  // the lower corner exists where the position does
            const Expr in = at[s] < te::DimValue(p.in[s]);
            exists = exists == nullptr ? in : exists && in;
          }
          const Expr pixel = te::Load(data, p.data.Physical([&](char axis) {
            if (axis == 'N') return i[0];
            if (axis == 'C') return i[1];
            return at[axis == 'W'];
          }));
          value = value + weight * nn::SelectIf(exists, pixel, te::Const(0, real));
        }
        return te::Select(inside, value, te::Const(0, real));
      });
  return {te::Compute("deformable_conv2d", p.out_shape, [&](const Indices& i) {
    const Expr channel = p.data.Logical('C', i);
    const std::vector<te::Axis> axes = {te::MakeAxis("ic", p.kernel_in),
                                        te::MakeAxis("ky", p.size[0]),
                                        te::MakeAxis("kx", p.size[1])};
    const Expr ic = te::AxisValue(axes[0]), ky = te::AxisValue(axes[1]),
               kx = te::AxisValue(axes[2]);
    Expr from = ic;
    if (p.groups > 1) {
      const Expr group_out = te::DimValue(Dim::FloorDiv(p.kernel_out, p.groups));
      from = FloorDivExpr(channel, group_out) * te::DimValue(p.kernel_in) + ic;
    }
    const Expr x = te::Load(sampled, {p.data.Logical('N', i), from, ky, kx, p.data.Logical('H', i),
                                      p.data.Logical('W', i)});
    const Expr w = te::Load(kernel, p.kernel.Physical([&](char axis) -> const Expr& {
      if (axis == 'O') return channel;
      if (axis == 'I') return ic;
      return axis == 'W' ? kx : ky;
    }));
    return te::Reduce(te::ReduceKind::kSum, te::Cast(x, dtype) * te::Cast(w, dtype), axes, dtype);
  })};
}

OpDef DeformableOp() {
  OpDef op;
  op.name = "nn.deformable_conv2d";
  op.num_args = 3;
  op.attrs = ConvFields(2, false);
  op.attrs.push_back(Optional("deformable_groups", AttrKind::kInt, 1));
  op.fusion = FusionClass::kOutElementwise;
  op.infer = InferDeformable;
  op.compute = ComputeDeformable;
  op.implied_args = implied::DeformableConv;
  op.layout = LayoutRule::kChooses;
  return op;
}

// --- nn.correlation ---
// Compares patches of two feature maps at all displacements of a grid: the mean over a patch of
// products, or of absolute differences.

struct CorrelationPlan {
  int64_t kernel, displacement, stride1, stride2, radius, grid;
  nn::Padding padding;
};

Result<CorrelationPlan> PlanCorrelation(const Attrs& attrs) {
  CorrelationPlan p;
  p.kernel = attrs.Int("kernel_size");
  p.displacement = attrs.Int("max_displacement");
  p.stride1 = attrs.Int("stride1");
  p.stride2 = attrs.Int("stride2");
  if (attrs.String("layout") != "NCHW") {
    return Unsupported("layout is {}, expected NCHW", attrs.String("layout"));
  }
  if (p.kernel < 1 || p.displacement < 0 || p.stride1 < 1 || p.stride2 < 1) {
    return Invalid("kernel_size {}, max_displacement {}, strides {} and {} are out of range",
                   p.kernel, p.displacement, p.stride1, p.stride2);
  }
  p.radius = p.displacement / p.stride2;
  p.grid = 2 * p.radius + 1;
  RELAYVM_ASSIGN_OR_RETURN(p.padding, nn::ExpandPadding(attrs.Ints("padding"), 2));
  return p;
}

OpDef CorrelationOp() {
  OpDef op;
  op.name = "nn.correlation";
  op.num_args = 2;
  op.attrs = {Optional("kernel_size", AttrKind::kInt, 1),
              Optional("max_displacement", AttrKind::kInt, 1),
              Optional("stride1", AttrKind::kInt, 1),
              Optional("stride2", AttrKind::kInt, 1),
              Optional("padding", AttrKind::kInts, AttrList{0, 0}),
              Optional("is_multiply", AttrKind::kBool, true),
              Optional("layout", AttrKind::kString, "NCHW")};
  op.fusion = FusionClass::kOutElementwise;
  op.infer = [](TypeContext& tc) -> Result<OpResult> {
    const TensorType &a = tc.tensor(0), &b = tc.tensor(1);
    RELAYVM_RETURN_IF_ERROR(RequireRank(a, 4, "data1"));
    RELAYVM_RETURN_IF_ERROR(RequireFloat(a));
    RELAYVM_RETURN_IF_ERROR(RequireSameDType(a, b));
    RELAYVM_RETURN_IF_ERROR(RequireShapeEqual(tc, a.shape, b.shape, "data1 and data2"));
    RELAYVM_ASSIGN_OR_RETURN(CorrelationPlan p, PlanCorrelation(tc.attrs()));
    TensorType result = a;
    result.shape[1] = Dim(p.grid) * Dim(p.grid);
    const int64_t border = p.displacement + (p.kernel - 1) / 2;
    for (int s = 0; s < 2; ++s) {
      const Dim inner = a.shape[2 + s] + (p.padding.before[s] + p.padding.after[s] - 2 * border);
      RELAYVM_RETURN_IF_ERROR(tc.RequireAtLeast(inner, 0, "the padded extent without its borders"));
      result.shape[2 + s] = Dim::CeilDiv(inner, p.stride1);
    }
    return OpResult(std::move(result));
  };
  op.compute = [](const ComputeContext& c) -> std::vector<Tensor> {
    const Tensor &a = c.inputs[0], &b = c.inputs[1];
    const DType dtype = a->dtype;
    const CorrelationPlan p = *PlanCorrelation(c.attrs);
    const auto padded = [&](const Tensor& t, const Expr& n, const Expr& channel, const Expr& y,
                            const Expr& x) {
      const Expr row = y - Int(p.padding.before[0]), column = x - Int(p.padding.before[1]);
      return te::Select(nn::InRange(row, te::DimValue(t->shape[2])) &&
                            nn::InRange(column, te::DimValue(t->shape[3])),
                        te::Load(t, {n, channel, row, column}), te::Const(0, dtype));
    };
    return {te::Compute("correlation", c.outputs[0].shape, [&](const Indices& i) {
      const std::vector<te::Axis> axes = {te::MakeAxis("c", a->shape[1]),
                                          te::MakeAxis("ky", p.kernel),
                                          te::MakeAxis("kx", p.kernel)};
      const Expr channel = te::AxisValue(axes[0]);
      const Expr y = i[2] * Int(p.stride1) + Int(p.displacement) + te::AxisValue(axes[1]);
      const Expr x = i[3] * Int(p.stride1) + Int(p.displacement) + te::AxisValue(axes[2]);
      const Expr dy = (FloorDivExpr(i[1], Int(p.grid)) - Int(p.radius)) * Int(p.stride2);
      const Expr dx = (FloorModExpr(i[1], Int(p.grid)) - Int(p.radius)) * Int(p.stride2);
      const Expr first = padded(a, i[0], channel, y, x);
      const Expr second = padded(b, i[0], channel, y + dy, x + dx);
      const Expr term = c.attrs.Bool("is_multiply") ? first * second
                                                    : te::Unary(te::UnaryOp::kAbs, first - second);
      const Expr count = te::DimValue(a->shape[1] * Dim(p.kernel * p.kernel));
      return nn::Divide(te::Reduce(te::ReduceKind::kSum, term, axes, dtype),
                        te::Cast(count, dtype));
    })};
  };
  return op;
}

}  // namespace

void DefineNnWindow(OpTable& table) {
  table.Add(DeformableOp());
  table.Add(CorrelationOp());
}

}  // namespace relayvm
