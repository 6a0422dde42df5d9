// Parts of tensors: slices, splits.
#include <algorithm>

#include "compiler/import/composite/axes.h"
#include "compiler/import/tflite/quantised.h"

namespace relayvm::import::tflite {

namespace {

// One axis of a strided slice.
struct AxisSlice {
  bool has_begin = false, has_end = false;
  bool is_index = false;  // one element, whose axis goes
  size_t at = 0;          // among begins, ends and strides
};

// What the masks say of each axis of x; axes that are new stand in `added`, by their place in the
// result.
struct SlicePlan {
  std::vector<AxisSlice> axes;
  std::vector<int> added;
};

std::optional<SlicePlan> PlanOf(NodeContext& n, const fb::StridedSliceOptions& o, int64_t count,
                                int rank) {
  const auto in = [](int mask, int64_t i) { return i < 31 && (mask >> i & 1) != 0; };
  int64_t named = 0;
  bool has_ellipsis = false;
  for (int64_t i = 0; i < count; ++i) {
    const bool is_ellipsis = in(o.ellipsis_mask(), i) && !has_ellipsis;
    has_ellipsis |= is_ellipsis;
    if (!is_ellipsis && !in(o.new_axis_mask(), i)) ++named;
  }
  if (named > rank) {
    n.Fail("{} axes are named, the input has {}", named, rank);
    return std::nullopt;
  }
  SlicePlan plan;
  int place = 0;
  bool seen = false;
  const auto whole = [&](int64_t axes) {
    for (int64_t k = 0; k < axes; ++k) plan.axes.emplace_back();
    place += static_cast<int>(axes);
  };
  for (int64_t i = 0; i < count; ++i) {
    if (in(o.ellipsis_mask(), i) && !seen) {
      seen = true;
      whole(rank - named);
    } else if (in(o.new_axis_mask(), i)) {
      plan.added.push_back(place++);
    } else {
      AxisSlice a{!in(o.begin_mask(), i), !in(o.end_mask(), i), in(o.shrink_axis_mask(), i),
                  static_cast<size_t>(i)};
      if (!a.is_index) ++place;
      plan.axes.push_back(a);
    }
  }
  whole(rank - static_cast<int64_t>(plan.axes.size()));
  return plan;
}

Outputs StridedSlice(NodeContext& n) {
  TypedBuilder& b = n.b();
  const auto& o = n.Get<fb::StridedSliceOptions>();
  const Value x = n.Input(0);
  const Term begins = Term(n, 1).As(DType::kInt64), strides_in = Term(n, 3).As(DType::kInt64);
  Term ends = Term(n, 2).As(DType::kInt64);
  if (o.offset()) ends = begins + ends;
  const auto count = CountOf(b, begins, "begin");
  const auto strides = n.ConstantInts(3, "strides");
  if (!count || !strides) return {};
  if (static_cast<int64_t>(strides->size()) != *count)
    return n.Fail("strides of {} axes, begins of {}", strides->size(), *count);
  const auto plan = PlanOf(n, o, *count, x.rank());
  if (!plan) return {};
  const auto known_begin = b.ConstantInts(begins), known_end = b.ConstantInts(ends);
  const auto part = [](const Term& v, size_t i) {
    return v.Slice(0, static_cast<int64_t>(i), static_cast<int64_t>(i) + 1);
  };
  std::vector<int64_t> begin, end, step, axes;
  std::vector<Value> begin_of, end_of;
  for (int axis = 0; axis < x.rank(); ++axis) {
    const AxisSlice& a = plan->axes[static_cast<size_t>(axis)];
    const int64_t stride = a.is_index || (!a.has_begin && !a.has_end && a.at >= strides->size())
                               ? 1
                               : (*strides)[a.at];
    const bool is_named = a.has_begin || a.has_end || stride != 1;
    if (a.is_index) {
      begin_of.push_back(b.Ints({0}));
      end_of.push_back(b.Ints({INT64_MAX}));
    } else {
      const int64_t first = stride < 0 ? INT64_MAX : 0, last = stride < 0 ? -INT64_MAX : INT64_MAX;
      begin_of.push_back(a.has_begin ? part(begins, a.at).value() : b.Ints({first}));
      end_of.push_back(a.has_end ? part(ends, a.at).value() : b.Ints({last}));
      if (stride == 0) return n.Fail("a stride of 0");
      if (is_named && known_begin && known_end) {
        begin.push_back(a.has_begin ? (*known_begin)[a.at] : first);
        end.push_back(a.has_end ? (*known_end)[a.at] : last);
        axes.push_back(axis);
        step.push_back(stride);
      }
    }
    if (!known_begin || !known_end) step.push_back(a.is_index ? 1 : stride);
  }
  Value y = x;
  const bool slices = std::ranges::any_of(
      plan->axes, [&](const AxisSlice& a) { return !a.is_index && (a.has_begin || a.has_end); });
  if (known_begin && known_end) {
    if (!axes.empty()) {
      y = b.Op("strided_slice", {x},
               {{"begin", ListOf(begin)},
                {"end", ListOf(end)},
                {"strides", ListOf(step)},
                {"axes", ListOf(axes)}});
    }
  } else if (slices) {
    y = b.Op("dyn.strided_slice", {x, b.Concat(begin_of, 0), b.Concat(end_of, 0), b.Ints(step)});
  }
  for (int axis = x.rank() - 1; axis >= 0; --axis) {
    const AxisSlice& a = plan->axes[static_cast<size_t>(axis)];
    if (!a.is_index) continue;
    const Value index = a.has_begin ? part(begins, a.at).value() : b.Ints({0});
    const Value place = FromFront({b, index, n.InputText(1, "begin")}, index, b.DimOf(y, axis));
    y = b.Op("take", {y, b.Squeeze(place, {0})}, {{"axis", axis}});
  }
  for (const int axis : plan->added) y = b.ExpandDims(y, axis);
  return {y};
}

Outputs Slice(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Value x = n.Input(0);
  const Term begins = Term(n, 1).As(DType::kInt64), sizes = Term(n, 2).As(DType::kInt64);
  const auto begin = b.ConstantInts(begins), size = b.ConstantInts(sizes);
  const auto rank = static_cast<size_t>(x.rank());
  if (begin && size) {
    if (begin->size() != rank || size->size() != rank) return n.Fail("expected {} numbers", rank);
    std::vector<int64_t> end;
    for (size_t i = 0; i < rank; ++i) {
      int64_t last = INT64_MAX;
      if ((*begin)[i] < 0 || (*size)[i] < -1)
        return n.Fail("begin {}, size {}", (*begin)[i], (*size)[i]);
      if ((*size)[i] >= 0 && __builtin_add_overflow((*begin)[i], (*size)[i], &last))
        last = INT64_MAX;
      end.push_back(last);
      if (x.dim(static_cast<int>(i)).is_const() && last != INT64_MAX &&
          last > x.dim(static_cast<int>(i)).value()) {
        return n.Fail("{} to {} of {}", (*begin)[i], last, x.dim(static_cast<int>(i)).value());
      }
    }
    const std::vector<int64_t> ones(rank, 1);
    return {b.Op("strided_slice", {x},
                 {{"begin", ListOf(*begin)}, {"end", ListOf(end)}, {"strides", ListOf(ones)}})};
  }
  std::vector<Value> extents;
  for (size_t i = 0; i < rank; ++i) extents.push_back(b.DimOf(x, static_cast<int>(i)));
  const Term all(b, b.Concat(extents, 0));
  const Term end = Select(sizes < 0, all, begins + sizes);
  return {b.Op("dyn.strided_slice", {x, begins, end, b.Ints(std::vector<int64_t>(rank, 1))})};
}

// Parts of these sizes.
Outputs Parts(NodeContext& n, const Value& x, int axis, const std::vector<int64_t>& sizes) {
  if (sizes.size() != n.num_outputs())
    return n.Fail("{} parts, {} outputs", sizes.size(), n.num_outputs());
  if (sizes.size() == 1) return {x};
  AttrList at;
  int64_t position = 0;
  for (size_t i = 0; i + 1 < sizes.size(); ++i) at.emplace_back(position += sizes[i]);
  return n.b().Ops("split", {x}, {{"indices_or_sections", at}, {"axis", axis}});
}

Outputs Split(NodeContext& n) {
  TypedBuilder& b = n.b();
  const int64_t count = n.Get<fb::SplitOptions>().num_splits();
  const Value x = n.Input(1);
  const auto axes = n.ConstantInts(0, "axis");
  if (!axes || axes->size() != 1)
    return n.b().status().ok() ? n.Fail("expected one axis") : Outputs{};
  const int axis = n.Axis((*axes)[0], x.rank());
  if (count < 1 || static_cast<size_t>(count) != n.num_outputs())
    return n.Fail("{} parts, {} outputs", count, n.num_outputs());
  if (count == 1) return {x};
  if (!b.status().ok()) return {};
  const Dim extent = x.dim(axis);
  if (!extent.is_const()) {
    const Term size = Term(b, b.DimOf(x, axis)).Call("floor_divide", b.Ints({count}));
    Outputs parts;
    for (int64_t i = 0; i < count; ++i) {
      std::vector<Value> from, to;
      for (int k = 0; k < axis; ++k) {
        from.push_back(b.Ints({0}));
        to.push_back(b.Ints({INT64_MAX}));
      }
      from.push_back(size * static_cast<double>(i));
      to.push_back(size * static_cast<double>(i + 1));
      const std::vector<int64_t> ones(static_cast<size_t>(axis) + 1, 1);
      parts.push_back(
          b.Op("dyn.strided_slice", {x, b.Concat(from, 0), b.Concat(to, 0), b.Ints(ones)}));
    }
    return parts;
  }
  if (extent.value() % count != 0) return n.Fail("{} parts of {}", count, extent.value());
  return b.Ops("split", {x}, {{"indices_or_sections", count}, {"axis", axis}});
}

// Parts of these sizes, of which `rest` takes what the others leave.
Outputs PartsAround(NodeContext& n, const Value& x, int axis, const std::vector<int64_t>& sizes,
                    size_t rest) {
  if (sizes.size() != n.num_outputs())
    return n.Fail("{} parts, {} outputs", sizes.size(), n.num_outputs());
  int64_t behind = 0, at = 0;
  for (size_t i = rest + 1; i < sizes.size(); ++i) behind += sizes[i];
  Outputs parts;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (i == rest) {
      parts.push_back(Term(n.b(), x).Slice(axis, at, behind == 0 ? INT64_MAX : -behind));
      at = -behind;
      continue;
    }
    const int64_t next = at + sizes[i];
    parts.push_back(Term(n.b(), x).Slice(axis, at,
                                         sizes[i] == 0           ? at
                                         : i > rest && next == 0 ? INT64_MAX
                                                                 : next));
    at = next;
  }
  return parts;
}

Outputs SplitV(NodeContext& n) {
  const Value x = n.Input(0);
  const auto axes = n.ConstantInts(2, "axis");
  auto sizes = axes ? n.ConstantInts(1, "sizes") : std::nullopt;
  if (!sizes) return {};
  if (axes->size() != 1) return n.Fail("expected one axis");
  const int axis = n.Axis((*axes)[0], x.rank());
  if (!n.b().status().ok()) return {};
  int64_t total = 0;
  auto rest = sizes->end();
  for (auto at = sizes->begin(); at != sizes->end(); ++at) {
    if (*at < -1 || (*at == -1 && rest != sizes->end())) return n.Fail("a size of {}", *at);
    if (*at == -1) rest = at;
    if (__builtin_add_overflow(total, std::max<int64_t>(*at, 0), &total))
      return n.Fail("sizes overflow");
  }
  const Dim extent = x.dim(axis);
  if (rest != sizes->end()) {
    const bool is_last = rest + 1 == sizes->end();
    if (!extent.is_const() && !is_last)
      return PartsAround(n, x, axis, *sizes, static_cast<size_t>(rest - sizes->begin()));
    if (extent.is_const()) *rest = extent.value() - total;
    if (extent.is_const() && *rest < 0) return n.Fail("sizes of {}, of {}", total, extent.value());
  } else if (extent.is_const() && extent.value() != total) {
    return n.Fail("sizes of {}, of {}", total, extent.value());
  }
  return Parts(n, x, axis, *sizes);
}

Outputs Unpack(NodeContext& n) {
  const auto& o = n.Get<fb::UnpackOptions>();
  const Value x = n.Input(0);
  const int axis = n.Axis(o.axis(), x.rank());
  const auto count = static_cast<int64_t>(n.num_outputs());
  if (!n.b().status().ok()) return {};
  if (x.dim(axis).is_const() && x.dim(axis).value() != count)
    return n.Fail("{} outputs, {} elements", count, x.dim(axis).value());
  Outputs parts;
  for (int64_t i = 0; i < count; ++i) {
    parts.push_back(n.b().Op("take", {x, n.b().Int(i, DType::kInt32)}, {{"axis", axis}}));
  }
  return parts;
}

}  // namespace

std::span<const OperatorDef> SliceOperators() {
  static constexpr OperatorDef kTable[] = {
      {Code::STRIDED_SLICE, 4, 4, StridedSlice, Options::StridedSliceOptions},
      {Code::SLICE, 3, 3, Slice},
      {Code::SPLIT, 2, 2, Split, Options::SplitOptions},
      {Code::SPLIT_V, 3, 3, SplitV, Options::SplitVOptions},
      {Code::UNPACK, 1, 1, Unpack, Options::UnpackOptions},
  };
  return kTable;
}

}  // namespace relayvm::import::tflite
