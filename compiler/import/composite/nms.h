// Boxes of which those are left out that overlap better ones. Tested by nms_test.cc.
#pragma once

#include <functional>
#include <optional>

#include "compiler/import/arithmetic.h"

namespace relayvm::import {

struct NmsSpec {
  Value boxes;           // (batch, boxes, 4): two opposite corners
  Value scores;          // (batch, classes, boxes)
  bool centres = false;  // boxes are (x, y, width, height), x and y of the centre
  Value most;            // boxes of a class, an integer scalar: negative or 0 are none; no value: 0
  Value iou_threshold;   // float32 scalars; no value: 0
  Value score_threshold;  // what is not above it is left out; no value: everything counts
};
// (found, 3), int64: batch, class and box, by batch, class, and score from the best on.
Value NonMaxSuppressed(TypedBuilder& b, const NmsSpec& spec);
// Of boxes (boxes, 4) with one score each (boxes): the boxes that are left, (found), int64, from
// the best on. All of them where `spec.most` has no value.
Value KeptBoxes(TypedBuilder& b, NmsSpec spec);

// One after the other the best of `scores` (n) that is above `threshold`, `most` at the most; each
// lowers the others' scores by `lowered(its place, the scores)`. Nullopt with an error.
struct ChosenBoxes {
  Term places, scores, count;  // (n) int64, (n), both undefined from `count` (int64, rank 0) on
};
std::optional<ChosenBoxes> ChosenOneByOne(
    TypedBuilder& b, const Term& scores, const Term& most, const Term& threshold,
    const std::function<Term(const Term&, const Term&)>& lowered);
// What each of boxes (n, 4), two opposite corners, has in common with the one at `place`, as a part
// of both; (n).
Term OverlapsWith(const Term& boxes, const Term& place);

}  // namespace relayvm::import
