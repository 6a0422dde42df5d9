// Elementary functions as LLVM IR on float and double, scalars or vectors: range reduction and
// polynomials, without tables, branches (but for huge arguments of sin, cos and tan) or calls
// outside the module, so that they vectorise.
//
// Error bounds in units in the last place, over all arguments: see the table in math_test.cc, which
// checks them against libm. Special values (infinities, NaN, signed zeros, denormals) give what C99
// says. Tested by math_test.cc.
#pragma once

#include "kernels/codegen/builder.h"
#include "kernels/te/te.h"

namespace relayvm::codegen {

// op is one of kExp ... kAtanh. x is float or double, or a vector of them.
llvm::Value* EmitMath(Builder& b, te::UnaryOp op, llvm::Value* x);
llvm::Value* EmitPower(Builder& b, llvm::Value* x, llvm::Value* y);
llvm::Value* EmitAtan2(Builder& b, llvm::Value* y, llvm::Value* x);
// The exact remainder of x / y with the sign of x.
llvm::Value* EmitFmod(Builder& b, llvm::Value* x, llvm::Value* y);

}  // namespace relayvm::codegen
