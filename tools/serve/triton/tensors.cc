#include "tools/serve/triton/tensors.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

#include "tools/serve/triton/triton_error.h"

namespace relayvm::triton {
namespace {

struct TypeRow {
  TRITONSERVER_DataType type;
  DType dtype;
  std::string_view name;
};
constexpr TypeRow kTypes[] = {
    {TRITONSERVER_TYPE_BOOL, DType::kBool, "BOOL"},
    {TRITONSERVER_TYPE_INT8, DType::kInt8, "INT8"},
    {TRITONSERVER_TYPE_INT16, DType::kInt16, "INT16"},
    {TRITONSERVER_TYPE_INT32, DType::kInt32, "INT32"},
    {TRITONSERVER_TYPE_INT64, DType::kInt64, "INT64"},
    {TRITONSERVER_TYPE_UINT8, DType::kUInt8, "UINT8"},
    {TRITONSERVER_TYPE_UINT16, DType::kUInt16, "UINT16"},
    {TRITONSERVER_TYPE_UINT32, DType::kUInt32, "UINT32"},
    {TRITONSERVER_TYPE_UINT64, DType::kUInt64, "UINT64"},
    {TRITONSERVER_TYPE_FP16, DType::kFloat16, "FP16"},
    {TRITONSERVER_TYPE_BF16, DType::kBFloat16, "BF16"},
    {TRITONSERVER_TYPE_FP32, DType::kFloat32, "FP32"},
    {TRITONSERVER_TYPE_FP64, DType::kFloat64, "FP64"},
    {TRITONSERVER_TYPE_BYTES, DType::kString, "BYTES"},
};
static_assert(std::size(kTypes) == kNumDTypes + 1);

Status Wrong(const InputTensor& tensor, std::string what) {
  return {StatusCode::kInvalidArgument, fmt::format("input {}: {}", tensor.name, what)};
}

// Elements of dims; -1 when a dim is negative or the product leaves int64.
int64_t CountOf(std::span<const int64_t> dims) {
  int64_t count = 1;
  bool fits = true;
  for (const int64_t dim : dims) {
    if (dim < 0) return -1;
    fits = fits && !__builtin_mul_overflow(count, dim, &count);
  }
  if (std::ranges::find(dims, 0) != dims.end()) return 0;
  return fits ? count : -1;
}

Status ReadPieces(TRITONBACKEND_Input* input, uint32_t count, InputTensor* tensor) {
  uint64_t found = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const void* data = nullptr;
    uint64_t bytes = 0;
    TRITONSERVER_MemoryType memory = TRITONSERVER_MEMORY_CPU;
    int64_t memory_id = 0;
    RELAYVM_TRITON_CALL(TRITONBACKEND_InputBuffer, input, i, &data, &bytes, &memory, &memory_id);
    if (memory == TRITONSERVER_MEMORY_GPU) return Wrong(*tensor, "its data is in a GPU's memory");
    if (bytes == 0) continue;
    if (data == nullptr) return Wrong(*tensor, "it has no data");
    found += bytes;
    tensor->pieces.push_back({static_cast<const uint8_t*>(data), bytes});
  }
  if (found == tensor->bytes) return OkStatus();
  return Wrong(*tensor,
               fmt::format("expected {} bytes, its buffers have {}", tensor->bytes, found));
}

// Splits the bytes into texts.
Status ReadTexts(int64_t count, InputTensor* tensor) {
  std::string_view bytes;
  if (tensor->pieces.size() == 1) {
    bytes = {reinterpret_cast<const char*>(tensor->pieces[0].data), tensor->pieces[0].bytes};
  } else {
    for (const InputTensor::Piece& piece : tensor->pieces)
      tensor->joined.insert(tensor->joined.end(), piece.data, piece.data + piece.bytes);
    bytes = {tensor->joined.data(), tensor->joined.size()};
  }
  // Each has a length of four bytes at least: what is not there takes no memory.
  if (static_cast<uint64_t>(count) > bytes.size() / 4)
    return Wrong(*tensor, fmt::format("{} bytes are too few for {} texts", bytes.size(), count));
  tensor->texts.reserve(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    uint32_t length = 0;
    if (bytes.size() < sizeof length) return Wrong(*tensor, fmt::format("text {} is cut off", i));
    std::memcpy(&length, bytes.data(), sizeof length);
    bytes.remove_prefix(sizeof length);
    if (length > bytes.size()) return Wrong(*tensor, fmt::format("text {} is cut off", i));
    tensor->texts.push_back(bytes.substr(0, length));
    bytes.remove_prefix(length);
  }
  if (bytes.empty()) return OkStatus();
  return Wrong(*tensor, fmt::format("{} bytes are left after {} texts", bytes.size(), count));
}

Status CheckBools(const InputTensor& tensor) {
  for (const InputTensor::Piece& piece : tensor.pieces) {
    const uint8_t* const end = piece.data + piece.bytes;
    const uint8_t* const wrong = std::find_if(piece.data, end, [](uint8_t b) { return b > 1; });
    if (wrong != end)
      return Wrong(tensor, fmt::format("expected bools of 0 or 1, found {}", *wrong));
  }
  return OkStatus();
}

Status CheckContent(TRITONBACKEND_Input* input, uint32_t buffer_count, InputTensor* tensor) {
  const int64_t count = CountOf(tensor->dims);
  if (count < 0)
    return Wrong(*tensor, fmt::format("its shape [{}] is not one", fmt::join(tensor->dims, ", ")));
  if (tensor->dtype == DType::kString) {
    RELAYVM_RETURN_IF_ERROR(ReadPieces(input, buffer_count, tensor));
    return ReadTexts(count, tensor);
  }
  uint64_t expected = 0;
  const auto element = static_cast<uint64_t>(DTypeBytes(tensor->dtype));
  if (__builtin_mul_overflow(static_cast<uint64_t>(count), element, &expected) ||
      expected != tensor->bytes) {
    return Wrong(*tensor,
                 fmt::format("its shape [{}] needs {} elements of {} bytes, it has {} bytes",
                             fmt::join(tensor->dims, ", "), count, element, tensor->bytes));
  }
  RELAYVM_RETURN_IF_ERROR(ReadPieces(input, buffer_count, tensor));
  return tensor->dtype == DType::kBool ? CheckBools(*tensor) : OkStatus();
}

Result<Value> JoinTexts(std::span<const InputTensor* const> tensors,
                        std::span<const int64_t> dims) {
  std::vector<std::string_view> texts;
  for (const InputTensor* tensor : tensors)
    texts.insert(texts.end(), tensor->texts.begin(), tensor->texts.end());
  return Value::CopyStrings(dims, texts);
}

Result<void*> Buffer(TRITONBACKEND_Output* output, const std::string& name, size_t bytes) {
  void* buffer = nullptr;
  TRITONSERVER_MemoryType memory = TRITONSERVER_MEMORY_CPU;
  int64_t memory_id = 0;
  RELAYVM_TRITON_CALL(TRITONBACKEND_OutputBuffer, output, &buffer, bytes, &memory, &memory_id);
  if (memory == TRITONSERVER_MEMORY_GPU) {
    return Status(StatusCode::kUnsupported,
                  fmt::format("output {}: the server gave a GPU's memory", name));
  }
  return buffer;
}

std::string TextBytes(const Value& value, int64_t begin, int64_t end) {
  std::string bytes;
  for (int64_t i = begin; i < end; ++i) {
    const std::string_view text = value.text(i);
    const auto length = static_cast<uint32_t>(text.size());
    bytes.append(reinterpret_cast<const char*>(&length), sizeof length);
    bytes.append(text);
  }
  return bytes;
}

}  // namespace

