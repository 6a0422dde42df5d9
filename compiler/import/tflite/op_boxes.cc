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

// One after the other the best; those that overlap it too much go, others' scores fall.
std::optional<ChosenBoxes> SoftlyKept(NodeContext& n, const Term& most, const Term& sigma) {
  const Term boxes(n, 0), scores(n, 1), overlap = AsScalar(Term(n, 3));
  const Term fall = Select(sigma > 0, sigma.Number(-0.5) / sigma, sigma.Number(0));
  return ChosenOneByOne(
      n, scores, most, AsScalar(Term(n, 4)), [&](const Term& place, const Term& now) {
        const Term common = OverlapsWith(boxes, place);
        return Select(common >= overlap, now.Number(-HUGE_VAL), now * Exp(common * common * fall));
      });
}

std::optional<ChosenBoxes> HardlyKept(NodeContext& n, const Term& most) {
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
  return ChosenBoxes{places, Term(n, 1).Take(places, 0), Extent(b, places, 0)};
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
