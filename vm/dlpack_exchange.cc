#include "vm/dlpack_exchange.h"

#include <fmt/format.h>

#include <cstring>
#include <memory>
#include <optional>
#include <vector>

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

DLDataType ToDLDataType(DType t) {
  auto bits = static_cast<uint8_t>(DTypeBytes(t) * 8);
  if (t == DType::kBool) return {kDLBool, bits, 1};
  if (t == DType::kBFloat16) return {kDLBfloat, bits, 1};
  if (IsFloat(t)) return {kDLFloat, bits, 1};
  if (IsSignedInt(t)) return {kDLInt, bits, 1};
  return {kDLUInt, bits, 1};
}

bool IsCompact(const DLTensor& t) {
  if (t.strides == nullptr) return true;
  int64_t expected = 1;
  for (int i = t.ndim; i-- > 0;) {
    if (t.shape[i] == 0) return true;
    if (t.shape[i] != 1 && t.strides[i] != expected) return false;
    expected *= t.shape[i];
  }
  return true;
}

// Copies elements by their strides, in row-major order.
void CopyStrided(const DLTensor& t, const char* from, size_t element_bytes, char* to,
                 int64_t count) {
  std::vector<int64_t> index(static_cast<size_t>(t.ndim), 0);
  for (int64_t n = 0; n < count; ++n) {
    int64_t offset = 0;
    for (int i = 0; i < t.ndim; ++i) offset += index[static_cast<size_t>(i)] * t.strides[i];
    std::memcpy(to, from + offset * static_cast<int64_t>(element_bytes), element_bytes);
    to += element_bytes;
    for (int i = t.ndim; i-- > 0;) {
      if (++index[static_cast<size_t>(i)] < t.shape[i]) break;
      index[static_cast<size_t>(i)] = 0;
    }
  }
}

// `release(context)` gives the tensor back, whatever happens.
Result<Value> Import(const DLTensor& t, void (*release)(void*), void* context) {
  Status problem;
  std::optional<DType> dtype = FromDLDataType(t.dtype);
  if (t.device.device_type != kDLCPU && t.device.device_type != kDLCUDAHost) {
    problem = Status(StatusCode::kUnsupported,
                     fmt::format("DLPack: memory of device type {}; copy it to the CPU first",
                                 int{t.device.device_type}));
  } else if (!dtype.has_value()) {
    problem =
        Status(StatusCode::kUnsupported, fmt::format("DLPack: type code {} of {} bits and {} lanes",
                                                     t.dtype.code, t.dtype.bits, t.dtype.lanes));
  } else if (t.ndim < 0 || (t.ndim > 0 && t.shape == nullptr)) {
    problem =
        Status(StatusCode::kInvalidArgument,
               fmt::format("DLPack: rank {}{}", t.ndim, t.ndim > 0 ? " without a shape" : ""));
  }
  if (!problem.ok()) {
    release(context);
    return problem;
  }
  std::span<const int64_t> dims(t.shape, static_cast<size_t>(t.ndim));
  char* data = t.data == nullptr ? nullptr : static_cast<char*>(t.data) + t.byte_offset;
  if (IsCompact(t)) return Value::WrapTensor(*dtype, dims, data, release, context);
  Result<Value> copy = Value::NewTensor(*dtype, dims);
  if (copy.ok() && copy->num_elements() > 0 && data == nullptr) {
    copy = Status(StatusCode::kInvalidArgument, "DLPack: the data is null");
  } else if (copy.ok()) {
    CopyStrided(t, data, static_cast<size_t>(DTypeBytes(*dtype)),
                static_cast<char*>(copy->mutable_data()), copy->num_elements());
  }
  release(context);
  return copy;
}

struct Exported {
  Value value;
  std::vector<int64_t> shape;
  DLManagedTensorVersioned managed;
};

}  // namespace

Result<Value> FromDLPack(DLManagedTensorVersioned* tensor) {
  auto release = [](void* context) {
    auto* managed = static_cast<DLManagedTensorVersioned*>(context);
    if (managed->deleter != nullptr) managed->deleter(managed);
  };
  if (tensor == nullptr) return Status(StatusCode::kInvalidArgument, "DLPack: the tensor is null");
  // Of another major version nothing but the deleter may be touched.
  if (tensor->version.major != DLPACK_MAJOR_VERSION) {
    Status problem(StatusCode::kUnsupported,
                   fmt::format("DLPack version {}.{}, expected {}", tensor->version.major,
                               tensor->version.minor, DLPACK_MAJOR_VERSION));
    release(tensor);
    return problem;
  }
  return Import(tensor->dl_tensor, release, tensor);
}

Result<Value> FromDLPack(DLManagedTensor* tensor) {
  auto release = [](void* context) {
    auto* managed = static_cast<DLManagedTensor*>(context);
    if (managed->deleter != nullptr) managed->deleter(managed);
  };
  if (tensor == nullptr) return Status(StatusCode::kInvalidArgument, "DLPack: the tensor is null");
  return Import(tensor->dl_tensor, release, tensor);
}

Result<DLManagedTensorVersioned*> ToDLPack(const Value& value) {
  if (!value.is_tensor())
    return Status(StatusCode::kInvalidArgument, "DLPack carries tensors only");
  auto exported = std::make_unique<Exported>();
  exported->value = value;
  exported->shape.assign(value.dims().begin(), value.dims().end());
  DLManagedTensorVersioned& managed = exported->managed;
  managed.version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
  managed.deleter = [](DLManagedTensorVersioned* self) {
    delete static_cast<Exported*>(self->manager_ctx);
  };
  managed.flags = DLPACK_FLAG_BITMASK_READ_ONLY;
  managed.dl_tensor.data = const_cast<void*>(value.data());
  managed.dl_tensor.device = {kDLCPU, 0};
  managed.dl_tensor.ndim = static_cast<int32_t>(exported->shape.size());
  managed.dl_tensor.dtype = ToDLDataType(value.dtype());
  managed.dl_tensor.shape = exported->shape.data();
  managed.dl_tensor.strides = nullptr;
  managed.dl_tensor.byte_offset = 0;
  managed.manager_ctx = exported.get();
  return &exported.release()->managed;
}

}  // namespace relayvm
