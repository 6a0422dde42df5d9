// Which tensor expressions are computations on scalars: straight-line code over registers, without
// a loop or a position in memory. A call with such an expression needs no kernel.
// Tested by scalar_expression_test.cc.
#pragma once

#include "kernels/te/te.h"

namespace relayvm::te {

// True for a tensor of rank 0 that is made of immediates, dims, operators, casts and choices on
// rank-0 tensors, all of dtypes that a 64-bit register holds (not float16 or bfloat16), and of
// moderate size.
bool IsScalarExpression(const Tensor& t);

}  // namespace relayvm::te
