// Where a tensor's elements lie in its storage, by extents that may be symbols: which views there
// are of it, as PyTorch decides (computeStride). Extents that only running tells are taken not to
// be 1. Tested by aliases_test.cc.
#pragma once

#include <vector>

#include "bytecode/base/dim.h"

namespace relayvm::import::torch {

// For each axis how many elements further its next one lies.
using AxisSteps = std::vector<Dim>;

// Of a tensor whose elements lie in their order, without gaps.
AxisSteps DenseSteps(const std::vector<Dim>& shape);
bool IsDense(const std::vector<Dim>& shape, const AxisSteps& steps);
// The axes stand in the order in which they lie, with gaps or repeated.
bool InOrder(const AxisSteps& steps);

// The same elements in another shape: a view, whose steps are told, or a copy.
enum class Fit { kView, kCopy, kUnknown };
Fit FitOf(const std::vector<Dim>& shape, const AxisSteps& steps, const std::vector<Dim>& to,
          AxisSteps* view);

}  // namespace relayvm::import::torch
