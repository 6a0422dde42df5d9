#include "tools/serve/grpc/typed_contents.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string_view>
#include <type_traits>
#include <utility>

#include "bytecode/base/printable.h"
#include "tools/serve/protocol/tensor_bytes.h"

namespace relayvm::serve {
namespace {

constexpr int kMaxRank = 255;

Status Invalid(const std::string& label, std::string_view message) {
  return {StatusCode::kInvalidArgument, fmt::format("{}: {}", label, message)};
}

size_t CountAll(const inference::InferTensorContents& contents) {
  int64_t count = 0;
  for (const int size : {contents.bool_contents_size(), contents.int_contents_size(),
                         contents.int64_contents_size(), contents.uint_contents_size(),
                         contents.uint64_contents_size(), contents.fp32_contents_size(),
                         contents.fp64_contents_size(), contents.bytes_contents_size()})
    count += size;
  return static_cast<size_t>(count);
}

// The list that a dtype has is all that there is, and has as many elements as the shape.
Status CheckCounts(const std::string& label, const TensorType& type,
                   const inference::InferTensorContents& contents, std::string_view list,
                   int found) {
  if (const size_t all = CountAll(contents); all != static_cast<size_t>(found)) {
    return Invalid(label,
                   fmt::format("{} stands in {}, and other contents have {} elements",
                               DatatypeName(type.dtype), list, all - static_cast<size_t>(found)));
  }
  if (type.count == static_cast<size_t>(found)) return OkStatus();
  return Invalid(label,
                 fmt::format("its shape has {} elements, its {} {}", type.count, list, found));
}

template <typename T, typename From>
Result<Value> ReadNumbers(const std::string& label, const TensorType& type,
                          const inference::InferTensorContents& contents, std::string_view list,
                          const google::protobuf::RepeatedField<From>& from, Runtime& runtime) {
  RELAYVM_RETURN_IF_ERROR(CheckCounts(label, type, contents, list, from.size()));
  Result<Value> value = runtime.NewTensor(type.dtype, type.dims);
  if (!value.ok()) return value.status().WithContext(label);
  T* to = static_cast<T*>(value->mutable_data());
  if constexpr (sizeof(T) < sizeof(From)) {
    for (const From number : from) {
      if (!std::in_range<T>(number))
        return Invalid(label, fmt::format("{} is no {}", number, DatatypeName(type.dtype)));
      *to++ = static_cast<T>(number);
    }
  } else {
    std::copy(from.begin(), from.end(), to);
  }
  return value;
}

Result<Value> ReadTexts(const std::string& label, const TensorType& type,
                        const inference::InferTensorContents& contents) {
  RELAYVM_RETURN_IF_ERROR(
      CheckCounts(label, type, contents, "bytes_contents", contents.bytes_contents_size()));
  const std::vector<std::string_view> texts(contents.bytes_contents().begin(),
                                            contents.bytes_contents().end());
  Result<Value> value = Value::CopyStrings(type.dims, texts);
  if (!value.ok()) return value.status().WithContext(label);
  return value;
}

}  // namespace

Result<TensorType> TypeOf(const std::string& label, const std::string& datatype,
                          const google::protobuf::RepeatedField<int64_t>& shape) {
  const std::optional<DType> dtype = ParseDatatype(datatype);
  if (!dtype) return Invalid(label, "no such datatype: " + Printable(datatype));
  if (shape.size() > kMaxRank)
    return Invalid(label, fmt::format("a shape of more than {} dims", kMaxRank));
  std::vector<int64_t> dims(shape.begin(), shape.end());
  for (const int64_t dim : dims) {
    if (dim < 0) return Invalid(label, fmt::format("a negative dim in its shape: {}", dim));
  }
  const std::optional<int64_t> count = NumElements(dims);
  if (!count) return Invalid(label, "its shape has more than 2^63 elements");
  return TensorType{*dtype, std::move(dims), static_cast<size_t>(*count)};
}

bool HasTypedContents(const inference::InferTensorContents& contents) {
  return CountAll(contents) > 0;
}

Result<Value> ReadTypedContents(const std::string& label, const TensorType& type,
                                const inference::InferTensorContents& contents, Runtime& runtime) {
  const auto read = [&]<typename T>(T /*as*/, std::string_view list, const auto& from) {
    return ReadNumbers<T>(label, type, contents, list, from, runtime);
  };
  switch (type.dtype) {
    case DType::kBool:
      return read(bool{}, "bool_contents", contents.bool_contents());
    case DType::kInt8:
      return read(int8_t{}, "int_contents", contents.int_contents());
    case DType::kInt16:
      return read(int16_t{}, "int_contents", contents.int_contents());
    case DType::kInt32:
      return read(int32_t{}, "int_contents", contents.int_contents());
    case DType::kInt64:
      return read(int64_t{}, "int64_contents", contents.int64_contents());
    case DType::kUInt8:
      return read(uint8_t{}, "uint_contents", contents.uint_contents());
    case DType::kUInt16:
      return read(uint16_t{}, "uint_contents", contents.uint_contents());
    case DType::kUInt32:
      return read(uint32_t{}, "uint_contents", contents.uint_contents());
    case DType::kUInt64:
      return read(uint64_t{}, "uint64_contents", contents.uint64_contents());
    case DType::kFloat32:
      return read(float{}, "fp32_contents", contents.fp32_contents());
    case DType::kFloat64:
      return read(double{}, "fp64_contents", contents.fp64_contents());
    case DType::kString:
      return ReadTexts(label, type, contents);
    case DType::kFloat16:
    case DType::kBFloat16:
      break;
  }
  return Status(StatusCode::kUnsupported,
                fmt::format("{}: {} has no typed contents: send it in raw_input_contents", label,
                            DatatypeName(type.dtype)));
}

}  // namespace relayvm::serve
