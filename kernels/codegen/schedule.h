// Schedules of everything that is not a contraction: which tensors are computed where, in which
// loops, on which units.
//
//   unit loop (parallel)     unit = row-major index over unit_axes, times blocks of the nest's
//                            first axis when `block` is set
//     nest, nest, ...        each: loops over its axes, the last one as vectors; in the body, all
//                            values, then all stores
//
// The parts of a join that are read across what is written, or lie along an outer axis, are
// sections with units of their own.
//
// A tensor is staged (has memory: an output, or scratch) when computing it again for each use would
// cost too much: a reduction that several elements read, a costly function. Axes along which every
// stage reads the others at its own index become unit axes, so a softmax or a layer normalisation
// runs row by row with a row of scratch. Whatever has no such axis runs as one unit. Tested by
// kernel_compiler_test.cc.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bytecode/base/status.h"
#include "kernels/codegen/graph.h"
#include "kernels/codegen/kernel_compiler.h"
#include "kernels/codegen/tensor_order.h"

namespace relayvm::codegen {

// Assigns `value`, element by element, to `target` at the flat index `index`.
struct LoopStore {
  const te::TensorNode* target;
  const Node* value;
  const Node* index;
};

struct LoopNest {
  std::vector<const te::AxisNode*> axes;  // outermost first
  bool vectorise = false;                 // the last axis; else elements are computed one by one
  // Loads that are contiguous along the axis before the last, and not along the last: read as
  // square tiles and transposed.
  std::vector<const Node*> transposed;
  // The last axis is a constant 2 to 4, and vectors run along the axis before it: one for each
  // element of the last, stored together, element by element in turn.
  bool interleaved = false;
  bool in_rows = false;  // the last axis is a loop of each unit, element by element
  std::vector<LoopStore> stores;

  // How many of the last axes are run together, as vectors or tiles of them.
  size_t InnerAxes() const {
    return !transposed.empty() || interleaved ? 2 : vectorise || in_rows ? 1 : 0;
  }
};

// Nests that run one after the other in each of their units.
struct LoopSection {
  std::vector<const te::AxisNode*> unit_axes;
  std::vector<LoopNest> nests;
  // Elements of the first axis of the one nest that a unit takes; 0: all of them.
  int64_t block = 0;
  Dim units = 1;
};

struct LoopPlan {
  Graph graph;
  std::vector<te::Tensor> keep_alive;
  // The kernel's units are the first section's, the second's, and so on. Several where what is
  // joined has loops of its own: none reads what another one writes.
  std::vector<LoopSection> sections;
  std::vector<te::Tensor> outputs;  // stand-ins for the output buffers, the targets of stores
  struct Scratch {
    const te::TensorNode* tensor;
    Dim offset;
    bool is_number;  // of a unit it has one element, which takes no scratch
  };
  std::vector<Scratch> scratch;

  Dim parallel_extent = 1, grain = 1, scratch_bytes = 0;
  std::vector<std::pair<int, int>> in_place;
  bool quick = false;  // of little code: one loop for each axis, vectors for sums of products alone
};

Result<std::unique_ptr<LoopPlan>> PlanLoops(const KernelSpec& spec, bool quick = false);

}  // namespace relayvm::codegen
