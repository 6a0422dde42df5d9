// The steps upon a quantised product, read from the JSON and from constants when a region is
// created: what integer_steps.h runs. Tested by quantised_test.cc.
#pragma once

#include <fmt/format.h>

#include <cstring>
#include <functional>
#include <numeric>
#include <optional>
#include <vector>

#include "vm/engines/dnnl/graph.h"
#include "vm/engines/dnnl/integer_steps.h"

namespace relayvm::onednn {

template <typename T>
std::vector<T> Elements(const void* data, int64_t count) {
  std::vector<T> elements(static_cast<size_t>(count));
  if (count != 0) std::memcpy(elements.data(), data, elements.size() * sizeof(T));
  return elements;
}

// The numbers of a constant that is a scalar, or a vector of `channels` (-1: a scalar).
template <typename T>
Result<std::vector<T>> ReadConstant(const Graph& graph, ValueRef v, DType dtype, int64_t channels,
                                    const char* what) {
  const Node& n = graph.nodes[v.node];
  if (n.kind != Node::Kind::kConst) {
    return Status(StatusCode::kUnsupported, fmt::format("{} is no constant", what));
  }
  RELAYVM_ASSIGN_OR_RETURN(const Dims dims, ResolveDims(n.outputs[0], {}));
  const int64_t count = std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
  const bool fits = count == 1 || (count == channels && dims.size() == 1);
  if (n.outputs[0].dtype != dtype || !fits) {
    return Status(StatusCode::kUnsupported,
                  fmt::format("{} is {} of {} elements, expected {} of 1{}", what,
                              DTypeName(n.outputs[0].dtype), count, DTypeName(dtype),
                              channels < 0 ? "" : fmt::format(" or {}", channels)));
  }
  return Elements<T>(graph.constant_data[n.position], count);
}

struct Limits {
  int64_t low, high;
};
// Of int8, uint8 and int32; kUnsupported of others.
Result<Limits> LimitsOf(DType dtype);

struct QuantisedSteps {
  IntegerSteps steps;
  std::optional<ValueRef> other;  // of the step sum
};
// Channels are `channel_axis` of the result.
Result<QuantisedSteps> ReadQuantisedSteps(const Graph& graph, const Node& node, int channel_axis);

}  // namespace relayvm::onednn
