// The C API: devices that a host gives as structs of functions, and values on them.
#include "vm/api/c_api_device.h"

#include <array>
#include <atomic>

#include "bytecode/base/threads.h"
#include "vm/api/c_api_internal.h"
#include "vm/api/c_api_task_pool.h"
#include "vm/api/dlpack_exchange.h"

using relayvm::Device;
using relayvm::DeviceFailure;
using relayvm::DeviceImage;
using relayvm::DeviceLaunch;
using relayvm::DeviceNumber;
using relayvm::DeviceQueue;
using relayvm::Result;
using relayvm::Status;
using relayvm::StatusCode;
using relayvm::c_api::Fail;
using relayvm::c_api::GiveValue;
using relayvm::c_api::Guarded;
using relayvm::c_api::IsTensor;
using relayvm::c_api::Taken;
using relayvm::c_api::ValueOf;

namespace {

constexpr size_t kDeviceFunctionsSize = 160;
static_assert(sizeof(relayvm_device_functions) >= kDeviceFunctionsSize);

// Takes the status over.
Status StatusOf(relayvm_status* status, const char* function) {
  if (status == nullptr) return relayvm::OkStatus();
  Status made(status->status.code(),
              std::string("device: ") + function + ": " + status->status.message());
  relayvm_status_free(status);
  return made;
}

struct HostedDevice;

class HostedImage final : public DeviceImage {
 public:
  HostedImage(std::shared_ptr<HostedDevice> device, void* image)
      : device_(std::move(device)), image_(image) {}
  ~HostedImage() override;
  const void* Find(std::string_view name, uint64_t entry) const override;

 private:
  std::shared_ptr<HostedDevice> device_;
  void* image_;
};

class HostedQueue final : public DeviceQueue {
 public:
  HostedQueue(std::shared_ptr<HostedDevice> device, void* queue);
  ~HostedQueue() override { f_.free_queue(f_.user, queue_); }
  void* Allocate(size_t bytes) override { return f_.allocate(f_.user, queue_, bytes); }
  void Free(void* memory) override { f_.free(f_.user, queue_, memory); }
  void Keep(void* memory) override { f_.keep(f_.user, queue_, memory); }
  void Launch(const DeviceLaunch& launch) override {
    const relayvm_device_launch given{sizeof(given),
                                      static_cast<uint32_t>(launch.buffers.size()),
                                      static_cast<uint32_t>(launch.scalars.size()),
                                      launch.kernel,
                                      launch.buffers.data(),
                                      launch.scalars.data(),
                                      launch.units,
                                      launch.grain,
                                      launch.scratch_bytes,
                                      launch.tag};
    f_.launch(f_.user, queue_, &given);
  }
  void CopyIn(void* to, const void* from, size_t bytes) override {
    f_.copy_in(f_.user, queue_, to, from, bytes);
  }
  void CopyOut(void* to, const void* from, size_t bytes) override {
    f_.copy_out(f_.user, queue_, to, from, bytes);
  }
  void Notify(std::function<void()> done) override {
    Waiting& free = FreeOne();
    free.done = std::move(done);
    f_.notify(
        f_.user, queue_,
        [](void* context) {
          auto* const waiting = static_cast<Waiting*>(context);
          const std::function<void()> call = std::move(waiting->done);
          waiting->used.store(false, std::memory_order_release);
          call();  // the queue may be gone from here on
        },
        &free);
  }
  DeviceFailure failure() const override {
    relayvm_device_failure given{};
    given.struct_size = sizeof(given);
    f_.get_failure(f_.user, queue_, &given);
    return {given.code, given.tag, given.fault, given.message == nullptr ? "" : given.message};
  }
  void Reset() override { f_.reset(f_.user, queue_); }

