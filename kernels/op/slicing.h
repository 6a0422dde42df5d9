// Slices: what the attributes of strided_slice say, and those whose begin, end and strides are
// tensors (strided_set and dyn.strided_slice). Tested by slicing_test.cc.
#pragma once

#include <string_view>
#include <vector>

#include "kernels/op/op.h"
#include "kernels/op/shape_rules.h"

namespace relayvm {

// A slice of strided_slice: one range and one stride a dim.
struct StaticSlice {
  std::vector<SliceRange> ranges;
  std::vector<Dim> strides;
};
// What its attributes say about data of shape `in`.
Result<StaticSlice> ReadSlice(const Attrs& attrs, const std::vector<Dim>& in);

// The shape of a slice of data of shape `in`; begin, end and strides are arguments first, first + 1
// and first + 2.
Result<std::vector<Dim>> InferSlice(TypeContext& ctx, const std::vector<Dim>& in, size_t first,
                                    std::string_view mode);
// How many axes they speak of, in a call that InferSlice accepted.
size_t SliceCount(const ComputeContext& ctx, size_t first);
// The slice of input 0, for begin and strides in inputs 1 and 3.
te::Tensor ComputeSlice(const ComputeContext& ctx, std::string_view mode);

}  // namespace relayvm
