#include "vm/api/dlpack_exchange.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>
#include <vector>

#include "bytecode/base/guarded.h"
#include "bytecode/base/message.h"
#include "vm/api/relayvm.h"
#include "vm/border/strided_copy.h"
#include "vm/device/device_memory.h"
#include "vm/memory/object.h"

namespace relayvm {
namespace {

std::optional<DType> FromDLDataType(DLDataType t) {
  if (t.lanes != 1) return std::nullopt;
  switch (t.code) {
    case kDLInt:
      switch (t.bits) {
        case 8:
          return DType::kInt8;
        case 16:
          return DType::kInt16;
        case 32:
          return DType::kInt32;
        case 64:
          return DType::kInt64;
        default:
          return std::nullopt;
      }
    case kDLUInt:
      switch (t.bits) {
        case 8:
          return DType::kUInt8;
        case 16:
          return DType::kUInt16;
        case 32:
          return DType::kUInt32;
        case 64:
          return DType::kUInt64;
        default:
          return std::nullopt;
      }
    case kDLFloat:
      switch (t.bits) {
        case 16:
          return DType::kFloat16;
        case 32:
          return DType::kFloat32;
        case 64:
          return DType::kFloat64;
        default:
          return std::nullopt;
      }
    case kDLBfloat:
      return t.bits == 16 ? std::optional(DType::kBFloat16) : std::nullopt;
    case kDLBool:
      return t.bits == 8 ? std::optional(DType::kBool) : std::nullopt;
    default:
      return std::nullopt;
  }
}

// Where no address can be, counted in bytes from the tensor's own.
constexpr int64_t kAddressSpace = int64_t{1} << 47;

Status CheckStrides(const DLTensor& t, DType dtype) {
  int64_t reach = 0;
  for (int i = 0; i < t.ndim; ++i) {
    if (t.shape[i] == 1) continue;  // nothing is reached by it
    int64_t bytes = 0;
    if (__builtin_mul_overflow(t.strides[i], DTypeBytes(dtype), &bytes) ||
        __builtin_mul_overflow(bytes, t.shape[i] - 1, &bytes) || bytes <= -kAddressSpace ||
        bytes >= kAddressSpace || std::abs(bytes) >= kAddressSpace - reach) {
      return {StatusCode::kInvalidArgument,
              fmt::format("DLPack: strides ({}) of shape ({}) leave the address space",
                          Joined({t.strides, static_cast<size_t>(t.ndim)}),
                          Joined({t.shape, static_cast<size_t>(t.ndim)}))};
    }
    reach += std::abs(bytes);
  }
  return OkStatus();
}

std::string NameOf(DeviceNumber number) {
  return fmt::format("device type {}{}, number {}", number.type,
                     number.type == kDLCUDA ? " (CUDA)" : "", number.id);
}

bool IsOnHost(const DLTensor& t) {
  return t.device.device_type == kDLCPU || t.device.device_type == kDLCUDAHost;
}

// The tensor's own, which is none of the host's.
Result<std::shared_ptr<vm::RuntimeDevice>> FindDevice(const DLTensor& t, const Runtime* runtime) {
  const DeviceNumber number{static_cast<int32_t>(t.device.device_type), t.device.device_id};
  const vm::RuntimeDevices devices =
      runtime == nullptr ? vm::RuntimeDevices() : vm::RuntimeDevice::Of(*runtime);
  std::string has;
  for (const std::shared_ptr<vm::RuntimeDevice>& on : devices) {
    if (number.type != 0 && on->device->number() == number) return on;
    has += fmt::format(" '{}' ({})", on->device->name(), NameOf(on->device->number()));
  }
  return Status(StatusCode::kUnsupported,
                fmt::format("DLPack: memory of {}; copy it to the CPU first, or give it to a "
                            "runtime that has the device{}{}",
                            NameOf(number), has.empty() ? "" : "; this one has", has));
}

// What can be said of a tensor without reading its elements.
Status Check(const DLTensor& t, std::optional<DType> dtype) {
  if (!dtype.has_value()) {
    return {StatusCode::kUnsupported, fmt::format("DLPack: type code {} of {} bits and {} lanes",
                                                  t.dtype.code, t.dtype.bits, t.dtype.lanes)};
  }
  if (t.ndim < 0 || t.ndim > vm::kMaxRank) {
    return {StatusCode::kInvalidArgument,
            fmt::format("DLPack: rank {}, expected 0 to {}", t.ndim, vm::kMaxRank)};
  }
  if (t.ndim > 0 && t.shape == nullptr) {
    return {StatusCode::kInvalidArgument, fmt::format("DLPack: rank {} without a shape", t.ndim)};
  }
  const std::span<const int64_t> dims(t.shape, static_cast<size_t>(t.ndim));
  const int64_t bytes = vm::CheckedTensorBytes(*dtype, dims);
  if (bytes < 0) {
    return {StatusCode::kInvalidArgument,
            fmt::format("DLPack: a tensor of shape ({}): negative or too large", Joined(dims))};
  }
  if (bytes == 0) return OkStatus();
  if (t.data == nullptr) return {StatusCode::kInvalidArgument, "DLPack: the data is null"};
  if (t.byte_offset >= static_cast<uint64_t>(kAddressSpace)) {
    return {StatusCode::kInvalidArgument,
            fmt::format("DLPack: byte offset {} leaves the address space", t.byte_offset)};
  }
  return t.strides == nullptr ? OkStatus() : CheckStrides(t, *dtype);
}

// `owner` is released with the value.
Result<Value> Wrap(const DLTensor& t, DType dtype, void* data,
                   std::shared_ptr<vm::RuntimeDevice> device, std::shared_ptr<const void> owner) {
  if (!IsCompact(t) || reinterpret_cast<uintptr_t>(data) % vm::kDataAlignment != 0) {
    return Status(StatusCode::kUnsupported,
                  fmt::format("DLPack: a tensor on {} {}; make it {} there first",
                              NameOf(device->device->number()),
                              IsCompact(t) ? "that is not 64-byte aligned" : "with strides",
                              IsCompact(t) ? "a copy" : "contiguous"));
  }
  auto memory = std::make_unique<vm::DeviceMemory>();
  memory->on = std::move(device);
  memory->owner = std::move(owner);
  vm::Tensor* const tensor = vm::NewSharedDeviceTensor(
      dtype, {t.shape, static_cast<size_t>(t.ndim)}, data, std::move(memory));
  if (tensor == nullptr) return Status::OutOfMemory();
  return Value::Adopt(tensor);
}

// `release(context)` gives the tensor back, whatever happens.
Result<Value> Import(const DLTensor& t, const Runtime* runtime, void (*release)(void*),
                     void* context) {
  const std::optional<DType> dtype = FromDLDataType(t.dtype);
  std::shared_ptr<vm::RuntimeDevice> device;  // null: the host
  Status problem = Guarded([&]() -> Status {
    if (!IsOnHost(t)) {
      RELAYVM_ASSIGN_OR_RETURN(device, FindDevice(t, runtime));
    }
    return Check(t, dtype);
  });
  if (!problem.ok()) {
    release(context);
    return problem;
  }
  std::span<const int64_t> dims(t.shape, static_cast<size_t>(t.ndim));
  char* data = t.data == nullptr ? nullptr : static_cast<char*>(t.data) + t.byte_offset;
  if (device != nullptr) {
    return Guarded([&] {
      return Wrap(t, *dtype, data, std::move(device),
                  std::shared_ptr<const void>(context, release));
    });
  }
  if (IsCompact(t)) return Value::WrapTensor(*dtype, dims, data, release, context);
  Result<Value> copy = Value::NewTensor(*dtype, dims);
  if (copy.ok() && copy->bytes() > 0) {
    Status copied = Guarded([&] {
      vm::CopyStrided(data, dims, {t.strides, dims.size()}, static_cast<size_t>(DTypeBytes(*dtype)),
                      static_cast<char*>(copy->mutable_data()));
      return OkStatus();
    });
    if (!copied.ok()) copy = std::move(copied);
  }
  release(context);
  return copy;
}

// Managed: DLManagedTensor or DLManagedTensorVersioned.
template <typename Managed>
struct Exported {
  Value value;
  std::vector<int64_t> shape, strides;
  Managed managed;
};

template <typename Managed>
Result<Managed*> MakeExported(const Value& value) {
  if (!value.is_tensor())
    return Status(StatusCode::kInvalidArgument, "DLPack carries tensors only");
  if (value.dtype() == DType::kString)
    return Status(StatusCode::kInvalidArgument, "DLPack carries no strings");
  const DeviceNumber number =
      value.device() == nullptr ? DeviceNumber{kDLCPU, 0} : value.device()->number();
  if (number.type == 0) {
    return Status(StatusCode::kUnsupported,
                  fmt::format("DLPack has no number for device '{}', where the value is",
                              value.device()->name()));
  }
  auto exported = std::make_unique<Exported<Managed>>();
  exported->value = value;
  exported->shape.assign(value.dims().begin(), value.dims().end());
  // Some readers do without strides only where DLPack's version says that they may.
  exported->strides.resize(exported->shape.size());
  int64_t stride = 1;
  for (size_t i = exported->shape.size(); i-- > 0;) {
    exported->strides[i] = stride;
    stride *= std::max<int64_t>(exported->shape[i], 1);
  }
  Managed& managed = exported->managed;
  managed = {};
  managed.deleter = [](Managed* self) {
    delete static_cast<Exported<Managed>*>(self->manager_ctx);
  };
  managed.dl_tensor.data =
      value.device() == nullptr ? const_cast<void*>(value.data()) : value.device_data();
  managed.dl_tensor.device = {static_cast<DLDeviceType>(number.type), number.id};
  managed.dl_tensor.ndim = static_cast<int32_t>(exported->shape.size());
  managed.dl_tensor.dtype = ToDLDataType(value.dtype());
  managed.dl_tensor.shape = exported->shape.data();
  managed.dl_tensor.strides = exported->strides.data();
  managed.manager_ctx = exported.get();
  return &exported.release()->managed;
}

template <typename Managed>
Result<Managed*> Export(const Value& value) {
  return Guarded([&] { return MakeExported<Managed>(value); });
}

Status IsNull() {
  return Guarded([] { return Status(StatusCode::kInvalidArgument, "DLPack: the tensor is null"); });
}

template <typename Managed>
void GiveBack(void* tensor) {
  auto* managed = static_cast<Managed*>(tensor);
  if (managed->deleter != nullptr) managed->deleter(managed);
}

}  // namespace

Result<Value> FromDLPack(DLManagedTensorVersioned* tensor, const Runtime* runtime) {
  if (tensor == nullptr) return IsNull();
  // Of another major version nothing but the deleter may be touched.
  if (tensor->version.major != DLPACK_MAJOR_VERSION) {
    Status problem = Guarded([&] {
      return Status(StatusCode::kUnsupported,
                    fmt::format("DLPack version {}.{}, expected {}", tensor->version.major,
                                tensor->version.minor, DLPACK_MAJOR_VERSION));
    });
    GiveBack<DLManagedTensorVersioned>(tensor);
    return problem;
  }
  return Import(tensor->dl_tensor, runtime, GiveBack<DLManagedTensorVersioned>, tensor);
}

Result<Value> FromDLPack(DLManagedTensor* tensor, const Runtime* runtime) {
  if (tensor == nullptr) return IsNull();
  return Import(tensor->dl_tensor, runtime, GiveBack<DLManagedTensor>, tensor);
}

Result<DLManagedTensorVersioned*> ToDLPack(const Value& value) {
  RELAYVM_ASSIGN_OR_RETURN(DLManagedTensorVersioned * tensor,
                           Export<DLManagedTensorVersioned>(value));
  tensor->version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
  tensor->flags = DLPACK_FLAG_BITMASK_READ_ONLY;
  return tensor;
}

Result<DLManagedTensor*> ToLegacyDLPack(const Value& value) {
  return Export<DLManagedTensor>(value);
}

}  // namespace relayvm
