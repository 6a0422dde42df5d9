// What the program states about shapes, as bindings of its own.
//
// Before: the source. After: wherever a type with a number is written for a value that need not
// have it (a let, a variable of a pattern, the result of a function), the value gets its type from
// inference and an ir::Stated stands behind it:
//
//   let %y: Tensor[(2, ?), float32] = exp(%x);     let %y' = exp(%x);
//                                                  let %y: Tensor[(2, ?), float32] = stated %y';
//
// What types of parameters say is checked at calls. Tested by
// compiler/end_to_end/stated_types_test.cc.
#pragma once

#include "compiler/ir/ir.h"

namespace relayvm::typing {

ir::Module StateTypes(const ir::Module& module);

// Whether a guard could check something that `t` says of a value: a number, or a symbol that occurs
// twice. False for null.
bool StatesDims(const ir::Type& t);

}  // namespace relayvm::typing
