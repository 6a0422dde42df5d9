// What the definitions of matrix products and of their quantised forms share. Tested by
// dense_test.cc.
#pragma once

#include <vector>

#include "kernels/op/op.h"

namespace relayvm {

// Over arguments 0 and 1; qnn operators have more. A is (..., m, k) or, transposed, (..., k, m); B
// is (k, n) or, transposed, (n, k).
Result<OpResult> InferMatmul(TypeContext& tc, bool transpose_a, bool transpose_b);
std::vector<te::Tensor> ComputeMatmul(const ComputeContext& c, const char* name, bool transpose_a,
                                      bool transpose_b);
// (b, m, k) x (b, k, n), transposed as the attributes say; either batch may be 1.
Result<OpResult> InferBatchMatmul(TypeContext& tc);
std::vector<te::Tensor> ComputeBatchMatmul(const ComputeContext& c);

}  // namespace relayvm
