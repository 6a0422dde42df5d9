// What the static and the dyn.* form of one_hot and sparse_to_dense share, and contrib_byte_table
// for the pass that writes calls of it. Tested by indexing_test.cc.
#pragma once

#include <vector>

#include "kernels/op/op.h"
#include "kernels/op/problem.h"

namespace relayvm {

// Arguments: indices, on value, off value.
Result<OpResult> InferOneHot(TypeContext& ctx, const Dim& depth);
std::vector<te::Tensor> ComputeOneHot(const ComputeContext& ctx);

// Arguments: indices, values and perhaps a default value, of any dtype. Of equal indices the last
// one counts.
Result<OpResult> InferSparseToDense(TypeContext& ctx, const std::vector<Dim>& shape);

// What a table of 256 bytes holds for each byte, by its bits. Arguments: bytes, the table.
NamedCall ByteTableCall();

}  // namespace relayvm
