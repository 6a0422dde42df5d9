// FencedDevice: a device for tests, made of the host, that shows what a program or a runtime
// forgets.
//
// Its memory is mapped twice: at the addresses that tensors hold nobody may read or write, so that
// the host faults there, and at others, where the device itself works. Launches and copies are
// given the former and refuse what is none of the queue's memory. A thread does the work of all
// queues: each in its order, but of several any next, after a delay, at random by a seed. What is
// freed is written over. Thread-safe.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "vm/device/device.h"
#include "vm/device/host_device.h"

namespace relayvm::testing {

class FencedDevice final : public Device {
 public:
  struct Options {
    std::string name = "fenced";
    uint32_t seed = 1;
    std::chrono::microseconds most_delay{50};  // of each work
    size_t bytes = size_t{1} << 30;
    std::vector<Builtin> kernels;  // besides those of images
    DeviceNumber number{12, 0};    // kDLExtDev
  };

  explicit FencedDevice(Options options) : options_(std::move(options)), random_(options_.seed) {
    const int fd = ::memfd_create("fenced device", MFD_CLOEXEC);
    if (fd < 0 || ::ftruncate(fd, static_cast<off_t>(options_.bytes)) != 0) std::abort();
    fence_ = Map(fd, PROT_NONE);
    view_ = Map(fd, PROT_READ | PROT_WRITE);
    ::close(fd);
    free_[0] = options_.bytes;
    worker_ = std::thread([this] { Work(); });
  }
  ~FencedDevice() override {
    {
      const std::lock_guard lock(mutex_);
      stops_ = true;
    }
    changed_.notify_all();
    worker_.join();
    ::munmap(fence_, options_.bytes);
    ::munmap(view_, options_.bytes);
  }

  std::string_view name() const override { return options_.name; }
  Result<std::unique_ptr<DeviceImage>> Load(std::span<const uint8_t> image) override {
    return vm::LoadHostImage(image, options_.kernels);
  }
  Result<std::unique_ptr<DeviceQueue>> NewQueue() override {
    auto queue = std::make_unique<Queue>(this);
    const std::lock_guard lock(mutex_);
    queues_.push_back(queue.get());
    return std::unique_ptr<DeviceQueue>(std::move(queue));
  }

  void Free(void* memory) override {
    const std::lock_guard lock(mutex_);
    FreeBlock(static_cast<char*>(memory) - fence_);
  }
  DeviceNumber number() const override { return options_.number; }

  // Copies fail from now on.
  void FailCopies(bool fail) { fails_copies_ = fail; }
  // So does memory: null, or bad_alloc.
  enum class Memory : uint8_t { kThere, kNone, kThrows };
  void SetMemory(Memory memory) { has_memory_ = memory; }
  // No work is begun while it holds.
  void Hold(bool hold) {
    {
      const std::lock_guard lock(mutex_);
      holds_ = hold;
    }
    changed_.notify_all();
  }
  // What is in queues now.
  size_t num_waiting() {
    const std::lock_guard lock(mutex_);
    size_t waiting = 0;
    for (const Queue* queue : queues_) waiting += queue->work_.size();
    return waiting;
  }
  size_t bytes_in_use() {
    const std::lock_guard lock(mutex_);
    size_t bytes = 0;
    for (const auto& [at, block] : blocks_) bytes += block.bytes;
    return bytes;
  }
  uint64_t launches() const { return launches_; }
  uint64_t copies() const { return copies_; }

 private:
  struct Block {
    size_t bytes;
    const void* queue;  // null: kept, any
  };

  class Queue final : public DeviceQueue {
   public:
    explicit Queue(FencedDevice* device) : device_(device) {}
    ~Queue() override {
      const std::lock_guard lock(device_->mutex_);
      if (!work_.empty() || busy_) Die("destroyed");
      device_->FreeAll(this);
      std::erase(device_->queues_, this);
    }

    void* Allocate(size_t bytes) override {
      if (device_->has_memory_ == Memory::kThrows) throw std::bad_alloc();
      if (device_->has_memory_ == Memory::kNone) return nullptr;
      const std::lock_guard lock(device_->mutex_);
      return device_->Allocate(bytes, this);
    }
    void Free(void* memory) override {
      Put([this, memory] {
        const std::lock_guard lock(device_->mutex_);
        device_->FreeBlock(static_cast<char*>(memory) - device_->fence_);
      });
    }
    void Keep(void* memory) override {
      const std::lock_guard lock(device_->mutex_);
      const auto block =
          device_->blocks_.find(static_cast<size_t>(static_cast<char*>(memory) - device_->fence_));
      if (block == device_->blocks_.end() || block->second.queue != this) std::abort();
      block->second.queue = nullptr;
    }
    void Launch(const DeviceLaunch& launch) override {
      ++device_->launches_;
      has_launched_ = true;
      Put([this, launch, buffers = std::vector<void*>(launch.buffers.begin(), launch.buffers.end()),
           scalars = std::vector<int64_t>(launch.scalars.begin(), launch.scalars.end())]() mutable {
        if (failure_.code != RELAYVM_KERNEL_OK) return;
        failure_.tag = launch.tag;
        for (size_t i = 0; i < buffers.size(); ++i) {
          buffers[i] = device_->View(buffers[i], 1, this);
          if (buffers[i] == nullptr) return Fail("buffer " + std::to_string(i));
        }
        const auto fn = reinterpret_cast<RelayvmKernelFn>(const_cast<void*>(launch.kernel));
        failure_.code = vm::RunHostLaunch(
            {fn, buffers.data(), scalars.data(), launch.units, launch.scratch_bytes},
            &failure_.fault);
      });
    }
    void CopyIn(void* to, const void* from, size_t bytes) override { Copy(to, from, to, bytes); }
    void CopyOut(void* to, const void* from, size_t bytes) override { Copy(to, from, from, bytes); }
    void Notify(std::function<void()> done) override { Put(std::move(done)); }
    DeviceFailure failure() const override { return failure_; }
    void Reset() override {
      const std::lock_guard lock(device_->mutex_);
      if (!work_.empty() || busy_) Die("reset");
      device_->FreeAll(this);
      failure_ = {};
    }

