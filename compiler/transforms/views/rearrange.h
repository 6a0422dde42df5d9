// Constants that are other constants under another shape, or with their axes in another order: made
// when they are read, so that weights which importers transpose are never in memory twice.
// Tested by rearrange_test.cc.
#pragma once

#include <optional>
#include <vector>

#include "bytecode/base/host_tensor.h"
#include "kernels/te/te.h"

namespace relayvm::ir {

// `input` with the axes of `result`, if `result` computes nothing else from its one placeholder.
std::optional<HostTensor> PermuteAxes(const te::Tensor& result, const HostTensor& input);

}  // namespace relayvm::ir
