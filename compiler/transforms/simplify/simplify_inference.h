// Operators that stand for simpler ones become those (OpDef::decompose): batch_norm a
// multiplication and an addition for each channel (which folds to constants), dropout and markers
// their data, a scatter of all elements of slices one of the slices.
//
// Before: typed. After: new variables have no types; Retype follows. A field of a replaced
// tuple is what it stands for; the tuple itself stays for other uses. Tested by
// simplify_inference_test.cc and scattered_slices_test.cc.
#pragma once

#include <functional>

#include "compiler/ir/ir.h"

namespace relayvm::ir {

// `wanted`: of a call with a result of that type; null: all.
using WantedFn = std::function<bool(const OpCall& call, const Type& result)>;
Module SimplifyInference(const Module& m, const WantedFn& wanted = nullptr);

}  // namespace relayvm::ir