   private:
    friend class FencedDevice;
    [[noreturn]] static void Die(const char* what) {
      std::fprintf(stderr, "a queue was %s before its work was done\n", what);
      std::abort();
    }
    void Put(std::function<void()> work) {
      {
        const std::lock_guard lock(device_->mutex_);
        work_.push_back(std::move(work));
      }
      device_->changed_.notify_all();
    }
    // `own` is the device's side.
    void Copy(void* to, const void* from, const void* own, size_t bytes) {
      ++device_->copies_;
      Put([this, to, from, own, bytes] {
        if (failure_.code != RELAYVM_KERNEL_OK) return;
        void* const view = device_->View(own, bytes, this);
        if (view != nullptr && !device_->fails_copies_) {
          std::memcpy(own == to ? view : to, own == to ? from : view, bytes);
          return;
        }
        failure_.tag = 0;
        Fail("what is copied");
      });
    }
    void Fail(const std::string& what) {
      failure_.code = RELAYVM_KERNEL_INVALID_ARGUMENT;
      failure_.message = what + " is none of the queue's memory";
    }

    FencedDevice* device_;
    std::deque<std::function<void()>> work_;  // under the device's mutex
    bool busy_ = false;                       // likewise
    std::atomic<bool> has_launched_{false};
    DeviceFailure failure_;
  };

  char* Map(int fd, int protection) const {
    void* const memory = ::mmap(nullptr, options_.bytes, protection, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED) std::abort();
    return static_cast<char*>(memory);
  }

  // --- Memory; under the mutex ---

  void* Allocate(size_t bytes, const void* queue) {
    bytes = (bytes + 63) & ~size_t{63};
    for (auto& [at, room] : free_) {
      if (room < bytes) continue;
      const size_t offset = at, left = room - bytes;
      free_.erase(offset);
      if (left > 0) free_[offset + bytes] = left;
      blocks_[offset] = {bytes, queue};
      return fence_ + offset;
    }
    return nullptr;
  }
  void FreeBlock(ptrdiff_t offset) {
    const auto block = blocks_.find(static_cast<size_t>(offset));
    if (block == blocks_.end()) std::abort();
    auto [at, bytes] = std::pair(block->first, block->second.bytes);
    constexpr int kFreed = 0xDB;
    std::memset(view_ + at, kFreed, bytes);
    blocks_.erase(block);
    if (const auto next = free_.find(at + bytes); next != free_.end()) {
      bytes += next->second;
      free_.erase(next);
    }
    auto before = free_.lower_bound(at);
    if (before != free_.begin() && (--before)->first + before->second == at) {
      before->second += bytes;
    } else {
      free_[at] = bytes;
    }
  }
  void FreeAll(const void* queue) {
    std::vector<size_t> own;
    for (const auto& [at, block] : blocks_) {
      if (block.queue == queue) own.push_back(at);
    }
    for (const size_t at : own) FreeBlock(static_cast<ptrdiff_t>(at));
  }

  // Where the device has what `queue` calls `address`; null where it may not use it. A queue that
  // never launched anything has constants.
  void* View(const void* address, size_t bytes, const Queue* queue) {
    const std::lock_guard lock(mutex_);
    const auto offset = static_cast<size_t>(static_cast<const char*>(address) - fence_);
    auto block = blocks_.upper_bound(offset);
    if (block == blocks_.begin()) return nullptr;
    --block;
    if (offset + bytes > block->first + block->second.bytes) return nullptr;
    const auto* owner = static_cast<const Queue*>(block->second.queue);
    const bool may = owner == nullptr || owner == queue || !owner->has_launched_;
    return may ? view_ + offset : nullptr;
  }

  // --- The thread ---

  void Work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      std::vector<Queue*> ready;
      if (!holds_) {
        std::ranges::copy_if(queues_, std::back_inserter(ready),
                             [](const Queue* queue) { return !queue->work_.empty(); });
      }
      if (ready.empty()) {
        if (stops_) return;
        changed_.wait(lock);
        continue;
      }
      Queue* const queue = ready[random_() % ready.size()];
      const auto delay = random_() % (static_cast<uint64_t>(options_.most_delay.count()) + 1);
      std::function<void()> work = std::move(queue->work_.front());
      queue->work_.pop_front();
      queue->busy_ =
          !queue->work_.empty();  // what comes last may be a Notify, after which it may go
      lock.unlock();
      if (delay > 0) std::this_thread::sleep_for(std::chrono::microseconds(delay));
      work();
      work = nullptr;
      lock.lock();
      if (std::ranges::count(queues_, queue) > 0) queue->busy_ = false;
    }
  }

  const Options options_;
  char *fence_ = nullptr, *view_ = nullptr;
  std::mutex mutex_;
  std::condition_variable changed_;
  // Under it.
  std::mt19937 random_;
  std::map<size_t, size_t> free_;  // by offset: bytes
  std::map<size_t, Block> blocks_;
  std::vector<Queue*> queues_;
  bool holds_ = false, stops_ = false;
  std::atomic<uint64_t> launches_{0}, copies_{0};
  std::atomic<bool> fails_copies_{false};
  std::atomic<Memory> has_memory_{Memory::kThere};
  std::thread worker_;
};

}  // namespace relayvm::testing
