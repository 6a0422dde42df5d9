// Names what the entry keeps between runs (--state IN=OUT): input IN is what output OUT of the run
// before was. The executable's hosts read the pairs (vm/border/state.h); what the program computes
// stays as it is.
//
// An importer whose format has variables makes such inputs and outputs of them, both of the
// variable's name and after all others, and writes the pairs itself: they stay. Where a variable
// has a first value, its input is one that may be left out (bytecode/variables.h).
//
// Before: typed. After: the same, with the attribute kStates of the entry. Tested by
// name_states_test.cc.
#pragma once

#include <string>
#include <vector>

#include "bytecode/base/status.h"
#include "compiler/ir/ir.h"
#include "compiler/transforms/pass_option.h"

namespace relayvm::ir {

// --state: texts "IN=OUT". Outputs without a name are output_0, output_1 ...
const OptionOf<std::vector<std::string>>& StateOption();

// kInvalidArgument for a name that there is not, one that is in two pairs, and a pair that is not
// of tensors of one dtype and rank, whose dims may be equal.
Result<Module> NameStates(const Module& m, const std::vector<std::string>& states);

}  // namespace relayvm::ir
