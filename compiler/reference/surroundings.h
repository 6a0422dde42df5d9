// What a closure takes along when it is made.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/ir/ir.h"

namespace relayvm::reference {

// What a function's body uses of its surroundings: variables by Var::id, symbols by their ids; each
// ascending. Symbols of its own are among them.
struct Surroundings {
  std::vector<uint32_t> vars;
  std::vector<uint32_t> symbols;
};

Surroundings FindSurroundings(const ir::Function& f);

}  // namespace relayvm::reference
