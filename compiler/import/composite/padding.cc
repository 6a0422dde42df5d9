#include "compiler/import/composite/padding.h"

#include <fmt/format.h>

#include <algorithm>

namespace relayvm::import {

namespace {

// What wraps around: indices modulo the extents; or, `mirrored`, modulo twice the extents, of which
// the second half runs back.
Value Wrapped(TypedBuilder& b, const Value& x, const Term& before, const Term& after,
              bool mirrored) {
  Term y(b, x);
  for (int axis = 0; axis < x.rank(); ++axis) {
    const Term from = AsScalar(before.Slice(0, axis, axis + 1));
    const Term extent = Extent(b, x, axis);
    const Term places = Range(extent + from + AsScalar(after.Slice(0, axis, axis + 1))) - from;
    if (mirrored) {
      const Term place = places.Call("floor_mod", extent * 2);
      y = y.Take(Minimum(place, extent * 2 - 1 - place), axis);
    } else {
      y = y.Take(places.Call("floor_mod", extent), axis);
    }
  }
  return y;
}

Value PaddedDyn(TypedBuilder& b, const Value& x, const Value& widths, const PadSpec& spec) {
  return b.Op("dyn.nn.pad", {x, widths, spec.fill}, {{"pad_mode", spec.mode}});
}

// `x` without what negative pads cut off, which become 0. Pads that follow from dims are sizes:
// none is negative.
Value Cropped(const InputName& pads, const Value& x, Term* before, Term* after) {
  TypedBuilder& b = pads.b;
  InputName stays = pads;
  stays.measured = "what stays of an axis by the negative ";
  const auto is_size = [&](const Term& pad) {
    const auto number = b.ConstantInts(pad);
    return number ? (*number)[0] >= 0 : FollowsFromDims(b, pad);
  };
  std::vector<Value> begin, end;
  bool crops = false;
  for (int axis = 0; axis < x.rank(); ++axis) {
    const Term front = before->Slice(0, axis, axis + 1), back = after->Slice(0, axis, axis + 1);
    if (is_size(front) && is_size(back)) {
      begin.push_back(b.Ints({0}));
      end.push_back(b.Ints({INT64_MAX}));
      continue;
    }
    crops = true;
    const Term first = -Minimum(front, front.Number(0));
    const Term lost = first - Minimum(back, back.Number(0));
    const Term left = AtLeast(stays, Term(b, b.DimOf(x, axis)) - lost, 0);
    begin.push_back(first);
    end.push_back(first + left);
  }
  if (!crops) return x;
  *before = Maximum(*before, before->Number(0));
  *after = Maximum(*after, after->Number(0));
  const std::vector<int64_t> ones(begin.size(), 1);
  return b.Op("dyn.strided_slice", {x, b.Concat(begin, 0), b.Concat(end, 0), b.Ints(ones)});
}

}  // namespace

std::optional<Value> Padded(TypedBuilder& b, const Value& x,
                            std::vector<std::pair<int64_t, int64_t>> widths, const PadSpec& spec) {
  if (spec.mode == "wrap" || spec.mode == "symmetric") {
    std::vector<int64_t> before, after;
    for (const auto& [first, last] : widths) {
      before.push_back(first);
      after.push_back(last);
    }
    return Wrapped(b, x, {b, b.Ints(before)}, {b, b.Ints(after)}, spec.mode == "symmetric");
  }
  AttrList begin, end, strides, pairs;
  bool crops = false;
  for (size_t axis = 0; axis < widths.size(); ++axis) {
    const auto [before, after] = widths[axis];
    crops |= before < 0 || after < 0;
    // Negated, each fits for sure; and what is cut off a dim that is known is no more than it has.
    const int64_t front = std::min<int64_t>(before, 0), back = std::min<int64_t>(after, 0);
    const Dim extent = x.dim(static_cast<int>(axis));
    const int64_t room = extent.is_const() ? extent.value() : INT64_MAX;
    if (front < -room || back < -room - front)
      return b.Fail("pads: axis {} has {} elements, and loses more", axis, room);
    begin.emplace_back(-front);
    end.emplace_back(after < 0 ? after : INT64_MAX);
    strides.emplace_back(1);
    pairs.emplace_back(AttrList{std::max<int64_t>(before, 0), std::max<int64_t>(after, 0)});
  }
  const Value source =
      crops ? b.Op("strided_slice", {x}, {{"begin", begin}, {"end", end}, {"strides", strides}})
            : x;
  return b.Op("nn.pad", {source, spec.fill}, {{"pad_width", pairs}, {"pad_mode", spec.mode}});
}

Value PaddedBy(const InputName& pads, const Value& x, Term before, Term after,
               const PadSpec& spec) {
  TypedBuilder& b = pads.b;
  const bool mirrored = spec.mode == "symmetric";
  if (mirrored || spec.mode == "wrap") return Wrapped(b, x, before, after, mirrored);
  const Value source = Cropped(pads, x, &before, &after);
  // A pair for each axis.
  std::vector<int64_t> places;
  for (int64_t i = 0; i < x.rank(); ++i) places.insert(places.end(), {i, x.rank() + i});
  const Term ends(b, b.Concat({before, after}, 0));
  return PaddedDyn(b, source, ends.Take(b.Ints(places), 0).Reshape({-1, 2}), spec);
}

Value PaddedBehind(TypedBuilder& b, const Value& x, const Term& after) {
  const Value widths = b.Concat({(after * 0.0).Expand(1), after.Expand(1)}, 1);
  return PaddedDyn(b, x, widths, {.fill = Like(b, x, 0)});
}

}  // namespace relayvm::import
