#include "bytecode/io/ndarray_blob.h"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <optional>

namespace relayvm {
namespace {

constexpr uint64_t kBlobMagic = 0xDD5E40F096B4A13F;
constexpr size_t kHeaderBytes = 32;
constexpr int32_t kMaxBlobRank = 32;
constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

template <typename T>
T LoadAt(std::span<const std::byte> bytes, size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

template <typename T>
void Append(std::vector<std::byte>& out, T value) {
  const auto* p = reinterpret_cast<const std::byte*>(&value);
  out.insert(out.end(), p, p + sizeof(T));
}

// kOpaque: strings, as ids of a table that stands elsewhere.
enum TypeCode : uint8_t { kInt = 0, kUInt = 1, kFloat = 2, kOpaque = 3, kBFloat = 4 };

std::optional<DType> DTypeOf(uint8_t code, uint8_t bits) {
  if (code == kOpaque && bits == 64) return DType::kString;
  for (int i = 0; i < kNumDTypes; ++i) {
    auto t = static_cast<DType>(i);
    uint8_t its_code = t == DType::kBFloat16 ? kBFloat
                       : IsFloat(t)          ? kFloat
                       : IsSignedInt(t)      ? kInt
                                             : kUInt;
    if (its_code == code && DTypeBits(t) == bits) return t;
  }
  return std::nullopt;
}

}  // namespace

Result<HostTensor> ReadNdarrayBlob(const SharedBytes& bytes, size_t* size) {
  auto bad = [](const std::string& what) {
    return Status(StatusCode::kInvalidInput, "tensor blob: " + what);
  };
  if (bytes.size() < kHeaderBytes)
    return bad(fmt::format("truncated header, {} bytes", bytes.size()));
  if (LoadAt<uint64_t>(bytes, 0) != kBlobMagic) return bad("wrong magic number");
  if (int32_t device = LoadAt<int32_t>(bytes, 16); device != 1) {
    return bad(fmt::format("device type {}, only 1 (CPU) is legal", device));
  }
  const int32_t rank = LoadAt<int32_t>(bytes, 24);
  if (rank < 0 || rank > kMaxBlobRank)
    return bad(fmt::format("rank {} is not in 0..{}", rank, kMaxBlobRank));
  const auto code = LoadAt<uint8_t>(bytes, 28);
  const auto bits = LoadAt<uint8_t>(bytes, 29);
  if (uint16_t lanes = LoadAt<uint16_t>(bytes, 30); lanes != 1) {
    return bad(fmt::format("vector elements ({} lanes) are not supported", lanes));
  }
  auto dtype = DTypeOf(code, bits);
  if (!dtype) return bad(fmt::format("unsupported dtype, code {} of {} bits", code, bits));
  const size_t data_offset = kHeaderBytes + 8 * (static_cast<size_t>(rank) + 1);
  if (bytes.size() < data_offset) return bad("truncated shape");
  HostTensor t{*dtype, {}, {}};
  uint64_t data_bytes = DTypeBytes(*dtype);
  bool overflow = false;
  for (int32_t i = 0; i < rank; ++i) {
    const auto dim = LoadAt<int64_t>(bytes, kHeaderBytes + 8 * static_cast<size_t>(i));
    if (dim < 0) return bad(fmt::format("negative dimension {}", dim));
    t.shape.push_back(dim);
    overflow |= __builtin_mul_overflow(data_bytes, static_cast<uint64_t>(dim), &data_bytes);
  }
  const auto stated = LoadAt<uint64_t>(bytes, data_offset - 8);
  if (overflow || stated != data_bytes) {
    return bad(fmt::format("{} bytes of data stated, its shape needs another number", stated));
  }
  if (bytes.size() - data_offset < data_bytes) {
    return bad(
        fmt::format("truncated data, {} of {} bytes", bytes.size() - data_offset, data_bytes));
  }
  t.data = bytes.Slice(data_offset, data_bytes);
  NormalizeBools(t);
  *size = data_offset + data_bytes;
  return t;
}

std::vector<std::byte> WriteNdarrayBlob(const HostTensor& t) {
  std::vector<std::byte> out;
  out.reserve(NdarrayBlobHeaderBytes(t.shape.size()) + t.data.size());
  Append<uint64_t>(out, kBlobMagic);
  Append<uint64_t>(out, 0);
  Append<int32_t>(out, 1);
  Append<int32_t>(out, 0);
  Append<int32_t>(out, static_cast<int32_t>(t.shape.size()));
  Append<uint8_t>(out, t.dtype == DType::kBFloat16 ? kBFloat
                       : t.dtype == DType::kString ? kOpaque
                       : IsFloat(t.dtype)          ? kFloat
                       : IsSignedInt(t.dtype)      ? kInt
                                                   : kUInt);
  Append<uint8_t>(out, static_cast<uint8_t>(DTypeBits(t.dtype)));
  Append<uint16_t>(out, 1);
  for (int64_t dim : t.shape) Append<int64_t>(out, dim);
  Append<int64_t>(out, static_cast<int64_t>(t.data.size()));
  out.insert(out.end(), t.data.begin(), t.data.end());
  return out;
}

std::string Base64Encode(std::span<const std::byte> bytes) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t n = std::min<size_t>(3, bytes.size() - i);
    uint32_t group = 0;
    for (size_t j = 0; j < 3; ++j)
      group = group << 8 | (j < n ? static_cast<uint32_t>(bytes[i + j]) : 0);
    for (size_t j = 0; j < 4; ++j) out += j <= n ? kAlphabet[group >> (18 - 6 * j) & 63] : '=';
  }
  return out;
}

Result<std::vector<std::byte>> Base64Decode(std::string_view text) {
  static const std::array<int8_t, 256> kValues = [] {
    std::array<int8_t, 256> values;
    values.fill(-1);
    for (size_t i = 0; i < kAlphabet.size(); ++i)
      values[static_cast<uint8_t>(kAlphabet[i])] = static_cast<int8_t>(i);
    return values;
  }();
  std::vector<std::byte> out;
  out.reserve(text.size() / 4 * 3);
  uint32_t group = 0;
  int digits = 0;
  size_t i = 0;
  for (; i < text.size() && kValues[static_cast<uint8_t>(text[i])] >= 0; ++i) {
    group = group << 6 | static_cast<uint32_t>(kValues[static_cast<uint8_t>(text[i])]);
    if (++digits < 4) continue;
    for (int shift : {16, 8, 0}) out.push_back(static_cast<std::byte>(group >> shift));
    group = 0;
    digits = 0;
  }
  size_t padding = 0;
  while (i + padding < text.size() && text[i + padding] == '=') ++padding;
  i += padding;
  const bool ends = text.find_first_not_of(" \n\r\t", i) == std::string_view::npos;
  if (!ends || digits == 1 ||
      (digits == 0 ? padding != 0 : padding != static_cast<size_t>(4 - digits))) {
    return Status(StatusCode::kInvalidInput, fmt::format("malformed base64 at character {}", i));
  }
  if (digits >= 2) out.push_back(static_cast<std::byte>(group >> (digits == 2 ? 4 : 10)));
  if (digits == 3) out.push_back(static_cast<std::byte>(group >> 2));
  return out;
}

}  // namespace relayvm
