#include "bytecode/scalar_ops.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

namespace relayvm {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST_CASE("scalar functions: of one argument") {
  struct Row {
    ScalarFunction fn;
    double x, expected;
  };
  using F = ScalarFunction;
  for (const Row& row : {
           Row{F::kNegate, 2, -2},     Row{F::kAbs, -2.5, 2.5},    Row{F::kSign, -3, -1},
           Row{F::kSign, 0, 0},        Row{F::kSign, -0.0, -0.0},  Row{F::kSign, 9, 1},
           Row{F::kExp, 0, 1},         Row{F::kLog, 1, 0},         Row{F::kLog2, 8, 3},
           Row{F::kLog10, 1000, 3},    Row{F::kSqrt, 9, 3},        Row{F::kRsqrt, 4, 0.5},
           Row{F::kSigmoid, 0, 0.5},   Row{F::kSigmoid, -1000, 0}, Row{F::kTanh, 0, 0},
           Row{F::kTanh, 100, 1},      Row{F::kErf, 100, 1},       Row{F::kSin, 0, 0},
           Row{F::kCos, 0, 1},         Row{F::kTan, 0, 0},         Row{F::kAsin, 0, 0},
           Row{F::kAcos, 1, 0},        Row{F::kAtan, 0, 0},        Row{F::kSinh, 0, 0},
           Row{F::kCosh, 0, 1},        Row{F::kAsinh, 0, 0},       Row{F::kAcosh, 1, 0},
           Row{F::kAtanh, 0, 0},       Row{F::kFloor, -1.5, -2},   Row{F::kCeil, -1.5, -1},
           Row{F::kTrunc, -1.5, -1},   Row{F::kRound, 2.5, 3},     Row{F::kRound, -2.5, -3},
           Row{F::kRoundEven, 2.5, 2}, Row{F::kRoundEven, 3.5, 4}, Row{F::kRoundEven, -0.5, -0.0},
       }) {
    const ScalarFunction fn = row.fn;
    CAPTURE(fn);
    CHECK(AsF64(CallF64(fn, FromF64(row.x))) == row.expected);
    CHECK(AsF32(CallF32(fn, FromF32(static_cast<float>(row.x)))) ==
          static_cast<float>(row.expected));
  }
}

TEST_CASE("scalar functions: classes of numbers") {
  struct Row {
    double x;
    uint64_t nan, inf, finite;
  };
  for (const Row& row : {Row{1, 0, 0, 1}, Row{kNan, 1, 0, 0}, Row{-kInf, 0, 1, 0}}) {
    auto check = [&](ScalarFunction fn, uint64_t expected) {
      CHECK(CallF64(fn, FromF64(row.x)) == expected);
      CHECK(CallF32(fn, FromF32(static_cast<float>(row.x))) == expected);
    };
    check(ScalarFunction::kIsNan, row.nan);
    check(ScalarFunction::kIsInf, row.inf);
    check(ScalarFunction::kIsFinite, row.finite);
  }
}

TEST_CASE("scalar functions: of two arguments") {
  struct Row {
    ScalarFunction fn;
    double x, y, expected;
  };
  using F = ScalarFunction;
  for (const Row& row : {
           Row{F::kMin, 1, 2, 1},
           Row{F::kMax, 1, 2, 2},
           Row{F::kMin, kNan, 2, 2},  // a < b ? a : b
           Row{F::kMax, kNan, 2, 2},
           Row{F::kPower, 2, 0.5, std::sqrt(2.0)},
           Row{F::kMod, -7, 3, -1},
           Row{F::kFloorMod, -7, 3, 2},
           Row{F::kFloorMod, 1e10, 3, 1},
           Row{F::kFloorDiv, -7, 2, -4},
           Row{F::kTruncDiv, -7, 2, -3},
           Row{F::kAtan2, 0, -1, std::atan2(0.0, -1.0)},
       }) {
    const ScalarFunction fn = row.fn;
    CAPTURE(fn);
    CHECK(AsF64(Call2F64(fn, FromF64(row.x), FromF64(row.y))) == row.expected);
    CHECK(AsF32(Call2F32(fn, FromF32(static_cast<float>(row.x)),
                         FromF32(static_cast<float>(row.y)))) == doctest::Approx(row.expected));
  }
}

TEST_CASE("scalar functions: one of the wrong arity gives zero") {
  CHECK(CallF32(ScalarFunction::kMin, FromF32(1)) == 0);
  CHECK(Call2F64(ScalarFunction::kExp, FromF64(1), FromF64(1)) == 0);
}

TEST_CASE("convert: floats to integers truncate, wrap and saturate, NaN is zero") {
  struct Row {
    double x;
    DType to;
    int64_t expected;
  };
  for (const Row& row : {
           Row{3.9, DType::kInt32, 3},
           Row{-3.9, DType::kInt32, -3},
           Row{1e10, DType::kInt32, INT32_MAX},
           Row{-1e10, DType::kInt32, INT32_MIN},
           Row{2147483647.0, DType::kInt32, INT32_MAX},
           Row{127.9, DType::kInt8, 127},
           Row{-128.9, DType::kInt8, -128},
           Row{300, DType::kInt8, 44},
           Row{-1, DType::kUInt8, 255},
           Row{-0.5, DType::kUInt8, 0},
           Row{255.5, DType::kUInt8, 255},
           Row{70000, DType::kUInt16, 4464},
           Row{-40000, DType::kInt16, 25536},
           Row{4294967295.0, DType::kUInt32, 4294967295},
           Row{1e300, DType::kInt64, INT64_MAX},
           Row{-kInf, DType::kInt64, INT64_MIN},
           Row{9223372036854774784.0, DType::kInt64, 9223372036854774784},
           Row{1e300, DType::kUInt64, -1},  // all ones
           Row{18446744073709549568.0, DType::kUInt64, static_cast<int64_t>(18446744073709549568u)},
           Row{kNan, DType::kInt32, 0},
           Row{kNan, DType::kUInt64, 0},
           Row{0.25, DType::kBool, 1},
           Row{0, DType::kBool, 0},
           Row{kNan, DType::kBool, 1},
       }) {
    CAPTURE(row.x);
    CAPTURE(DTypeName(row.to));
    CHECK(static_cast<int64_t>(ConvertScalar(FromF64(row.x), DType::kFloat64, row.to)) ==
          row.expected);
  }
  CHECK(ConvertScalar(FromF32(-7.5f), DType::kFloat32, DType::kInt16) == static_cast<uint64_t>(-7));
}

TEST_CASE("convert: integers wrap, and become the nearest float") {
  auto convert = [](int64_t x, DType from, DType to) {
    return ConvertScalar(static_cast<uint64_t>(x), from, to);
  };
  CHECK(static_cast<int64_t>(convert(200, DType::kInt32, DType::kInt8)) == -56);
  CHECK(convert(-1, DType::kInt8, DType::kUInt32) == 4294967295);
  CHECK(convert(-1, DType::kInt64, DType::kBool) == 1);
  CHECK(AsF64(convert(-1, DType::kInt64, DType::kFloat64)) == -1.0);
  CHECK(AsF64(convert(-1, DType::kUInt64, DType::kFloat64)) == 18446744073709551616.0);
  CHECK(AsF32(convert(16777217, DType::kInt32, DType::kFloat32)) == 16777216.0f);
  CHECK(AsF32(convert(1, DType::kBool, DType::kFloat32)) == 1.0f);
  CHECK(AsF32(ConvertScalar(FromF64(1e300), DType::kFloat64, DType::kFloat32)) ==
        std::numeric_limits<float>::infinity());
  CHECK(AsF64(ConvertScalar(FromF32(0.1f), DType::kFloat32, DType::kFloat64)) == 0.1f);
  CHECK(ConvertScalar(0x3C00, DType::kFloat16, DType::kFloat32) == 0);  // not supported here
}

TEST_CASE("sigmoid of a float32 is right where e^-x is beyond float32") {
  const uint64_t y = CallF32(ScalarFunction::kSigmoid, FromF32(-100.0f));
  CHECK(AsF32(y) == 0x1.bp-145f);  // e^-100, rounded to the denormals' step
}

TEST_CASE("wrap: bool tests for nonzero, floats are left alone") {
  CHECK(ScalarOps::Wrap(256, DType::kBool) == 1);
  CHECK(ScalarOps::Wrap(0, DType::kBool) == 0);
  CHECK(ScalarOps::Wrap(~0ull, DType::kFloat32) == ~0ull);
}

}  // namespace
}  // namespace relayvm
