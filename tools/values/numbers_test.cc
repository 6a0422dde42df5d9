#include "tools/values/numbers.h"

#include <doctest/doctest.h>

#include <cstring>
#include <string>

#include "kernels/te/scalar.h"

namespace relayvm::tools {
namespace {

TEST_CASE("numbers read and print") {
  struct Case {
    DType dtype;
    const char *text, *shortest, *json, *relay;
  };
  const Case cases[] = {
      {DType::kInt32, "3", "3", "3", "3"},
      {DType::kInt32, "+3i32", "3", "3", "3"},
      {DType::kInt64, "-9223372036854775808", "-9223372036854775808", "-9223372036854775808",
       "-9223372036854775808i64"},
      {DType::kUInt64, "18446744073709551615", "18446744073709551615", "18446744073709551615",
       "18446744073709551615u64"},
      {DType::kUInt8, "255", "255", "255", "255u8"},
      {DType::kBool, "true", "true", "true", "True"},
      {DType::kBool, "False", "false", "false", "False"},
      {DType::kFloat32, "2.5", "2.5", "2.5", "2.5f"},
      {DType::kFloat32, "0.1f", "0.1", "0.1", "0.1f"},
      {DType::kFloat32, "1", "1", "1", "1f"},
      {DType::kFloat32, "1e-3f", "0.001", "0.001", "0.001f"},
      {DType::kFloat32, "1e-60", "0", "0", "0f"},
      {DType::kFloat32, "nan", "nan", "\"NaN\"", "nanf"},
      {DType::kFloat32, "-inff", "-inf", "\"-Infinity\"", "-inff"},
      {DType::kFloat64, "0.1f64", "0.1", "0.1", "0.1f64"},
      {DType::kFloat16, "0.1", "0.1", "0.1", "0.1f16"},
      {DType::kFloat16, "65504", "65500", "65500", "65500f16"},
      {DType::kFloat16, "1e6", "inf", "\"Infinity\"", "inff16"},
      {DType::kBFloat16, "3.14", "3.14", "3.14", "3.14bf16"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.text);
    alignas(8) char element[8] = {};
    REQUIRE(ParseElement(c.text, c.dtype, element).ToString() == "ok");
    CHECK(ShortestElement(c.dtype, element) == c.shortest);
    CHECK(JsonElement(c.dtype, element) == c.json);
    CHECK(RelayElement(c.dtype, element) == c.relay);
    alignas(8) char again[8] = {};
    REQUIRE(ParseElement(RelayElement(c.dtype, element), c.dtype, again).ok());
    CHECK(std::memcmp(element, again, static_cast<size_t>(DTypeBytes(c.dtype))) == 0);
  }
}

TEST_CASE("all numbers of 16 bits read back from their shortest text") {
  for (DType dtype : {DType::kFloat16, DType::kBFloat16}) {
    for (int bits = 0; bits < 0x10000; bits += 7) {
      auto element = static_cast<uint16_t>(bits);
      if (ElementAsDouble(dtype, &element) != ElementAsDouble(dtype, &element)) continue;  // NaN
      uint16_t again = 1;
      REQUIRE(ParseElement(ShortestElement(dtype, &element), dtype, &again).ok());
      REQUIRE(again == element);
    }
  }
}

TEST_CASE("what is no number of the dtype") {
  struct Case {
    DType dtype;
    const char *text, *message;
  };
  const Case cases[] = {
      {DType::kInt32, "2.5", "2.5 is not an integer, and int32 is wanted"},
      {DType::kInt32, "3000000000", "3000000000 is out of the range of int32"},
      {DType::kInt32, "3i64", "3i64 is int64, and int32 is wanted"},
      {DType::kUInt8, "300", "300 is out of the range of uint8"},
      {DType::kUInt8, "-1", "-1 is out of the range of uint8"},
      {DType::kInt32, "", " is not an integer, and int32 is wanted"},
      {DType::kBool, "2", "2 is neither true nor false"},
      {DType::kFloat32, "1e39", "1e39 is out of the range of float32"},
      {DType::kFloat32, "1.2.3", "1.2.3 is not a number"},
      {DType::kFloat32, "x", "x is not a number"},
  };
  for (const Case& c : cases) {
    alignas(8) char element[8];
    CHECK(ParseElement(c.text, c.dtype, element).message() == c.message);
  }
}

TEST_CASE("floats as numpy prints them in an array") {
  auto text = [](float x, bool scientific) { return NumpyFloat(DType::kFloat32, &x, scientific); };
  CHECK(text(1, false) == "1.");
  CHECK(text(0.1f, false) == "0.1");
  CHECK(text(1.0f / 3, false) == "0.33333334");
  CHECK(text(-123.25f, false) == "-123.25");
  CHECK(text(1e10f, true) == "1.e+10");
  CHECK(text(1.5e-7f, true) == "1.5e-07");
  double third = 1.0 / 3;
  CHECK(NumpyFloat(DType::kFloat64, &third, false) == "0.33333333");
}

}  // namespace
}  // namespace relayvm::tools
