// A value in a line, for who debugs a model layer by layer: what it is, its range, and whether it
// holds what no layer should give. Tested by value_summary_test.cc.
#pragma once

#include <cstdint>
#include <string>

#include "bytecode/base/host_tensor.h"
#include "compiler/reference/value.h"

namespace relayvm::reference {

// Of a tensor's elements as doubles. Least, greatest and mean are of those that are finite, and 0
// where there are none.
struct TensorSummary {
  double min = 0, max = 0, mean = 0;
  int64_t nan = 0, inf = 0;  // how many
  int64_t finite = 0;
};
TensorSummary Summarise(const HostTensor& tensor);

// "Tensor[(2, 3), float32]  min -1.5  max 2  mean 0.25  NaN 0  Inf 1"; "int64 14" of a scalar; of a
// tuple or a constructor its parts, as far as `most_bytes` goes.
std::string SummaryText(const Value& value, size_t most_bytes = 400);

}  // namespace relayvm::reference
