// Products over axes.
#pragma once

#include <vector>

#include "compiler/import/mxnet/operator.h"

namespace relayvm::import::mxnet {

// Sums of products over axes of `x` and `y`, each as many: the other axes of x, then those of y.
Value TensorDot(TypedBuilder& b, const Value& x, const std::vector<int64_t>& x_axes, const Value& y,
                const std::vector<int64_t>& y_axes);
// Of matrices, the last two axes; the others are equal.
Term MatrixProduct(const Term& x, const Term& y, bool transpose_x, bool transpose_y);

}  // namespace relayvm::import::mxnet
