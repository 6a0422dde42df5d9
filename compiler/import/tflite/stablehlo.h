// What converters of StableHLO share. Tested by operators_test.cc.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/import/tflite/operator.h"

namespace relayvm::import::tflite {

inline std::vector<int64_t> LongsOf(const flatbuffers::Vector<int64_t>* v) {
  return v == nullptr ? std::vector<int64_t>() : std::vector<int64_t>(v->begin(), v->end());
}

// What a subgraph of one operator does to two numbers; of none it gives its second input.
struct Reduction {
  const char* over;     // Relay's operator over axes; null: none
  const char* with;     // of two numbers; null: the second
  const char* scatter;  // the mode of scatter_nd; null: none
};
// Nullopt with an error.
std::optional<Reduction> ReductionOf(NodeContext& n, int32_t subgraph);

}  // namespace relayvm::import::tflite
