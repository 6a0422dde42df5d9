// Shapes that converters make of those of inputs: lists of extents, each int64 of rank 1. Tested by
// the values of operators.
#pragma once

#include <vector>

#include "compiler/import/mxnet/operator.h"

namespace relayvm::import::mxnet {

// Dims first..last-1 of `v`.
std::vector<Value> DimsOf(TypedBuilder& b, const Value& v, int first, int last);
// `x` with its dims of 1 repeated to these (of a rank as large as its own or larger).
Value BroadcastTo(TypedBuilder& b, const Value& x, const std::vector<Value>& dims);
// The elements along the diagonal `offset` of two axes, which become the last one.
Term Diagonal(const Term& x, int64_t offset, int axis1, int axis2);
// A square matrix of zeros but for its diagonal `offset`, of rank-1 `x`.
Term DiagonalMatrix(const Term& x, int64_t offset);

}  // namespace relayvm::import::mxnet