 private:
  // What waits takes no memory: a run's end must not fail. A run waits once, and again when it is
  // to end meanwhile; one that is traced has more.
  struct Waiting {
    std::function<void()> done;
    std::atomic<bool> used{false};
  };
  Waiting& FreeOne() {
    for (;; relayvm::YieldThread()) {
      for (Waiting& waiting : waiting_) {
        if (!waiting.used.exchange(true, std::memory_order_acquire)) return waiting;
      }
    }
  }

  std::shared_ptr<HostedDevice> device_;
  const relayvm_device_functions& f_;
  void* queue_;
  std::array<Waiting, 64> waiting_;
};

struct HostedDevice final : Device, std::enable_shared_from_this<HostedDevice> {
  explicit HostedDevice(const relayvm_device_functions& given)
      : functions(given), name_(given.name) {}
  std::string_view name() const override { return name_; }
  Result<std::unique_ptr<DeviceImage>> Load(std::span<const uint8_t> image) override {
    void* made = nullptr;
    const void* const data = image.empty() ? nullptr : image.data();
    RELAYVM_RETURN_IF_ERROR(
        StatusOf(functions->load(functions->user, data, image.size(), &made), "load"));
    return std::unique_ptr<DeviceImage>(std::make_unique<HostedImage>(shared_from_this(), made));
  }
  Result<std::unique_ptr<DeviceQueue>> NewQueue() override {
    void* made = nullptr;
    RELAYVM_RETURN_IF_ERROR(
        StatusOf(functions->create_queue(functions->user, &made), "create_queue"));
    return std::unique_ptr<DeviceQueue>(std::make_unique<HostedQueue>(shared_from_this(), made));
  }
  void Free(void* memory) override { functions->free_kept(functions->user, memory); }
  DeviceNumber number() const override { return {functions->dlpack_type, functions->dlpack_id}; }

  Taken<relayvm_device_functions> functions;

 private:
  std::string name_;
};

HostedImage::~HostedImage() { device_->functions->unload(device_->functions->user, image_); }
const void* HostedImage::Find(std::string_view name, uint64_t entry) const {
  return device_->functions->find_kernel(device_->functions->user, image_,
                                         std::string(name).c_str(), entry);
}
HostedQueue::HostedQueue(std::shared_ptr<HostedDevice> device, void* queue)
    : device_(std::move(device)), f_(*device_->functions), queue_(queue) {}

// The first function that is missing, or null.
const char* MissingIn(const relayvm_device_functions& f) {
  struct Member {
    uint8_t offset;
    char name[15];
  };
#define MEMBER(name) {offsetof(relayvm_device_functions, name), #name}
  static constexpr Member kNeeded[] = {
      MEMBER(name),         MEMBER(load),       MEMBER(unload),      MEMBER(find_kernel),
      MEMBER(create_queue), MEMBER(free_queue), MEMBER(allocate),    MEMBER(free),
      MEMBER(keep),         MEMBER(free_kept),  MEMBER(launch),      MEMBER(copy_in),
      MEMBER(copy_out),     MEMBER(notify),     MEMBER(get_failure), MEMBER(reset)};
#undef MEMBER
  for (const Member& member : kNeeded) {
    const void* given = nullptr;
    std::memcpy(&given, reinterpret_cast<const char*>(&f) + member.offset, sizeof(given));
    if (given == nullptr) return member.name;
  }
  return nullptr;
}

const Device* DeviceOf(const relayvm_device* handle) {
  return handle == nullptr ? nullptr : handle->device.get();
}

template <typename Managed>
relayvm_status* FromDLPack(const char* function, relayvm_runtime* runtime, Managed* tensor,
                           relayvm_value** out) {
  if (out != nullptr) *out = nullptr;
  if (out != nullptr && runtime != nullptr && tensor != nullptr)
    return Guarded(
        [&] { return GiveValue(relayvm::FromDLPack(tensor, runtime->runtime.get()), out); });
  if (tensor != nullptr && tensor->deleter != nullptr) tensor->deleter(tensor);
  return relayvm::c_api::NullArgument(
      function, out == nullptr ? "out" : (runtime == nullptr ? "runtime" : "tensor"));
}

}  // namespace

