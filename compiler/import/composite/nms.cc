#include "compiler/import/composite/nms.h"

#include <cmath>

namespace relayvm::import {

Value NonMaxSuppressed(TypedBuilder& b, const NmsSpec& spec) {
  Term boxes(b, spec.boxes);
  if (spec.centres) {
    const Term centre = boxes.Slice(2, 0, 2), half = boxes.Slice(2, 2, 4) / 2;
    boxes = Term(b, b.Concat({centre - half, centre + half}, 2));
  }
  const auto limit = [&](const Value& v, double fallback) {
    return v ? v : b.Scalar(fallback, DType::kFloat32);
  };
  // None where there are none to take: the operator takes a negative number for all.
  const Value most = spec.most
                         ? Maximum(Term(b, spec.most).As(DType::kInt64), Term(b, b.Int(0))).value()
                         : b.Int(0);
  const std::vector<Value> found = b.Ops("vision.all_class_non_max_suppression",
                                         {boxes, spec.scores, most, limit(spec.iou_threshold, 0),
                                          limit(spec.score_threshold, -HUGE_VAL)},
                                         {});
  if (found.size() < 2) return {};
  return b.Op("dyn.strided_slice", {found[0], b.Ints({0}), found[1], b.Ints({1})});
}

Value KeptBoxes(TypedBuilder& b, NmsSpec spec) {
  if (!spec.most) spec.most = b.Int(INT64_MAX);
  spec.boxes = b.ExpandDims(spec.boxes, 0);
  spec.scores = b.ExpandDims(spec.scores, 0, 2);
  const Value found = NonMaxSuppressed(b, spec);
  return found ? b.Squeeze(Term(b, found).Slice(1, 2, 3), {1}) : found;
}

std::optional<ChosenBoxes> ChosenOneByOne(
    TypedBuilder& b, const Term& scores, const Term& most, const Term& threshold,
    const std::function<Term(const Term&, const Term&)>& lowered) {
  const Term none = scores.Call("zeros_like").As(DType::kInt64);
  const Term room = Minimum(most.As(DType::kInt64), Extent(b, scores, 0));
  // Where there are no boxes a further one is not chosen.
  const Term gone = scores.Number(-HUGE_VAL);
  const auto best = [&](const Term& s) {
    return Term(b, b.Concat({s, AsVector(gone)}, 0)).Over("max", {0}, false);
  };
  const auto last = b.While(
      {b.Int(0), scores, none, scores.Call("zeros_like")},
      [&](const TypedBuilder::State& s) {
        return And(Term(b, s[0]) < room, best({b, s[1]}) > threshold).value();
      },
      [&](const TypedBuilder::State& s) -> TypedBuilder::State {
        const Term i(b, s[0]), now(b, s[1]);
        const Term place =
            now.Call("argmax", {{"axis", AttrList{0}}, {"keepdims", false}}).As(DType::kInt64);
        const Term all = RangeOf(b, now, 0), here = Equal(all, i);
        const Term next = Select(Equal(all, place), gone, lowered(place, now));
        return {i + 1, next, Select(here, place, Term(b, s[2])),
                Select(here, now.Take(place, 0), Term(b, s[3]))};
      });
  if (last.size() != 4 || !b.status().ok()) return std::nullopt;
  return ChosenBoxes{Term(b, last[2]), Term(b, last[3]), Term(b, last[0])};
}

Term OverlapsWith(const Term& boxes, const Term& place) {
  const auto column = [](const Term& v, int64_t i) { return v.Slice(v.rank() - 1, i, i + 1); };
  const Term one = boxes.Take(place, 0).Expand(0);
  const auto low = [&](const Term& v, int64_t i) {
    return Minimum(column(v, i), column(v, i + 2));
  };
  const auto high = [&](const Term& v, int64_t i) {
    return Maximum(column(v, i), column(v, i + 2));
  };
  const auto area = [&](const Term& v) {
    return (high(v, 0) - low(v, 0)) * (high(v, 1) - low(v, 1));
  };
  const auto common = [&](int64_t i) {
    const Term length = Minimum(high(boxes, i), high(one, i)) - Maximum(low(boxes, i), low(one, i));
    return Maximum(length, length.Number(0));
  };
  const Term both = common(0) * common(1), all = area(boxes) + area(one) - both;
  const Term ratio = Select(all > 0, both / all, both.Number(0));
  return Select(And(area(boxes) > 0, area(one) > 0), ratio, ratio.Number(0)).Reshape({-1});
}

}  // namespace relayvm::import
