// Whether a module has all its parts, which inference takes for granted: the parser makes them, but
// a faulty pass or an embedder may not. Tested by errors_test.cc.
#pragma once

#include "bytecode/base/status.h"
#include "compiler/ir/ir.h"

namespace relayvm::typing {

// Every variable, value, block, function and constructor is there; constants have as many bytes as
// their types say, operator calls all their attributes. Scopes and types are not looked at. The
// error names the function.
Status CheckStructure(const ir::Module& module);

}  // namespace relayvm::typing
