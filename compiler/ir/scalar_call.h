// Calls of operators on scalars that are scalar instructions, not kernels: fusion leaves them
// alone, lowering compiles their tensor expression. Tested by scalar_call_test.cc.
#pragma once

#include <span>

#include "compiler/ir/ir.h"

namespace relayvm::ir {

// True when the operator's expression on arguments of these types is one on scalars
// (te::IsScalarExpression).
bool IsScalarCall(const OpCall& call, std::span<const Type> arg_types, const Type& result);

}  // namespace relayvm::ir
