// Parts of tensors, and tensors in larger ones: Pad, Slice, Split.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/import/composite/axes.h"
#include "compiler/import/composite/padding.h"
#include "compiler/import/onnx/checked.h"

namespace relayvm::import {

namespace {

// Parts whose sizes are computed. `whole`: they are not negative and sum to the extent, which is
// checked; what is larger than any tensor counts as that, so that sums do not wrap (those of
// formulas over dims never do).
Outputs SplitBy(NodeContext& n, Value x, int axis, const std::vector<Term>& sizes, bool whole) {
  TypedBuilder& b = n.b();
  std::vector<Term> ends = {{b, b.Ints({0})}};
  for (const Term& size : sizes) {
    const bool bounded = !whole || FollowsFromDims(b, size.value());
    ends.push_back(ends.back() + (bounded ? size : Minimum(size, size.Number(0x1p48))));
  }
  if (whole) {
    const Term extent(b, b.DimOf(x, axis));
    ends.back() = Checked({n, 1, "the sum of split"}, ends.back(), extent, extent + 1);
    x = WithExtent(b, x, axis, ends.back());
  }
  const std::vector<int64_t> ones(static_cast<size_t>(axis) + 1, 1);
  Outputs parts;
  for (size_t i = 0; i < sizes.size(); ++i) {
    std::vector<Value> from, to;
    for (int k = 0; k < axis; ++k) {
      from.push_back(b.Ints({0}));
      to.push_back(b.Ints({INT64_MAX}));
    }
    from.push_back(ends[i]);
    to.push_back(ends[i + 1]);
    parts.push_back(
        b.Op("dyn.strided_slice", {x, b.Concat(from, 0), b.Concat(to, 0), b.Ints(ones)}));
  }
  return parts;
}

Outputs Split(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Value x = n.Input(0);
  const int axis = n.Axis(n.Int("axis", 0), x.rank());
  if (!b.status().ok()) return {};
  std::vector<int64_t> sizes;
  const auto outputs = static_cast<int64_t>(n.num_outputs());
  if (n.HasAttr("num_outputs") && n.Int("num_outputs", 0) != outputs) {
    return n.Fail("num_outputs: {}, expected {}, as many as the node's outputs",
                  n.Int("num_outputs", 0), outputs);
  }
  const auto has_count = [&](int64_t count) {
    if (count != outputs) {
      n.Fail("{}: {} sizes, expected {}, as many as the node's outputs", n.InputText(1, "split"),
             count, outputs);
    }
    return count == outputs;
  };
  if (n.HasAttr("split")) {
    sizes = n.Ints("split");
    if (!has_count(static_cast<int64_t>(sizes.size()))) return {};
  } else if (n.Has(1)) {
    const auto given = b.ConstantInts(n.Input(1));
    if (!given) {
      const auto count = CountOf(n, n.Input(1), "split");
      if (!count || !has_count(*count)) return {};
      const Term split = Term(b, NotNegative({n, 1, "split"})).As(DType::kInt64);
      std::vector<Term> all;
      for (int64_t i = 0; i < *count; ++i) all.push_back(split.Slice(0, i, i + 1));
      return SplitBy(n, x, axis, all, /*whole=*/true);
    }
    sizes = *given;
    if (!has_count(static_cast<int64_t>(sizes.size()))) return {};
  }
  const size_t parts = sizes.empty() ? n.num_outputs() : sizes.size();
  if (sizes.empty()) {
    const auto count = static_cast<int64_t>(parts);
    if (parts <= 1) return {x};
    if (!x.dim(axis).is_const()) {
      // Equal parts, the last one smaller; which is what a slice beyond the end gives.
      const Term size =
          (Term(b, b.DimOf(x, axis)) + static_cast<double>(count - 1)) / static_cast<double>(count);
      return SplitBy(n, x, axis, std::vector<Term>(parts, size), /*whole=*/false);
    }
    const int64_t extent = x.dim(axis).value(), size = extent / count + (extent % count != 0);
    for (int64_t i = 0; i < count; ++i)
      sizes.push_back(std::clamp<int64_t>(extent - i * size, 0, size));
  }
  for (const int64_t size : sizes) {
    if (size < 0) return n.Fail("{}: {}, expected 0 or more", n.InputText(1, "split"), size);
  }
  int64_t total = 0;
  for (int64_t size : sizes) {
    if (__builtin_add_overflow(total, size, &total)) return n.Fail("split: the sizes overflow");
  }
  if (x.dim(axis).is_const() && x.dim(axis).value() != total) {
    return n.Fail("the sum of {}: {}, expected {}, the extent of axis {}", n.InputText(1, "split"),
                  total, x.dim(axis).value(), axis);
  }
  const Value whole =
      Stating(n, x, axis, total,
              fmt::format("{}, that {} fills,", n.InputText(0, "input"), n.InputText(1, "split")));
  if (sizes.size() == 1) return {whole};
  AttrList at;
  int64_t position = 0;
  for (size_t i = 0; i + 1 < sizes.size(); ++i) at.emplace_back(position += sizes[i]);
  return b.Ops("split", {whole}, {{"indices_or_sections", at}, {"axis", axis}});
}

// The steps of a slice, none of which may be 0: what is below 2^63 as an unsigned number but for 0.
Term NotZero(NodeContext& n) {
  const Term steps = Term(n, 4).As(DType::kInt64);
  const Term size = AtLeast({n, 4, "steps, by their sizes,"}, Abs(steps), 1);
  return Select(steps < 0, -size, size);
}

// starts, ends, axes and steps that are all computed.
Outputs SliceBy(NodeContext& n, const Value& x, const Value& starts, const Value& ends,
                int64_t count) {
  TypedBuilder& b = n.b();
  const int64_t rank = x.rank();
  if (count > rank) return n.Fail("more starts than dims");
  const Term axes =
      n.Has(3) ? CheckedAxes({n, 3, "axes"}, rank, count) : Term(b, b.Ints(Iota(count)));
  const std::vector<int64_t> ones(static_cast<size_t>(rank), 1);
  const std::vector<int64_t> last(static_cast<size_t>(rank), INT64_MAX);
  const Value begin = ByAxis(b.Ints(std::vector<int64_t>(ones.size(), 0)), axes, {b, starts});
  const Value end = ByAxis(b.Ints(last), axes, {b, ends});
  const Value steps = n.Has(4) ? ByAxis(b.Ints(ones), axes, NotZero(n)).value() : b.Ints(ones);
  return {b.Op("dyn.strided_slice", {x, begin, end, steps})};
}

// One index per axis; the ends of ONNX's slices lie where numpy's do.
Outputs Slice(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Value x = n.Input(0);
  std::vector<int64_t> axes, steps;
  Value starts, ends;
  size_t count = 0;
  if (n.opset() < 10) {
    starts = b.Ints(n.Ints("starts"));
    ends = b.Ints(n.Ints("ends"));
    axes = n.Ints("axes");
  } else {
    starts = n.Input(1);
    ends = n.Input(2);
    if ((n.Has(3) && !b.ConstantInts(n.Input(3))) || (n.Has(4) && !b.ConstantInts(n.Input(4)))) {
      const auto given = CountOf(n, starts, "starts");
      if (!given) return {};
      return SliceBy(n, x, starts, ends, *given);
    }
    if (n.Has(3)) {
      auto given = n.ConstantInts(3, "axes");
      if (!given) return {};
      axes = *given;
    }
    if (n.Has(4)) {
      auto given = n.ConstantInts(4, "steps");
      if (!given) return {};
      steps = *given;
    }
  }
  const auto known = CountOf(n, starts, "starts");
  if (!known || !CountOf(n, ends, "ends")) return {};
  count = static_cast<size_t>(*known);
  if (axes.empty()) {
    for (size_t i = 0; i < count; ++i) axes.push_back(static_cast<int64_t>(i));
  }
  axes = n.Axes(axes, x.rank(), n.Has(3) ? n.InputText(3, "axes") : "");
  if (steps.empty()) steps.assign(count, 1);
  const auto first = b.ConstantInts(starts), last = b.ConstantInts(ends);
  if (axes.size() != count || steps.size() != count)
    return n.Fail("starts, axes and steps differ in length");
  if (ends.dim(0) != starts.dim(0)) return n.Fail("starts and ends differ in length");
  if (std::find(steps.begin(), steps.end(), 0) != steps.end())
    return n.Fail("{}: 0, expected another number", n.InputText(4, "steps"));
  if (count == 0) return {x};
  if (first && last) {
    if (last->size() != count) return n.Fail("starts and ends differ in length");
    const Value y = b.Op("strided_slice", {x},
                         {{"begin", ListOf(*first)},
                          {"end", ListOf(*last)},
                          {"strides", ListOf(steps)},
                          {"axes", ListOf(axes)}});
    const bool forward = std::all_of(steps.begin(), steps.end(), [](int64_t s) { return s == 1; });
    return {forward && y.shape() == x.shape() ? x : y};  // all of it
  }
  // dyn.strided_slice takes all axes from the first on.
  const int64_t covered = *std::max_element(axes.begin(), axes.end()) + 1;
  std::vector<Value> begin, end;
  std::vector<int64_t> strides;
  const Value starts64 = b.Cast(starts, DType::kInt64), ends64 = b.Cast(ends, DType::kInt64);
  const auto at = [&](const Value& v, int64_t i) {
    return b.Op("strided_slice", {v},
                {{"begin", AttrList{i}}, {"end", AttrList{i + 1}}, {"strides", AttrList{1}}});
  };
  for (int64_t axis = 0; axis < covered; ++axis) {
    const auto found = std::find(axes.begin(), axes.end(), axis);
    if (found == axes.end()) {
      begin.push_back(b.Ints({0}));
      end.push_back(b.DimOf(x, static_cast<int>(axis)));
      strides.push_back(1);
    } else {
      const int64_t i = found - axes.begin();
      begin.push_back(at(starts64, i));
      end.push_back(at(ends64, i));
      strides.push_back(steps[static_cast<size_t>(i)]);
    }
  }
  return {b.Op("dyn.strided_slice", {x, b.Concat(begin, 0), b.Concat(end, 0), b.Ints(strides)})};
}

// Pads that are computed, or axes.
Outputs PadBy(NodeContext& n, const Value& x, const PadSpec& spec) {
  TypedBuilder& b = n.b();
  const int64_t rank = x.rank();
  const Term pads = Term(n, 1).As(DType::kInt64);
  const auto count = CountOf(n, pads, "pads");
  if (!count) return {};
  const int64_t half = *count / 2;
  if (*count != 2 * half || half > rank || (half < rank && !n.Has(3)))
    return n.Fail("pads: expected a start and an end for each axis");
  Term before = pads.Slice(0, 0, half), after = pads.Slice(0, half, *count);
  if (n.Has(3)) {
    const auto axes = CountOf(n, n.Input(3), "axes");
    if (!axes) return {};
    if (*axes != half) return n.Fail("pads: expected a start and an end for each axis");
    const Value zeros = b.Ints(std::vector<int64_t>(static_cast<size_t>(rank), 0));
    const Term places = CheckedAxes({n, 3, "axes"}, rank, half);
    before = ByAxis(zeros, places, before);
    after = ByAxis(zeros, places, after);
  }
  return {PaddedBy({n, 1, "pads"}, x, before, after, spec)};
}

Outputs Pad(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Value x = n.Input(0);
  PadSpec spec{.fill = Like(n, x, n.Float("value", 0)), .mode = n.String("mode", "constant")};
  std::vector<int64_t> pads;
  if (n.opset() < 11) {
    pads = n.HasAttr("pads") ? n.Ints("pads") : n.Ints("paddings");
  } else {
    if (n.Has(2)) spec.fill = AsScalar(Term(n, 2));
    if (!n.Has(1)) return n.Fail("expected pads");
    if (!b.ConstantInts(n.Input(1)) || (n.Has(3) && !b.ConstantInts(n.Input(3))))
      return PadBy(n, x, spec);
    pads = *b.ConstantInts(n.Input(1));
  }
  std::vector<int64_t> axes = Iota(x.rank());
  if (n.Has(3)) {
    auto given = n.ConstantInts(3, "axes");
    if (!given) return {};
    axes = n.Axes(*given, x.rank(), n.InputText(3, "axes"));
  }
  if (pads.size() != 2 * axes.size())
    return n.Fail("pads: expected a start and an end for each axis");
  std::vector<std::pair<int64_t, int64_t>> widths(static_cast<size_t>(x.rank()));
  for (size_t i = 0; i < axes.size(); ++i)
    widths[static_cast<size_t>(axes[i])] = {pads[i], pads[i + axes.size()]};
  const auto y = Padded(n, x, std::move(widths), spec);
  return y ? Outputs{*y} : Outputs{};
}

constexpr OperatorDef kSliceOperators[] = {
    {"Pad", 1, 4, Pad},
    {"Slice", 1, 5, Slice},
    {"Split", 1, 2, Split},
};

}  // namespace

std::span<const OperatorDef> SliceOperators() { return kSliceOperators; }

}  // namespace relayvm::import
