// The builtins by file; builtin.cc lists them under their names. What each takes (inputs ->
// outputs; parameters) stands here.
#pragma once

#include "kernels/runtime/call_args.h"

namespace relayvm {

// scan.cc: data -> out; axis (-1: over all elements in order), exclusive
int32_t CumSum(const CallArgs& args);
int32_t CumSumReversed(const CallArgs& args);
int32_t CumProd(const CallArgs& args);
int32_t CumProdReversed(const CallArgs& args);

// sort.cc: stable; among equals the lower index comes first
int32_t Sort(const CallArgs& args);         // data -> out; axis, ascending
int32_t ArgSort(const CallArgs& args);      // data -> indices; axis, ascending
int32_t TopK(const CallArgs& args);         // data -> values, indices; axis, ascending
int32_t TopKValues(const CallArgs& args);   // data -> values; axis, ascending
int32_t TopKIndices(const CallArgs& args);  // data -> indices; axis, ascending
// The same with k, which the shapes of the outputs already tell, as second input.
int32_t DynTopK(const CallArgs& args);
int32_t DynTopKValues(const CallArgs& args);
int32_t DynTopKIndices(const CallArgs& args);
int32_t SearchSorted(const CallArgs& args);  // sorted, values -> positions; right

// scatter.cc: mode is a ScatterMode; negative indices count from the end
enum class ScatterMode : int64_t { kUpdate, kAdd, kMul, kMean, kMin, kMax };
int32_t ScatterElements(const CallArgs& args);      // data, indices, updates -> out; axis, mode
int32_t ScatterNd(const CallArgs& args);            // data, indices, updates -> out; mode
int32_t ScatterNdTuplesLast(const CallArgs& args);  // the same, tuples along indices' last axis

// range.cc: values, least (k), end (k) -> end, where each value is in least..end-1; k is 1, or the
// extent of the values' last axis, whose bounds stand beside each other then
int32_t CheckRange(const CallArgs& args);
// values, least, end -> values

// select.cc
int32_t ArgWhere(const CallArgs& args);  // condition -> positions (n, rank); count: n
int32_t Unique(const CallArgs& args);    // data -> values, first, inverse, number; sorted
int32_t UniqueCounts(
    const CallArgs& args);                 // data -> values, first, inverse, number, counts; sorted
int32_t UniqueRows(const CallArgs& args);  // data -> first, inverse, number, counts; sorted

// sparse.cc
// indices, values, dense_shape, default -> indices, values, empty_row; counts: rows of the first
// two
int32_t SparseFillEmptyRows(const CallArgs& args);
int32_t SparseReshape(const CallArgs& args);      // indices, shape, new_shape -> indices, shape
int32_t SparseToDense(const CallArgs& args);      // indices, values, default -> out
int32_t SparseToDenseZero(const CallArgs& args);  // indices, values -> out; the default is 0
int32_t DynSparseToDense(const CallArgs& args);   // indices, values, default, shape -> out

// vision_nms.cc
int32_t GetValidCounts(
    const CallArgs& args);  // data, threshold -> counts, data, positions; id, score
// data, counts, positions, most, threshold -> data, or positions and counts; force_suppress, top_k,
// coord_start, score, id, return_indices, invalid_to_bottom
int32_t NonMaxSuppression(const CallArgs& args);
// boxes, scores, most per class, IoU threshold, score threshold -> (batch, class, box) rows, their
// number
int32_t AllClassNms(const CallArgs& args);
// the same -> (class, box) rows, scores, numbers by batch
int32_t AllClassNmsTensorflow(const CallArgs& args);
// boxes, scores -> boxes, classes, scores, their numbers; most per class, classes, and the bits of
// the IoU and the score threshold
int32_t RegularNms(const CallArgs& args);

// vision_roi.cc; a real parameter is passed as the bits of a double
int32_t RoiAlign(const CallArgs& args);  // data, rois -> out; scale, sample_ratio, NHWC, max
int32_t RoiPool(const CallArgs& args);   // data, rois -> out; scale, NHWC
int32_t Proposal(
    const CallArgs& args);  // class probability, box deltas, image info -> rois; see there
int32_t MultiboxTransformLoc(
    const CallArgs& args);  // probability, location, anchors -> boxes, counts; see there

// sparse_matrix.cc: a matrix is values, column indices, row starts
int32_t SparseDense(
    const CallArgs& args);  // dense, matrix -> dense * matrix^T; sparse_lhs: transposed
int32_t SparseConv2d(const CallArgs& args);     // data, matrix -> convolution; NHWC, size
int32_t SparseAdd(const CallArgs& args);        // dense, matrix -> sum
int32_t SparseTranspose(const CallArgs& args);  // matrix -> matrix

// winograd_kernel.cc: (o, c, 3, 3) -> as nn.contrib_conv2d_winograd takes it
// (kernels/op/winograd.h), its padding 0
int32_t WinogradWeights(const CallArgs& args);

// strings.cc
int32_t StringFromNumber(const CallArgs& args);  // numbers -> texts
int32_t StringToNumber(const CallArgs& args);    // texts -> numbers
int32_t StringRank(const CallArgs& args);        // texts -> places in their order
int32_t StringConcat(const CallArgs& args);      // texts, texts -> texts; shapes broadcast
// texts, delimiter -> numbers of parts; most splits, or -1. With more room than that for parts, and
// how much: -> parts
int32_t StringSplitCount(const CallArgs& args);
int32_t StringSplit(const CallArgs& args);
// elements, or texts -> hashes of their bytes, 32 bits; seed
int32_t Murmur3(const CallArgs& args);
// texts, words -> texts but those words; to lower (1) or upper case (2), 3 more where only ASCII's
// letters have cases, whether words are compared as they are; count
int32_t StringNormalize(const CallArgs& args);
// The first character of UTF-8 that is not empty, which is taken off.
char32_t NextCharacter(std::string_view& text);

// string_match.cc
int32_t StringFullMatch(const CallArgs& args);  // texts, program -> whether they match
// texts, programs, where each begins -> numbers of tokens; whether they are what matches, how many
// characters at least. With texts before, after and in the places of none, and room for how many:
// -> tokens; whether those before and after are written too
int32_t StringCountTokens(const CallArgs& args);
int32_t StringTokens(const CallArgs& args);
// rows, n-grams, columns -> how often each stands in each row; numbers left out
int32_t CountGrams(const CallArgs& args);

// random.cc: a generator is uint64[10]; each kernel gives the next one first
int32_t ThreefryGenerate(const CallArgs& args);   // generator -> generator, words
int32_t ThreefrySplit(const CallArgs& args);      // generator -> generator, generator
int32_t RandomUniform(const CallArgs& args);      // generator, low, high -> generator, numbers
int32_t RandomNormal(const CallArgs& args);       // generator, mean, scale -> generator, numbers
int32_t RandomMultinomial(const CallArgs& args);  // generator, probabilities -> generator, indices

}  // namespace relayvm
