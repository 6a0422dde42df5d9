// What a run has of the devices of its program: a queue of each, and the tensors that lie there.
//
// Instructions put their work into the queue and go on. What waits for it is a copy to the host,
// and the end of the run, which gives no memory back before all is done: the fiber is left, as in a
// host function that suspends it. What is copied to a device is held until then. One thread at a
// time. Tested by vm/device/device_test.cc.
#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "vm/border/value.h"
#include "vm/device/device_memory.h"
#include "vm/run/interpreter.h"

namespace relayvm::vm {

// A program as devices have it: kernels are loaded, constants copied. Immutable; shared by the runs
// of an executable on these devices, which it keeps.
struct ProgramOnDevices {
  struct On {
    std::shared_ptr<RuntimeDevice> device;
    std::unique_ptr<DeviceImage> image;
    std::unique_ptr<const void*[]> kernels;  // by Program::kernels; null: another device's
    std::unique_ptr<DeviceQueue> queue;      // has the constants' memory
  };
  uint8_t num_devices = 0;
  std::unique_ptr<On[]> on;                // by device, from 1
  std::unique_ptr<Tensor*[]> constants;    // those of the host are the executable's own,
  std::vector<Tensor*> own;                // the others are these
  std::shared_ptr<ProgramOnDevices> next;  // on other devices
  ~ProgramOnDevices();
};

class DeviceRun {
 public:
  // With a queue on each device of the program, which it looks for in `devices` by name.
  // kUnsupported where there is none. The first of an executable waits for its constants.
  static Result<std::unique_ptr<DeviceRun>> Create(const Executable& executable,
                                                   RuntimeDevices devices);

  ~DeviceRun();

  Tensor* const* constants() const { return program_->constants.get(); }
  const Device& device(uint8_t index) const { return *places_[index - 1]->on->device; }
  // Null at the heap's limit or the device's, or where that has no memory: then the run must end,
  // which gives back what was counted.
  Tensor* NewTensor(Heap& heap, uint8_t device, DType dtype, std::span<const int64_t> dims,
                    size_t bytes);
  // Why the latest NewTensor gave null, which was for `what`.
  Failure NoMemory(const Heap& heap, uint8_t device, const std::string& what, size_t bytes) const;
  // The kernel is filled in. `traced`: what the trace is told when it is done; or null. REQUIRES:
  // all buffers are of the device.
  void Launch(uint8_t device, uint32_t kernel, DeviceLaunch launch, const KernelEvent* traced);
  // From the host to a device, and back: then with a wait. REQUIRES: one of the two is the host's.
  void CopyIn(Tensor* to, Tensor* from);
  StatusCode CopyOut(InterpreterContext& context, Tensor* to, const Tensor* from);
  // An input on a device, as the run has it: there, or copied to the host, as `wanted` says
  // (FindInputDevices).
  Result<Tensor*> Import(InterpreterContext& context, const Executable& executable,
                         const Tensor* input, const std::shared_ptr<RuntimeDevice>& on,
                         uint8_t wanted);
  // A tensor of the result as a shared one on a device, where it stays, or is copied to; it is that
  // once the run has ended.
  Result<Tensor*> Export(InterpreterContext& context, Tensor* tensor,
                         const std::shared_ptr<RuntimeDevice>& to);
  // Waits until all of a device is done, or the run is to end, which it gives then. `ends`: it has
  // ended, and waits whatever happens.
  StatusCode Wait(InterpreterContext& context, uint8_t device, bool ends = false);
  // Waits for what is copied to devices, so that nothing holds it for that; as Wait.
  StatusCode WaitForCopies(InterpreterContext& context);
  // Whether so much is under way that it is time to wait.
  bool IsFull(uint8_t device) const { return places_[device - 1]->queued >= kMostQueued; }
  DeviceFailure failure(uint8_t device) const { return places_[device - 1]->queue->failure(); }
  // What a failure of a device means to the run: of the instruction that the tag names.
  // Not 0, which is of no launch.
  static uint64_t TagOf(uint32_t function, uint32_t pc) {
    return uint64_t{function} << 32 | (uint64_t{pc} + 1);
  }
  Status StatusOf(const Executable& executable, const Heap& heap, const StringTable* strings,
                  uint8_t device) const;
  // Waits for all, and gives their memory back; the tensors must not be used then. The first
  // failure, or OK.
  Status End(InterpreterContext& context, const Executable& executable);

 private:
  static constexpr size_t kMostQueued = 256;
  struct Traced {
    KernelEvent event;
    std::atomic<int64_t> end_ns{0};
  };
  struct Place : DevicePlace {
    std::shared_ptr<RuntimeDevice> on;
    size_t drawn = 0;  // of its budget
    std::unique_ptr<DeviceQueue> queue;
    std::vector<Tensor*> sources;  // of copies under way, each with a reference
    size_t queued = 0;
    std::list<Traced> traced;  // launches that are not done
    std::shared_ptr<WaitState> wait;
    std::atomic<uint64_t> done{0};  // the latest wait that has ended
  };

  std::shared_ptr<const ProgramOnDevices> program_;
  Status AddPlace(const std::shared_ptr<RuntimeDevice>& on);
  // The number of a device, which the program may not have.
  Result<uint8_t> Find(const std::shared_ptr<RuntimeDevice>& on);
  // A shared tensor of one that lies on a device.
  Result<Tensor*> Share(Tensor* tensor);

  enum class Refusal : uint8_t { kHeap, kLimit, kDevice };
  Refusal refusal_ = Refusal::kHeap;
  std::vector<std::unique_ptr<Place>> places_;  // by device, from 1: the program's first
  // Of this run: what became of tensors that inputs and the result have, and what holds it.
  std::vector<std::pair<const Tensor*, Value>> shared_;
};

}  // namespace relayvm::vm
