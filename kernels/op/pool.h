// What quantised pooling shares with pooling. Tested by pool_test.cc.
#pragma once

#include <vector>

#include "kernels/op/op.h"

namespace relayvm {

// The attributes, relation and meaning of nn.max_poolNd and nn.avg_poolNd over argument 0.
std::vector<AttrField> PoolFields(int spatial, bool is_max);
Result<OpResult> InferPool(TypeContext& tc, int spatial);
std::vector<te::Tensor> ComputePool(const ComputeContext& c, int spatial, bool is_max);

}  // namespace relayvm
