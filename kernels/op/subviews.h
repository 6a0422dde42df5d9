// Where the parts of a tensor lie in it, and the calls that make parts of a whole and the whole of
// parts. Tested by compiler/end_to_end/subviews_test.cc.
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

// A call but for its argument.
struct PartsCall {
  const OpDef* op;
  Attrs attrs;
};
// A tuple of so many equal parts, of a tensor.
PartsCall SplitCall(int64_t count, int64_t axis);
// A whole, of a tuple of parts.
PartsCall JoinCall(int64_t axis);
// The part from `begin` to `end`, of a tensor.
PartsCall SliceCall(int64_t begin, int64_t end, int64_t axis);
// Elements under other dims.
PartsCall ReshapeCall(const std::vector<Dim>& shape);

}  // namespace relayvm
