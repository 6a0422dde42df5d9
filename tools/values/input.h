// The --input arguments of a run as the values of a function's parameters.
//
//   x.npy, NAME=x.npy     a tensor from a file; `-` is standard input (a .npy file, or a literal)
//   0=x.npy               by position, from 0, where no parameter is called so
//   all.npz               every parameter that the archive has by name
//   LITERAL, NAME=LITERAL see literal.h
//   @FILE                 a .npy file, or a file that holds a literal
//
// Tested by input_test.cc.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "bytecode/base/status.h"
#include "tools/values/types.h"
#include "vm/border/state.h"
#include "vm/border/value.h"

namespace relayvm::tools {

// One value a parameter. An argument without a name is for the first parameter that has none yet.
// `without_states`: inputs of states (ExportInfo::states) may have no argument, and then no value.
// kInvalidArgument: wrong use (no value for a parameter, no parameter of that name); kInvalidInput
// and others: a bad value or file.
Result<std::vector<Value>> ReadInputs(TypeTable& types, const ExportInfo& function,
                                      std::span<const std::string> args,
                                      bool without_states = false);
// The tensors of an archive that are states of the function, by their inputs' names.
Status ReadStates(const std::string& path, TypeTable& types, const ExportInfo& function,
                  State* state);

}  // namespace relayvm::tools
