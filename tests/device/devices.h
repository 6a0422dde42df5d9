// What relayrun and vmrun have for devices where they are built for tests: a fenced one, whose
// delays are those of a seed in the environment.
#pragma once

#include <cstdlib>
#include <memory>
#include <vector>

#include "vm/device/testing.h"

namespace relayvm::testing {

inline std::vector<std::shared_ptr<Device>> TestDevices() {
  FencedDevice::Options options;
  const char* const seed = std::getenv("RELAYVM_TEST_DEVICE_SEED");
  if (seed != nullptr) options.seed = static_cast<uint32_t>(std::strtoul(seed, nullptr, 10));
  options.most_delay = std::chrono::microseconds(20);
  return {std::make_shared<FencedDevice>(options)};
}

}  // namespace relayvm::testing
