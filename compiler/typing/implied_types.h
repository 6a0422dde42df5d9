// Types of parameters that nobody annotated: weights whose shape follows from an operator's data
// and attributes. Relay lets `fn (%x: Tensor[...], %w) { nn.conv2d(%x, %w, channels=16,
// kernel_size=[3, 3]) }` leave out the type of %w. Tested by implied_types_test.cc.
#pragma once

#include <optional>
#include <vector>

#include "kernels/op/op.h"

namespace relayvm::typing {

// The types of the arguments of a call of `op` as far as its first argument (the data) and its
// attributes determine them; nullopt for the others.
std::vector<std::optional<TensorType>> ImpliedArgTypes(const OpDef& op, const Attrs& attrs,
                                                       const TensorType& data, size_t num_args);

}  // namespace relayvm::typing
