// What values have on devices. Thread-safe. Tested by device_value_test.cc.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "bytecode/base/dtype.h"
#include "bytecode/base/status.h"
#include "vm/device/device.h"
#include "vm/memory/memory_budget.h"
#include "vm/memory/object.h"

namespace relayvm::vm {

// A device of a runtime, and what its runs and values may have there together; null: no limit.
struct RuntimeDevice {
  std::shared_ptr<Device> device;
  std::shared_ptr<MemoryBudget> budget;

  bool Draw(size_t bytes) const { return budget == nullptr || budget->Draw(bytes); }
  void Return(size_t bytes) const {
    if (budget != nullptr) budget->Return(bytes);
  }
};

// So much memory is asked for, for `bytes` of a tensor.
constexpr size_t DeviceRoom(size_t bytes) { return bytes == 0 ? 64 : (bytes + 63) & ~size_t{63}; }

// Of a shared tensor of kDeviceTensor: its `external`.
struct DeviceMemory : ExternalMemory {
  RuntimeDevice on;
  void* kept = nullptr;  // what a queue has kept, and `room` of it drawn; null: somebody else's,
  size_t room = 0;
  std::shared_ptr<const void> owner;  // who is this

  ~DeviceMemory() {
    if (kept == nullptr) return;
    on.device->Free(kept);
    on.Return(room);
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

// A copy of a shared or local tensor on a device, and one of a tensor on a device in `to`, the
// host's memory. They wait for it, and do not touch the thread's fiber.
Result<Tensor*> CopyToDevice(const RuntimeDevice& on, const Tensor* from);
Status CopyToHost(const Tensor* from, void* to);

// "the runtime has no device 'gpu'; it has: fenced"; what it has: none.
Status NoDevice(std::span<const RuntimeDevice> devices, std::string_view what);

}  // namespace relayvm::vm
