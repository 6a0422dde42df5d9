// What a model's file does not know, from config.json in its folder (or FILE.config.json beside a
// FILE.vmx):
//
//   {"independent_rows": true, "max_batch": 32, "max_delay_ms": 2,
//    "sequences": {"time_to_live_s": 60, "max_count": 1000, "max_bytes": 1000000000},
//    "states": {"h": "h_next"}}
//
// All members are optional. `states`: input h is what output h_next of the run before was, as
// relayc --state h=h_next says: a model that is compiled here is compiled so, a .vmx has to say the
// same. Tested by batch_rows_test.cc.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bytecode/base/status.h"

namespace relayvm::serve {

struct SequenceOptions {
  std::chrono::milliseconds time_to_live{60'000};  // since a sequence's latest request ended
  size_t max_count = 10'000;                       // sequences of a model
  size_t max_bytes = size_t{1} << 30;              // of all their states
};

struct ModelConfig {
  // What is in one row of the inputs and outputs has to do with no other row, so that requests may
  // be joined. No type says so: the steps of a sequence are rows too.
  bool independent_rows = false;
  std::optional<int64_t> max_batch;  // rows; 1: never joined
  std::optional<std::chrono::nanoseconds> max_delay;
  SequenceOptions sequences;
  std::vector<std::pair<std::string, std::string>> states;  // an input, and the output before it
  bool counts_memory = false;  // the server's: what runs need is known (memory_formula.h)
};

// kInvalidArgument: no such JSON, names that there are not, numbers out of range.
Result<ModelConfig> ReadModelConfig(std::string_view json);
// The same of a file; where there is none, what holds without.
Result<ModelConfig> LoadModelConfig(const std::string& path);

}  // namespace relayvm::serve
