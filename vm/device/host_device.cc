#include "vm/device/host_device.h"

#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include "bytecode/image.h"
#include "bytecode/image_loader.h"

namespace relayvm {
namespace vm {
namespace {

class HostImage final : public DeviceImage {
 public:
  HostImage(std::unique_ptr<MappedImage> image, ImageLayout layout,
            std::span<const Builtin> kernels)
      : image_(std::move(image)),
        layout_(std::move(layout)),
        kernels_(kernels.begin(), kernels.end()) {}

  const void* Find(std::string_view name, uint64_t entry) const override {
    for (const Builtin& kernel : kernels_) {
      if (kernel.name == name) return reinterpret_cast<const void*>(kernel.fn);
    }
    if (image_ == nullptr || !layout_.IsCode(entry)) return nullptr;
    return reinterpret_cast<const void*>(image_->Entry(entry));
  }

 private:
  std::unique_ptr<MappedImage> image_;  // or null
  ImageLayout layout_;
  std::vector<Builtin> kernels_;
};

struct FreeMemory {
  void operator()(void* memory) const { std::free(memory); }
};
using Memory = std::unique_ptr<void, FreeMemory>;
Memory AllocateAligned(size_t bytes) {
  return Memory(bytes > SIZE_MAX - 63 ? nullptr
                                      : std::aligned_alloc(64, (bytes + 63) & ~size_t{63}));
}

class HostQueue final : public DeviceQueue {
 public:
  void* Allocate(size_t bytes) override {
    Memory memory = AllocateAligned(bytes);
    return memory == nullptr ? nullptr : memory_.emplace_back(std::move(memory)).get();
  }
  void Free(void* memory) override {
    std::erase_if(memory_, [&](const Memory& m) { return m.get() == memory; });
  }
  void Keep(void* memory) override {
    for (Memory& m : memory_) {
      if (m.get() == memory) static_cast<void>(m.release());
    }
    std::erase(memory_, nullptr);
  }
  void Launch(const DeviceLaunch& launch) override {
    if (failure_.code != RELAYVM_KERNEL_OK) return;
    const auto fn = reinterpret_cast<RelayvmKernelFn>(const_cast<void*>(launch.kernel));
    failure_.tag = launch.tag;
    failure_.code = RunHostLaunch(
        {fn, launch.buffers.data(), launch.scalars.data(), launch.units, launch.scratch_bytes},
        &failure_.fault);
  }
  void CopyIn(void* to, const void* from, size_t bytes) override { std::memcpy(to, from, bytes); }
  void CopyOut(void* to, const void* from, size_t bytes) override { std::memcpy(to, from, bytes); }
  void Notify(std::function<void()> done) override { done(); }
  DeviceFailure failure() const override { return failure_; }
  void Reset() override {
    memory_.clear();
    failure_ = {};
  }

 private:
  std::vector<Memory> memory_;
  DeviceFailure failure_;
};

class HostDevice final : public Device {
 public:
  HostDevice(std::string name, std::span<const Builtin> kernels)
      : name_(std::move(name)), kernels_(kernels.begin(), kernels.end()) {}
  std::string_view name() const override { return name_; }
  Result<std::unique_ptr<DeviceImage>> Load(std::span<const uint8_t> image) override {
    return LoadHostImage(image, kernels_);
  }
  Result<std::unique_ptr<DeviceQueue>> NewQueue() override {
    return std::unique_ptr<DeviceQueue>(std::make_unique<HostQueue>());
  }
  void Free(void* memory) override { std::free(memory); }

 private:
  std::string name_;
  std::vector<Builtin> kernels_;
};

}  // namespace

int32_t RunHostLaunch(const HostLaunch& launch, RelayvmKernelFault* fault) {
  RelayvmKernelEnv env{};
  env.struct_size = sizeof(env);
  env.num_threads = 1;
  env.poll = [](const RelayvmKernelEnv*) -> int32_t { return RELAYVM_KERNEL_OK; };
  env.fault = fault;
  const Memory scratch = launch.scratch_bytes > 0
                             ? AllocateAligned(static_cast<size_t>(launch.scratch_bytes))
                             : nullptr;
  if (launch.scratch_bytes > 0 && scratch == nullptr) return RELAYVM_KERNEL_OUT_OF_MEMORY;
  if (launch.units == 0) return RELAYVM_KERNEL_OK;
  const RelayvmKernelArgs args{launch.buffers, launch.scalars, scratch.get()};
  return launch.fn(&env, &args, 0, static_cast<uint32_t>(launch.units));
}

Result<std::unique_ptr<DeviceImage>> LoadHostImage(std::span<const uint8_t> image,
                                                   std::span<const Builtin> kernels) {
  std::unique_ptr<MappedImage> mapped;
  ImageLayout layout;
  if (!image.empty()) {
    RELAYVM_ASSIGN_OR_RETURN(layout, ParseImage(image));
    RELAYVM_ASSIGN_OR_RETURN(mapped, MappedImage::Map(image));
  }
  return std::unique_ptr<DeviceImage>(
      std::make_unique<HostImage>(std::move(mapped), std::move(layout), kernels));
}

}  // namespace vm

std::shared_ptr<Device> MakeHostDevice(std::string name, std::span<const Builtin> kernels) {
  return std::make_shared<vm::HostDevice>(std::move(name), kernels);
}

}  // namespace relayvm
