// Normalisation over axes, or over groups of channels. Tested by normalise_test.cc.
#pragma once

#include <vector>

#include "compiler/import/arithmetic.h"

namespace relayvm::import {

// Half floats are normalised in float32.
inline DType WideFloat(DType t) { return t == DType::kFloat64 ? t : DType::kFloat32; }

// `y` has x's dtype; mean and 1 / deviation are float32 or wider.
struct Normalised {
  Term y, mean, inverse;
};
Normalised LayerNormOf(const Term& x, const std::vector<int64_t>& axes, double epsilon);
// Without the mean (which is the inverse once more).
Normalised RmsNormOf(const Term& x, const std::vector<int64_t>& axes, double epsilon);
// (batch, groups, channels of a group, the rest), of channels along axis 1.
Term Grouped(const Term& x, int64_t groups);
// Over the channels (axis 1) of each of the groups and all that follows.
Term GroupNormOf(const Term& x, int64_t groups, double epsilon);
// Over the last axis, with scale and (where given) bias.
Value ScaledLayerNorm(const Term& x, const Value& scale, const Value& bias, double epsilon);

}  // namespace relayvm::import
