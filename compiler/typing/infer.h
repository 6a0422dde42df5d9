// Type inference for the ANF IR.
//
// InferTypes checks a program: a module as a frontend makes it, where types may be missing and `?`
// stands where a dimension is unknown. It finds the errors of the program, and what the program
// states about shapes becomes bindings of its own (ir::Stated). Retype gives types to what a pass
// made of a checked module. It finds no errors: where a call of a copied function turns out not to
// fit, the path ends in an ir::Trap, which fails when the program gets there.
//
// After either: every Var has a complete type, every Function a result type; calls of generic
// functions have type_args; a Guard stands before each operation that relies on an equation between
// dimensions that could not be proved; Module::symbols says what symbols stand for and
// Module::contents what small integer tensors hold.
//
// Passes rewrite a module, leave out the types of new variables and call Retype. It looks at the
// functions that are not the nodes that the last inference left (Module::typed), and at their
// callers. Symbols keep their identity where they still stand for the same thing. Guards, but for
// those that a pass keeps (Guard::is_kept), and what binds symbols, are made anew by each run.
// Thread-compatible. Tested by infer_test.cc, errors_test.cc.
#pragma once

#include <set>
#include <unordered_map>

#include "bytecode/base/status.h"
#include "compiler/ir/ir.h"

namespace relayvm {

Result<ir::Module> InferTypes(const ir::Module& module);
Result<ir::Module> Retype(const ir::Module& module);

// Branches whose results differ in rank, for the pass that gives each rank a continuation of its
// own (typing/specialise_ranks.h).
struct MixedRanks {
  std::set<const ir::Var*> vars;  // bound to an `if` or `match` whose value has several ranks
  std::set<const ir::Function*> functions;             // whose result is such a value
  std::unordered_map<const ir::Var*, ir::Type> types;  // of the variables whose type is known
  Status error;                                        // the first of them, as an error
};
// InferTypes for such a pass. `module` has its statements already (StateTypes). Fails and fills
// `mixed` when there are such branches. In functions with the attribute "Continuation" what can't
// be typed becomes a trap.
Result<ir::Module> InferTypes(const ir::Module& module, MixedRanks* mixed);

}  // namespace relayvm
