#include "compiler/import/tflite/flexbuffer.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>

namespace relayvm::import::tflite {

namespace {

constexpr int kInt = 1, kUInt = 2, kFloat = 3, kIndirectInt = 6, kIndirectFloat = 8, kMap = 9,
              kBool = 26;

class Bytes {
 public:
  explicit Bytes(std::string_view bytes) : bytes_(bytes) {}

  std::optional<uint64_t> Number(size_t at, size_t width) const {
    if (at > bytes_.size() || width > bytes_.size() - at) return std::nullopt;
    uint64_t value = 0;
    std::memcpy(&value, bytes_.data() + at, width);
    return value;
  }
  // What the place at `at` refers to.
  std::optional<size_t> Place(size_t at, size_t width) const {
    const auto back = Number(at, width);
    if (!back || *back > at) return std::nullopt;
    return at - static_cast<size_t>(*back);
  }
  std::optional<double> Value(size_t at, size_t width, uint8_t packed) const {
    int type = packed >> 2;
    if (type >= kIndirectInt && type <= kIndirectFloat) {
      const auto place = Place(at, width);
      if (!place) return std::nullopt;
      at = *place;
      width = size_t{1} << (packed & 3);
      type -= kIndirectInt - kInt;
    }
    const auto bits = Number(at, width);
    if (!bits) return std::nullopt;
    if (type == kUInt || type == kBool) return static_cast<double>(*bits);
    if (type == kInt) {
      const int unused = 64 - 8 * static_cast<int>(width);
      return static_cast<double>(static_cast<int64_t>(*bits << unused) >> unused);
    }
    if (type != kFloat) return std::nullopt;
    if (width == 4) return std::bit_cast<float>(static_cast<uint32_t>(*bits));
    return width == 8 ? std::optional(std::bit_cast<double>(*bits)) : std::nullopt;
  }
  std::optional<std::string> Text(size_t at) const {
    const size_t end = bytes_.find('\0', at);
    if (at >= bytes_.size() || end == std::string_view::npos) return std::nullopt;
    return std::string(bytes_.substr(at, std::min<size_t>(end - at, 256)));
  }

 private:
  std::string_view bytes_;
};

bool IsWidth(uint64_t width) { return width == 1 || width == 2 || width == 4 || width == 8; }

}  // namespace

Result<FlexMap> FlexMap::Read(std::string_view text) {
  FlexMap map;
  if (text.empty()) return map;
  const Status wrong(StatusCode::kInvalidInput, "its options are no flexbuffer of a map");
  const Bytes bytes(text);
  if (text.size() < 3) return wrong;
  const auto root_width = static_cast<uint8_t>(text.back());
  const auto packed = static_cast<uint8_t>(text[text.size() - 2]);
  if (!IsWidth(root_width) || packed >> 2 != kMap || text.size() < 2U + root_width) return wrong;
  const auto values = bytes.Place(text.size() - 2 - root_width, root_width);
  const size_t width = size_t{1} << (packed & 3);
  if (!values || *values < 3 * width) return wrong;
  const auto count = bytes.Number(*values - width, width);
  const auto key_width = bytes.Number(*values - 2 * width, width);
  const auto keys = bytes.Place(*values - 3 * width, width);
  if (!count || !key_width || !keys || !IsWidth(*key_width) || *count > text.size()) return wrong;
  for (size_t i = 0; i < *count; ++i) {
    const auto key_at = bytes.Place(*keys + i * *key_width, *key_width);
    const auto key = key_at ? bytes.Text(*key_at) : std::nullopt;
    const auto type = bytes.Number(*values + *count * width + i, 1);
    if (!key || !type) return wrong;
    const auto value = bytes.Value(*values + i * width, width, static_cast<uint8_t>(*type));
    if (value) map.numbers_[*key] = *value;
  }
  return map;
}

int64_t FlexMap::Int(std::string_view key, int64_t fallback) const {
  const auto found = numbers_.find(key);
  if (found == numbers_.end() || !(found->second > -0x1p62 && found->second < 0x1p62))
    return fallback;
  return static_cast<int64_t>(found->second);
}
double FlexMap::Float(std::string_view key, double fallback) const {
  const auto found = numbers_.find(key);
  return found == numbers_.end() ? fallback : found->second;
}

}  // namespace relayvm::import::tflite
