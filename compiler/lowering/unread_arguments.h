// Finds the tensors among a function's arguments that it never looks at: parts of parameters (of
// tuples, too) that it ignores or only puts into its result.
//
// Nothing in the program relies on the sizes that were declared for such a part, so the border
// takes any there, as Relay's other executors do. Tested by unread_arguments_test.cc.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "compiler/ir/ir.h"

namespace relayvm::lower {

// A part of the arguments: the parameter's position, then fields of tuples from outside in.
using ArgumentPath = std::vector<uint32_t>;

// REQUIRES: `function` is typed. Only tensors whose declared dims are all integers count: a
// symbolic dim gives a symbol its meaning.
std::set<ArgumentPath> UnreadArguments(const ir::Function& function);

}  // namespace relayvm::lower
