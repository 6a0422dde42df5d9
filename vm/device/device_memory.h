// What values have on devices. Thread-safe. Tested by device_value_test.cc.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "bytecode/base/dtype.h"
#include "bytecode/base/status.h"
#include "vm/device/device.h"
#include "vm/memory/memory_budget.h"
#include "vm/memory/object.h"

namespace relayvm {
class Runtime;
}

namespace relayvm::vm {

// A device of a runtime, and what its runs and values may have there together.
struct RuntimeDevice {
  RuntimeDevice(std::shared_ptr<Device> device, size_t limit)
      : device(std::move(device)), budget(limit) {}
  // Those of a runtime.
  static std::span<const std::shared_ptr<RuntimeDevice>> Of(const Runtime& runtime);

  const std::shared_ptr<Device> device;
  MemoryBudget budget;
};
using RuntimeDevices = std::span<const std::shared_ptr<RuntimeDevice>>;

// So much memory is asked for, for `bytes` of a tensor.
constexpr size_t DeviceRoom(size_t bytes) { return bytes == 0 ? 64 : (bytes + 63) & ~size_t{63}; }

// Of a shared tensor of kDeviceTensor: its `external`.
struct DeviceMemory : ExternalMemory {
  std::shared_ptr<RuntimeDevice> on;
  void* kept = nullptr;               // what a queue has kept; null: it is somebody else's,
  size_t room = 0;                    // drawn for it
  std::shared_ptr<const void> owner;  // who is this

  ~DeviceMemory() {
    if (kept != nullptr) on->device->Free(kept);
    on->budget.Return(room);
  }
};
inline const DeviceMemory& MemoryOn(const Tensor* tensor) {
  return *static_cast<const DeviceMemory*>(tensor->external);
}

// Takes the memory over; null without memory, when it is freed.
Tensor* NewSharedDeviceTensor(DType dtype, std::span<const int64_t> dims, void* data,
                              std::unique_ptr<DeviceMemory> memory);

// Blocks until all is done that was put into the queue.
void Await(DeviceQueue& queue);

// "no memory for a tensor of 8 bytes on device 'gpu': the runtime's limit there is 256, 256 are in
// use", or where it is not at the limit, the device has no more.
std::string NoRoom(const RuntimeDevice& on, const std::string& what, bool at_limit);

// Null where the runtime has it not.
std::shared_ptr<RuntimeDevice> FindDevice(RuntimeDevices devices, const Device* device);
// "the runtime has not device 'gpu' (RuntimeOptions::devices); its devices: fenced"
Status NoDevice(RuntimeDevices devices, const Device& device, const std::string& of);

}  // namespace relayvm::vm
