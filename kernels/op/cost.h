// What computing an operator's result costs, read off its tensor expression: an element, for
// fusion, which may compute it again for each of its uses; and all of it, for constant folding.
// Tested by cost_test.cc.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "kernels/op/op.h"

namespace relayvm {

// True when an element costs so much more than a load that it is stored, never computed twice: a
// transcendental function, or as much arithmetic. REQUIRES: op.compute.
bool IsExpensive(const OpDef& op, const Attrs& attrs, std::span<const TensorType> inputs,
                 std::span<const TensorType> outputs);

// Where an element of a result reads an input.
struct InputReads {
  int64_t places = 0;    // index tuples that differ
  bool own = false;      // one of them is the element's own place
  bool crosses = false;  // at a place that data decides, or of which no outer axis is the result's
};

struct ElementCost {
  int operations = 0;  // simple ones; no more than an expensive element has
  bool expensive = false;
  std::vector<InputReads> reads;  // one an input
};

// Of an element of the operator's results, the dearest. REQUIRES: op.compute.
ElementCost CostOfElement(const OpDef& op, const Attrs& attrs, std::span<const TensorType> inputs,
                          std::span<const TensorType> outputs);

// From so many operations on an element is expensive.
constexpr int kExpensiveElement = 16;

// About how many simple operations it takes to compute the outputs, each computation that they read
// once; infinite when a size is not known: neither a number nor, by `sizes`, made of symbols that
// are. Never negative, whatever the sizes.
using SizeOfSymbol = std::function<std::optional<int64_t>(uint32_t id)>;
double WorkOf(std::span<const te::Tensor> outputs, const SizeOfSymbol& sizes = {});

}  // namespace relayvm
