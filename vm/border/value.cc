#include "vm/border/value.h"

#include <fmt/format.h>

#include <cassert>
#include <cstring>
#include <memory>
#include <new>

#include "bytecode/base/guarded.h"
#include "bytecode/base/message.h"
#include "bytecode/base/string_table.h"
#include "bytecode/scalar_ops.h"
#include "vm/border/shared_object.h"
#include "vm/device/device_memory.h"

namespace relayvm {
namespace {

using vm::Object;
using vm::ObjectKind;

const vm::Tensor* AsTensor(const Object* object) {
  assert(object != nullptr && vm::IsTensor(object));
  return static_cast<const vm::Tensor*>(object);
}

struct CallerMemory : vm::ExternalMemory {
  void (*caller_release)(void*);
  void* context;
};

// Calls the caller's release when it goes out of scope.
struct ReleaseAtEnd {
  void (*release)(void*);
  void* context;
  ~ReleaseAtEnd() {
    if (release != nullptr) release(context);
  }
};

// Of a tensor of numbers.
Result<int64_t> CheckedBytes(DType dtype, std::span<const int64_t> dims) {
  if (dtype == DType::kString) {
    return Status(StatusCode::kInvalidArgument,
                  "a tensor of strings is made of texts (CopyStrings, relayvm_value_strings)");
  }
  if (dims.size() > vm::kMaxRank) {
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("a tensor of rank {}, above {}", dims.size(), vm::kMaxRank));
  }
  int64_t bytes = vm::CheckedTensorBytes(dtype, dims);
  if (bytes >= 0) return bytes;
  return Status(StatusCode::kInvalidArgument,
                fmt::format("a tensor of shape ({}): negative or too large", Joined(dims)));
}

Status NoData(size_t bytes) {
  return {StatusCode::kInvalidArgument, fmt::format("data is null, expected {} bytes", bytes)};
}

Status NoMemory(int64_t bytes) {
  return {StatusCode::kResourceExhausted, fmt::format("no memory for a tensor of {} bytes", bytes)};
}

}  // namespace

Value::Value(const Value& other) : object_(other.object_) {
  if (object_ != nullptr) vm::RetainShared(object_);
}

void Value::Drop() { vm::ReleaseShared(object_); }

Result<Value> Value::NewTensor(DType dtype, std::span<const int64_t> dims) {
  return Guarded([&]() -> Result<Value> {
    RELAYVM_ASSIGN_OR_RETURN(int64_t bytes, CheckedBytes(dtype, dims));
    vm::Tensor* tensor = vm::NewSharedTensor(dtype, dims, static_cast<size_t>(bytes));
    if (tensor == nullptr) return NoMemory(bytes);
    return Adopt(tensor);
  });
}

Result<Value> Value::CopyTensor(DType dtype, std::span<const int64_t> dims, const void* data) {
  RELAYVM_ASSIGN_OR_RETURN(Value value, NewTensor(dtype, dims));
  size_t bytes = value.bytes();
  if (bytes > 0 && data == nullptr)
    return Guarded([&]() -> Result<Value> { return NoData(bytes); });
  if (bytes > 0) std::memcpy(value.mutable_data(), data, bytes);
  return value;
}

Result<Value> Value::CopyStrings(std::span<const int64_t> dims,
                                 std::span<const std::string_view> texts) {
  return Guarded([&]() -> Result<Value> {
    const int64_t bytes =
        dims.size() > vm::kMaxRank ? -1 : vm::CheckedTensorBytes(DType::kString, dims);
    if (bytes < 0 || static_cast<size_t>(bytes) / 8 != texts.size()) {
      return Status(StatusCode::kInvalidArgument,
                    fmt::format("expected strings for a tensor of shape ({}), found {}",
                                Joined(dims), texts.size()));
    }
    size_t text_bytes = 0;
    for (size_t i = 0; i < texts.size(); ++i) {
      if (!IsUtf8(texts[i])) {
        return Status(StatusCode::kInvalidArgument, fmt::format("string {} is not UTF-8", i));
      }
      text_bytes += texts[i].size();
    }
    vm::Tensor* tensor = vm::NewSharedStrings(dims, texts.size(), text_bytes);
    if (tensor == nullptr) return NoMemory(static_cast<int64_t>(text_bytes));
    vm::StringPacker packer(tensor);
    for (std::string_view text : texts) packer.Add(text);
    return Adopt(tensor);
  });
}

std::string_view Value::text(int64_t position) const {
  const vm::Tensor* tensor = AsTensor(object_);
  assert(tensor->dtype == DType::kString && position >= 0 && position < tensor->num_elements());
  return PackedStrings(tensor->data, tensor->num_elements())[position];
}

bool Value::is_borrowed() const {
  if (!is_tensor()) return false;
  const auto* tensor = static_cast<const vm::Tensor*>(object_);
  return tensor->storage() == vm::Storage::kExternal && tensor->external != nullptr &&
         tensor->external->is_callers;
}

