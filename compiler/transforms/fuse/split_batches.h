// Networks of many images at once run their first, memory-bound layers for some images at a time,
// so that what one layer writes is still in a cache when the next one reads it:
//
//   let %a = conv(%x); let %b = conv(%a); ...         of 8 images, 12 MB each
//   =>
//   let %xs = split(%x); let %a0 = conv(%xs.0); let %b0 = conv(%a0); let %a1 = conv(%xs.1); ...
//   let %b = concatenate((%b0, %b1, ...)); ...
//
// A region is a run of kernels whose results have the batch as first dim and of which each image
// depends on that image alone: their tensor expressions say so (te/slices.h), so that results are
// the same bits. Of each region as much is split, and so finely, as an estimate of the bytes that
// pass through the machine's caches says. Parts of tensors that are the program's own are read and
// made where they lie in the whole (lowering/lower_subviews.cc); inputs are copied there once.
// Parts of very small kernels may run side by side.
//
// Before: typed, fused. After: the same. Batches that are no numbers, products of matrices and
// convolutions of very few pixels stay whole. Tested by compiler/end_to_end/split_batches_test.cc.
#pragma once

#include <cstdint>

#include "compiler/ir/ir.h"
#include "compiler/transforms/pass_option.h"
#include "kernels/codegen/machine.h"

namespace relayvm::ir {

// --sub-batch: images at a time; 0: as the estimate says.
const OptionOf<int64_t>& SubBatchOption();

// `images` above 0: so many at a time wherever that divides the batch, whether it pays or not.
Module SplitBatches(const Module& m, const Machine& machine, int64_t images);

}  // namespace relayvm::ir
