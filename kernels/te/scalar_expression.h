// Which tensor expressions are computations on scalars: straight-line code over registers, without
// a loop or a position in memory. A call with such an expression needs no kernel.
// Tested by scalar_expression_test.cc.
#pragma once

#include "kernels/te/te.h"

namespace relayvm::te {

// Whether kernels compute the operator of `e` to within some units in the last place: by what they
// are compiled for its bits differ, and those of C's library are others.
bool IsApproximate(const ExprNode& e);

// True for a tensor of rank 0 that is made of immediates, dims, operators, casts, choices and
// checks (none that a choice leaves out) on rank-0 tensors, all of dtypes that a 64-bit register
// holds (not float16 or bfloat16), and of moderate size. Approximate operators are left to kernels,
// so that a value has the same bits whether it is a scalar or an element of a tensor.
bool IsScalarExpression(const Tensor& t);

}  // namespace relayvm::te
