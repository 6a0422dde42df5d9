#include "tools/serve/protocol/tensor_bytes.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

namespace relayvm::serve {
namespace {

static_assert(std::endian::native == std::endian::little, "tensors are little-endian as they are");

Status Invalid(const std::string& label, std::string_view message) {
  return {StatusCode::kInvalidArgument, fmt::format("{}: {}", label, message)};
}

}  // namespace

std::optional<int64_t> NumElements(std::span<const int64_t> dims) {
  int64_t product = 1;
  bool is_empty = false, overflows = false;
  for (const int64_t dim : dims) {
    if (dim == 0) is_empty = true;
    overflows = overflows || __builtin_mul_overflow(product, dim, &product);
  }
  if (is_empty) return 0;
  if (overflows) return std::nullopt;
  return product;
}

Result<Value> UnpackTexts(const std::string& label, std::span<const int64_t> dims, size_t count,
                          std::string_view bytes) {
  if (count > bytes.size() / sizeof(uint32_t)) {
    return Invalid(label, fmt::format("{} strings need more than {} bytes", count, bytes.size()));
  }
  std::vector<std::string_view> texts;
  texts.reserve(count);
  while (texts.size() < count) {
    uint32_t length = 0;
    if (bytes.size() < sizeof length) return Invalid(label, "its binary data ends early");
    std::memcpy(&length, bytes.data(), sizeof length);
    bytes.remove_prefix(sizeof length);
    if (length > bytes.size()) {
      return Invalid(label, fmt::format("string {} has {} bytes, and {} are left", texts.size(),
                                        length, bytes.size()));
    }
    texts.push_back(bytes.substr(0, length));
    bytes.remove_prefix(length);
  }
  if (!bytes.empty())
    return Invalid(label, fmt::format("{} bytes behind its strings", bytes.size()));
  Result<Value> value = Value::CopyStrings(dims, texts);
  if (!value.ok()) return value.status().WithContext(label);
  return value;
}

Result<std::string> PackTexts(const InferTensor& output) {
  std::string packed;
  for (int64_t i = 0; i < output.value.num_elements(); ++i) {
    const std::string_view text = output.value.text(i);
    if (text.size() > std::numeric_limits<uint32_t>::max())
      return Status(StatusCode::kUnsupported, "output " + output.name + ": a string above 4 GiB");
    const auto length = static_cast<uint32_t>(text.size());
    packed.append(reinterpret_cast<const char*>(&length), sizeof length);
    packed.append(text);
  }
  return packed;
}

}  // namespace relayvm::serve
