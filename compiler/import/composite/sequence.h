// What programs do with sequences (control_flow.h): those of a known length are tuples and cost
// nothing, others are lists. Places count from the end where negative; one that there is not is an
// error that names the place, when it runs where only running tells. Tested by sequence_test.cc.
#pragma once

#include <cstdint>
#include <optional>

#include "compiler/import/checked.h"
#include "compiler/import/control_flow.h"

namespace relayvm::import {

// All of these: an error where `sequence` is none; values without a type after an error.
Value SequenceLength(TypedBuilder& b, const Value& sequence);  // int64 scalar
Value SequenceAt(const Value& sequence, const InputName& place);
// `x` before that place; nullopt: at the end. Its rank and dtype are those of the other elements.
Value SequenceInsert(TypedBuilder& b, const Value& sequence, const Value& x,
                     const std::optional<InputName>& place);
Value SequenceErase(const Value& sequence, const InputName& place);
// The elements, tensors, one after the other along an axis, or along a new one.
Value SequenceJoin(TypedBuilder& b, const Value& sequence, int64_t axis, bool new_axis);

struct SplitSpec {
  Value x;
  int axis = 0;
  // Of equal parts (rank 0; the last may be smaller) or of each (rank 1).
  InputName sizes;
  bool keeps_axis = true;  // else each part, whose extent is 1, loses it
};
Value SequenceOfParts(TypedBuilder& b, const SplitSpec& spec);

}  // namespace relayvm::import
