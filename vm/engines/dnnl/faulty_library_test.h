// What the library of faulty_library_test.cc gives to tests, as faulty_library(). May be used by
// several threads at once.
#pragma once

#include <oneapi/dnnl/dnnl_types.h>

#include <cstdint>

namespace relayvm::onednn_testing {

struct FaultyLibrary {
  // From now on calls are counted from 0: call `first` gives `status` and does nothing else, and,
  // where `every` is not 0, so does each of that many after it. Those that may fail are counted:
  // all that give a status but those that destroy. dnnl_success: none fails.
  void (*fail)(int64_t first, int64_t every, dnnl_status_t status);
  // Since then.
  int64_t (*calls)();
  int64_t (*faults)();
  // Engines, streams, memories, primitives, their descriptors and attributes that are created and
  // not destroyed.
  int64_t (*live)();
  // Uses, so far, of what is not live.
  int64_t (*misuses)();
  // Whether this thread is in a function of oneDNN.
  bool (*is_inside)();
};

}  // namespace relayvm::onednn_testing