TRITONSERVER_DataType TypeOf(DType dtype) {
  return std::ranges::find(kTypes, dtype, &TypeRow::dtype)->type;
}

std::optional<DType> DTypeOf(TRITONSERVER_DataType type) {
  const auto* const row = std::ranges::find(kTypes, type, &TypeRow::type);
  return row == std::end(kTypes) ? std::nullopt : std::optional(row->dtype);
}

std::string_view TypeName(TRITONSERVER_DataType type) {
  const auto* const row = std::ranges::find(kTypes, type, &TypeRow::type);
  return row == std::end(kTypes) ? "INVALID" : row->name;
}

std::string ConfigType(DType dtype) {
  if (dtype == DType::kString) return "TYPE_STRING";
  return fmt::format("TYPE_{}", TypeName(TypeOf(dtype)));
}

Result<InputTensor> ReadInput(TRITONBACKEND_Input* input) {
  InputTensor tensor;
  const char* name = nullptr;
  TRITONSERVER_DataType type = TRITONSERVER_TYPE_INVALID;
  const int64_t* dims = nullptr;
  uint32_t rank = 0;
  uint32_t buffer_count = 0;
  RELAYVM_TRITON_CALL(TRITONBACKEND_InputProperties, input, &name, &type, &dims, &rank,
                      &tensor.bytes, &buffer_count);
  tensor.name = name;
  tensor.dims = {dims, rank};
  const std::optional<DType> dtype = DTypeOf(type);
  if (!dtype.has_value()) return Wrong(tensor, "its type is none");
  tensor.dtype = *dtype;
  RELAYVM_RETURN_IF_ERROR(CheckContent(input, buffer_count, &tensor));
  return tensor;
}

