// Values of elementwise operators, which are those of their definitions.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "compiler/import/mxnet/testing.h"

namespace relayvm::import::mxnet::testing {

namespace {

struct Unary {
  const char* op;
  double (*of)(double);
  std::vector<double> x = {-1.5, -0.5, 0.25, 2};
  const char* attrs = "";
};
struct Binary {
  const char* op;
  double (*of)(double, double);
};
struct Scalar {
  const char* op;
  double (*of)(double x, double scalar);
};

}  // namespace

TEST_CASE("MXNet operators of one input") {
  const std::vector<double> small = {-0.9, -0.25, 0.5, 0.75}, positive = {0.25, 0.5, 1, 3.5};
  const Unary rows[] = {
      {"abs", [](double x) { return std::abs(x); }},
      {"arccos", [](double x) { return std::acos(x); }, small},
      {"arccosh", [](double x) { return std::acosh(x); }, {1, 1.5, 2, 9}},
      {"arcsin", [](double x) { return std::asin(x); }, small},
      {"arcsinh", [](double x) { return std::asinh(x); }},
      {"arctan", [](double x) { return std::atan(x); }},
      {"arctanh", [](double x) { return std::atanh(x); }, small},
      {"BlockGrad", [](double x) { return x; }},
      {"cbrt", [](double x) { return std::cbrt(x); }, {-8, 0, 0.001, 1e9}},
      {"ceil", [](double x) { return std::ceil(x); }},
      {"cos", [](double x) { return std::cos(x); }},
      {"degrees", [](double x) { return x * 180 / std::numbers::pi; }},
      {"erfinv", [](double x) { return x; }, {0, 0, 0, 0}},
      {"expm1", [](double x) { return std::expm1(x); }, {-20, 1e-6, -1e-6, 2}},
      {"fix", [](double x) { return std::trunc(x); }},
      {"floor", [](double x) { return std::floor(x); }},
      {"gamma", [](double x) { return std::tgamma(x); }, {-1.5, 0.5, 3, 4.5}},
      {"gammaln", [](double x) { return std::lgamma(x); }, {-1.5, 0.5, 3, 40}},
      {"hard_sigmoid", [](double x) { return std::clamp(0.2 * x + 0.5, 0.0, 1.0); }},
      {"log1p", [](double x) { return std::log1p(x); }, {-0.5, 1e-7, 0, 3}},
      {"logical_not", [](double x) { return x == 0 ? 1.0 : 0.0; }, {-1, 0, 0.5, 0}},
      {"negative", [](double x) { return -x; }},
      {"rcbrt", [](double x) { return 1 / std::cbrt(x); }, positive},
      {"reciprocal", [](double x) { return 1 / x; }},
      // Halves: away from 0, and down.
      {"round", [](double x) { return std::round(x); }, {-2.5, -0.5, 0.5, 1.5}},
      {"rint", [](double x) { return std::ceil(x - 0.5); }, {-2.5, -0.5, 0.5, 1.5}},
      {"rsqrt", [](double x) { return 1 / std::sqrt(x); }, positive},
      {"sigmoid", [](double x) { return 1 / (1 + std::exp(-x)); }},
      {"sign", [](double x) { return x > 0   ? 1.0
                                     : x < 0 ? -1.0
                                             : 0.0; }, {-2, 0, 0.5, 3}},
      {"smooth_l1", [](double x) { return std::abs(x) < 1 ? x * x / 2 : std::abs(x) - 0.5; }},
      {"softsign", [](double x) { return x / (1 + std::abs(x)); }},
      {"square", [](double x) { return x * x; }},
      {"Activation", [](double x) { return std::log1p(std::exp(x)); }, small, "act_type=softrelu"},
      {"LeakyReLU", [](double x) { return x > 0 ? x : x * 0.25; }},
      {"LeakyReLU", [](double x) { return x > 0 ? x : x * 0.2295; }, small, "act_type=rrelu"},
      {"LeakyReLU", [](double x) { return x > 0 ? x : 0.3 * std::expm1(x); }, small,
       "act_type=elu|slope=0.3"},
      {"clip", [](double x) { return std::clamp(x, -1.0, 0.125); }, small, "a_min=-1|a_max=0.125"},
      {"_contrib_quadratic", [](double x) { return x * x + 2 * x + 3; }, small, "a=1|b=2|c=3"},
      {"_npi_around", [](double x) { return std::nearbyint(x * 10) / 10; }, small, "decimals=1"},
      {"_npi_nan_to_num",
       [](double x) { return std::isnan(x) ? 7 : std::min(x, 9.0); },
       {1, NAN, HUGE_VAL, -2},
       "nan=7|posinf=9"},
  };
  for (const Unary& row : rows) {
    std::vector<double> y;
    for (const double x : row.x) y.push_back(row.of(x));
    CheckValues({row.op, row.attrs, {{{4}, row.x}}, {y}});
  }
  CheckValues({"erfinv", "", {{{3}, {0.5, -0.9, 1}}}, {{0.4769363, -1.1630872, HUGE_VAL}}});
  CheckValues({"digamma", "", {{{3}, {1, 0.25, -0.5}}}, {{-0.5772157, -4.2274535, 0.0364900}}});
  // Whole numbers stay whole.
  CheckValues({"exp", "", {{{2}, {0, 1}, DType::kInt32}}, {{1, 2}}});
  CheckValues({"Cast", "dtype=bool", {{{3}, {0, 0.5, -1}}}, {{0, 1, 1}}});
  CheckValues({"_npi_isinf", "", {{{3}, {0, HUGE_VAL, NAN}}}, {{0, 1, 0}}});
}

TEST_CASE("MXNet operators of two inputs, and of a number") {
  const Binary rows[] = {
      {"broadcast_add", [](double x, double y) { return x + y; }},
      {"broadcast_div", [](double x, double y) { return x / y; }},
      {"broadcast_mod", [](double x, double y) { return x - y * std::floor(x / y); }},
      {"broadcast_hypot", [](double x, double y) { return std::hypot(x, y); }},
      {"broadcast_maximum", [](double x, double y) { return std::max(x, y); }},
      {"broadcast_lesser", [](double x, double y) { return x < y ? 1.0 : 0.0; }},
      {"broadcast_not_equal", [](double x, double y) { return x != y ? 1.0 : 0.0; }},
      {"broadcast_logical_xor",
       [](double x, double y) { return (x != 0) != (y != 0) ? 1.0 : 0.0; }},
      {"_npi_copysign", [](double x, double y) { return std::copysign(x, y); }},
      {"_npi_arctan2", [](double x, double y) { return std::atan2(x, y); }},
      {"_npi_ldexp", [](double x, double y) { return x * std::exp2(y); }},
  };
  const std::vector<double> x = {7, -7, 7, -7, 5.5, 2}, y = {3, 3, -3, -3, 2, 2};
  for (const Binary& row : rows) {
    std::vector<double> out;
    for (size_t i = 0; i < x.size(); ++i) out.push_back(row.of(x[i], y[i]));
    CheckValues({row.op, "", {{{6}, x}, {{6}, y}}, {out}});
  }
  const Scalar scalars[] = {
      {"_plus_scalar", [](double v, double s) { return v + s; }},
      {"_rminus_scalar", [](double v, double s) { return s - v; }},
      {"_rdiv_scalar", [](double v, double s) { return s / v; }},
      {"_rpower_scalar", [](double v, double s) { return std::pow(s, v); }},
      {"_maximum_scalar", [](double v, double s) { return std::max(v, s); }},
      {"_greater_scalar", [](double v, double s) { return v > s ? 1.0 : 0.0; }},
      {"_npi_rtrue_divide_scalar", [](double v, double s) { return s / v; }},
      {"_npi_rmod_scalar", [](double v, double s) { return s - v * std::floor(s / v); }},
  };
  for (const Scalar& row : scalars) {
    std::vector<double> out;
    for (const double v : y) out.push_back(row.of(v, 1.5));
    CheckValues({row.op, "scalar=1.5", {{{6}, y}}, {out}});
  }
}

TEST_CASE("MXNet operators of whole numbers") {
  const Input x{{4}, {7, -7, 5, 3}, DType::kInt32};
  CheckValues({"broadcast_div", "", {x, {{1}, {2}, DType::kInt32}}, {{3, -3, 2, 1}}});
  CheckValues({"broadcast_mod", "", {x, {{4}, {3, 3, 0, 2}, DType::kInt32}}, {{1, 2, 0, 1}}});
  // A number that is whole stays so; by its attribute it is one where nothing else is said.
  CheckValues({"_maximum_scalar", "scalar=4.5", {x}, {{7, 4, 5, 4}}});
  CheckValues({"_npi_add_scalar", "scalar=0.5|is_int=False", {x}, {{7.5, -6.5, 5.5, 3.5}}});
  CheckValues({"_npi_true_divide_scalar", "scalar=2", {x}, {{3.5, -3.5, 2.5, 1.5}}});
  CheckValues({"_npi_multiply", "", {x, {{4}, {0.5, 1, 1, 2}}}, {{3.5, -7, 5, 6}}});
  CheckValues({"_npi_lcm", "", {x, {{4}, {2, 21, 0, 9}, DType::kInt32}}, {{14, 21, 0, 9}}});
  CheckValues({"_npi_bitwise_xor", "", {x, {{1}, {1}, DType::kInt32}}, {{6, -8, 4, 2}}});
  const Input yes{{2}, {1, 0}, DType::kBool};
  CheckValues({"_npi_add", "", {yes, {{2}, {1, 0}, DType::kBool}}, {{1, 0}}});
}

}  // namespace relayvm::import::mxnet::testing
