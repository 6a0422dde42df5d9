#include "bytecode/io/tvm_params.h"

#include <fmt/format.h>

#include <cstring>
#include <optional>
#include <vector>

#include "bytecode/base/file_replacement.h"
#include "bytecode/io/ndarray_blob.h"

namespace relayvm {
namespace {

constexpr uint64_t kParamsMagic = 0xF7E58D4F05049CB7;

Status BadParams(const std::string& what) {
  return Status(StatusCode::kInvalidInput, "parameter file: " + what);
}

// Takes fields from the front of a buffer.
class Reader {
 public:
  explicit Reader(SharedBytes bytes) : bytes_(std::move(bytes)) {}

  std::optional<uint64_t> U64() {
    if (bytes_.size() < 8) return std::nullopt;
    uint64_t value;
    std::memcpy(&value, bytes_.data(), 8);
    Skip(8);
    return value;
  }
  std::optional<std::string> String() {
    auto length = U64();
    if (!length || *length > bytes_.size()) return std::nullopt;
    std::string s(reinterpret_cast<const char*>(bytes_.data()), *length);
    Skip(*length);
    return s;
  }
  Result<HostTensor> Blob() {
    size_t size = 0;
    auto tensor = ReadNdarrayBlob(bytes_, &size);
    if (tensor.ok()) Skip(size);
    return tensor;
  }
  size_t left() const { return bytes_.size(); }

 private:
  void Skip(size_t size) { bytes_ = bytes_.Slice(size, bytes_.size() - size); }

  SharedBytes bytes_;
};

}  // namespace

bool IsTvmParams(const SharedBytes& bytes) { return Reader(bytes).U64() == kParamsMagic; }

Result<TensorsByName> ParseTvmParams(const SharedBytes& bytes) {
  Reader reader(bytes);
  if (reader.U64() != kParamsMagic) return BadParams("wrong magic number");
  reader.U64();
  auto count = reader.U64();
  if (!count || *count > reader.left() / 8)
    return BadParams("truncated, or a wrong number of names");
  std::vector<std::string> names;
  for (uint64_t i = 0; i < *count; ++i) {
    auto name = reader.String();
    if (!name) return BadParams(fmt::format("truncated at name {} of {}", i + 1, *count));
    names.push_back(*std::move(name));
  }
  auto tensors = reader.U64();
  if (tensors != count)
    return BadParams(fmt::format("{} names, but {} tensors", *count, tensors.value_or(0)));
  TensorsByName params;
  for (std::string& name : names) {
    auto tensor = reader.Blob();
    if (!tensor.ok()) return BadParams(fmt::format("\"{}\": {}", name, tensor.status().message()));
    if (name.starts_with(kAlignmentName)) continue;
    if (!params.emplace(name, *std::move(tensor)).second)
      return BadParams(fmt::format("\"{}\" occurs twice", name));
  }
  if (reader.left() > 0)
    return BadParams(fmt::format("{} bytes after the last tensor", reader.left()));
  return params;
}

Status WriteTvmParams(const std::string& path, const TensorsByName& tensors) {
  constexpr size_t kLarge = 4096, kAlignment = 64;
  // In the order of the file; null: for the alignment of the next.
  std::vector<std::pair<std::string, const HostTensor*>> parts;
  for (const auto& [name, tensor] : tensors) {
    if (name.starts_with(kAlignmentName)) {
      return {
          StatusCode::kInvalidArgument,
          fmt::format("a tensor may not be called \"{}\": names of that kind are the file's own",
                      name)};
    }
    if (tensor.data.size() >= kLarge)
      parts.emplace_back(fmt::format("{}{}", kAlignmentName, parts.size()), nullptr);
    parts.emplace_back(name, &tensor);
  }
  RELAYVM_ASSIGN_OR_RETURN(FileReplacement file, FileReplacement::Create(path));
  size_t at = 0;
  auto write = [&](const void* data, size_t size) {
    at += size;
    return file.Write(data, size);
  };
  auto number = [&](uint64_t n) { return write(&n, sizeof(n)); };
  RELAYVM_RETURN_IF_ERROR(number(kParamsMagic));
  RELAYVM_RETURN_IF_ERROR(number(0));
  RELAYVM_RETURN_IF_ERROR(number(parts.size()));
  for (const auto& [name, tensor] : parts) {
    RELAYVM_RETURN_IF_ERROR(number(name.size()));
    RELAYVM_RETURN_IF_ERROR(write(name.data(), name.size()));
  }
  RELAYVM_RETURN_IF_ERROR(number(parts.size()));
  for (size_t i = 0; i < parts.size(); ++i) {
    HostTensor zeros{DType::kUInt8, {0}, {}};
    if (parts[i].second == nullptr) {
      const size_t after = at + NdarrayBlobHeaderBytes(1) +
                           NdarrayBlobHeaderBytes(parts[i + 1].second->shape.size());
      zeros.data = SharedBytes::Zeros(-after % kAlignment);
      zeros.shape = {static_cast<int64_t>(zeros.data.size())};
    }
    const std::vector<std::byte> blob =
        WriteNdarrayBlob(parts[i].second == nullptr ? zeros : *parts[i].second);
    RELAYVM_RETURN_IF_ERROR(write(blob.data(), blob.size()));
  }
  return file.Commit();
}

}  // namespace relayvm
