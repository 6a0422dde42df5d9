#include <limits>

#include "kernels/op/testing.h"

namespace relayvm::op_testing {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

TEST_CASE("mathematical functions on every float dtype") {
  struct Row {
    const char* name;
    double (*fn)(double);
    double low, high;
  };
  const Row rows[] = {
      {"exp", std::exp, -3, 3},
      {"log", std::log, 0.1, 4},
      {"log2", std::log2, 0.1, 4},
      {"log10", std::log10, 0.1, 4},
      {"sqrt", std::sqrt, 0, 9},
      {"rsqrt", [](double x) { return 1 / std::sqrt(x); }, 0.25, 9},
      {"sigmoid", [](double x) { return 1 / (1 + std::exp(-x)); }, -4, 4},
      {"tanh", std::tanh, -3, 3},
      {"erf", std::erf, -3, 3},
      {"sin", std::sin, -4, 4},
      {"cos", std::cos, -4, 4},
      {"tan", std::tan, -1, 1},
      {"asin", std::asin, -1, 1},
      {"acos", std::acos, -1, 1},
      {"atan", std::atan, -4, 4},
      {"sinh", std::sinh, -2, 2},
      {"cosh", std::cosh, -2, 2},
      {"asinh", std::asinh, -4, 4},
      {"acosh", std::acosh, 1, 4},
      {"atanh", std::atanh, -0.9, 0.9},
      {"fast_exp", std::exp, -3, 3},
      {"fast_tanh", std::tanh, -3, 3},
      {"fast_erf", std::erf, -3, 3},
  };
  struct Precision {
    DType dtype;
    double tolerance;
  };
  const Precision precisions[] = {{DType::kFloat16, 2e-3},
                                  {DType::kBFloat16, 1e-2},
                                  {DType::kFloat32, 1e-6},
                                  {DType::kFloat64, 1e-12}};
  for (const Row& row : rows) {
    for (const Precision& p : precisions) {
      std::vector<double> in, out;
      for (int i = 0; i < 7; ++i) in.push_back(row.low + (row.high - row.low) * i / 6);
      HostTensor x = Host(p.dtype, {7}, in);
      for (double v : Values(x)) out.push_back(row.fn(v));
      CheckOp(row.name, {}, {x}, {Host(p.dtype, {7}, out)}, {.tolerance = p.tolerance});
    }
    CheckFails(row.name, {}, {I32({1}, {1})}, "must be of a float dtype, not int32");
  }
}

TEST_CASE("rounding: halves go away from zero, integers stay") {
  std::vector<double> x = {-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 0.49, -3.7};
  CheckOp("round", {}, {F32({8}, x)}, {F32({8}, {-3, -2, -1, 1, 2, 3, 0, -4})});
  CheckOp("floor", {}, {F32({8}, x)}, {F32({8}, {-3, -2, -1, 0, 1, 2, 0, -4})});
  CheckOp("ceil", {}, {F32({8}, x)}, {F32({8}, {-2, -1, 0, 1, 2, 3, 1, -3})});
  CheckOp("trunc", {}, {F32({8}, x)}, {F32({8}, {-2, -1, 0, 0, 1, 2, 0, -3})});
  CheckOp("round_even", {}, {F32({7}, {-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 2.6})},
          {F32({7}, {-2, -2, 0, 0, 2, 2, 3})});
  CheckOp("round", {}, {I32({2}, {-7, 7})}, {I32({2}, {-7, 7})});
}

TEST_CASE("tests give bool") {
  HostTensor x = F32({4}, {1, kNan, kInf, -kInf});
  CheckOp("isnan", {}, {x}, {Bool({4}, {0, 1, 0, 0})});
  CheckOp("isinf", {}, {x}, {Bool({4}, {0, 0, 1, 1})});
  CheckOp("isfinite", {}, {x}, {Bool({4}, {1, 0, 0, 0})});
  CheckOp("isnan", {}, {I32({1}, {5})}, {Bool({1}, {0})});
  CheckOp("isfinite", {}, {I32({1}, {5})}, {Bool({1}, {1})});
}

TEST_CASE("sign, abs, negative, not") {
  CheckOp("sign", {}, {F32({5}, {-3, 0, 2, kNan, -0.0})}, {F32({5}, {-1, 0, 1, 0, 0})});
  CheckOp("sign", {}, {Host(DType::kUInt8, {3}, {0, 1, 255})},
          {Host(DType::kUInt8, {3}, {0, 1, 1})});
  CheckOp("abs", {}, {I32({3}, {-3, 0, 4})}, {I32({3}, {3, 0, 4})});
  CheckOp("abs", {}, {Host(DType::kUInt8, {1}, {200})}, {Host(DType::kUInt8, {1}, {200})});
  CheckOp("negative", {}, {F32({2}, {1, -2})}, {F32({2}, {-1, 2})});
  CheckOp("logical_not", {}, {Bool({2}, {0, 1})}, {Bool({2}, {1, 0})});
  CheckOp("bitwise_not", {}, {I32({2}, {0, 5})}, {I32({2}, {-1, -6})});
  CheckOp("bitwise_not", {}, {Bool({2}, {0, 1})}, {Bool({2}, {1, 0})});
  CheckFails("logical_not", {}, {I32({1}, {1})}, "must be bool, not int32");
  CheckFails("bitwise_not", {}, {F32({1}, {1})}, "must be of an integer or bool dtype");
  CheckFails("negative", {}, {Bool({1}, {1})}, "not bool");
}

TEST_CASE("clip: NaN gives the upper bound, bounds of integers saturate") {
  AttrMap attrs = {{"a_min", 0.0}, {"a_max", 6.0}};
  CheckOp("clip", attrs, {F32({5}, {-1, 0.5, 7, kNan, kInf})}, {F32({5}, {0, 0.5, 6, 6, 6})});
  CheckOp("clip", {{"a_min", -1.5}, {"a_max", 300.0}}, {Host(DType::kUInt8, {2}, {0, 255})},
          {Host(DType::kUInt8, {2}, {0, 255})});
  CheckOp("clip", {{"a_min", -kInf}, {"a_max", 2.9}}, {I32({2}, {-2147483648.0, 3})},
          {I32({2}, {-2147483648.0, 2})});
  CheckFails("clip", {{"a_min", 0.0}}, {F32({1}, {0})}, "a_max");
}

TEST_CASE("cast, cast_like, reinterpret") {
  CheckOp("cast", {{"dtype", "int32"}}, {F32({3}, {-1.9, 1.9, 0})}, {I32({3}, {-1, 1, 0})});
  CheckOp("cast", {{"dtype", "bool"}}, {F32({3}, {-1.9, 0, 0.1})}, {Bool({3}, {1, 0, 1})});
  CheckOp("cast", {{"dtype", "uint8"}}, {I32({2}, {257, -1})},
          {Host(DType::kUInt8, {2}, {1, 255})});
  CheckOp("cast_like", {}, {F32({2}, {1.5, -1.5}), I64({}, {0})}, {I64({2}, {1, -1})});
  CheckOp("reinterpret", {{"dtype", "int32"}}, {F32({1}, {1.0})}, {I32({1}, {1065353216})});
  CheckFails("reinterpret", {{"dtype", "int64"}}, {F32({1}, {1.0})}, "differ in width");
  CheckFails("cast", {{"dtype", "floaty"}}, {F32({1}, {1.0})}, "must be the name of a dtype");
}

TEST_CASE("likes and copy") {
  HostTensor x = F32({2, 2}, {1, 2, 3, 4});
  CheckOp("zeros_like", {}, {x}, {F32({2, 2}, {0, 0, 0, 0})});
  CheckOp("ones_like", {}, {x}, {F32({2, 2}, {1, 1, 1, 1})});
  CheckOp("copy", {}, {x}, {x});
  CheckOp("copy", {}, {F32({}, {3})}, {F32({}, {3})});
  CheckOp("exp", {}, {F32({0, 3}, {})}, {F32({0, 3}, {})});
}

TEST_CASE("fixed_point_multiply rounds half up in int64") {
  auto expect = [](double x, int64_t m, int shift) {
    // x * m * 2^(shift - 31), half up.
    return std::floor(std::ldexp(x * static_cast<double>(m), shift - 31) + 0.5);
  };
  std::vector<double> x = {0, 1, -1, 3, -3, 1000, -1000, 123456, -123457};
  for (int64_t m : {int64_t{1} << 30, int64_t{1717986918}, int64_t{1932735283}}) {
    for (int shift : {0, 1, 3, -1, -3, -6}) {
      std::vector<double> out;
      for (double v : x) out.push_back(expect(v, m, shift));
      CheckOp("fixed_point_multiply", {{"multiplier", m}, {"shift", shift}}, {I32({9}, x)},
              {I32({9}, out)});
    }
  }
  CheckFails("fixed_point_multiply", {{"multiplier", 1}, {"shift", 0}}, {F32({1}, {1})}, "int32");
}

TEST_CASE("fixed_point_multiply_per_axis") {
  const double half = 1073741824.0;  // 0.5
  CheckOp(
      "fixed_point_multiply_per_axis",
      {{"is_lshift_required", true}, {"is_rshift_required", true}, {"axes", List({1})}},
      {I32({2, 2}, {10, 10, -6, -6}), I32({2}, {half, half}), I32({2}, {2, 0}), I32({2}, {0, 1})},
      {I32({2, 2}, {20, 3, -12, -1})}, {.static_args = {1, 2, 3}});
  // All bits are shifted out, however far.
  const HostTensor far = Host(DType::kUInt64, {1}, {-1});
  CheckOp("fixed_point_multiply_per_axis", {{"is_rshift_required", true}, {"axes", List({1})}},
          {I32({1, 1}, {INT32_MAX}), I32({1}, {1}), I32({1}, {0}), far}, {I32({1, 1}, {0})},
          {.static_args = {1, 2, 3}});
}

}  // namespace
}  // namespace relayvm::op_testing
