// Winograd's transforms along one axis, and lines of pixels as columns of tiles, in vectors whose
// lanes are tiles that follow each other (winograd.h). Stateless. Tested through winograd_test.cc.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/codegen/contraction/ir.h"

namespace relayvm::codegen {

using Vectors = std::vector<llvm::Value*>;

// A constant of the other value's type.
llvm::Value* ConstantLike(llvm::Value* like, double value);

// B^T d: window numbers from as many.
Vectors OfData(Builder& b, int64_t tile, const Vectors& d);
// G g: window numbers from three.
Vectors OfKernel(Builder& b, int64_t tile, const Vectors& g);
// A^T m: tile numbers from window ones.
Vectors OfResult(Builder& b, int64_t tile, const Vectors& m);

// `line` is `tile` vectors and the beginning of another: those elements of it that stand at each of
// the window's columns, in the windows of tiles that follow each other.
Vectors TakeApart(Builder& b, int64_t tile, const Vectors& line);
// The other way round: columns of tiles as a line.
Vectors PutTogether(Builder& b, int64_t tile, const Vectors& columns);

}  // namespace relayvm::codegen