extern "C" {

relayvm_status* relayvm_device_create(const relayvm_device_functions* functions,
                                      relayvm_device** out) {
  RELAYVM_REQUIRE(out);
  *out = nullptr;
  RELAYVM_REQUIRE(functions);
  return Guarded([&]() -> relayvm_status* {
    auto read = RELAYVM_READ_OPTIONS(functions, relayvm_device_functions, kDeviceFunctionsSize);
    if (!read.ok()) return Fail(read.status());
    if (const char* missing = MissingIn(*read)) {
      return Fail(StatusCode::kInvalidArgument,
                  std::string("relayvm_device_functions: ") + missing + " is NULL");
    }
    if (read->dlpack_type == kDLCPU || read->dlpack_type == kDLCUDAHost) {
      return Fail(StatusCode::kInvalidArgument, "relayvm_device_functions: dlpack_type " +
                                                    std::to_string(read->dlpack_type) +
                                                    " is memory of the host");
    }
    auto handle = std::make_unique<relayvm_device>();
    auto device = std::make_shared<HostedDevice>(*read);
    device->functions.Take();
    handle->device = std::move(device);
    *out = handle.release();
    return nullptr;
  });
}

void relayvm_device_free(relayvm_device* device) { delete device; }
const char* relayvm_device_name(const relayvm_device* device) {
  // Names of both kinds end with a zero.
  return device == nullptr
             ? nullptr
             : device->device->name().data();  // NOLINT(bugprone-suspicious-stringview-data-usage)
}

relayvm_status* relayvm_value_device(const relayvm_value* value, relayvm_device** out) {
  RELAYVM_REQUIRE(out);
  *out = nullptr;
  RELAYVM_REQUIRE(value);
  return Guarded([&]() -> relayvm_status* {
    std::shared_ptr<Device> device = ValueOf(value)->shared_device();
    if (device != nullptr) *out = new relayvm_device{std::move(device)};
    return nullptr;
  });
}
void* relayvm_value_device_data(const relayvm_value* value) {
  return IsTensor(value) ? ValueOf(value)->device_data() : nullptr;
}

relayvm_status* relayvm_runtime_copy_to(relayvm_runtime* runtime, const relayvm_value* value,
                                        const relayvm_device* device, relayvm_value** out) {
  RELAYVM_REQUIRE(out);
  *out = nullptr;
  RELAYVM_REQUIRE(runtime);
  RELAYVM_REQUIRE(value);
  return Guarded(
      [&] { return GiveValue(runtime->runtime->CopyTo(*ValueOf(value), DeviceOf(device)), out); });
}

relayvm_status* relayvm_invocation_set_output_device(relayvm_invocation* invocation, size_t output,
                                                     const relayvm_device* device) {
  RELAYVM_REQUIRE(invocation);
  return Guarded([&]() -> relayvm_status* {
    constexpr size_t kMostOutputs = 0xFFFF;
    if (output >= kMostOutputs) {
      return Fail(StatusCode::kInvalidArgument, "output " + std::to_string(output) +
                                                    ", expected one below " +
                                                    std::to_string(kMostOutputs));
    }
    invocation->invocation->set_output_device(output, device == nullptr ? nullptr : device->device);
    return nullptr;
  });
}

relayvm_status* relayvm_runtime_from_dlpack(relayvm_runtime* runtime,
                                            DLManagedTensorVersioned* tensor, relayvm_value** out) {
  return FromDLPack(__func__, runtime, tensor, out);
}
relayvm_status* relayvm_runtime_from_legacy_dlpack(relayvm_runtime* runtime,
                                                   DLManagedTensor* tensor, relayvm_value** out) {
  return FromDLPack(__func__, runtime, tensor, out);
}

}  // extern "C"
