#include "vm/device/device_memory.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "bytecode/base/guarded.h"
#include "bytecode/base/threads.h"
#include "vm/api/relayvm.h"
#include "vm/border/shared_object.h"

namespace relayvm::vm {
namespace {

Status FailureOf(const Device& device, const DeviceQueue& queue) {
  const DeviceFailure failed = queue.failure();
  if (failed.code == RELAYVM_KERNEL_OK) return OkStatus();
  return {
      failed.code == RELAYVM_KERNEL_OUT_OF_MEMORY ? StatusCode::kResourceExhausted
                                                  : StatusCode::kInternal,
      fmt::format("device '{}': a copy failed: {}", device.name(),
                  failed.message.empty() ? fmt::format("code {}", failed.code) : failed.message)};
}

}  // namespace

Tensor* NewSharedDeviceTensor(DType dtype, std::span<const int64_t> dims, void* data,
                              std::unique_ptr<DeviceMemory> memory) {
  memory->release = [](ExternalMemory* self) { delete static_cast<DeviceMemory*>(self); };
  const auto bytes = static_cast<size_t>(CheckedTensorBytes(dtype, dims));
  Tensor* const tensor =
      NewSharedTensor(dtype, dims, static_cast<char*>(data), bytes, memory.release());
  if (tensor != nullptr) tensor->kind = ObjectKind::kDeviceTensor;
  return tensor;
}

void Await(DeviceQueue& queue) {
  struct {
    Mutex mutex;
    Condition changed;
    bool done = false;
  } state;
  // Takes no memory: what is under way must not be left.
  queue.Notify([&state] {
    const std::lock_guard lock(state.mutex);
    state.done = true;
    state.changed.notify_all();
  });
  std::unique_lock lock(state.mutex);
  state.changed.wait(lock, [&] { return state.done; });
}

namespace {

// They wait for the copy, and do not touch the thread's fiber.
[[gnu::cold]] Result<Value> CopyToDevice(const std::shared_ptr<RuntimeDevice>& on,
                                         const Tensor* from) {
  const size_t bytes = from->bytes(), room = DeviceRoom(bytes);
  const auto no_room = [&](bool at_limit) {
    return Status(StatusCode::kResourceExhausted,
                  NoRoom(*on, fmt::format("a tensor of {} bytes", bytes), at_limit));
  };
  auto memory = std::make_unique<DeviceMemory>();
  memory->on = on;
  RELAYVM_ASSIGN_OR_RETURN(const std::unique_ptr<DeviceQueue> queue, on->device->NewQueue());
  if (!on->budget.Draw(room)) return no_room(/*at_limit=*/true);
  memory->room = room;
  void* const data = queue->Allocate(room);
  if (data == nullptr) return no_room(/*at_limit=*/false);
  queue->Keep(data);
  memory->kept = data;
  if (bytes > 0) queue->CopyIn(data, from->data, bytes);
  Await(*queue);
  RELAYVM_RETURN_IF_ERROR(FailureOf(*on->device, *queue));
  Tensor* const tensor = NewSharedDeviceTensor(from->dtype, from->shape(), data, std::move(memory));
  if (tensor == nullptr) return Status::OutOfMemory();
  return Value::Adopt(tensor);
}

[[gnu::cold]] Status CopyToHost(const Tensor* from, void* to) {
  if (from->bytes() == 0) return OkStatus();
  Device& device = *MemoryOn(from).on->device;
  RELAYVM_ASSIGN_OR_RETURN(const std::unique_ptr<DeviceQueue> queue, device.NewQueue());
  queue->CopyOut(to, from->data, from->bytes());
  Await(*queue);
  return FailureOf(device, *queue);
}

}  // namespace

std::shared_ptr<RuntimeDevice> FindDevice(RuntimeDevices devices, const Device* device) {
  for (const std::shared_ptr<RuntimeDevice>& on : devices) {
    if (on->device.get() == device) return on;
  }
  return nullptr;
}

[[gnu::cold]] std::string NoRoom(const RuntimeDevice& on, const std::string& what, bool at_limit) {
  return fmt::format("no memory for {} on device '{}'{}", what, on.device->name(),
                     at_limit ? fmt::format(": the runtime's limit there is {}, {} are in use",
                                            on.budget.limit(), on.budget.drawn())
                              : std::string(", which has no more"));
}

RuntimeDevices RuntimeDevice::Of(const Runtime& runtime) { return runtime.devices(); }

[[gnu::cold]] Status NoDevice(RuntimeDevices devices, const Device& device, const std::string& of) {
  std::string names;
  for (const std::shared_ptr<RuntimeDevice>& on : devices)
    names += fmt::format("{}{}", names.empty() ? "" : ", ", on->device->name());
  return {
      StatusCode::kInvalidArgument,
      fmt::format("the runtime has not device '{}'{} (RuntimeOptions::devices); its devices: {}",
                  device.name(), of, names.empty() ? "none" : names)};
}

}  // namespace relayvm::vm

namespace relayvm {

[[gnu::cold]] Result<Value> Runtime::CopyTo(const Value& value, const Device* device) {
  return Guarded([&]() -> Result<Value> {
    if (!value.is_tensor() || value.dtype() == DType::kString)
      return Status(StatusCode::kInvalidArgument, "expected a tensor of numbers to copy");
    if (value.device() == device) return value;
    const std::shared_ptr<vm::RuntimeDevice> on = vm::FindDevice(devices(), device);
    if (device != nullptr && on == nullptr) return vm::NoDevice(devices(), *device, "");
    Value host = value;
    if (value.device() != nullptr) {
      RELAYVM_ASSIGN_OR_RETURN(host, NewTensor(value.dtype(), value.dims()));
      RELAYVM_RETURN_IF_ERROR(
          vm::CopyToHost(static_cast<const vm::Tensor*>(value.object()), host.mutable_data()));
    }
    if (device == nullptr) return host;
    return vm::CopyToDevice(on, static_cast<const vm::Tensor*>(host.object()));
  });
}

}  // namespace relayvm
