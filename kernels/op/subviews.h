// Where the parts of a tensor lie in it. Tested by compiler/end_to_end/subviews_test.cc.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/op/op.h"

namespace relayvm {

// Bytes of a static shape.
std::optional<uint64_t> StaticBytesOf(const TensorType& type);

// Where subviews along an axis start in the whole, in bytes, so that they can be made, or read, in
// its memory: each one run of it, at a multiple of 64 bytes. Nothing where that does not hold, or
// the whole is so small that a kernel that copies costs less than what it keeps apart.
std::optional<std::vector<uint64_t>> SubviewOffsets(const TensorType& whole, int64_t axis,
                                                    const std::vector<TensorType>& subviews);

}  // namespace relayvm
