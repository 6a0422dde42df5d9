// Signatures at the border of a program: Relay types as the runtime's ValueTypes.
// Tested by value_type_test.cc.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bytecode/base/status.h"
#include "bytecode/program.h"
#include "compiler/ir/ir.h"

namespace relayvm::lower {

// Adds the export of `function`, whose code is program function `index`, the table of the host
// functions that the program calls, and the ADTs that their types mention: all of the module's
// where a type parameter leaves a type open, since a host may then pass a value of any. Sizes are
// open where the function never looks at a tensor, unless `all_sizes`.
Status AddExport(const ir::Module& module, const ir::Function& function, uint32_t index,
                 const std::vector<const ir::HostCall*>& hosts, Program& program,
                 bool all_sizes = false);

// Adds the code of a function that calls `function`, which is program function `index`, and gives
// what the values of type OneOf of its result hold (ir/one_of.h). Returns its index. `code` is the
// program's.
Result<uint32_t> AddResultOpener(const ir::Function& function, uint32_t index, Program& program,
                                 std::vector<uint16_t>* code);

// Adds a function of `num_params` objects that fails with `message` when it is called: for the
// signature of a program that something else runs. REQUIRES: the program has no code.
Status AddStub(const std::string& name, size_t num_params, const std::string& message,
               Program& program);

}  // namespace relayvm::lower
