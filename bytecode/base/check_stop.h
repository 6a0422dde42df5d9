// CheckStop: what long work of the compiler asks between its steps.
#pragma once

#include <stop_token>

#include "bytecode/base/status.h"

namespace relayvm {

// kCancelled when somebody has asked to stop.
inline Status CheckStop(const std::stop_token& stop) {
  if (!stop.stop_requested()) return OkStatus();
  return {StatusCode::kCancelled, "the compilation was cancelled"};
}

}  // namespace relayvm
