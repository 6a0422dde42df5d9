// Random numbers as arithmetic of their places, so that shapes may be open. The same program gives
// the same numbers each time: those of a node's seed, or of its name where it has none.
#pragma once

#include "compiler/import/onnx/arithmetic.h"

namespace relayvm::import {

// Float32 numbers of 0 to 1 (excluded), of that shape (int64, rank 1 of a known length). Numbers of
// different streams of a node have nothing to do with each other.
Term Uniform(NodeContext& n, const Value& shape, uint32_t stream = 0);

}  // namespace relayvm::import
