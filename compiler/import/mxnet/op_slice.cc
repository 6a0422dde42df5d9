// Parts of tensors, and tensors with something added around or repeated.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/import/composite/padding.h"
#include "compiler/import/mxnet/convert.h"
#include "compiler/import/mxnet/shapes.h"

namespace relayvm::import::mxnet {

Term Diagonal(const Term& in, int64_t offset, int axis1, int axis2) {
  TypedBuilder& b = in.b();
  std::vector<int64_t> axes;
  for (int i = 0; i < in.rank(); ++i) {
    if (i != axis1 && i != axis2) axes.push_back(i);
  }
  axes.push_back(axis1);
  axes.push_back(axis2);
  const Term x = in.Transpose(axes);
  const int rank = x.rank();
  const Term rows = Extent(b, x, rank - 2), columns = Extent(b, x, rank - 1);
  const auto down = static_cast<double>(std::max<int64_t>(-offset, 0)),
             right = static_cast<double>(std::max<int64_t>(offset, 0));
  const Term zero(b, b.Int(0));
  const Term count = Maximum(Minimum(rows - down, columns - right), zero);
  const Term at = (Range(count) + down) * columns + Range(count) + right;
  std::vector<Value> dims = DimsOf(b, x, 0, rank - 2);
  dims.push_back(b.Ints({-1}));
  return Term(b, ShapedAs(b, x, dims)).Take(at, rank - 2);
}

Term DiagonalMatrix(const Term& x, int64_t offset) {
  TypedBuilder& b = x.b();
  const auto down = static_cast<double>(std::max<int64_t>(-offset, 0));
  const Term size = Extent(b, x, 0) + static_cast<double>(std::abs(offset));
  const Term row = Range(size).Expand(1), column = Range(size);
  const Term here = Equal(column - row, static_cast<double>(offset));
  const Term place = Minimum(Maximum(row - down, row.Number(0)), Extent(b, x, 0) - 1);
  const Term elements = x.Take(place, 0);  // (rows, 1)
  return Select(here, elements, elements.Number(0));
}

namespace {

// --- Slices ---

// begin, end and step, where they are not None.
Outputs Slice(Node& n) {
  const Term x(n, 0);
  const auto begin = n.IntsOrNone("begin"), end = n.IntsOrNone("end"), step = n.IntsOrNone("step");
  if (begin.size() != end.size() || begin.size() > static_cast<size_t>(x.rank()) ||
      (!step.empty() && step.size() != begin.size())) {
    return n.Fail("expected begin, end and step of at most {} numbers", x.rank());
  }
  AttrList axes, from, to, steps;
  for (size_t i = 0; i < begin.size(); ++i) {
    const int64_t s = i < step.size() ? step[i].value_or(1) : 1;
    if (s == 0) return n.Fail("attribute step: 0");
    axes.emplace_back(static_cast<int64_t>(i));
    from.emplace_back(begin[i].value_or(s > 0 ? 0 : INT64_MAX));
    to.emplace_back(end[i].value_or(s > 0 ? INT64_MAX : INT64_MIN));
    steps.emplace_back(s);
  }
  if (axes.empty()) return {x};
  return {
      x.Call("strided_slice", {{"begin", from}, {"end", to}, {"strides", steps}, {"axes", axes}})};
}
Outputs SliceAxis(Node& n) {
  const Term x(n, 0);
  const int axis = n.Axis(n.Int("axis", 0), x.rank());
  return {x.Slice(axis, n.MaybeInt("begin").value_or(0), n.MaybeInt("end").value_or(INT64_MAX))};
}
// As long as another tensor along `axes`.
Outputs SliceLike(Node& n) {
  TypedBuilder& b = n.b();
  const Value x = n.Input(0), y = n.Input(1);
  std::vector<int64_t> axes = n.Axes(n.Ints("axes"), x.rank());
  if (axes.empty()) axes = Iota(std::min(x.rank(), y.rank()));
  if (!b.status().ok()) return {};
  return {b.Op("slice_like", {x, y}, {{"axes", ListOf(axes)}})};
}

// Rows of a picture and their columns, as large as the second input or as said.
Outputs Crop(Node& n) {
  TypedBuilder& b = n.b();
  const Term x(n, 0);
  if (!n.ExpectRank(x, 4, "data") || (n.Has(1) && !n.ExpectRank(n.Input(1), 4, "crop_like")))
    return {};
  const std::vector<int64_t> offset = n.Counts("offset", {0, 0}), size = n.Counts("h_w", {0, 0});
  if (offset.size() != 2 || size.size() != 2) return n.Fail("expected an offset and h_w of two");
  const bool centre = n.Bool("center_crop", false);
  std::vector<Value> from = {b.Ints({0}), b.Ints({0})}, to = {b.DimOf(x, 0), b.DimOf(x, 1)};
  for (int i = 0; i < 2; ++i) {
    const auto k = static_cast<size_t>(i);
    const Term extent(b, n.Has(1) ? b.DimOf(n.Input(1), i + 2) : b.Ints({size[k]}));
    const Term room = Term(b, b.DimOf(x, i + 2)) - extent;
    const Term start =
        centre ? room.Call("floor_divide", room.Number(2)) : Term(b, b.Ints({offset[k]}));
    from.push_back(start);
    to.push_back(start + extent);
  }
  const Value begin = b.Concat(from, 0), end = b.Concat(to, 0);
  const auto known_begin = b.ConstantInts(begin), known_end = b.ConstantInts(end);
  if (known_begin && known_end) {
    return {x.Call("strided_slice", {{"begin", ListOf(*known_begin)},
                                     {"end", ListOf(*known_end)},
                                     {"strides", AttrList{1, 1, 1, 1}}})};
  }
  return {b.Op("dyn.strided_slice", {x, begin, end, b.Ints({1, 1, 1, 1})})};
}

// --- Splits ---

Outputs WithoutAxis(Node& n, Outputs parts, int axis) {
  for (Value& part : parts) part = n.b().Squeeze(part, {axis});
  return parts;
}
Outputs EqualParts(Node& n, int axis, int64_t count) {
  constexpr int64_t kMost = 1 << 20;
  if (count < 1 || count > kMost) return n.Fail("{} parts", count);
  if (count == 1) return {n.Input(0)};
  return n.b().Ops("split", {n.Input(0)}, {{"indices_or_sections", count}, {"axis", axis}});
}
Outputs SliceChannel(Node& n) {
  const int axis = n.Axis(n.Int("axis", 1), n.Input(0).rank());
  if (!n.b().status().ok()) return {};
  Outputs parts = EqualParts(n, axis, n.Int("num_outputs", 1));
  return n.Bool("squeeze_axis", false) ? WithoutAxis(n, std::move(parts), axis) : parts;
}
// From each index to the next.
Outputs SplitAt(Node& n, int axis) {
  if (!n.b().status().ok()) return {};
  const int64_t sections = n.Int("sections", 0);
  Outputs parts;
  const Dim extent = n.Input(0).dim(axis);
  if (sections > 0 && sections <= INT16_MAX && extent.is_const() &&
      extent.value() % sections != 0) {
    // The first ones have one more.
    const int64_t least = extent.value() / sections, more = extent.value() % sections;
    for (int64_t i = 0, at = 0; i < sections; ++i) {
      const int64_t end = at + least + (i < more ? 1 : 0);
      parts.push_back(Term(n, 0).Slice(axis, at, end));
      at = end;
    }
  } else if (sections > 0) {
    parts = EqualParts(n, axis, sections);
  } else {
    const std::vector<int64_t> at = n.Ints("indices");
    for (size_t i = 0; i < at.size(); ++i)
      parts.push_back(Term(n, 0).Slice(axis, at[i], i + 1 < at.size() ? at[i + 1] : INT64_MAX));
  }
  return n.Bool("squeeze_axis", false) ? WithoutAxis(n, std::move(parts), axis) : parts;
}
Outputs Split(Node& n) { return SplitAt(n, n.Axis(n.Int("axis", 1), n.Input(0).rank())); }
Outputs HorizontalSplit(Node& n) { return SplitAt(n, n.Input(0).rank() > 1 ? 1 : 0); }
Outputs DepthSplit(Node& n) { return SplitAt(n, n.Axis(2, n.Input(0).rank())); }

// --- Turned ---

Outputs Reverse(Node& n) {
  Term x(n, 0);
  std::vector<int64_t> axes = n.Axes(n.Ints("axis"), x.rank());
  if (!n.HasAttr("axis")) axes = Iota(x.rank());
  if (!n.b().status().ok()) return {};
  for (const int64_t axis : axes) x = x.Call("reverse", {{"axis", axis}});
  return {x};
}
Outputs Rotate90(Node& n) {
  const Term x(n, 0);
  const std::vector<int64_t> axes = n.Axes(n.Ints("axes", {0, 1}), x.rank());
  if (!n.b().status().ok()) return {};
  if (axes.size() != 2 || axes[0] == axes[1]) return n.Fail("attribute axes: expected two axes");
  const auto flip = [&](const Term& v, size_t i) { return v.Call("reverse", {{"axis", axes[i]}}); };
  std::vector<int64_t> order = Iota(x.rank());
  std::swap(order[static_cast<size_t>(axes[0])], order[static_cast<size_t>(axes[1])]);
  const int64_t k = ((n.Int("k", 1) % 4) + 4) % 4;
  if (k == 0) return {x};
  if (k == 2) return {flip(flip(x, 0), 1)};
  return {k == 1 ? flip(x, 1).Transpose(order) : flip(x.Transpose(order), 1)};
}
// Elements move `shift` places along an axis, and what leaves comes in at the other end.
Outputs Roll(Node& n) {
  TypedBuilder& b = n.b();
  Term x(n, 0);
  std::vector<int64_t> shifts = n.Ints("shift");
  const bool flat = !n.HasAttr("axis");
  std::vector<int64_t> axes = flat ? std::vector<int64_t>{0} : n.Axes(n.Ints("axis"), x.rank());
  if (shifts.size() == 1) shifts.assign(axes.size(), shifts[0]);
  if (axes.size() == 1) axes.assign(shifts.size(), axes[0]);
  if (!b.status().ok()) return {};
  if (axes.size() != shifts.size()) return n.Fail("expected a shift for each axis");
  if (flat) x = x.Reshape({-1});
  for (size_t i = 0; i < axes.size(); ++i) {
    const int axis = static_cast<int>(axes[i]);
    const Term extent = Extent(b, x, axis);
    const Term at = Range(extent) - static_cast<double>(shifts[i]);
    x = x.Take(at.Call("floor_mod", Maximum(extent, extent.Number(1))), axis);
  }
  return {flat ? ShapedAs(b, x, {b.ShapeOf(n.Input(0))}) : x.value()};
}

// --- Repeated and padded ---

Outputs Tile(Node& n) {
  const std::vector<int64_t> reps = n.Counts("reps");
  return {reps.empty() ? n.Input(0) : Term(n, 0).Call("tile", {{"reps", ListOf(reps)}}).value()};
}
Outputs Repeat(Node& n) {
  const Term x(n, 0);
  const int64_t times = n.Count("repeats", 1);
  if (!n.HasAttr("axis"))
    return {x.Reshape({-1}).Call("repeat", {{"repeats", times}, {"axis", 0}})};
  return {x.Call("repeat", {{"repeats", times}, {"axis", n.Axis(n.Int("axis", 0), x.rank())}})};
}

// What is added holds the greatest (or least) of all along its axis.
Term PaddedWithExtreme(const Term& in, const std::vector<std::pair<int64_t, int64_t>>& widths,
                       std::string_view op) {
  TypedBuilder& b = in.b();
  Term x = in;
  for (size_t i = 0; i < widths.size(); ++i) {
    const auto axis = static_cast<int64_t>(i);
    const Term extreme = x.Over(op, {axis});
    std::vector<Value> parts;
    const auto add = [&](int64_t count) {
      if (count > 0) parts.push_back(extreme.Call("repeat", {{"repeats", count}, {"axis", axis}}));
    };
    add(widths[i].first);
    parts.push_back(x);
    add(widths[i].second);
    x = Term(b, b.Concat(parts, static_cast<int>(axis)));
  }
  return x;
}
Outputs Pad(Node& n) {
  const Term x(n, 0);
  const std::vector<int64_t> flat = n.Counts("pad_width");
  std::vector<std::pair<int64_t, int64_t>> widths(static_cast<size_t>(x.rank()));
  // One pair, or one number, is for all axes.
  const size_t count = flat.size();
  if (count != 2 * widths.size() && count != 2 && count != 1)
    return n.Fail("attribute pad_width: expected {} numbers, found {}", 2 * widths.size(), count);
  for (size_t i = 0; i < widths.size(); ++i) {
    const size_t at = count == 2 * widths.size() ? 2 * i : 0;
    widths[i] = {flat[at], count == 1 ? flat[0] : flat[at + 1]};
  }
  const std::string mode = n.Choice(
      "mode", "constant", {"constant", "edge", "reflect", "symmetric", "maximum", "minimum"});
  if (n.Text("reflect_type", "even") != "even")
    return n.Unsupported("attribute reflect_type: only even is supported");
  if (mode == "maximum" || mode == "minimum")
    return {PaddedWithExtreme(x, widths, mode == "maximum" ? "max" : "min")};
  const auto y =
      Padded(n, x, widths, {.fill = Like(n, x, n.Float("constant_value", 0)), .mode = mode});
  return y ? Outputs{*y} : Outputs{};
}

// --- Diagonals ---

Outputs Diag(Node& n) {
  const Term x(n, 0);
  const int64_t k = n.Int("k", 0);
  if (k < INT32_MIN || k > INT32_MAX) return n.Fail("attribute k: out of range");
  if (x.rank() == 1) return {DiagonalMatrix(x, k)};
  const int axis1 = n.Axis(n.Int("axis1", 0), x.rank()),
            axis2 = n.Axis(n.Int("axis2", 1), x.rank());
  if (!n.b().status().ok()) return {};
  if (axis1 == axis2) return n.Fail("axis1 and axis2 are one axis");
  return {Diagonal(x, k, axis1, axis2)};
}
Outputs DiagFlat(Node& n) {
  const int64_t k = n.Int("k", 0);
  if (k < INT32_MIN || k > INT32_MAX) return n.Fail("attribute k: out of range");
  return {DiagonalMatrix(Term(n, 0).Reshape({-1}), k)};
}
std::optional<Term> DiagonalByAttributes(Node& n) {
  const Term x(n, 0);
  const int64_t offset = n.Int("offset", 0);
  const int axis1 = n.Axis(n.Int("axis1", 0), x.rank()),
            axis2 = n.Axis(n.Int("axis2", 1), x.rank());
  if (!n.b().status().ok()) return std::nullopt;
  if (axis1 == axis2 || offset < INT32_MIN || offset > INT32_MAX)
    return n.Fail("expected two axes and an offset of 32 bits");
  return Diagonal(x, offset, axis1, axis2);
}
Outputs DiagonalOf(Node& n) {
  const auto d = DiagonalByAttributes(n);
  return d ? Outputs{*d} : Outputs{};
}
Outputs Trace(Node& n) {
  const auto d = DiagonalByAttributes(n);
  return d ? Outputs{d->Over("sum", {-1}, false)} : Outputs{};
}
Outputs Tril(Node& n) {
  Term x(n, 0);
  if (x.rank() == 1) {
    // As many rows.
    const Value extent = n.b().DimOf(x, 0);
    x = Term(n.b(), BroadcastTo(n, x, {extent, extent}));
  }
  return {x.Call("trilu", n.b().Int(n.Int("k", 0)), {{"upper", false}})};
}

constexpr OperatorDef kSliceOperators[] = {
    {"Crop", 1, 2, Crop},
    {"Pad pad _npi_pad", 1, 1, Pad},
    {"SliceChannel split", 1, 1, SliceChannel},
    {"_np_diag", 1, 1, Diag},
    {"_np_diagflat", 1, 1, DiagFlat},
    {"_np_diagonal", 1, 1, DiagonalOf},
    {"_np_roll", 1, 1, Roll},
    {"_np_trace", 1, 1, Trace},
    {"_npi_dsplit", 1, 1, DepthSplit},
    {"_npi_hsplit", 1, 1, HorizontalSplit},
    {"_npi_rot90", 1, 1, Rotate90},
    {"_npi_tril", 1, 1, Tril},
    {"_split_v2 _npi_split", 1, 1, Split},
    {"diag", 1, 1, Diag},
    {"repeat _np_repeat", 1, 1, Repeat},
    {"reverse flip _npi_flip", 1, 1, Reverse},
    {"slice crop _npi_slice _npx_slice", 1, 1, Slice},
    {"slice_axis", 1, 1, SliceAxis},
    {"slice_like", 2, 2, SliceLike},
    {"tile _npi_tile", 1, 1, Tile},
};

}  // namespace

std::span<const OperatorDef> SliceOperators() { return kSliceOperators; }

}  // namespace relayvm::import::mxnet
