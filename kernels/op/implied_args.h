// Types of weights that nobody annotated, as an operator's data and attributes imply them
// (OpDef::implied_args). Relay lets `fn (%x: Tensor[...], %w) { nn.conv2d(%x, %w, channels=16,
// kernel_size=[3, 3]) }` leave out the type of %w. Tested by compiler/typing/implied_types_test.cc.
#pragma once

#include <optional>
#include <vector>

#include "kernels/op/op.h"

namespace relayvm::implied {

using MaybeType = std::optional<TensorType>;
using MaybeTypes = std::vector<MaybeType>;

// The second argument of nn.dense, and of nn.matmul.
MaybeTypes Dense(const Attrs& attrs, const TensorType& data, size_t num_args);
MaybeTypes Matmul(const Attrs& attrs, const TensorType& data, size_t num_args);
// The kernel of a convolution, and the offsets of a deformable one.
MaybeTypes Conv(const Attrs& attrs, const TensorType& data, size_t num_args);
MaybeTypes ConvTranspose(const Attrs& attrs, const TensorType& data, size_t num_args);
MaybeTypes DeformableConv(const Attrs& attrs, const TensorType& data, size_t num_args);
// Vectors along attribute `axis`: all arguments but the data.
MaybeTypes VectorsAlongAxis(const Attrs& attrs, const TensorType& data, size_t num_args);

}  // namespace relayvm::implied
