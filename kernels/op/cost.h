// What computing an operator's result costs, read off its tensor expression: an element, for fusion,
// which may compute it again for each of its uses; and all of it, for constant folding. Tested by
// cost_test.cc.
#pragma once

#include <span>

#include "kernels/op/op.h"

namespace relayvm {

// True when an element costs so much more than a load that it is stored, never computed twice: a
// transcendental function, or as much arithmetic. REQUIRES: op.compute.
bool IsExpensive(const OpDef& op, const Attrs& attrs, std::span<const TensorType> inputs,
                 std::span<const TensorType> outputs);

// About how many simple operations it takes to compute the outputs, each computation that they read
// once; infinite when a size is not known. Never negative, whatever the sizes.
double WorkOf(std::span<const te::Tensor> outputs);

}  // namespace relayvm