Result<Value> JoinRows(std::span<const InputTensor* const> tensors, int64_t rows) {
  const InputTensor& first = *tensors.front();
  std::vector<int64_t> dims(first.dims.begin(), first.dims.end());
  if (tensors.size() > 1) dims.front() = rows;
  if (first.dtype == DType::kString) return JoinTexts(tensors, dims);
  if (tensors.size() == 1 && first.pieces.size() == 1) {
    // Copied there, if it is not aligned.
    return Value::WrapTensor(first.dtype, dims, const_cast<uint8_t*>(first.pieces[0].data), nullptr,
                             nullptr);
  }
  RELAYVM_ASSIGN_OR_RETURN(Value value, Value::NewTensor(first.dtype, dims));
  auto* to = static_cast<uint8_t*>(value.mutable_data());
  for (const InputTensor* tensor : tensors) {
    for (const InputTensor::Piece& piece : tensor->pieces) {
      std::memcpy(to, piece.data, piece.bytes);
      to += piece.bytes;
    }
  }
  return value;
}

Status WriteOutput(TRITONBACKEND_Response* response, const std::string& name,
                   const OutputRows& rows) {
  const Value& value = rows.value;
  std::vector<int64_t> dims(value.dims().begin(), value.dims().end());
  int64_t begin = 0;
  int64_t end = value.num_elements();
  if (rows.count >= 0) {
    const int64_t row = dims.front() == 0 ? 0 : end / dims.front();
    begin = row * rows.begin;
    end = begin + row * rows.count;
    dims.front() = rows.count;
  }
  TRITONBACKEND_Output* output = nullptr;
  RELAYVM_TRITON_CALL(TRITONBACKEND_ResponseOutput, response, &output, name.c_str(),
                      TypeOf(value.dtype()), dims.data(), static_cast<uint32_t>(dims.size()));
  std::string texts;
  if (value.dtype() == DType::kString) texts = TextBytes(value, begin, end);
  const auto element = static_cast<size_t>(DTypeBytes(value.dtype()));
  const size_t bytes =
      value.dtype() == DType::kString ? texts.size() : static_cast<size_t>(end - begin) * element;
  RELAYVM_ASSIGN_OR_RETURN(void* const buffer, Buffer(output, name, bytes));
  if (bytes == 0) return OkStatus();
  if (buffer == nullptr)
    return {StatusCode::kInternal, fmt::format("output {}: the server gave no memory", name)};
  const void* from = texts.data();
  if (value.dtype() != DType::kString)
    from = static_cast<const uint8_t*>(value.data()) + static_cast<size_t>(begin) * element;
  std::memcpy(buffer, from, bytes);
  return OkStatus();
}

}  // namespace relayvm::triton
