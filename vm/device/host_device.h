// The host as a device: a queue that does at once what it is told. What a program placed on a
// device runs on where there is no other, and the smallest implementation of one. Thread-safe.
// Tested by device_test.cc.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "kernels/runtime/builtin.h"
#include "vm/device/device.h"

namespace relayvm {

// Its kernels are those of the program's image, and `kernels` by name (copied).
std::shared_ptr<Device> MakeHostDevice(std::string name, std::span<const Builtin> kernels = {});

namespace vm {

// Runs all units of a launch whose buffers the host can reach.
struct HostLaunch {
  RelayvmKernelFn fn;
  void* const* buffers;
  const int64_t* scalars;
  int64_t units, scratch_bytes;
};
int32_t RunHostLaunch(const HostLaunch& launch, RelayvmKernelFault* fault);

// An image of the host's code, or kernels by name.
Result<std::unique_ptr<DeviceImage>> LoadHostImage(std::span<const uint8_t> image,
                                                   std::span<const Builtin> kernels);

}  // namespace vm
}  // namespace relayvm
