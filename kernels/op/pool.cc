// Pooling: nn.{max,avg}_pool{1,2,3}d, nn.global_{max,avg}_pool2d,
// nn.adaptive_{max,avg}_pool{1,2,3}d and the gradients of the two-dimensional ones. The spatial
// axes are found by their letters; all others pass through. Data whose layout splits a spatial axis
// is brought into one that does not, and the result into out_layout.
//
// An average divides by the taps that lie inside the input or, with count_include_pad, inside the
// padded input (ceil_mode lets a window leave that too); by 1 where there are none. Adaptive bins
// are PyTorch's: floor(o * in / out) .. ceil((o + 1) * in / out). Stateless. Tested by
// pool_test.cc.
#include "kernels/op/pool.h"

#include <utility>

#include "kernels/op/define.h"
#include "kernels/op/layouts.h"
#include "kernels/op/nn_helpers.h"

namespace relayvm {
namespace {

using nn::Indices;
using te::Expr;
using te::ReduceKind;
using te::Tensor;

// A pool runs in `plain`: the data's layout or, where that splits a spatial axis, its axes alone.
struct PoolLayouts {
  Layout in, plain, out;
  std::vector<int> axes;  // of the spatial letters in `plain`, in D H W order

  Tensor Enter(const Tensor& data) const {
    if (in == plain) return data;
    return TransformTensor(data, in, plain,
                           plain.Shape([&](char axis) { return in.Extent(axis, data->shape); }));
  }
  Tensor Leave(const Tensor& result, const std::vector<Dim>& shape) const {
    return out == plain ? result : TransformTensor(result, plain, out, shape);
  }
  bool is_plain() const { return in == plain && out == plain; }
};

Result<PoolLayouts> ReadLayouts(const Attrs& attrs, int spatial, int rank) {
  PoolLayouts l;
  const std::string& text = attrs.String("layout");
  const std::string& out = attrs.String("out_layout");
  RELAYVM_ASSIGN_OR_RETURN(l.in, Layout::Parse(text));
  if (l.in.rank() != rank) return Invalid("data has rank {}, layout is {}", rank, text);
  RELAYVM_ASSIGN_OR_RETURN(l.out,
                           Layout::Parse(out.empty() ? text : out, l.in.Axes(), "out_layout"));
  l.plain = l.in;
  for (char letter : nn::SpatialLetters(spatial)) {
    if (!l.in.Has(letter)) return Invalid("layout {} has no axis {}", text, letter);
    if (l.in.Factor(letter) != 1) l.plain = *Layout::Parse(l.in.Axes());
  }
  for (char letter : nn::SpatialLetters(spatial)) l.axes.push_back(l.plain.Position(letter));
  return l;
}

struct PoolPlan {
  std::vector<int> axes;  // of the spatial letters, in D H W order
  std::vector<int64_t> size, strides, dilation;
  nn::Padding padding;
  std::vector<Dim> out_shape;
};

// Of data of this shape in a plain layout with these spatial axes.
Result<PoolPlan> PlanPool(const Attrs& attrs, std::vector<int> axes,
                          const std::vector<Dim>& shape) {
  PoolPlan p;
  const int spatial = static_cast<int>(axes.size());
  p.axes = std::move(axes);
  RELAYVM_ASSIGN_OR_RETURN(p.size,
                           nn::ExpandSpatial(attrs.Ints("pool_size"), spatial, 1, "pool_size"));
  RELAYVM_ASSIGN_OR_RETURN(p.strides,
                           nn::ExpandSpatial(attrs.Ints("strides"), spatial, 1, "strides"));
  RELAYVM_ASSIGN_OR_RETURN(p.dilation,
                           nn::ExpandSpatial(attrs.Ints("dilation"), spatial, 1, "dilation"));
  RELAYVM_ASSIGN_OR_RETURN(p.padding, nn::ExpandPadding(attrs.Ints("padding"), spatial));
  p.out_shape = shape;
  for (int s = 0; s < spatial; ++s) {
    int64_t pad = p.padding.before[s] + p.padding.after[s];
    if (attrs.Bool("ceil_mode")) pad += p.strides[s] - 1;
    Dim& extent = p.out_shape[p.axes[s]];
    extent = nn::WindowExtent(extent, pad, p.size[s], p.strides[s], p.dilation[s]);
  }
  return p;
}

// The shape of the data in the plain layout.
Result<std::vector<Dim>> PlainShape(TypeContext& tc, const PoolLayouts& l) {
  const std::vector<Dim>& shape = tc.tensor(0).shape;
  if (l.in == l.plain) return shape;
  return TransformShape(tc, shape, l.in, l.plain);
}

// The result's type, of this shape in the plain layout.
Result<OpResult> ResultType(TypeContext& tc, const PoolLayouts& l, std::vector<Dim> shape) {
  if (l.out != l.plain) {
    RELAYVM_ASSIGN_OR_RETURN(shape, TransformShape(tc, shape, l.plain, l.out));
  }
  return OpResult(TensorType{std::move(shape), tc.tensor(0).dtype});
}

// The input position that tap `tap` of output position `out` reads.
Expr TapPosition(const PoolPlan& p, size_t s, const Expr& out, const Expr& tap) {
  return out * Int(p.strides[s]) + tap * Int(p.dilation[s]) - Int(p.padding.before[s]);
}

// A window position needs checking only where padding or ceil_mode lets it leave the input.
std::vector<Expr> InsideChecks(const PoolPlan& p, const Attrs& attrs, size_t s, const Expr& at,
                               const Dim& extent) {
  std::vector<Expr> checks;
  if (p.padding.before[s] > 0) checks.push_back(at >= Int(0));
  if (p.padding.after[s] > 0 || (attrs.Bool("ceil_mode") && p.strides[s] > 1)) {
    checks.push_back(at < te::DimValue(extent));
  }
  return checks;
}

// How many taps of the window at `out` lie in 0..extent-1 along spatial axis s; with `padded`, in
// the padded input.
Expr TapsInside(const PoolPlan& p, size_t s, const Expr& out, const Dim& extent, bool padded) {
  const Expr dilation = Int(p.dilation[s]);
  const Expr start = out * Int(p.strides[s]) - Int(p.padding.before[s]);
  const Expr zero = Int(0);
  const Expr end = te::DimValue(padded ? extent + p.padding.after[s] : extent);
  const Expr last = MinExpr(FloorDivExpr(end - Int(1) - start, dilation), Int(p.size[s] - 1));
  if (padded) return MaxExpr(last + Int(1), zero);
  const Expr first = MaxExpr(FloorDivExpr(zero - start + dilation - Int(1), dilation), zero);
  return MaxExpr(last - first + Int(1), zero);
}

// Whether there may be a window with nothing but padding along spatial axis s.
bool MayMiss(const PoolPlan& p, const Attrs& attrs, size_t s) {
  int64_t after = p.padding.after[s];
  if (attrs.Bool("ceil_mode")) after += p.strides[s] - 1;
  if (p.dilation[s] > 1) return p.padding.before[s] > 0 || after > 0;
  return p.padding.before[s] >= p.size[s] || after >= p.size[s];
}

// `max` of the window at `out`; the lowest finite number, as TVM pads with, where it holds none.
Expr MaxOrPadding(const PoolPlan& p, const Attrs& attrs, const Indices& out,
                  const std::vector<Dim>& shape, Expr max) {
  Expr misses;
  for (size_t s = 0; s < p.axes.size(); ++s) {
    if (!IsFloat(max->dtype) || !MayMiss(p, attrs, s)) continue;
    const int axis = p.axes[s];
    const Expr none = TapsInside(p, s, out[axis], shape[axis], false) == Int(0);
    misses = misses == nullptr ? none : misses || none;
  }
  if (misses == nullptr) return max;
  const Expr padding = nn::LowestFinite(max->dtype);
  return te::Select(misses, padding, std::move(max));
}

// What an average divides by, as int64.
Expr AverageCount(const PoolPlan& p, const Attrs& attrs, const Indices& out,
                  const std::vector<Dim>& shape) {
  const bool padded = attrs.Has("count_include_pad") && attrs.Bool("count_include_pad");
  Expr count = Int(1);
  bool whole = true;
  for (size_t s = 0; s < p.axes.size(); ++s) {
    const bool leaves = attrs.Bool("ceil_mode") && p.strides[s] > 1;
    const bool pads = p.padding.before[s] > 0 || p.padding.after[s] > 0;
    if (!leaves && (padded || !pads)) {
      count = count * Int(p.size[s]);
      continue;
    }
    whole = false;
    count = count * TapsInside(p, s, out[p.axes[s]], shape[p.axes[s]], padded);
  }
  return whole ? count : MaxExpr(count, Int(1));
}

// Whether the largest of each line's windows, and then the largest of these, are fewer steps than
// the largest of whole windows: where lines lie along the last axis of the data, and several
// windows share one.
bool LinesPay(const PoolPlan& p, size_t rank) {
  if (p.axes.back() + 1 != static_cast<int>(rank)) return false;
  int64_t lines = 1, strides = 1;  // of a window; between two of them
  for (size_t s = 0; s + 1 < p.axes.size(); ++s) {
    lines *= p.size[s];
    strides *= p.strides[s];
  }
  // A line's largest is stored and loaded too.
  return 4 * (strides * (p.size.back() + 1) + lines) < 3 * lines * p.size.back();
}

// The largest of the windows along spatial axis s alone.
Tensor MaxAlong(const PoolPlan& p, const Attrs& attrs, size_t s, const Tensor& data) {
  const int axis = p.axes[s];
  std::vector<Dim> shape = data->shape;
  shape[axis] = p.out_shape[axis];
  return te::Compute("max_pool_lines", shape, [&](const Indices& i) {
    const te::Axis k = te::MakeAxis(fmt::format("k{}", s), p.size[s]);
    Indices at = i;
    at[axis] = TapPosition(p, s, i[axis], te::AxisValue(k));
    const Expr inside = nn::AndAll(InsideChecks(p, attrs, s, at[axis], data->shape[axis]));
    const Expr tap = nn::SelectIf(inside, te::Load(data, at), nn::LowestValue(data->dtype));
    return te::Reduce(ReduceKind::kMax, tap, {k}, data->dtype);
  });
}

}  // namespace

std::vector<Tensor> ComputePool(const ComputeContext& c, int spatial, bool is_max) {
  const PoolLayouts layouts = *ReadLayouts(c.attrs, spatial, c.inputs[0]->rank());
  const Tensor data = layouts.Enter(c.inputs[0]);
  const PoolPlan p = *PlanPool(c.attrs, layouts.axes, data->shape);
  const DType dtype = data->dtype;
  const DType sum = is_max ? dtype : nn::AverageDType(dtype);
  const Expr identity = is_max ? nn::LowestValue(dtype) : te::Const(0, sum);
  size_t axes_left = p.axes.size();
  Tensor taken = data;
  if (is_max && LinesPay(p, data->shape.size())) taken = MaxAlong(p, c.attrs, --axes_left, data);
  const Tensor out =
      te::Compute(is_max ? "max_pool" : "avg_pool", p.out_shape, [&](const Indices& i) {
        std::vector<te::Axis> axes;
        std::vector<Expr> inside;
        Indices at = i;
        for (size_t s = 0; s < axes_left; ++s) {
          axes.push_back(te::MakeAxis(fmt::format("k{}", s), p.size[s]));
          Expr& position = at[p.axes[s]];
          position = TapPosition(p, s, position, te::AxisValue(axes.back()));
          for (Expr& e : InsideChecks(p, c.attrs, s, position, data->shape[p.axes[s]])) {
            inside.push_back(std::move(e));
          }
        }
        const Expr value = te::Cast(te::Load(taken, at), sum);
        const Expr tap = nn::SelectIf(nn::AndAll(inside), value, identity);
        if (is_max) {
          return MaxOrPadding(p, c.attrs, i, data->shape,
                              te::Reduce(ReduceKind::kMax, tap, axes, dtype));
        }
        return nn::Average(te::Reduce(ReduceKind::kSum, tap, axes, sum),
                           AverageCount(p, c.attrs, i, data->shape), dtype);
      });
  if (!layouts.is_plain()) return {layouts.Leave(out, c.outputs[0].shape)};
  return {nn::WithHint(out, te::ScheduleHint::kPool, {data})};
}

std::vector<AttrField> PoolFields(int spatial, bool is_max) {
  const auto repeat = [spatial](int v) {
    return AttrList(static_cast<size_t>(spatial), AttrValue(v));
  };
  std::vector<AttrField> fields = {
      {"pool_size", AttrKind::kInts, true},
      {"strides", AttrKind::kInts, false, repeat(1)},
      {"dilation", AttrKind::kInts, false, repeat(1)},
      {"padding", AttrKind::kInts, false, repeat(0)},
      {"layout", AttrKind::kString, false, "NC" + std::string(nn::SpatialLetters(spatial))},
      {"out_layout", AttrKind::kString, false, ""},
      {"ceil_mode", AttrKind::kBool, false, false}};
  if (!is_max) fields.push_back({"count_include_pad", AttrKind::kBool, false, false});
  return fields;
}

Result<OpResult> InferPool(TypeContext& tc, int spatial) {
  RELAYVM_ASSIGN_OR_RETURN(PoolLayouts layouts,
                           ReadLayouts(tc.attrs(), spatial, tc.tensor(0).rank()));
  RELAYVM_ASSIGN_OR_RETURN(std::vector<Dim> shape, PlainShape(tc, layouts));
  RELAYVM_ASSIGN_OR_RETURN(PoolPlan p, PlanPool(tc.attrs(), layouts.axes, shape));
  for (int axis : p.axes) {
    // Data that is shorter than a window has no result, rather than one of no elements, whose mean
    // is no number.
    RELAYVM_RETURN_IF_ERROR(
        tc.RequireAtLeast(p.out_shape[axis], Dim::Min(Dim(1), shape[axis]), "the output's extent"));
  }
  return ResultType(tc, layouts, std::move(p.out_shape));
}

namespace {

OpDef PoolOp(int spatial, bool is_max) {
  OpDef op;
  op.name = fmt::format("nn.{}_pool{}d", is_max ? "max" : "avg", spatial);
  op.attrs = PoolFields(spatial, is_max);
  op.layout = LayoutRule::kChooses;
  op.fusion = FusionClass::kOutElementwise;
  op.infer = [spatial](TypeContext& tc) { return InferPool(tc, spatial); };
  op.compute = [spatial, is_max](const ComputeContext& c) {
    return ComputePool(c, spatial, is_max);
  };
  return op;
}

// --- Adaptive and global pooling ---

// The output extents of the spatial axes: none given keeps the input's, one stands for all.
Result<std::vector<Dim>> AdaptiveShape(const Attrs& attrs, const std::vector<int>& axes,
                                       std::vector<Dim> shape, bool global) {
  std::vector<int64_t> size = global ? std::vector<int64_t>{1} : attrs.Ints("output_size");
  if (size.empty()) return shape;
  RELAYVM_ASSIGN_OR_RETURN(
      size, nn::ExpandSpatial(std::move(size), static_cast<int>(axes.size()), 1, "output_size"));
  for (size_t s = 0; s < axes.size(); ++s) shape[axes[s]] = size[s];
  return shape;
}

std::vector<Tensor> ComputeAdaptive(const ComputeContext& c, int spatial, bool is_max,
                                    bool global) {
  const PoolLayouts layouts = *ReadLayouts(c.attrs, spatial, c.inputs[0]->rank());
  const Tensor data = layouts.Enter(c.inputs[0]);
  const std::vector<Dim> shape = *AdaptiveShape(c.attrs, layouts.axes, data->shape, global);
  const DType dtype = data->dtype;
  const DType sum = is_max ? dtype : nn::AverageDType(dtype);
  const Expr identity = is_max ? nn::LowestValue(dtype) : te::Const(0, sum);
  const Tensor out = te::Compute("adaptive_pool", shape, [&](const Indices& i) {
    std::vector<te::Axis> axes;
    std::vector<Expr> inside;
    Indices at = i;
    Expr count = Int(1);
    for (int axis : layouts.axes) {
      const Dim& in = data->shape[axis];
      const Dim& out_extent = shape[axis];
      const std::string name = fmt::format("k{}", axis);
      // Bins of one size need no bounds; else the largest bin's extent stands for all.
      if (Dim::FloorMod(in, out_extent).is_const(0)) {
        const Dim size = Dim::FloorDiv(in, out_extent);
        axes.push_back(te::MakeAxis(name, size));
        at[axis] = i[axis] * te::DimValue(size) + te::AxisValue(axes.back());
        count = count * te::DimValue(size);
        continue;
      }
      const Expr in_value = te::DimValue(in), out_value = te::DimValue(out_extent);
      const Expr start = FloorDivExpr(i[axis] * in_value, out_value);
      const Expr end = FloorDivExpr((i[axis] + Int(1)) * in_value + out_value - Int(1), out_value);
      axes.push_back(te::MakeAxis(name, Dim::CeilDiv(in, out_extent) + 1));
      at[axis] = start + te::AxisValue(axes.back());
      inside.push_back(at[axis] < end);
      count = count * (end - start);
    }
    const Expr value = te::Cast(te::Load(data, at), sum);
    const Expr tap = nn::SelectIf(nn::AndAll(inside), value, identity);
    if (is_max) return te::Reduce(ReduceKind::kMax, tap, axes, dtype);
    return nn::Average(te::Reduce(ReduceKind::kSum, tap, axes, sum), count, dtype);
  });
  if (!layouts.is_plain()) return {layouts.Leave(out, c.outputs[0].shape)};
  return {nn::WithHint(out, te::ScheduleHint::kPool, {data})};
}

OpDef AdaptiveOp(std::string name, int spatial, bool is_max, bool global) {
  OpDef op;
  op.name = std::move(name);
  op.attrs = {{"layout", AttrKind::kString, false, "NC" + std::string(nn::SpatialLetters(spatial))},
              {"out_layout", AttrKind::kString, false, ""}};
  if (!global) op.attrs.push_back({"output_size", AttrKind::kInts, false, AttrList{}});
  op.layout = LayoutRule::kChooses;
  op.fusion = FusionClass::kOutElementwise;
  op.infer = [spatial, global](TypeContext& tc) -> Result<OpResult> {
    RELAYVM_ASSIGN_OR_RETURN(PoolLayouts layouts,
                             ReadLayouts(tc.attrs(), spatial, tc.tensor(0).rank()));
    RELAYVM_ASSIGN_OR_RETURN(std::vector<Dim> shape, PlainShape(tc, layouts));
    RELAYVM_ASSIGN_OR_RETURN(shape,
                             AdaptiveShape(tc.attrs(), layouts.axes, std::move(shape), global));
    return ResultType(tc, layouts, std::move(shape));
  };
  op.compute = [spatial, is_max, global](const ComputeContext& c) {
    return ComputeAdaptive(c, spatial, is_max, global);
  };
  return op;
}

// --- Gradients ---
// Arguments: the gradient of the pool's result, the pool's input. Each input position gathers from
// the windows that read it.

// For input position `at` (a full index tuple): the sum over the taps k of `term(window, k)`, the
// window being the one whose tap k reads the position.
using TermFn = std::function<Expr(const Indices& window, const Indices& taps)>;
Expr GatherWindows(const PoolPlan& p, const Indices& at, DType dtype, const TermFn& term) {
  std::vector<te::Axis> axes;
  std::vector<Expr> valid;
  Indices window = at, taps;
  for (size_t s = 0; s < p.axes.size(); ++s) {
    axes.push_back(te::MakeAxis(fmt::format("k{}", s), p.size[s]));
    taps.push_back(te::AxisValue(axes.back()));
    Expr& w = window[p.axes[s]];
    const Expr scaled = w + Int(p.padding.before[s]) - taps.back() * Int(p.dilation[s]);
    w = FloorDivExpr(scaled, Int(p.strides[s]));
    valid.push_back(FloorModExpr(scaled, Int(p.strides[s])) == Int(0));
    valid.push_back(nn::InRange(w, te::DimValue(p.out_shape[p.axes[s]])));
  }
  const Expr value = te::Select(nn::AndAll(valid), term(window, taps), te::Const(0, dtype));
  return te::Reduce(ReduceKind::kSum, value, axes, dtype);
}

Result<PoolPlan> PlanGrad(const Attrs& attrs, const std::vector<Dim>& shape) {
  RELAYVM_ASSIGN_OR_RETURN(PoolLayouts layouts,
                           ReadLayouts(attrs, 2, static_cast<int>(shape.size())));
  if (!layouts.is_plain()) {
    return Unsupported("layout {} with out_layout {}", attrs.String("layout"),
                       attrs.String("out_layout"));
  }
  return PlanPool(attrs, layouts.axes, shape);
}

Result<OpResult> InferGrad(TypeContext& tc) {
  const TensorType& grad = tc.tensor(0);
  const TensorType& data = tc.tensor(1);
  RELAYVM_ASSIGN_OR_RETURN(PoolPlan p, PlanGrad(tc.attrs(), data.shape));
  RELAYVM_RETURN_IF_ERROR(nn::RequireSameDType(grad.dtype, data.dtype, "gradient and data"));
  RELAYVM_RETURN_IF_ERROR(RequireShapeEqual(tc, grad.shape, p.out_shape, "gradient and result"));
  return OpResult(data);
}

std::vector<Tensor> ComputeAvgGrad(const ComputeContext& c) {
  const Tensor& grad = c.inputs[0];
  const Tensor& data = c.inputs[1];
  const PoolPlan p = *PlanGrad(c.attrs, data->shape);
  return {te::Compute("avg_pool2d_grad", data->shape, [&](const Indices& at) {
    return GatherWindows(p, at, data->dtype, [&](const Indices& window, const Indices&) {
      const Expr count = AverageCount(p, c.attrs, window, data->shape);
      const Expr share = te::Cast(te::Load(grad, window), nn::AverageDType(data->dtype));
      return nn::Average(share, count, data->dtype);
    });
  })};
}

// The first largest tap of each window takes its gradient.
std::vector<Tensor> ComputeMaxGrad(const ComputeContext& c) {
  const Tensor& grad = c.inputs[0];
  const Tensor& data = c.inputs[1];
  const PoolPlan p = *PlanGrad(c.attrs, data->shape);
  const Tensor winner = te::Compute("max_pool2d_winner", p.out_shape, [&](const Indices& i) {
    std::vector<te::Axis> axes;
    std::vector<Expr> inside;
    Indices at = i;
    for (size_t s = 0; s < p.axes.size(); ++s) {
      axes.push_back(te::MakeAxis(fmt::format("k{}", s), p.size[s]));
      Expr& position = at[p.axes[s]];
      position = TapPosition(p, s, position, te::AxisValue(axes.back()));
      inside.push_back(nn::InRange(position, te::DimValue(data->shape[p.axes[s]])));
    }
    const Expr value =
        te::Select(nn::AndAll(inside), te::Load(data, at), nn::LowestValue(data->dtype));
    return te::Reduce(ReduceKind::kArgMax, value, axes, DType::kInt64);
  });
  return {te::Compute("max_pool2d_grad", data->shape, [&](const Indices& at) {
    return GatherWindows(p, at, data->dtype, [&](const Indices& window, const Indices& taps) {
      const Expr tap = taps[0] * Int(p.size[1]) + taps[1];
      return te::Select(te::Load(winner, window) == tap, te::Load(grad, window),
                        te::Const(0, data->dtype));
    });
  })};
}

OpDef GradOp(bool is_max) {
  OpDef op;
  op.name = is_max ? "nn.max_pool2d_grad" : "nn.avg_pool2d_grad";
  op.num_args = 2;
  op.attrs = PoolFields(2, is_max);
  op.fusion = FusionClass::kOutElementwise;
  op.infer = InferGrad;
  op.compute = is_max ? ComputeMaxGrad : ComputeAvgGrad;
  return op;
}

}  // namespace

void DefinePool(OpTable& table) {
  for (int spatial = 1; spatial <= 3; ++spatial) {
    for (bool is_max : {true, false}) {
      table.Add(PoolOp(spatial, is_max));
      table.Add(AdaptiveOp(fmt::format("nn.adaptive_{}_pool{}d", is_max ? "max" : "avg", spatial),
                           spatial, is_max, false));
    }
  }
  table.Add(AdaptiveOp("nn.global_max_pool2d", 2, true, true));
  table.Add(AdaptiveOp("nn.global_avg_pool2d", 2, false, true));
  table.Add(GradOp(true));
  table.Add(GradOp(false));
}

}  // namespace relayvm
