// relayrun --trace-values: the values of a run of the reference interpreter, a line each. Tested by
// value_trace_test.cc.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "compiler/reference/interpreter.h"

namespace relayvm::tools {

// Writes the first `most` values, and how many there were more of when it is destroyed:
//
//   %conv1 = nn.conv2d  Tensor[(1, 8, 26, 26), float32]  min -3.1  max 4.2  mean 0.01  NaN 0  Inf 0  [cnn.relay:7:3]
//
// A value with NaN or Inf, where there was none before, is always written, and marked "<- first
// NaN".
class ValueTrace {
 public:
  using Writer = std::function<void(std::string_view line)>;  // without the newline
  // `sources` is of the module that runs, which outlives this.
  ValueTrace(const ir::SourceMap& sources, size_t most, Writer write);
  ~ValueTrace();
  ValueTrace(const ValueTrace&) = delete;
  ValueTrace& operator=(const ValueTrace&) = delete;

  Status operator()(const reference::ValueEvent& event);

 private:
  const ir::SourceMap& sources_;
  const size_t most_;
  Writer write_;
  size_t seen_ = 0, shown_ = 0;
  bool nan_ = false, inf_ = false;  // whether there was one
};

}  // namespace relayvm::tools
