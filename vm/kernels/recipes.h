// Constants that a program does not hold but says how to make (RecipeInfo): made when it is loaded,
// by builtins. Once for all processes of this user where there is a place for that
// (shared_constants.h), else in memory of the program.
//
// A file may come from anyone: only builtins that are there for it (Builtin::makes_constants) run,
// what they make is in proportion to the file (the verifier and the reader see to that) and at most
// the memory of the machine, and what is shared has a name made of what it is made of, which the
// file cannot choose: a file that lies about its contents is refused when it is to make them.
// Tested by recipes_test.cc.
#pragma once

#include "bytecode/base/status.h"
#include "bytecode/program.h"

namespace relayvm::vm {

// Gives each constant that has a recipe and no data its data. `share`:
// LoadOptions::share_constants; `verify`: what others have made is compared with its checksum.
// Fails with kUnsupported where this runtime has no such builtin, with kInvalidInput where the
// tensors are not what it takes, or damaged, and with kResourceExhausted. REQUIRES: the program is
// verified.
Status MakeByRecipes(Program* program, bool share, bool verify);

}  // namespace relayvm::vm
