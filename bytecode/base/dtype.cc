#include "bytecode/base/dtype.h"

#include <array>

namespace relayvm {
namespace {
constexpr std::array<std::string_view, kNumDTypes + 1> kNames = {
    "bool",   "int8",   "int16",   "int32",    "int64",   "uint8",   "uint16",
    "uint32", "uint64", "float16", "bfloat16", "float32", "float64", "string"};
}  // namespace

std::string_view DTypeName(DType t) { return kNames[static_cast<size_t>(t)]; }

std::optional<DType> ParseDType(std::string_view name) {
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name) return static_cast<DType>(i);
  }
  if (name == "uint1") return DType::kBool;
  return std::nullopt;
}

}  // namespace relayvm
