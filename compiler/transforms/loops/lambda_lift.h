// Closure conversion: function literals become global functions.
//
// Before: typed. After: no FunctionExpr; a literal is a MakeClosure of a global function whose
// first params are the captured variables (the same Vars, so that types and symbols keep their
// meaning) and whose attribute "Closure" is their number. A call of a known literal, itself
// included, is a direct call with the captured values first. Tested by lambda_lift_test.cc.
#pragma once

#include "compiler/ir/ir.h"

namespace relayvm::ir {

Module LambdaLift(const Module& m);

}  // namespace relayvm::ir
