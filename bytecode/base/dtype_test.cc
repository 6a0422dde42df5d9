#include "bytecode/base/dtype.h"

#include <doctest/doctest.h>

namespace relayvm {
namespace {

struct Row {
  DType dtype;
  int code;  // stands in files: never changes
  std::string_view name;
  int bytes, bits;
  bool is_float, is_signed, is_unsigned;
};
constexpr Row kRows[] = {
    {DType::kBool, 0, "bool", 1, 1, false, false, false},
    {DType::kInt8, 1, "int8", 1, 8, false, true, false},
    {DType::kInt16, 2, "int16", 2, 16, false, true, false},
    {DType::kInt32, 3, "int32", 4, 32, false, true, false},
    {DType::kInt64, 4, "int64", 8, 64, false, true, false},
    {DType::kUInt8, 5, "uint8", 1, 8, false, false, true},
    {DType::kUInt16, 6, "uint16", 2, 16, false, false, true},
    {DType::kUInt32, 7, "uint32", 4, 32, false, false, true},
    {DType::kUInt64, 8, "uint64", 8, 64, false, false, true},
    {DType::kFloat16, 9, "float16", 2, 16, true, false, false},
    {DType::kBFloat16, 10, "bfloat16", 2, 16, true, false, false},
    {DType::kFloat32, 11, "float32", 4, 32, true, false, false},
    {DType::kFloat64, 12, "float64", 8, 64, true, false, false},
    {DType::kString, 13, "string", 8, 64, false, false, false},
};

TEST_CASE("dtype: codes, names, sizes and classes") {
  static_assert(std::size(kRows) == kNumDTypes + 1);
  for (const Row& row : kRows) {
    CAPTURE(row.name);
    CHECK(static_cast<int>(row.dtype) == row.code);
    CHECK(DTypeName(row.dtype) == row.name);
    CHECK(ParseDType(row.name) == row.dtype);
    CHECK(DTypeBytes(row.dtype) == row.bytes);
    CHECK(DTypeBits(row.dtype) == row.bits);
    CHECK(IsFloat(row.dtype) == row.is_float);
    CHECK(IsSignedInt(row.dtype) == row.is_signed);
    CHECK(IsUnsignedInt(row.dtype) == row.is_unsigned);
    CHECK(IsInt(row.dtype) == (row.is_signed || row.is_unsigned));
    CHECK(IsValidDType(static_cast<uint8_t>(row.code)));
  }
  CHECK(!IsValidDType(kNumDTypes + 1));
}

TEST_CASE("dtype: other names") {
  CHECK(ParseDType("uint1") == DType::kBool);
  for (std::string_view name : {"", "float", "float320", "Float32", "int4", "float32x4"}) {
    CAPTURE(name);
    CHECK(!ParseDType(name));
  }
}

}  // namespace
}  // namespace relayvm
