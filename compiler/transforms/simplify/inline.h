// Inlines calls of functions that do not call themselves, directly or through others, when they are
// small or called once; and calls of local function literals that are called once.
//
// Runs before types are inferred, so that each copy gets types of its own (the dimensions of its
// call, constants of its caller). Copied variables are fresh. The entry stays. Tested by
// inline_test.cc.
#pragma once

#include "compiler/ir/ir.h"

namespace relayvm::ir {

// `most_bindings`: of a function that is copied to each of its calls.
inline constexpr size_t kSmallFunction = 48;
Module Inline(const Module& m, size_t most_bindings = kSmallFunction);

}  // namespace relayvm::ir
