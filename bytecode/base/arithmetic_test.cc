#include "bytecode/base/arithmetic.h"

#include <doctest/doctest.h>

#include <limits>

namespace relayvm {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST_CASE("casts of floats that the integer does not hold") {
  struct Case {
    double x;
    DType to;
    int64_t expected;
  };
  for (const Case& c : {
           Case{-300.7, DType::kInt8, -44},
           {-300.7, DType::kUInt8, 212},
           {-300.7, DType::kInt16, -300},
           {-300.7, DType::kUInt32, 4294966996},
           {-300.7, DType::kUInt64, -300},
           {1e10, DType::kInt32, INT32_MAX},
           {-1e10, DType::kInt32, INT32_MIN},
           {1e10, DType::kInt8, -1},
           {1e10, DType::kUInt32, 1410065408},
           {0x1p63, DType::kInt64, INT64_MAX},
           {-0x1p63, DType::kInt64, INT64_MIN},
           {0x1p63, DType::kUInt64, INT64_MIN},
           {0x1p64, DType::kUInt64, -1},
           {kNan, DType::kInt32, 0},
           {kNan, DType::kBool, 1},
           {-0.0, DType::kBool, 0},
           {kInfinity, DType::kInt64, INT64_MAX},
           {-kInfinity, DType::kUInt16, 0},
       }) {
    CAPTURE(c.x);
    CHECK(FloatToInteger(c.x, c.to) == c.expected);
  }
}

TEST_CASE("powers of integers wrap; negative exponents truncate") {
  CHECK(IntegerPower(3, 4, true) == 81);
  CHECK(IntegerPower(2, 63, true) == INT64_MIN);
  CHECK(IntegerPower(2, 64, true) == 0);
  CHECK(IntegerPower(0, 0, true) == 1);
  CHECK(IntegerPower(2, -1, true) == 0);
  CHECK(IntegerPower(-1, -3, true) == -1);
  CHECK(IntegerPower(0, -1, true) == 0);
  CHECK(IntegerPower(3, -1, false) == -6148914691236517205);  // 3^(2^64 - 1)
}

TEST_CASE("remainders and signs of floats") {
  CHECK(FloorRemainder(5.5, -2) == -0.5);
  CHECK(FloorRemainder(-1e20, 3) == 3 - std::fmod(1e20, 3));
  CHECK(std::isnan(FloorRemainder(1, 0)));
  CHECK(std::isnan(SignOf(kNan)));
  CHECK(std::signbit(SignOf(-0.0)));
  CHECK(SignOf(-2.5F) == -1);
}

}  // namespace
}  // namespace relayvm
