// The check of the source, with branches that differ in rank.
//
// A value that an `if` or a `match` gives has one rank in the typed IR. Where the branches give
// several, what follows becomes a function for each type that they give, which the branches call:
//
//   let %y = if (%c) { %a } else { expand_dims(%a) };      if (%c) { @main.rank1(%a) }
//   sum(exp(%y))                                           else { @main.rank2(expand_dims(%a)) }
//
// Functions are shared by the types of all that they need, so a row of such branches costs a few
// functions each, not two to the power of their number; and each function is made, and typed, as
// far as the next such branches and no further, and takes what many later ones read in holders
// (held_values.h), so that a row takes time linear in its length. What fits one rank only ends in a
// trap in the others; what fits none is an error. A small function whose result has several ranks
// is copied to its calls first. Others, and those that are generic or call themselves, give a value
// of a type that the pass defines, with a constructor for each rank, and their callers match it:
// code grows with the program. All that the pass makes has a budget; beyond it the branches are an
// error that says so.
//
// Before: as parsed. After: as InferTypes says. Tested by specialise_ranks_test.cc.
#pragma once

#include "compiler/ir/ir.h"

namespace relayvm::ir {

Result<Module> CheckTypes(const Module& m);

}  // namespace relayvm::ir
