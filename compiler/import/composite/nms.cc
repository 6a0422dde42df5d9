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

}  // namespace relayvm::import
