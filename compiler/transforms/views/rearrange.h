// Constants that are elements of other constants at other places: with their axes in another order,
// slices, repeated. Large ones are made when they are read, so that weights which importers
// transpose are never in memory twice.
// Tested by rearrange_test.cc.
#pragma once

#include <optional>
#include <vector>

#include "bytecode/base/host_tensor.h"
#include "kernels/te/te.h"

namespace relayvm::ir {

// The elements of `input` that are those of `result`, if it computes nothing from its one
// placeholder and is read along each axis at even steps, or over and over.
std::optional<HostTensor> Rearranged(const te::Tensor& result, const HostTensor& input);

}  // namespace relayvm::ir
