// Finds the tensors among a function's arguments that it hands on without a look at them: parts of
// parameters (of tuples, too) whose only way leads into the result.
//
// Nothing in the program relies on the type that was declared for such a part, so the border takes
// any tensor there, as Relay's other executors do. Tested by pass_through_test.cc.
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
std::set<ArgumentPath> PassedThrough(const ir::Function& function);

}  // namespace relayvm::lower
