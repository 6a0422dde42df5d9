// IR as a graph in Graphviz's DOT language, for people to look at: an oval for each parameter, a
// box for each value, an arrow from what it reads, with the type of what flows; blocks inside
// (branches, clauses, function literals) are frames. Small constants stand where they are read,
// large ones are named by their type. Tested by dot_test.cc.
#pragma once

#include <string>

#include "compiler/ir/ir.h"

namespace relayvm::ir {

// One function. Names and texts are quoted, whatever they hold.
std::string FunctionDot(const Module& m, const Function& f);

}  // namespace relayvm::ir