Result<Value> Value::WrapTensor(DType dtype, std::span<const int64_t> dims, void* data,
                                void (*release)(void*), void* context) {
  if (reinterpret_cast<uintptr_t>(data) % vm::kDataAlignment != 0) {
    ReleaseAtEnd at_end{release, context};
    return CopyTensor(dtype, dims, data);
  }
  const Result<int64_t> bytes = Guarded([&]() -> Result<int64_t> {
    RELAYVM_ASSIGN_OR_RETURN(const int64_t needed, CheckedBytes(dtype, dims));
    if (needed > 0 && data == nullptr) return NoData(static_cast<size_t>(needed));
    return needed;
  });
  auto* memory = bytes.ok() ? new (std::nothrow) CallerMemory : nullptr;
  if (memory == nullptr) {
    ReleaseAtEnd at_end{release, context};
    return bytes.ok() ? Status::OutOfMemory() : bytes.status();
  }
  memory->release = [](vm::ExternalMemory* self) {
    std::unique_ptr<CallerMemory> caller(static_cast<CallerMemory*>(self));
    if (caller->caller_release != nullptr) caller->caller_release(caller->context);
  };
  memory->is_callers = true;
  memory->caller_release = release;
  memory->context = context;
  vm::Tensor* tensor = vm::NewSharedTensor(dtype, dims, static_cast<char*>(data),
                                           static_cast<size_t>(*bytes), memory);
  if (tensor == nullptr) return Status::OutOfMemory();
  return Adopt(tensor);
}

Value Value::Scalar(DType dtype, uint64_t canonical) {
  assert(dtype != DType::kString);
  vm::Tensor* tensor = vm::NewSharedTensor(dtype, {}, static_cast<size_t>(DTypeBytes(dtype)));
  if (tensor == nullptr) OutOfMemory();
  vm::StoreScalar(dtype, canonical, tensor->data);
  return Adopt(tensor);
}

Value Value::Float32(float value) { return Scalar(DType::kFloat32, FromF32(value)); }
Value Value::Float64(double value) { return Scalar(DType::kFloat64, FromF64(value)); }

Value Value::Adt(uint32_t tag, std::vector<Value> fields) {
  if (fields.size() > 0xFFFF) return {};
  vm::Adt* adt = vm::NewSharedAdt(tag, fields.size());
  if (adt == nullptr) OutOfMemory();
  for (size_t i = 0; i < fields.size(); ++i) {
    if (fields[i].object_ != nullptr) adt->fields[i] = std::exchange(fields[i].object_, nullptr);
  }
  return Adopt(adt);
}

Value::Kind Value::kind() const {
  if (object_ == nullptr) return Kind::kNone;
  switch (object_->kind) {
    case ObjectKind::kEmpty:
      return Kind::kNone;
    case ObjectKind::kTensor:
    case ObjectKind::kDeviceTensor:
      return Kind::kTensor;
    case ObjectKind::kAdt:
      return Kind::kAdt;
    case ObjectKind::kClosure:
      return Kind::kClosure;
    case ObjectKind::kRef:
      return Kind::kRef;
  }
  return Kind::kNone;
}

DType Value::dtype() const { return AsTensor(object_)->dtype; }
std::span<const int64_t> Value::dims() const { return AsTensor(object_)->shape(); }
int64_t Value::num_elements() const { return AsTensor(object_)->num_elements(); }
const void* Value::data() const { return device() == nullptr ? AsTensor(object_)->data : nullptr; }
size_t Value::bytes() const { return AsTensor(object_)->bytes(); }
const Device* Value::device() const {
  return object_->kind == ObjectKind::kDeviceTensor
             ? vm::MemoryOn(AsTensor(object_)).on->device.get()
             : nullptr;
}
std::shared_ptr<Device> Value::shared_device() const {
  if (!is_tensor() || device() == nullptr) return nullptr;
  return vm::MemoryOn(AsTensor(object_)).on->device;
}
void* Value::device_data() const { return device() == nullptr ? nullptr : AsTensor(object_)->data; }

void* Value::mutable_data() {
  const vm::Tensor* tensor = AsTensor(object_);
  const bool own = device() == nullptr && tensor->dtype != DType::kString &&
                   vm::IsUniqueShared(tensor) &&
                   (tensor->storage() <= vm::Storage::kScalar ||
                    (tensor->storage() == vm::Storage::kExternal && tensor->external->is_writable));
  return own ? tensor->data : nullptr;
}

uint64_t Value::element(int64_t position) const {
  const vm::Tensor* tensor = AsTensor(object_);
  assert(position >= 0 && position < tensor->num_elements());
  return vm::LoadScalar(tensor->dtype, tensor->data + position * DTypeBytes(tensor->dtype));
}

uint32_t Value::tag() const {
  assert(kind() == Kind::kAdt);
  return static_cast<uint32_t>(static_cast<const vm::Adt*>(object_)->tag);
}

size_t Value::num_fields() const {
  assert(kind() == Kind::kAdt);
  return static_cast<const vm::Adt*>(object_)->num_fields;
}

Value Value::field(size_t index) const {
  std::span<Object*> fields = vm::FieldsOf(object_);
  assert(index < fields.size());
  vm::RetainShared(fields[index]);
  return Adopt(fields[index]);
}

uint32_t Value::function() const {
  assert(kind() == Kind::kClosure);
  return static_cast<uint32_t>(static_cast<const vm::Closure*>(object_)->function);
}

}  // namespace relayvm
