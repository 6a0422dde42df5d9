// What the static and the dyn.* form of broadcast_to and tile share. Tested by broadcast_test.cc.
#pragma once

#include <vector>

#include "kernels/op/op_helpers.h"
#include "kernels/op/shape_rules.h"

namespace relayvm {

// Argument 0 broadcast to `shape`.
Result<OpResult> InferBroadcastTo(TypeContext& ctx, const std::vector<Dim>& shape);
std::vector<te::Tensor> ComputeBroadcastTo(const ComputeContext& ctx);

// Argument 0 repeated; `reps` or the shape is filled with ones in front. REQUIRES: no element of
// reps is negative.
Result<OpResult> InferTile(TypeContext& ctx, const std::vector<Dim>& reps);
std::vector<te::Tensor> ComputeTile(const ComputeContext& ctx);

}  // namespace relayvm
