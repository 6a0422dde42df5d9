// Random numbers as arithmetic of their places, so that shapes may be open. The same program gives
// the same numbers each time: those of its seeds. Numbers of different seeds are unrelated. Tested
// by random_test.cc.
#pragma once

#include "compiler/import/arithmetic.h"

namespace relayvm::import {

// Float32 numbers of 0 to 1 (excluded), of that shape (int64, rank 1 of a known length).
Term UniformOf(TypedBuilder& b, const Value& shape, uint32_t seed);
// Of the mean 0 and the deviation 1; takes two seeds, this one and the next.
Term NormalOf(TypedBuilder& b, const Value& shape, uint32_t seed);

}  // namespace relayvm::import
