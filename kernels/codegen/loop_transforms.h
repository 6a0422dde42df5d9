// Rewriting one loop nest: merging and splitting axes, choosing the one that runs as vectors.
// Tested through loops_test.cc.
#pragma once

#include <vector>

#include "kernels/codegen/graph.h"
#include "kernels/codegen/schedule.h"

namespace relayvm::codegen {

// How the flat index of a load or store moves with `axis`.
enum class Stride : uint8_t { kNone, kOne, kOther, kIrregular };
Stride StrideOf(const Node* index, const te::AxisNode* axis);
inline bool IsContiguous(const Node* index, const te::AxisNode* axis) {
  return StrideOf(index, axis) == Stride::kOne;
}

// Merges reduce axes too. Afterwards the last axis of `nest` is the one to vectorise, if
// nest.vectorise; the one before it, if nest.interleaved.
// Makes the axis that suits vectors best the last one, and `vectorise` whether there is such.
void ChooseVectorAxis(LoopNest& nest);
// `quick`: axes are merged, and sums of products are taken four at a time.
void TransformNest(Graph& graph, LoopNest& nest, bool quick);

// The nest for one range of its last axis, over an axis of its own that begins at 0.
struct Segment {
  Dim start, end;
  LoopNest nest;
};
// Cuts the last axis where selects change sides (the parts of a concatenation, the edges of a
// padding), so that within each segment they are decided. One segment with the nest itself when
// there is nothing to cut.
std::vector<Segment> SegmentsOf(Graph& graph, const LoopNest& nest);

// The nests of the parts of a join, each of which reads what it joins alone: cut, along any axis,
// where selects of two loads change sides. The nest itself where that gains nothing, as where parts
// side by side in a row are read along it (SegmentsOf), and where the code is to be `quick`.
std::vector<LoopNest> PartsOf(Graph& graph, const LoopNest& nest, bool quick);

// Whether selects below `root` ask for `value` at one position of the axis alone, as a join does
// for a part of one element along it.
bool IsAskedOnce(const Node* root, const Node* value, const te::AxisNode* axis);

// Whether loops that each depend on an axis of `t` read its elements twice or more, as windows that
// overlap do: by their extents, where those that both have go.
bool IsReadByWindows(const te::TensorNode& t, const std::vector<const te::AxisNode*>& loops);

// True when reading at flat index `read`, in any iteration of a unit, stays within what the unit
// writes at `written`, for a unit whose elements are one contiguous range.
bool ReadsOwnUnit(Graph& graph, const Node* read, const Node* written,
                  const std::vector<const te::AxisNode*>& unit_axes);

}  // namespace relayvm::codegen
