// Device: a processor with memory of its own, which kernels of a program run on. A program names
// the devices that it needs; a runtime has those that its host gives it (RuntimeOptions::devices).
//
// An invocation has one queue on each device of its program. What is put into a queue is done in
// its order, some time later; several queues know no order. Nothing here waits for what is in a
// queue, nor does whoever calls it: a run that needs a result leaves its fiber until Notify tells.
// What fails when it is done is told then, with the tag of what failed; what comes after it in its
// queue is left out, but for Free and Notify.
//
// The host itself is such a device, whose queue does all at once: host_device.h, which shows what
// an implementation is. Calls may come from any thread: to one queue and its memory one at a time,
// to a Device several at once. What throws (std::bad_alloc) ends the run; Free, Keep, Notify,
// failure and Reset throw nothing. Tested by device_test.cc and device_value_test.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "bytecode/base/status.h"
#include "bytecode/kernel_abi.h"

namespace relayvm {

struct DeviceLaunch {
  const void* kernel;              // of DeviceImage::Find
  std::span<void* const> buffers;  // all in memory of the queue or of the program's constants
  std::span<const int64_t> scalars;
  // As a call in the program says: 0 <= units <= UINT32_MAX. Scratch is the device's own memory,
  // which counts toward no limit.
  int64_t units, grain, scratch_bytes;
  uint64_t tag;
};

// Of the first work of a queue that failed.
struct DeviceFailure {
  int32_t code = RELAYVM_KERNEL_OK;  // OK: none has failed
  uint64_t tag = 0;                  // of the launch; 0: a copy
  RelayvmKernelFault fault{};        // of the kernel, where it says one
  std::string message;               // what the device says; may be empty
};

// In order. Destroyed only when all is done.
class DeviceQueue {
 public:
  virtual ~DeviceQueue() = default;
  // 64-byte aligned; null where there is none. Only this queue uses it, until Keep. REQUIRES:
  // bytes > 0.
  virtual void* Allocate(size_t bytes) = 0;
  // Once what was put there before is done.
  virtual void Free(void* memory) = 0;
  // What Allocate gave stays when the queue is reset or gone, until Device::Free: a value has it
  // (Value::device), and other queues use it too.
  virtual void Keep(void* memory) = 0;
  // All but the memory that buffers point to is copied.
  virtual void Launch(const DeviceLaunch& launch) = 0;
  // From the host's memory, or to it, which stays until it is done. REQUIRES: bytes > 0.
  virtual void CopyIn(void* to, const void* from, size_t bytes) = 0;
  virtual void CopyOut(void* to, const void* from, size_t bytes) = 0;
  // Calls `done` once what was put there before is done, from any thread, maybe at once. It does
  // not call the queue.
  virtual void Notify(std::function<void()> done) = 0;
  // REQUIRES: all is done.
  virtual DeviceFailure failure() const = 0;
  // Frees all its memory and forgets the failure. REQUIRES: all is done.
  virtual void Reset() = 0;
};

// A kernel image of a program, on a device.
class DeviceImage {
 public:
  virtual ~DeviceImage() = default;
  // A kernel by its name, and its entry where the program has an image; null: there is none. What
  // the program says of its buffers is trusted, as native code is (LoadOptions::allow_images).
  virtual const void* Find(std::string_view name, uint64_t entry) const = 0;
};

// As DLPack has it: a DLDeviceType, and which one of these. 0: none.
struct DeviceNumber {
  int32_t type = 0, id = 0;
  bool operator==(const DeviceNumber&) const = default;
};

class Device {
 public:
  virtual ~Device() = default;
  // What programs call it: "cuda-sm80".
  virtual std::string_view name() const = 0;
  // `image` stays there as long as what is made of it; empty: the program has none for this device,
  // and kernels are the device's own. May take long.
  virtual Result<std::unique_ptr<DeviceImage>> Load(std::span<const uint8_t> image) = 0;
  virtual Result<std::unique_ptr<DeviceQueue>> NewQueue() = 0;
  // What a queue has kept; nothing uses it any more. From any thread; throws nothing.
  virtual void Free(void* memory) = 0;
  // What values on it are given to other libraries as, and taken from them.
  virtual DeviceNumber number() const { return {}; }
};

}  // namespace relayvm
