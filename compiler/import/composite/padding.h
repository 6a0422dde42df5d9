// Elements added around a tensor, or cut off where their number is negative: by numbers, or by what
// is computed. Tested by padding_test.cc.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/import/checked.h"

namespace relayvm::import {

struct PadSpec {
  Value fill;                     // rank 0, of the data's dtype; for "constant"
  std::string mode = "constant";  // "reflect", "edge", "symmetric", "wrap"
};

// A start and an end for each axis of x; nullopt with an error.
std::optional<Value> Padded(TypedBuilder& b, const Value& x,
                            std::vector<std::pair<int64_t, int64_t>> widths, const PadSpec& spec);
// The same where numbers are computed: `before` and `after` have one for each axis (int64, rank 1).
// `pads`: whose they are.
Value PaddedBy(const InputName& pads, const Value& x, Term before, Term after, const PadSpec& spec);
// Elements added behind, int64 of rank 1, for each axis.
Value PaddedBehind(TypedBuilder& b, const Value& x, const Term& after);

}  // namespace relayvm::import
