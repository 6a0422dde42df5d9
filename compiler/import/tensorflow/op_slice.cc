// Parts of tensors, and tensors in larger ones: Slice, StridedSlice, Pad.
#include <fmt/format.h>

#include "compiler/import/checked.h"
#include "compiler/import/composite/axes.h"
#include "compiler/import/composite/padding.h"
#include "compiler/import/tensorflow/convert.h"

namespace relayvm::import::tensorflow {

namespace {

// --- StridedSlice ---

// What one axis of the data is cut to. begin and end are entry `entry` of the inputs.
struct AxisSlice {
  int64_t entry = -1;  // less than 0: all of it
  int64_t stride = 1;
  bool from_first = true, to_last = true;
  bool is_index = false;  // one element, whose axis goes
};
struct SlicePlan {
  std::vector<AxisSlice> axes;    // one for each of the data
  std::vector<int64_t> new_axes;  // of the result, in order
};

// The masks' meaning: an ellipsis stands for the axes that no other entry names.
std::optional<SlicePlan> PlanSlice(NodeContext& n, int rank, size_t begin, size_t strides) {
  const auto count = CountOf(n, n.Input(begin), "begin");
  if (!count) return std::nullopt;
  const auto steps = n.ConstantInts(strides, "strides");
  if (!steps) return std::nullopt;
  const auto entries = static_cast<size_t>(*count);
  if (steps->size() != entries || entries > 32)
    return n.Fail("begin and strides: expected one number for each entry");
  const auto has = [](int64_t mask, size_t i) { return ((mask >> i) & 1) != 0; };
  const int64_t begins = n.Int("begin_mask", 0), ends = n.Int("end_mask", 0),
                ellipsis = n.Int("ellipsis_mask", 0), added = n.Int("new_axis_mask", 0),
                shrunk = n.Int("shrink_axis_mask", 0);
  int64_t named = 0, ellipses = 0;
  for (size_t i = 0; i < entries; ++i) {
    if (has(ellipsis, i)) {
      ++ellipses;
    } else if (!has(added, i)) {
      ++named;
    }
  }
  if (ellipses > 1) return n.Fail("ellipsis_mask: more than one ellipsis");
  if (named > rank) return n.Fail("{} entries, but the data has rank {}", named, rank);
  SlicePlan plan;
  int64_t out = 0;
  for (size_t i = 0; i < entries; ++i) {
    if (has(ellipsis, i)) {
      plan.axes.resize(plan.axes.size() + static_cast<size_t>(rank - named));
      out += rank - named;
    } else if (has(added, i)) {
      plan.new_axes.push_back(out++);
    } else {
      const bool is_index = has(shrunk, i);
      if ((*steps)[i] == 0)
        return n.Fail("{}: 0, expected another number", n.InputText(strides, "strides"));
      plan.axes.push_back({static_cast<int64_t>(i), is_index ? 1 : (*steps)[i], has(begins, i),
                           has(ends, i), is_index});
      out += is_index ? 0 : 1;
    }
  }
  plan.axes.resize(static_cast<size_t>(rank));
  return plan;
}

std::optional<int64_t> KnownAt(const std::optional<std::vector<Dim>>& elements, int64_t i) {
  if (!elements) return std::nullopt;
  const Dim& d = (*elements)[static_cast<size_t>(i)];
  return d.is_const() ? std::optional(d.value()) : std::nullopt;
}

// The ranges of axes that keep their axis.
Value Ranges(NodeContext& n, const Value& x, const SlicePlan& plan, size_t begin, size_t end) {
  TypedBuilder& b = n.b();
  const auto first = b.Elements(n.Input(begin)), last = b.Elements(n.Input(end));
  const Term begins = Term(n, begin).As(DType::kInt64), ends = Term(n, end).As(DType::kInt64);
  // Each as numbers where they are known, and as vectors of one.
  std::vector<int64_t> from, to, steps;
  std::vector<Value> from_values, to_values;
  bool known = true;
  const auto add = [&](std::optional<int64_t> number, const Term& all, int64_t entry,
                       std::vector<int64_t>& numbers, std::vector<Value>& values) {
    known &= number.has_value();
    numbers.push_back(number.value_or(0));
    values.push_back(number ? b.Ints({*number}) : Part(all, entry, entry + 1).value());
  };
  size_t cut = 0;
  for (size_t axis = 0; axis < plan.axes.size(); ++axis) {
    const AxisSlice& s = plan.axes[axis];
    const bool whole = s.entry < 0 || s.is_index || (s.from_first && s.to_last && s.stride == 1);
    const bool forward = s.stride > 0;
    if (!whole) cut = axis + 1;
    const std::optional<int64_t> start = forward ? 0 : INT64_MAX;
    const std::optional<int64_t> stop = forward ? INT64_MAX : INT64_MIN + 1;
    add(whole || s.from_first ? start : KnownAt(first, s.entry), begins, s.entry, from,
        from_values);
    add(whole || s.to_last ? stop : KnownAt(last, s.entry), ends, s.entry, to, to_values);
    steps.push_back(s.stride);
  }
  if (cut == 0) return x;
  from.resize(cut), to.resize(cut), steps.resize(cut);
  from_values.resize(cut), to_values.resize(cut);
  if (known) {
    return b.Op("strided_slice", {x},
                {{"begin", ListOf(from)},
                 {"end", ListOf(to)},
                 {"strides", ListOf(steps)},
                 {"axes", ListOf(Iota(static_cast<int64_t>(cut)))}});
  }
  return b.Op("dyn.strided_slice",
              {x, b.Concat(from_values, 0), b.Concat(to_values, 0), b.Ints(steps)});
}

Outputs StridedSlice(NodeContext& n) {
  TypedBuilder& b = n.b();
  Value x = n.Input(0);
  const auto plan = PlanSlice(n, x.rank(), 1, 3);
  if (!plan) return {};
  x = Ranges(n, x, *plan, 1, 2);
  const auto first = b.Elements(n.Input(1));
  // From the last axis on, so that the axes before keep their places.
  for (int axis = x.rank(); axis-- > 0 && Ok(n);) {
    const AxisSlice& s = plan->axes[static_cast<size_t>(axis)];
    if (!s.is_index) continue;
    const auto known = s.from_first ? std::optional<int64_t>(0) : KnownAt(first, s.entry);
    const Value at = known ? b.Int(*known) : ElementOf(Term(n, 1), s.entry).value();
    InputName of(n, 1, fmt::format("entry {} of begin", s.entry));
    of.value = at;
    x = b.Op("take", {x, FromFront(of, at, b.DimOf(x, axis))}, {{"axis", axis}});
  }
  for (const int64_t axis : plan->new_axes) x = b.ExpandDims(x, static_cast<int>(axis));
  return {x};
}

// `data` with `v`, which broadcasts, in the place of what StridedSlice would take. By positions:
// the part of them that is taken says where.
Outputs WithPart(NodeContext& n, const Value& data, const Value& v, size_t begin) {
  TypedBuilder& b = n.b();
  const Value count = ProductOfDims(b, data, 0, data.rank());
  const Term places = To(Range(Term(b, b.Reshape(count, {}))), DimsOf(b, data, 0, data.rank()));
  std::vector<Value> inputs = {places};
  for (size_t i = 0; i < 3; ++i) inputs.push_back(n.Input(begin + i));
  const Outputs taken = n.As("StridedSlice", inputs);
  if (taken.empty()) return {};
  const Term where = Term(b, taken[0]).Reshape({-1});
  const Term zeros(b, b.Op("zeros_like", {taken[0]}));
  const Term full = Term(b, v) + zeros.As(v.dtype());
  const Value flat =
      b.Op("scatter_elements", {b.Reshape(data, {-1}), where, full.Reshape({-1})}, {{"axis", 0}});
  return {ShapedAs(b, flat, {b.ShapeOf(data)})};
}
Outputs StridedSliceGrad(NodeContext& n) {
  const Value zeros = Filled(n, 0, n.Input(4).dtype(), n.b().Cast(n.Input(0), DType::kInt64));
  return WithPart(n, zeros, n.Input(4), 1);
}
Outputs TensorStridedSliceUpdate(NodeContext& n) { return WithPart(n, n.Input(0), n.Input(4), 1); }

// --- Slice ---

// A size of -1 is all that is left.
Outputs SliceOf(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Value x = n.Input(0);
  const int rank = x.rank();
  const auto begins = CountOf(n, n.Input(1), "begin"), sizes = CountOf(n, n.Input(2), "size");
  if (!begins || !sizes) return {};
  if (*begins != rank || *sizes != rank)
    return n.Fail("begin and size: expected {} numbers, one for each axis", rank);
  if (rank == 0) return {x};
  const auto from = b.ConstantInts(n.Input(1)), size = b.ConstantInts(n.Input(2));
  if (from && size) {
    std::vector<int64_t> to;
    for (size_t i = 0; i < from->size(); ++i) {
      const int64_t start = (*from)[i], count = (*size)[i];
      const Dim extent = x.dim(static_cast<int>(i));
      const int64_t room = extent.is_const() ? extent.value() - start : INT64_MAX - start;
      if (start < 0 || room < 0 || count < -1 || count > room) {
        return n.Fail("axis {}: {} elements from {} on do not fit {}", i, count, start,
                      extent.ToString());
      }
      to.push_back(count == -1 ? INT64_MAX : start + count);
    }
    return {b.Op("strided_slice", {x},
                 {{"begin", ListOf(*from)},
                  {"end", ListOf(to)},
                  {"strides", ListOf(std::vector<int64_t>(to.size(), 1))}})};
  }
  const Term start = Term(n, 1).As(DType::kInt64);
  Value end;
  if (size && std::all_of(size->begin(), size->end(), [](int64_t s) { return s == -1; })) {
    end = b.Ints(std::vector<int64_t>(size->size(), INT64_MAX));
  } else {
    const Term count = Term(n, 2).As(DType::kInt64);
    const auto known = b.Elements(n.Input(2));
    const bool no_rest = known && std::all_of(known->begin(), known->end(), [](const Dim& d) {
                           return d.LowerBound().value_or(-1) >= 0;
                         });
    end = start + count;
    if (!no_rest) end = Select(count < 0, Term(b, b.ShapeOf(x)), Term(b, end));
  }
  const std::vector<int64_t> ones(static_cast<size_t>(rank), 1);
  return {b.Op("dyn.strided_slice", {x, start, end, b.Ints(ones)})};
}

// --- Pad ---

Outputs PaddedInput(NodeContext& n, const PadSpec& spec) {
  TypedBuilder& b = n.b();
  const Value x = n.Input(0);
  const int64_t rank = x.rank();
  if (!n.FitsShape(n.Input(1), {Dim(rank), Dim(2)}, "paddings")) return {};
  if (rank == 0) return {x};
  const auto known = b.ConstantInts(n.Input(1));
  if (!known) {
    const Term pads = Term(n, 1).As(DType::kInt64);
    const auto column = [&](int64_t i) { return Term(b, b.Squeeze(pads.Slice(1, i, i + 1), {1})); };
    return {PaddedBy({n, 1, "paddings"}, x, column(0), column(1), spec)};
  }
  std::vector<std::pair<int64_t, int64_t>> widths;
  for (size_t i = 0; i < static_cast<size_t>(rank); ++i) {
    widths.emplace_back((*known)[2 * i], (*known)[2 * i + 1]);
    if (widths.back().first < 0 || widths.back().second < 0)
      return n.Fail("{}: expected 0 or more", n.InputText(1, "paddings"));
  }
  return OneOf(Padded(n, x, std::move(widths), spec));
}
Outputs Pad(NodeContext& n) { return PaddedInput(n, {.fill = Like(n, n.Input(0), 0)}); }
Outputs PadV2(NodeContext& n) { return PaddedInput(n, {.fill = AsScalar(Term(n, 2))}); }
Outputs MirrorPad(NodeContext& n) {
  const std::string mode = n.String("mode", "REFLECT");
  if (mode != "REFLECT" && mode != "SYMMETRIC")
    return n.Fail("mode: expected REFLECT or SYMMETRIC, found {}", mode);
  return PaddedInput(
      n, {.fill = Like(n, n.Input(0), 0), .mode = mode == "REFLECT" ? "reflect" : "symmetric"});
}

constexpr OperatorDef kSliceOperators[] = {
    {"MirrorPad", 2, 2, MirrorPad, {}, "?2"},
    {"Pad", 2, 2, OfParts<Pad>, {}, "?2"},
    {"PadV2", 3, 3, OfParts<PadV2>, {}, "?2"},
    {"Slice", 3, 3, OfParts<SliceOf>, {}, "?11"},
    {"StridedSlice", 4, 4, OfParts<StridedSlice>, {}, "?111"},
    {"StridedSliceGrad", 5, 5, StridedSliceGrad, {}, "1111"},
    {"TensorStridedSliceUpdate", 5, 5, TensorStridedSliceUpdate, {}, "?111"},
};

}  // namespace

std::span<const OperatorDef> SliceOperators() { return kSliceOperators; }

}  // namespace relayvm::import::tensorflow
