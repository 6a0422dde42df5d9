// Functions of small square matrices (.., n, n). Tested by compiler/import/onnx/op_vision_test.cc
// and compiler/import/torch/op_function_test.cc.
#pragma once

#include <optional>

#include "compiler/import/arithmetic.h"

namespace relayvm::import {

// Nullopt with an error, both of them. The determinants (..), by elimination: the pivot is the row
// with the largest first element. The extent is known and at most 64.
std::optional<Term> DeterminantOf(const Term& x);
// The inverses, by elimination of each column in turn from all other rows, beside the unit matrix.
std::optional<Term> InverseOf(const Term& x);

}  // namespace relayvm::import
