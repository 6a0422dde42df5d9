// What computing an element of an operator's result costs, read off its tensor expression: for
// fusion, which may compute an element again for each of its uses. Tested by cost_test.cc.
#pragma once

#include <span>

#include "kernels/op/op.h"

namespace relayvm {

// True when an element costs so much more than a load that it is stored, never computed twice: a
// transcendental function, or as much arithmetic. REQUIRES: op.compute.
bool IsExpensive(const OpDef& op, const Attrs& attrs, std::span<const TensorType> inputs,
                 std::span<const TensorType> outputs);

}  // namespace relayvm
