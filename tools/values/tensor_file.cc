#include "tools/values/tensor_file.h"

#include <fmt/format.h>

#include "bytecode/base/file_kind.h"
#include "bytecode/base/file_mapping.h"
#include "bytecode/base/string_table.h"
#include "bytecode/io/npy.h"
#include "kernels/te/scalar.h"
#include "tools/values/numbers.h"

namespace relayvm::tools {
namespace {

// What the VM's tensors are aligned to; numpy pads its header to it.
constexpr size_t kAlignment = 64;
// Below this, a copy is as cheap as a shared owner.
constexpr size_t kMinShared = 64 << 10;

}  // namespace

Result<Value> ValueFromNpy(const SharedBytes& bytes) {
  const std::string_view start(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (!start.starts_with("\x93NUMPY"))
    return Status(StatusCode::kInvalidInput,
                  "expected a tensor (.npy), found " + DescribeFile(start));
  RELAYVM_ASSIGN_OR_RETURN(HostTensor tensor, ParseNpy(bytes));
  return ToValue(tensor);
}

Result<Value> LoadNpy(const std::string& path) {
  RELAYVM_ASSIGN_OR_RETURN(std::shared_ptr<const FileMapping> file, FileMapping::Open(path));
  auto value = ValueFromNpy(SharedBytes::OfFile(std::move(file)));
  if (!value.ok()) return value.status().WithContext(path);
  return value;
}

Result<Value> ToValue(const HostTensor& tensor) {
  if (tensor.dtype == DType::kString) {
    const PackedStrings packed(tensor.data.data(), tensor.size());
    std::vector<std::string_view> texts(static_cast<size_t>(packed.size()));
    for (size_t i = 0; i < texts.size(); ++i) texts[i] = packed[static_cast<int64_t>(i)];
    return Value::CopyStrings(tensor.shape, texts);
  }
  const bool aligned = reinterpret_cast<uintptr_t>(tensor.data.data()) % kAlignment == 0;
  if (tensor.data.size() < kMinShared || !aligned)
    return Value::CopyTensor(tensor.dtype, tensor.shape, tensor.data.data());
  auto* owner = new SharedBytes(tensor.data);
  // Inputs are only read.
  void* data = const_cast<std::byte*>(owner->data());
  return Value::WrapTensor(
      tensor.dtype, tensor.shape, data, [](void* o) { delete static_cast<SharedBytes*>(o); },
      owner);
}

HostTensor ToHostTensor(const Value& value) {
  HostTensor tensor;
  tensor.dtype = value.dtype();
  tensor.shape.assign(value.dims().begin(), value.dims().end());
  if (tensor.dtype == DType::kString) {
    std::vector<std::string_view> texts(static_cast<size_t>(value.num_elements()));
    for (size_t i = 0; i < texts.size(); ++i) texts[i] = value.text(static_cast<int64_t>(i));
    tensor.data = PackStrings(texts);
    return tensor;
  }
  tensor.data = SharedBytes::Copy({static_cast<const std::byte*>(value.data()), value.bytes()});
  return tensor;
}

HostTensor ToFileTensor(const Value& value) {
  HostTensor tensor = ToHostTensor(value);
  if (tensor.dtype == DType::kBFloat16) tensor.dtype = DType::kUInt16;
  return tensor;
}

Result<Value> ConvertTensor(const Value& tensor, DType dtype) {
  DType from = tensor.dtype();
  if (from == dtype) return tensor;
  if (from == DType::kString || dtype == DType::kString) {
    return {StatusCode::kInvalidInput, fmt::format("expected elements of {}, found {}",
                                                   DTypeName(dtype), TensorTypeOf(tensor))};
  }
  if (from == DType::kUInt16 && dtype == DType::kBFloat16) {
    return Value::CopyTensor(dtype, tensor.dims(), tensor.data());
  }
  RELAYVM_ASSIGN_OR_RETURN(Value out, Value::NewTensor(dtype, tensor.dims()));
  const char* source = static_cast<const char*>(tensor.data());
  char* target = static_cast<char*>(out.mutable_data());
  int64_t count = tensor.num_elements();
  for (int64_t i = 0; i < count; ++i, source += DTypeBytes(from), target += DTypeBytes(dtype)) {
    te::Scalar x = te::ReadElement(from, source);
    te::Scalar y = te::ApplyCast(from, dtype, x);
    te::WriteElement(dtype, y, target);
    if (IsFloat(dtype)) continue;
    // The same number? uint64 holds its upper half as negative numbers.
    bool same = IsFloat(from) ? ElementAsDouble(dtype, target) == x.f : x.i == y.i;
    bool sign_differs =
        !IsFloat(from) && (from == DType::kUInt64) != (dtype == DType::kUInt64) && x.i < 0;
    if (same && !sign_differs) continue;
    return {StatusCode::kInvalidInput,
            fmt::format("element {}, {}, is not a value of {}; the tensor is {}", i,
                        ShortestElement(from, source), DTypeName(dtype), TensorTypeOf(tensor))};
  }
  return out;
}

std::string TensorTypeOf(const Value& value) {
  if (value.dims().empty()) return std::string(DTypeName(value.dtype()));
  return fmt::format("Tensor[({}), {}]", fmt::join(value.dims(), ", "), DTypeName(value.dtype()));
}

}  // namespace relayvm::tools
