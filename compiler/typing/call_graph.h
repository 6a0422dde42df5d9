// Which functions of a module call which: strongly connected components, callees first.
// Iterative; linear in the module's size. Tested by call_graph_test.cc.
#pragma once

#include <string>
#include <vector>

#include "compiler/ir/ir.h"

namespace relayvm::typing {

struct Component {
  std::vector<const std::string*> functions;  // names; owned by the module
  bool recursive = false;                     // calls itself, through others perhaps
};

// Mentions count as calls. Names of functions that don't exist are passed over.
std::vector<Component> ComponentsCalleesFirst(const ir::Module& module);

}  // namespace relayvm::typing
