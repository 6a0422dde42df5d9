// Element types of tensors: a closed set of scalars, and strings. Values are stable: they stand in
// .vmx files. Tested by dtype_test.cc.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace relayvm {

enum class DType : uint8_t {
  kBool = 0,  // one byte, 0 or 1
  kInt8 = 1,
  kInt16 = 2,
  kInt32 = 3,
  kInt64 = 4,
  kUInt8 = 5,
  kUInt16 = 6,
  kUInt32 = 7,
  kUInt64 = 8,
  kFloat16 = 9,
  kBFloat16 = 10,
  kFloat32 = 11,
  kFloat64 = 12,
  // A text, as its id in a table (bytecode/base/string_table.h): moved and compared, never computed
  // with.
  kString = 13,
};
inline constexpr int kNumDTypes = 13;  // of numbers: without strings

// Bytes of one element.
constexpr int DTypeBytes(DType t) {
  constexpr uint8_t kBytes[] = {1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8, 8};
  return kBytes[static_cast<int>(t)];
}
constexpr int DTypeBits(DType t) { return t == DType::kBool ? 1 : DTypeBytes(t) * 8; }
constexpr bool IsFloat(DType t) { return t >= DType::kFloat16 && t <= DType::kFloat64; }
constexpr bool IsSignedInt(DType t) { return t >= DType::kInt8 && t <= DType::kInt64; }
constexpr bool IsUnsignedInt(DType t) { return t >= DType::kUInt8 && t <= DType::kUInt64; }
constexpr bool IsInt(DType t) { return t >= DType::kInt8 && t <= DType::kUInt64; }  // without bool
constexpr bool IsValidDType(uint8_t code) { return code <= static_cast<uint8_t>(DType::kString); }

// Relay's name: "float32", "bool", "uint8", "bfloat16", "string".
std::string_view DTypeName(DType t);
// The reverse; also takes "uint1" for bool. nullopt for any other name.
std::optional<DType> ParseDType(std::string_view name);

}  // namespace relayvm
