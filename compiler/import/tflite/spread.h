// Elements with others between them: what DILATE and the padding of StableHLO share. Tested by
// operators_test.cc.
#pragma once

#include "compiler/import/arithmetic.h"

namespace relayvm::import::tflite {

// `step` - 1 elements of `fill` (rank 0) between any two along an axis. REQUIRES: step 1 or more.
Term Spread(const Term& x, int axis, int64_t step, const Term& fill);

}  // namespace relayvm::import::tflite
