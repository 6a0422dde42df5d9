#include "tools/values/tensor_file.h"

#include <fmt/format.h>

#include <charconv>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>

#include "bytecode/base/file_kind.h"
#include "bytecode/base/file_mapping.h"
#include "bytecode/io/npy.h"
#include "kernels/te/scalar.h"
#include "tools/values/numbers.h"

namespace relayvm::tools {
namespace {

// Below this, reading is as cheap as mapping.
constexpr size_t kMinMapped = 64 << 10;
// What VM tensors are aligned to; numpy pads its header to it.
constexpr size_t kAlignment = 64;

struct MappedTensor {
  DType dtype;
  std::vector<int64_t> dims;
  size_t offset;
};

// Recognises the header as numpy itself writes it for little-endian C order, so that the data can
// be used in place. Anything else is for ParseNpy: it reads all forms, and says what is wrong with
// bad ones.
std::optional<MappedTensor> UsualHeader(std::string_view file) {
  if (file.size() < 10 || !file.starts_with(std::string_view("\x93NUMPY\x01\x00", 8))) {
    return std::nullopt;
  }
  size_t length = static_cast<uint8_t>(file[8]) | static_cast<size_t>(static_cast<uint8_t>(file[9]))
                                                      << 8;
  if (file.size() - 10 < length) return std::nullopt;
  std::string_view header = file.substr(10, length);
  auto skip = [&](std::string_view text) {
    if (!header.starts_with(text)) return false;
    header.remove_prefix(text.size());
    return true;
  };
  struct Code {
    std::string_view text;
    DType dtype;
  };
  // Not bool: its bytes have to be checked.
  constexpr Code kCodes[] = {
      {"|i1", DType::kInt8},    {"<i2", DType::kInt16},   {"<i4", DType::kInt32},
      {"<i8", DType::kInt64},   {"|u1", DType::kUInt8},   {"<u2", DType::kUInt16},
      {"<u4", DType::kUInt32},  {"<u8", DType::kUInt64},  {"<f2", DType::kFloat16},
      {"<f4", DType::kFloat32}, {"<f8", DType::kFloat64},
  };
  if (!skip("{'descr': '")) return std::nullopt;
  MappedTensor tensor{DType::kFloat32, {}, 10 + length};
  bool known = false;
  for (const Code& code : kCodes) {
    if (known || !skip(code.text)) continue;
    tensor.dtype = code.dtype;
    known = true;
  }
  if (!known || !skip("', 'fortran_order': False, 'shape': (")) return std::nullopt;
  uint64_t bytes = static_cast<uint64_t>(DTypeBytes(tensor.dtype));
  while (!skip(")")) {
    int64_t dim = 0;
    auto [end, error] = std::from_chars(header.data(), header.data() + header.size(), dim);
    if (error != std::errc() || dim < 0) return std::nullopt;
    header.remove_prefix(static_cast<size_t>(end - header.data()));
    if (__builtin_mul_overflow(bytes, static_cast<uint64_t>(dim), &bytes)) return std::nullopt;
    tensor.dims.push_back(dim);
    if (!skip(", ") && !skip(",") && !header.starts_with(')')) return std::nullopt;
  }
  bool whole = skip(", }") && header.find_first_not_of(" \n") == std::string_view::npos;
  if (!whole || tensor.offset % kAlignment != 0 || file.size() - tensor.offset != bytes) {
    return std::nullopt;
  }
  return tensor;
}

}  // namespace

Result<Value> ValueFromNpy(std::span<const std::byte> bytes) {
  const std::string_view start(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (!start.starts_with("\x93NUMPY"))
    return Status(StatusCode::kInvalidInput,
                  "expected a tensor (.npy), found " + DescribeFile(start));
  RELAYVM_ASSIGN_OR_RETURN(HostTensor tensor, ParseNpy(bytes));
  return ToValue(tensor);
}

Result<Value> LoadNpy(const std::string& path) {
  RELAYVM_ASSIGN_OR_RETURN(std::shared_ptr<const FileMapping> file, FileMapping::Open(path));
  std::span<const uint8_t> bytes = file->bytes();
  Result<Value> value = Value();
  auto usual = bytes.size() < kMinMapped
                   ? std::nullopt
                   : UsualHeader({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  if (usual) {
    using Owner = std::shared_ptr<const FileMapping>;
    auto* owner = new Owner(file);
    // Inputs are only read.
    void* data = const_cast<uint8_t*>(bytes.data() + usual->offset);
    value = Value::WrapTensor(
        usual->dtype, usual->dims, data, [](void* o) { delete static_cast<Owner*>(o); }, owner);
  } else {
    value = ValueFromNpy(std::as_bytes(bytes));
  }
  if (!value.ok()) return value.status().WithContext(path);
  return value;
}

Result<Value> ToValue(const HostTensor& tensor) {
  return Value::CopyTensor(tensor.dtype, tensor.shape, tensor.data.data());
}

HostTensor ToHostTensor(const Value& value) {
  HostTensor tensor;
  tensor.dtype = value.dtype();
  tensor.shape.assign(value.dims().begin(), value.dims().end());
  tensor.data.resize(value.bytes());
  if (!tensor.data.empty()) std::memcpy(tensor.data.data(), value.data(), tensor.data.size());
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
