// Slices: strided_slice, strided_set, slice_like, sliding_window.
#include "kernels/op/slicing.h"

#include <algorithm>

#include "kernels/op/define.h"
#include "kernels/op/op_helpers.h"

namespace relayvm {

using te::Expr;

Result<StaticSlice> ReadSlice(const Attrs& attrs, const std::vector<Dim>& in) {
  std::vector<int64_t> begin = attrs.Ints("begin");
  std::vector<int64_t> end = attrs.Ints("end");
  std::vector<int64_t> strides = attrs.Ints("strides");
  const std::string& mode = attrs.String("slice_mode");
  if (mode != "end" && mode != "size") {
    return Invalid("slice_mode \"{}\" is neither end nor size", mode);
  }
  int rank = static_cast<int>(in.size());
  std::vector<int> axes;
  if (auto given = attrs.OptionalInts("axes")) {
    RELAYVM_ASSIGN_OR_RETURN(axes, NormalizeAxes(*given, rank, "axes: axis"));
    if (begin.size() != axes.size() || end.size() != axes.size()) {
      return Invalid("axes has {} elements, begin {} and end {}", axes.size(), begin.size(),
                     end.size());
    }
  } else {
    size_t count = std::max(begin.size(), end.size());
    if (count > in.size())
      return Invalid("begin and end have {} elements, the data {} dims", count, rank);
    for (size_t i = 0; i < count; ++i) axes.push_back(static_cast<int>(i));
  }
  StaticSlice slice;
  for (const Dim& d : in) slice.ranges.push_back({Dim(0), d});
  slice.strides.assign(in.size(), Dim(1));
  for (size_t k = 0; k < axes.size(); ++k) {
    auto i = static_cast<size_t>(axes[k]);
    // One stride serves all axes; missing ones are 1.
    int64_t stride = 1;
    if (mode == "end" && !strides.empty()) {
      stride = strides.size() == 1 ? strides[0] : k < strides.size() ? strides[k] : 1;
    }
    if (stride == 0) return Invalid("strides: the stride of axis {} is 0", i);
    int64_t first = k < begin.size() ? begin[k] : stride > 0 ? 0 : INT32_MAX;
    if (mode == "size") {
      Dim size = k < end.size() ? Dim(end[k]) : Dim(-1);
      slice.ranges[i] = SliceAxisBySize(in[i], Dim(first), size);
    } else {
      int64_t last = k < end.size() ? end[k] : stride > 0 ? INT32_MAX : INT32_MIN;
      slice.ranges[i] = SliceAxis(in[i], Dim(first), Dim(last), Dim(stride));
    }
    slice.strides[i] = Dim(stride);
  }
  return slice;
}

namespace {

Expr IfNegative(const Expr& x, Expr then, Expr otherwise) {
  return te::Select(x < Int(0), std::move(then), std::move(otherwise));
}

size_t LengthOf(const te::Tensor& t) { return static_cast<size_t>(t->shape[0].value()); }

Expr ElementAt(const te::Tensor& t, size_t i) {
  return ToIndex(te::Load(t, {Int(static_cast<int64_t>(i))}));
}

// Element `i` of strides as read at run time; 1 where there is none.
Expr StrideAt(const te::Tensor& strides, size_t i) {
  return i < LengthOf(strides) ? ElementAt(strides, i) : Int(1);
}

// Element `i` of begin, counted from the front and clamped, as SliceAxis does; the axis' start (or
// end, going back) where there is none.
Expr BeginAt(const te::Tensor& begins, size_t i, const Expr& stride, const Dim& extent) {
  Expr size = te::DimValue(extent);
  if (i >= LengthOf(begins)) return IfNegative(stride, size - Int(1), Int(0));
  Expr begin = ElementAt(begins, i);
  Expr front = IfNegative(begin, begin + size, begin);
  return IfNegative(stride, Clamp(front, Int(-1), size - Int(1)), Clamp(front, Int(0), size));
}

// --- strided_slice ---

OpDef StridedSlice() {
  OpDef def;
  def.name = "strided_slice";
  def.is_slice = true;
  def.attrs = {Optional("begin", AttrKind::kPositions, AttrList{}),
               Optional("end", AttrKind::kPositions, AttrList{}),
               Optional("strides", AttrKind::kPositions, AttrList{}),
               Optional("slice_mode", AttrKind::kString, "end"), Optional("axes", AttrKind::kInts)};
  def.fusion = FusionClass::kInjective;
  def.infer = [](TypeContext& ctx) -> Result<OpResult> {
    TensorType out = ctx.tensor(0);
    RELAYVM_ASSIGN_OR_RETURN(StaticSlice slice, ReadSlice(ctx.attrs(), out.shape));
    for (size_t i = 0; i < out.shape.size(); ++i) out.shape[i] = slice.ranges[i].length;
    return OpResult(std::move(out));
  };
  def.compute = [](const ComputeContext& ctx) -> std::vector<te::Tensor> {
    const te::Tensor& data = ctx.inputs[0];
    StaticSlice slice = *ReadSlice(ctx.attrs, data->shape);
    return {te::Compute("strided_slice", ctx.outputs[0].shape, [&](const ExprList& i) {
      ExprList at;
      for (size_t k = 0; k < i.size(); ++k) {
        Expr step = i[k] * te::DimValue(slice.strides[k]);
        const Dim& begin = slice.ranges[k].begin;
        at.push_back(begin.is_const(0) ? step : te::DimValue(begin) + step);
      }
      return te::Load(data, std::move(at));
    })};
  };
  return def;
}

// --- strided_set ---

// data with data[begin:end:strides] = v. Each of the three may be shorter than the data's rank:
// what is missing means the whole axis.
OpDef StridedSet() {
  OpDef def;
  def.name = "strided_set";
  def.num_args = 5;
  def.fusion = FusionClass::kInjective;
  def.shape_args = {3};
  def.infer = [](TypeContext& ctx) -> Result<OpResult> {
    const TensorType& data = ctx.tensor(0);
    const TensorType& value = ctx.tensor(1);
    RELAYVM_RETURN_IF_ERROR(RequireSameDType(data, value));
    RELAYVM_RETURN_IF_ERROR(RequireRank(value, data.rank(), "the value"));
    RELAYVM_ASSIGN_OR_RETURN(std::vector<Dim> shape, InferSlice(ctx, data.shape, 2, "end"));
    RELAYVM_RETURN_IF_ERROR(
        RequireShapeEqual(ctx, value.shape, shape, "the value and the slice that it replaces"));
    return OpResult(data);
  };
  // Element i of an axis lies in the slice where (i - begin) / stride is a whole number in [0,
  // length), the value's length.
  def.compute = [](const ComputeContext& ctx) -> std::vector<te::Tensor> {
    const te::Tensor& data = ctx.inputs[0];
    const te::Tensor& value = ctx.inputs[1];
    // The length of the ends, which are dropped, says nothing here: an axis that only they cut is
    // one where the value is shorter.
    size_t count = std::max(LengthOf(ctx.inputs[2]), LengthOf(ctx.inputs[4]));
    return {te::Compute("strided_set", data->shape, [&](const ExprList& i) {
      ExprList at = i;
      Expr inside = te::IntImm(1, DType::kBool);
      for (size_t k = 0; k < i.size(); ++k) {
        if (k >= count && value->shape[k] == data->shape[k]) continue;
        Expr stride = StrideAt(ctx.inputs[4], k);
        Expr offset = i[k] - BeginAt(ctx.inputs[2], k, stride, data->shape[k]);
        at[k] = FloorDivExpr(offset, stride);
        inside = inside && FloorModExpr(offset, stride) == Int(0) && at[k] >= Int(0) &&
                 at[k] < te::DimValue(value->shape[k]);
      }
      return te::Select(inside, te::Load(value, at), te::Load(data, i));
    })};
  };
  return def;
}

// --- slice_like, sliding_window ---

OpDef SliceLike() {
  OpDef def;
  def.name = "slice_like";
  def.num_args = 2;
  def.attrs = {Optional("axes", AttrKind::kInts)};
  def.fusion = FusionClass::kInjective;
  def.shape_args = {1};
  def.infer = [](TypeContext& ctx) -> Result<OpResult> {
    TensorType out = ctx.tensor(0);
    const TensorType& like = ctx.tensor(1);
    std::vector<int64_t> given = ctx.attrs().Ints("axes");
    if (given.empty()) {
      if (like.rank() > out.rank()) {
        return Invalid("the reference {} has more dims than the data", ShapeToString(like.shape));
      }
      for (int i = 0; i < like.rank(); ++i) given.push_back(i);
    }
    RELAYVM_ASSIGN_OR_RETURN(std::vector<int> axes, NormalizeAxes(given, out.rank(), "axes: axis"));
    for (int axis : axes) {
      if (axis >= like.rank()) {
        return Invalid("axes: axis {} is beyond the reference's shape {}", axis,
                       ShapeToString(like.shape));
      }
      auto i = static_cast<size_t>(axis);
      RELAYVM_RETURN_IF_ERROR(ctx.RequireAtLeast(out.shape[i], like.shape[i],
                                                 "the data's extent beside the reference's"));
      out.shape[i] = like.shape[i];
    }
    return OpResult(std::move(out));
  };
  def.compute = [](const ComputeContext& ctx) -> std::vector<te::Tensor> {
    return {te::Compute("slice_like", ctx.outputs[0].shape,
                        [&](const ExprList& i) { return te::Load(ctx.inputs[0], i); })};
  };
  return def;
}

// data[..., H, W] -> [..., windows along H, windows along W, window H, window W]: the axes from
// `axis` on slide.
OpDef SlidingWindow() {
  OpDef def;
  def.name = "sliding_window";
  def.attrs = {Required("axis", AttrKind::kInt), Required("window_shape", AttrKind::kInts),
               Required("strides", AttrKind::kInts)};
  def.fusion = FusionClass::kInjective;
  def.infer = [](TypeContext& ctx) -> Result<OpResult> {
    const TensorType& data = ctx.tensor(0);
    RELAYVM_ASSIGN_OR_RETURN(int axis, NormalizeAxis(ctx.attrs().Int("axis"), data.rank()));
    std::vector<int64_t> window = ctx.attrs().Ints("window_shape");
    std::vector<int64_t> strides = ctx.attrs().Ints("strides");
    auto count = static_cast<size_t>(data.rank() - axis);
    if (window.size() != count || strides.size() != count) {
      return Invalid("window_shape and strides need {} elements, one an axis from {} on", count,
                     axis);
    }
    TensorType out{{data.shape.begin(), data.shape.begin() + axis}, data.dtype};
    for (size_t k = 0; k < count; ++k) {
      if (window[k] < 1 || strides[k] < 1) return Invalid("a window or stride is below 1");
      const Dim& extent = data.shape[static_cast<size_t>(axis) + k];
      RELAYVM_RETURN_IF_ERROR(
          ctx.RequireAtLeast(extent, Dim(window[k]), "the data's extent under the window"));
      out.shape.push_back(Dim::FloorDiv(extent - Dim(window[k]), Dim(strides[k])) + Dim(1));
    }
    for (int64_t w : window) out.shape.emplace_back(w);
    return OpResult(std::move(out));
  };
  def.compute = [](const ComputeContext& ctx) -> std::vector<te::Tensor> {
    const te::Tensor& data = ctx.inputs[0];
    auto axis = static_cast<size_t>(CanonicalAxis(ctx.attrs.Int("axis"), data->rank()));
    std::vector<int64_t> strides = ctx.attrs.Ints("strides");
    return {te::Compute("sliding_window", ctx.outputs[0].shape, [&](const ExprList& i) {
      ExprList at(i.begin(), i.begin() + static_cast<std::ptrdiff_t>(axis));
      for (size_t k = 0; k < strides.size(); ++k) {
        at.push_back(i[axis + k] * Int(strides[k]) + i[axis + strides.size() + k]);
      }
      return te::Load(data, std::move(at));
    })};
  };
  return def;
}

}  // namespace

size_t SliceCount(const ComputeContext& ctx, size_t first) {
  size_t count = 0;
  for (size_t k = 0; k < 3; ++k) count = std::max(count, LengthOf(ctx.inputs[first + k]));
  return count;
}

Result<std::vector<Dim>> InferSlice(TypeContext& ctx, const std::vector<Dim>& in, size_t first,
                                    std::string_view mode) {
  if (mode != "end" && mode != "size") {
    return Invalid("slice_mode \"{}\" is neither end nor size", mode);
  }
  constexpr std::string_view kNames[] = {"begin", "end", "strides"};
  std::vector<Dim> v[3];
  for (size_t k = 0; k < 3; ++k) {
    RELAYVM_RETURN_IF_ERROR(RequireRank(ctx.tensor(first + k), 1, kNames[k]));
    RELAYVM_RETURN_IF_ERROR(RequireInteger(ctx.tensor(first + k), kNames[k]));
    RELAYVM_ASSIGN_OR_RETURN(v[k], ctx.Elements(first + k));
    if (v[k].size() > in.size()) {
      return Invalid("{} has {} elements, the data {} dims", kNames[k], v[k].size(), in.size());
    }
  }
  const auto& [begins, ends, strides] = v;
  std::vector<Dim> out = in;
  for (size_t i = 0; i < std::max({begins.size(), ends.size(), strides.size()}); ++i) {
    const Dim& extent = in[i];
    Dim stride = i < strides.size() && mode == "end" ? strides[i] : Dim(1);
    if (stride.is_const(0)) return Invalid("strides: the stride of axis {} is 0", i);
    if (!stride.is_const()) {
      RELAYVM_RETURN_IF_ERROR(RequireNonzero(ctx, stride, fmt::format("the stride of axis {}", i)));
    }
    // What is missing means the whole axis.
    Dim back = IsNegative(stride);
    Dim begin = i < begins.size() ? begins[i] : extent * back;
    if (mode == "size") {
      out[i] = SliceAxisBySize(extent, begin, i < ends.size() ? ends[i] : Dim(-1)).length;
      continue;
    }
    Dim end = i < ends.size() ? ends[i] : extent - back * (extent * Dim(2) + Dim(1));
    out[i] = SliceAxis(extent, begin, end, stride).length;
  }
  return out;
}

te::Tensor ComputeSlice(const ComputeContext& ctx, std::string_view mode) {
  const te::Tensor& data = ctx.inputs[0];
  size_t count = SliceCount(ctx, 1);
  return te::Compute("strided_slice", ctx.outputs[0].shape, [&](const ExprList& i) {
    ExprList at = i;
    for (size_t k = 0; k < count; ++k) {
      Expr stride = mode == "size" ? Int(1) : StrideAt(ctx.inputs[3], k);
      at[k] = BeginAt(ctx.inputs[1], k, stride, data->shape[k]) + i[k] * stride;
    }
    return te::Load(data, std::move(at));
  });
}

void DefineSlicing(OpTable& table) {
  table.Add(StridedSlice());
  table.Add(StridedSet());
  table.Add(SliceLike());
  table.Add(SlidingWindow());
}

}  // namespace relayvm
