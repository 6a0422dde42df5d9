// Which operator calls are scalar instructions: fusion leaves them alone, lowering emits them.
// Tested by lower_test.cc.
#pragma once

#include <vector>

#include "compiler/ir/ir.h"

namespace relayvm::lower {

// True when all operands and the result are scalars that registers hold and the operator has an
// instruction for them.
bool IsScalarOperator(const ir::OpCall& call, const std::vector<ir::Type>& arg_types,
                      const ir::Type& result);

}  // namespace relayvm::lower
