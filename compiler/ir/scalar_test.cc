#include "compiler/ir/scalar.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace relayvm::ir {
namespace {

TEST_CASE("conversion to 16 bits rounds to nearest even") {
  const struct {
    double value;
    uint16_t float16, bfloat16;
  } kCases[] = {
      {0.0, 0x0000, 0x0000},
      {-0.0, 0x8000, 0x8000},
      {1.0, 0x3C00, 0x3F80},
      {1.0 + 1.0 / 2048, 0x3C00, 0x3F80},  // half way: to even
      {1.0 + 3.0 / 2048, 0x3C02, 0x3F80},
      {65504, 0x7BFF, 0x4780},
      {65519.99, 0x7BFF, 0x4780},
      {65520, 0x7C00, 0x4780},                   // half way to the next: infinity
      {5.9604644775390625e-08, 0x0001, 0x3380},  // the smallest subnormal
      {2.98e-08, 0x0000, 0x3300},
      {6.103515625e-05, 0x0400, 0x3880},  // the smallest normal
      {1e300, 0x7C00, 0x7F80},
      {-std::numeric_limits<double>::infinity(), 0xFC00, 0xFF80},
  };
  const auto bits = [](DType dtype, double value) {
    uint16_t out;
    std::memcpy(&out, FloatScalar(dtype, value).data.data(), sizeof out);
    return out;
  };
  for (const auto& c : kCases) {
    CAPTURE(c.value);
    CHECK(bits(DType::kFloat16, c.value) == c.float16);
    CHECK(bits(DType::kBFloat16, c.value) == c.bfloat16);
  }
  CHECK(bits(DType::kFloat16, NAN) == 0x7E00);
  CHECK(bits(DType::kBFloat16, NAN) == 0x7FC0);
}

TEST_CASE("scalars print as the shortest literal that reads back") {
  const struct {
    HostTensor value;
    const char* literal;  // null: none
  } kCases[] = {
      {IntScalar(DType::kBool, 1), "True"},
      {IntScalar(DType::kBool, 0), "False"},
      {IntScalar(DType::kInt32, -7), "-7"},
      {IntScalar(DType::kInt64, std::numeric_limits<int64_t>::min()), "-9223372036854775808i64"},
      {IntScalar(DType::kInt16, 5), "5i16"},
      {IntScalar(DType::kInt8, 5), nullptr},
      {IntScalar(DType::kUInt8, 5), nullptr},
      {FloatScalar(DType::kFloat32, 1), "1f"},
      {FloatScalar(DType::kFloat32, 0.1f), "0.1f"},
      {FloatScalar(DType::kFloat32, 1e-5f), "1e-05f"},
      {FloatScalar(DType::kFloat32, 16777217), "16777216f"},
      {FloatScalar(DType::kFloat32, -std::numeric_limits<double>::infinity()), "-inff"},
      {FloatScalar(DType::kFloat32, std::numeric_limits<double>::quiet_NaN()), nullptr},
      {FloatScalar(DType::kFloat64, 0.1), "0.1f64"},
      {FloatScalar(DType::kFloat64, 1.0 / 3), "0.3333333333333333f64"},
      {FloatScalar(DType::kFloat64, INFINITY), nullptr},
      {FloatScalar(DType::kFloat16, 0.1), "0.1f16"},
      {FloatScalar(DType::kFloat16, 65504), "6.55e+04f16"},
      {FloatScalar(DType::kBFloat16, 1), nullptr},
      {HostTensor{DType::kInt32, {1}, std::vector<std::byte>(4)}, nullptr},
  };
  for (const auto& c : kCases) {
    CAPTURE(c.literal);
    CHECK(ScalarLiteral(c.value).value_or("none") == (c.literal == nullptr ? "none" : c.literal));
  }
}

}  // namespace
}  // namespace relayvm::ir
