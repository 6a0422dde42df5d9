// Type inference for the ANF IR.
//
// Before: a module as a frontend makes it: types may be missing, `?` stands where a dimension is
// unknown. After: every Var has a complete type, every Function a result type; calls of generic
// functions have type_args; a Guard stands before each operation that relies on an equation between
// dimensions that could not be proved; Module::symbols says what symbols stand for and
// Module::contents what small integer tensors hold.
//
// InferTypes can run on its own output: passes rewrite a module, leave out the types of new
// variables and call it again. Symbols keep their identity where they still stand for the same
// thing. Guards, and what binds symbols, are made anew by each run. Thread-compatible. Tested by
// infer_test.cc, errors_test.cc.
#pragma once

#include "bytecode/base/status.h"
#include "compiler/ir/ir.h"

namespace relayvm {

Result<ir::Module> InferTypes(const ir::Module& module);

}  // namespace relayvm
