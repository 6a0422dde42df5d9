// Models that are not compiled yet: relayc, as a process of its own, makes a .vmx of one, which is
// kept in a folder by the content of what it was made of. Thread-safe. Tested by
// repository_test.cc.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "bytecode/base/status.h"

namespace relayvm::serve {

struct CompileOptions {
  std::string relayc;        // the program; empty: none, and models have to be compiled
  std::string cache_folder;  // made where it is not there
  std::chrono::seconds timeout{900};
  std::vector<std::pair<std::string, std::string>> states;  // relayc --state IN=OUT
  bool batching = false;  // with forms of kernels that run for several runs at once
  uint64_t cache_bytes = uint64_t{16} << 30;  // of the folder; above that, the oldest goes
  const std::atomic<bool>* stop = nullptr;    // ends a compilation that is under way
};

// The path of the .vmx. `model` stands in a folder with all that belongs to it (its weights).
// kInvalidInput with what relayc says; kDeadlineExceeded; kCancelled: told to stop; kUnsupported
// without a relayc.
Result<std::string> CompileModel(const std::string& model, const CompileOptions& options);

}  // namespace relayvm::serve
