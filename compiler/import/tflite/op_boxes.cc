// Boxes of which those are left out that overlap better ones.
#include <cmath>
#include <string>

#include "compiler/import/composite/axes.h"
#include "compiler/import/composite/nms.h"
#include "compiler/import/tflite/operator.h"

namespace relayvm::import::tflite {

namespace {

// The greatest number below a threshold of 0 or more: overlaps that are it count too.
Term JustBelow(const Term& threshold) {
  TypedBuilder& b = threshold.b();
  const auto as = [&](const Term& x, DType dtype) {
    return x.Call("reinterpret", {{"dtype", std::string(DTypeName(dtype))}});
  };
  const Term bits = as(threshold, DType::kInt32) - Term(b, b.Int(1, DType::kInt32));
  return Select(threshold > 0, as(bits, DType::kFloat32), threshold);
}

// What each of boxes (n, 4), two corners, has in common with one (4), as a part of both; (n).
Term OverlapsOf(const Term& boxes, const Term& one) {
  const auto low = [](const Term& v, int64_t i) {
    return Minimum(v.Slice(1, i, i + 1), v.Slice(1, i + 2, i + 3));
  };
  const auto high = [](const Term& v, int64_t i) {
    return Maximum(v.Slice(1, i, i + 1), v.Slice(1, i + 2, i + 3));
  };
  const Term other = one.Expand(0);
  const auto area = [&](const Term& v) {
    return (high(v, 0) - low(v, 0)) * (high(v, 1) - low(v, 1));
  };
  const auto common = [&](int64_t i) {
    const Term length =
        Minimum(high(boxes, i), high(other, i)) - Maximum(low(boxes, i), low(other, i));
    return Maximum(length, length.Number(0));
  };
  const Term both = common(0) * common(1), of_boxes = area(boxes), of_one = area(other);
  const Term ratio = both / (of_boxes + of_one - both);
  return Select(And(of_boxes > 0, of_one > 0), ratio, ratio.Number(0)).Reshape({-1});
}

struct Kept {
  Term places, scores, count;  // int64, float32, int64 scalar
};

// One after the other the best; those that overlap it too much go, others' scores fall.
std::optional<Kept> SoftlyKept(NodeContext& n, const Term& most, const Term& sigma) {
  TypedBuilder& b = n.b();
  const Term boxes(n, 0), scores(n, 1);
  const Term overlap = AsScalar(Term(n, 3)), threshold = AsScalar(Term(n, 4));
  const Term gone = scores.Number(-HUGE_VAL), room = Minimum(most, Extent(b, scores, 0));
  const Term none = scores.Call("zeros_like").As(DType::kInt64);
  // Where there are no boxes a further one is not chosen.
  const auto best = [&](const Term& s) {
    return Term(b, b.Concat({s, AsVector(gone)}, 0)).Over("max", {0}, false);
  };
  const Term fall = Select(sigma > 0, sigma.Number(-0.5) / sigma, sigma.Number(0));
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
        const Term common = OverlapsOf(boxes, boxes.Take(place, 0));
        const Term lowered = now * Exp(common * common * fall);
        const Term left = Select(Or(Equal(all, place), common >= overlap), gone, lowered);
        return {i + 1, left, Select(here, place, Term(b, s[2])),
                Select(here, now.Take(place, 0), Term(b, s[3]))};
      });
  if (last.size() != 4 || !b.status().ok()) return std::nullopt;
  return Kept{Term(b, last[2]), Term(b, last[3]), Term(b, last[0])};
}

std::optional<Kept> HardlyKept(NodeContext& n, const Term& most) {
  TypedBuilder& b = n.b();
  NmsSpec spec;
  spec.boxes = Term(n, 0);
  spec.scores = Term(n, 1);
  // Of a threshold of 0 all are covered by the best.
  const Term overlap = AsScalar(Term(n, 3));
  spec.most = Select(overlap > 0, most, Minimum(most, most.Number(1)));
  spec.iou_threshold = JustBelow(overlap);
  spec.score_threshold = AsScalar(Term(n, 4));
  const Term places(b, KeptBoxes(b, spec));
  if (!b.status().ok()) return std::nullopt;
  return Kept{places, Term(n, 1).Take(places, 0), Extent(b, places, 0)};
}

// As many as may be kept, zeros behind those that are.
Outputs NonMaxSuppression(NodeContext& n) {
  TypedBuilder& b = n.b();
  if (n.Input(0).rank() != 2 || n.Input(1).rank() != 1)
    return n.Fail("expected boxes of 2 dims and scores of 1");
  const bool has_scores = n.code() == Code::NON_MAX_SUPPRESSION_V5;
  const Term most = AsScalar(Term(n, 2)).As(DType::kInt64);
  const auto known = has_scores
                         ? b.ConstantInts(AsScalar(Term(n, 5)).Call("sign").As(DType::kInt32))
                         : std::vector<int64_t>{0};
  const bool is_soft = !known || (*known)[0] > 0;
  const auto kept = is_soft ? SoftlyKept(n, most, AsScalar(Term(n, 5))) : HardlyKept(n, most);
  if (!kept) return {};
  const Term places = Range(most), inside = places < kept->count;
  // Where nothing was found there is a row that is not taken.
  const auto rows = [&](const Term& v) {
    const Term more(b, b.Concat({v, AsVector(v.Number(0))}, 0));
    return Select(inside, more.Take(Minimum(places, Extent(b, v, 0)), 0), v.Number(0));
  };
  const Value indices = rows(kept->places).As(DType::kInt32);
  const Value number = kept->count.As(DType::kInt32);
  if (has_scores) return {indices, rows(kept->scores), number};
  return {indices, number};
}

}  // namespace

std::span<const OperatorDef> BoxOperators() {
  static constexpr OperatorDef kTable[] = {
      {Code::NON_MAX_SUPPRESSION_V4, 5, 5, NonMaxSuppression},
      {Code::NON_MAX_SUPPRESSION_V5, 6, 6, NonMaxSuppression},
  };
  return kTable;
}

}  // namespace relayvm::import::tflite
