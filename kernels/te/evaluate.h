// Evaluates tensor expressions with plain loops: slow and obviously right. Used by the reference
// interpreter, by constant folding, and (over Dims instead of numbers) to compute the contents of
// shape tensors at compile time. Tested by evaluate_test.cc.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "bytecode/base/host_tensor.h"
#include "bytecode/base/status.h"
#include "kernels/te/te.h"

namespace relayvm::te {

using SymbolFn = std::function<std::optional<int64_t>(uint32_t symbol_id)>;

// The value of `output` for inputs given by input_index. `symbols` gives the values of dimension
// symbols. Intermediate computations are materialised once each. An unknown symbol or an index out
// of range is an error.
Result<HostTensor> Evaluate(const Tensor& output, std::span<const HostTensor* const> inputs,
                            const SymbolFn& symbols);

// The elements of an integer `output` of static shape, row-major, as Dims. `inputs[i]` holds the
// elements of input i, or nullopt where they are not known. nullopt when an element depends on what
// is not known or is not expressible.
std::optional<std::vector<Dim>> EvaluateSymbolic(
    const Tensor& output, std::span<const std::optional<std::vector<Dim>>> inputs);

}  // namespace relayvm::te
