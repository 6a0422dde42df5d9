#include "compiler/import/container/protobuf_wire.h"

#include <bit>
#include <cstring>

namespace relayvm::import {

namespace {

constexpr int kMostGroups = 100;

template <typename T>
T Loaded(std::string_view bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

// Elements of a packed field, which are of one size.
template <typename T>
void AppendPacked(std::string_view bytes, std::vector<T>* out) {
  const size_t count = bytes.size() / sizeof(T), before = out->size();
  if (count == 0) return;
  out->resize(before + count);
  std::memcpy(out->data() + before, bytes.data(), count * sizeof(T));
}

}  // namespace

static_assert(std::endian::native == std::endian::little);

bool WireReader::Varint(uint64_t* value) {
  constexpr size_t kMostBytes = 10;
  *value = 0;
  for (size_t i = 0; i < rest_.size() && i < kMostBytes; ++i) {
    const auto byte = static_cast<uint8_t>(rest_[i]);
    *value |= static_cast<uint64_t>(byte & 0x7f) << (7 * i);
    if ((byte & 0x80) == 0) {
      rest_.remove_prefix(i + 1);
      return true;
    }
  }
  return Damaged();
}

bool WireReader::Next() {
  if (damaged_) return false;
  // Groups, which nothing writes any more, are skipped with what they hold.
  constexpr uint64_t kGroup = 3, kEndGroup = 4;
  int groups = 0;
  while (!rest_.empty()) {
    uint64_t tag = 0, length = 0;
    if (!Varint(&tag)) return false;
    const uint64_t type = tag & 7;
    if (tag >> 3 == 0 || tag >> 3 > UINT32_MAX) return Damaged();
    field_ = static_cast<uint32_t>(tag >> 3);
    number_ = 0;
    bytes_ = {};
    const auto take = [&](size_t size) {
      if (size > rest_.size()) return Damaged();
      bytes_ = rest_.substr(0, size);
      rest_.remove_prefix(size);
      return true;
    };
    if (type == kGroup || type == kEndGroup) {
      groups += type == kGroup ? 1 : -1;
      if (groups < 0 || groups > kMostGroups) return Damaged();
      continue;
    }
    switch (static_cast<WireType>(type)) {
      case WireType::kVarint:
        if (!Varint(&number_)) return false;
        break;
      case WireType::kBytes:
        if (!Varint(&length) || !take(length)) return Damaged();
        break;
      case WireType::kFixed32:
        if (!take(sizeof(uint32_t))) return false;
        number_ = Loaded<uint32_t>(bytes_);
        bytes_ = {};
        break;
      case WireType::kFixed64:
        if (!take(sizeof(uint64_t))) return false;
        number_ = Loaded<uint64_t>(bytes_);
        bytes_ = {};
        break;
      default:
        return Damaged();
    }
    type_ = static_cast<WireType>(type);
    if (groups == 0) return true;
  }
  return groups != 0 ? Damaged() : false;
}

float WireReader::float_number() const {
  return type_ == WireType::kFixed32 ? std::bit_cast<float>(static_cast<uint32_t>(number_)) : 0;
}
double WireReader::double_number() const {
  return type_ == WireType::kFixed64 ? std::bit_cast<double>(number_) : 0;
}

void AppendNumbers(const WireReader& in, std::vector<int64_t>* out) {
  if (in.type() != WireType::kBytes) {
    out->push_back(in.signed_number());
    return;
  }
  uint64_t value = 0;
  int shift = 0;
  for (const char c : in.bytes()) {
    const auto byte = static_cast<uint8_t>(c);
    if (shift < 64) value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    shift += 7;
    if ((byte & 0x80) != 0) continue;
    out->push_back(static_cast<int64_t>(value));
    value = 0;
    shift = 0;
  }
}

void AppendFloats(const WireReader& in, std::vector<float>* out) {
  if (in.type() == WireType::kBytes) {
    AppendPacked(in.bytes(), out);
  } else {
    out->push_back(in.float_number());
  }
}

void AppendDoubles(const WireReader& in, std::vector<double>* out) {
  if (in.type() == WireType::kBytes) {
    AppendPacked(in.bytes(), out);
  } else {
    out->push_back(in.double_number());
  }
}

// --- Writing ---

void AppendVarint(uint64_t value, std::string* out) {
  for (; value >= 0x80; value >>= 7) out->push_back(static_cast<char>(value | 0x80));
  out->push_back(static_cast<char>(value));
}

void AppendTag(uint32_t field, WireType type, std::string* out) {
  AppendVarint((uint64_t{field} << 3) | static_cast<uint64_t>(type), out);
}

void AppendNumber(uint32_t field, uint64_t value, std::string* out) {
  AppendTag(field, WireType::kVarint, out);
  AppendVarint(value, out);
}

void AppendBytes(uint32_t field, std::string_view bytes, std::string* out) {
  AppendTag(field, WireType::kBytes, out);
  AppendVarint(bytes.size(), out);
  *out += bytes;
}

void AppendFloat(uint32_t field, float value, std::string* out) {
  AppendTag(field, WireType::kFixed32, out);
  out->append(reinterpret_cast<const char*>(&value), sizeof value);
}

void AppendDouble(uint32_t field, double value, std::string* out) {
  AppendTag(field, WireType::kFixed64, out);
  out->append(reinterpret_cast<const char*>(&value), sizeof value);
}

}  // namespace relayvm::import
