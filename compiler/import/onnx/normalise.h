// Layer normalisation, as the operators of ai.onnx and com.microsoft share it.
#pragma once

#include <vector>

#include "compiler/import/onnx/arithmetic.h"

namespace relayvm::import {

// `y` has x's dtype; mean and 1 / deviation are float32 or wider.
struct Normalised {
  Term y, mean, inverse;
};
Normalised LayerNormOf(const Term& x, const std::vector<int64_t>& axes, double epsilon);
// Without the mean (which is the inverse once more).
Normalised RmsNormOf(const Term& x, const std::vector<int64_t>& axes, double epsilon);
// Over the channels (axis 1) of each of the groups and all that follows.
Term GroupNormOf(const Term& x, int64_t groups, double epsilon);
// Over the last axis, with scale and (where given) bias.
Value ScaledLayerNorm(NodeContext& n, const Term& x, const Value& scale, const Value& bias,
                      double epsilon);

}  // namespace relayvm::import
