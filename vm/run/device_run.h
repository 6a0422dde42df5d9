// What a run has of the devices of its program: a queue of each, and the tensors that lie there.
//
// Instructions put their work into the queue and go on. What waits for it is a copy to the host,
// and the end of the run, which gives no memory back before all is done: the fiber is left, as in a
// host function that suspends it. What is copied to a device is held until then. One thread at a
// time. Tested by vm/device/device_test.cc.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "vm/device/device.h"
#include "vm/run/interpreter.h"

namespace relayvm::vm {

// A program as devices have it: kernels are loaded, constants copied. Immutable; shared by the runs
// of an executable on these devices, which it keeps.
struct ProgramOnDevices {
  struct On {
    std::shared_ptr<Device> device;
    std::unique_ptr<DeviceImage> image;
    std::unique_ptr<const void*[]> kernels;  // by Program::kernels; null: another device's
    std::unique_ptr<DeviceQueue> queue;      // has the constants' memory
  };
  uint8_t num_devices = 0;
  std::unique_ptr<On[]> on;  // by device, from 1
  size_t num_constants = 0;
  std::unique_ptr<Tensor*[]> constants;          // those of the host are the executable's own
  std::shared_ptr<const ProgramOnDevices> next;  // on other devices
  ~ProgramOnDevices();
};

class DeviceRun {
 public:
  // With a queue on each device of the program, which it looks for in `devices` by name.
  // kUnsupported where there is none. The first of an executable waits for its constants.
  static Result<std::unique_ptr<DeviceRun>> Create(
      const Executable& executable, std::span<const std::shared_ptr<Device>> devices);

  ~DeviceRun();

  Tensor* const* constants() const { return program_->constants.get(); }
  const Device& device(uint8_t index) const { return *program_->on[index - 1].device; }
  // Null at the heap's limit, or where the device has no memory.
  Tensor* NewTensor(Heap& heap, uint8_t device, DType dtype, std::span<const int64_t> dims,
                    size_t bytes);
  // The kernel is filled in. REQUIRES: all buffers are of the device.
  void Launch(uint8_t device, uint32_t kernel, DeviceLaunch launch);
  // From the host to a device, and back: then with a wait. REQUIRES: one of the two is the host's.
  void CopyIn(Tensor* to, Tensor* from);
  StatusCode CopyOut(InterpreterContext& context, Tensor* to, const Tensor* from);
  // Waits until all of a device is done, or the run is to end, which it gives then. `ends`: it has
  // ended, and waits whatever happens.
  StatusCode Wait(InterpreterContext& context, uint8_t device, bool ends = false);
  // Waits for what is copied to devices, so that nothing holds it for that; as Wait.
  StatusCode WaitForCopies(InterpreterContext& context);
  // Whether so much is under way that it is time to wait.
  bool IsFull(uint8_t device) const { return places_[device - 1].queued >= kMostQueued; }
  DeviceFailure failure(uint8_t device) const { return places_[device - 1].queue->failure(); }
  // What a failure of a device means to the run: of the instruction that the tag names.
  static uint64_t TagOf(uint32_t function, uint32_t pc) { return uint64_t{function} << 32 | pc; }
  Status StatusOf(const Executable& executable, const Heap& heap, const StringTable* strings,
                  uint8_t device) const;
  // Waits for all, and gives their memory back; the tensors must not be used then. The first
  // failure, or OK.
  Status End(InterpreterContext& context, const Executable& executable);

 private:
  static constexpr size_t kMostQueued = 256;
  struct Place : DevicePlace {
    std::unique_ptr<DeviceQueue> queue;
    std::vector<Tensor*> sources;  // of copies under way, each with a reference
    size_t queued = 0;
    std::shared_ptr<WaitState> wait;
    std::atomic<uint64_t> done{0};  // the latest wait that has ended
  };

  std::shared_ptr<const ProgramOnDevices> program_;
  std::unique_ptr<Place[]> places_;  // by device, from 1
};

}  // namespace relayvm::vm
