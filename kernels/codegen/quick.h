// Quick kernels (KernelOptions::quick): what -O0 makes. LLVM translates them as they are written,
// so that they are as little code as can be: one loop for each axis, scalars, which LLVM's FastISel
// takes, and sizes computed once, where the kernel begins. No contraction plans, packing, or
// variants for some sizes. Products alone are vectors: see below. Tested by quick_test.cc.
#pragma once

#include "kernels/codegen/schedule.h"

namespace relayvm::codegen {

// A spec whose padded convolutions read `images`, which hold the padding too and are to be kept in
// memory: what sums read of them needs no comparisons, and is contiguous. A unit is then as much
// as shares an image.
struct OverPaddedImages {
  KernelSpec spec;
  std::vector<te::Tensor> images;
};
OverPaddedImages PutOverPaddedImages(const KernelSpec& spec);

// A nest that stores one sum of products runs as vectors along an axis of its result, where a
// factor is contiguous along one, and for four elements along another axis that one of the factors
// does not depend on: what they share is loaded once (Emitter::SumTogether). Behind the end the
// last element is computed again. Other nests stay.
//
//   out[m, n] = sum a[m, k] * b[k, n]   =>   out[4m .. 4m+3, n ..] at once
void TakeProductsTogether(Graph& graph, LoopNest& nest);

// Loops that were planned to be fast become quick, in the same units: of a program whose time is
// spent elsewhere (codegen/effort.h). Elements are computed one by one, but for those that are read
// side by side: one loop of vectors.
void QuickenLoops(LoopPlan& plan);
// Whether all of its loops stay vectors then.
bool QuickIsVectors(const LoopPlan& plan);

}  // namespace relayvm::codegen
