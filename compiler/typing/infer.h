// Type inference for the ANF IR.
//
// Before: a module as a frontend makes it: types may be missing, `?` stands where a dimension is
// unknown. After: every Var has a complete type, every Function a result type; calls of generic
// functions have type_args; a Guard stands before each operation that relies on an equation between
// dimensions that could not be proved; Module::symbols says what element symbols mean and
// Module::contents what small integer tensors hold.
//
// InferTypes can run on its own output: passes rewrite a module, leave out the types of new
// variables and call it again. Symbols keep their identity where they still stand for the same
// thing. Guards are made anew by each run. Thread-compatible. Tested by infer_test.cc,
// errors_test.cc.
#pragma once

#include <map>
#include <span>
#include <vector>

#include "bytecode/base/status.h"
#include "compiler/ir/ir.h"

namespace relayvm {

Result<ir::Module> InferTypes(const ir::Module& module);

// The type of one new operator call, for a pass that builds typed nodes.
struct OpCallTyping {
  ir::Type type;                  // without Any: dims that only running tells are fresh symbols
  std::vector<ir::Guard> guards;  // must hold before the call
  ir::SymbolTable
      symbols;  // element symbols that the type or the guards use and `module` doesn't know yet
};

// `args` are variables with complete types and constants. The elements of an integer argument are
// those of a constant, what Module::contents says of the variable, or the element symbols of the
// variable.
Result<OpCallTyping> InferOpCall(const ir::Module& module, const OpDef& op,
                                 std::span<const ir::Atom> args, const Attrs& attrs,
                                 ir::Span span = {});
// The same from types alone; no argument's elements are known.
Result<OpCallTyping> InferOpCall(const ir::Module& module, const OpDef& op,
                                 std::span<const ir::Type> arg_types, const Attrs& attrs,
                                 ir::Span span = {});

}  // namespace relayvm
