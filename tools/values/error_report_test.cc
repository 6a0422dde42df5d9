#include "tools/values/error_report.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "tools/values/tensor_file.h"

namespace relayvm::tools {
namespace {

Value Floats(const std::vector<float>& values, std::vector<int64_t> shape = {}) {
  HostTensor t{DType::kFloat32, std::move(shape), SharedBytes::Zeros(values.size() * 4)};
  if (t.shape.empty()) t.shape = {static_cast<int64_t>(values.size())};
  std::copy(values.begin(), values.end(), reinterpret_cast<float*>(t.data.Mutable().data()));
  auto value = ToValue(t);
  REQUIRE(value.ok());
  return *value;
}

FlatValue Flat(const std::vector<Value>& tensors) {
  FlatValue flat;
  for (const Value& t : tensors) flat.push_back({FlatNode::Kind::kTensor, 0, t, ""});
  return flat;
}

TEST_CASE("errors of a tensor") {
  TensorError e = ErrorOf(Floats({1, 2.5, -4}), Floats({1, 2, -3}));
  CHECK(e.elements == 3);
  CHECK(e.max_abs == 1);
  CHECK(e.max_rel == doctest::Approx(1.0 / 3));
  CHECK(e.mean_abs == 0.5);
  CHECK(e.of_norm == doctest::Approx(std::sqrt(1.25 / 14)));
  e = ErrorOf(Floats({}), Floats({}));
  CHECK(e.elements == 0);
  CHECK(e.mean_abs == 0);
}

TEST_CASE("errors beside zeros, infinities and NaN") {
  const float inf = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  TensorError e = ErrorOf(Floats({0, 0.5, inf, nan, 1}), Floats({0, 0.5, inf, nan, 1}));
  CHECK(e.max_abs == 0);
  CHECK(e.max_rel == 0);
  CHECK(e.not_finite == 0);
  e = ErrorOf(Floats({inf, nan, 1, -inf, 2}), Floats({1, 1, nan, inf, 2.5}));
  CHECK(e.not_finite == 4);
  CHECK(e.max_abs == 0.5);
  CHECK(e.mean_abs == 0.5);
  e = ErrorOf(Floats({0.5}), Floats({0}));
  CHECK(e.max_rel == inf);
}

TEST_CASE("a row for each tensor; results of other shapes cannot be compared") {
  ExportInfo function;
  function.name = "main";
  const Value a = Floats({1, 2, 3, 4}, {2, 2}), b = Floats({1, 2, 3, 5}, {2, 2});
  auto report = ErrorReport(function, Flat({a, b}), Flat({b, b}));
  REQUIRE(report.ok());
  CHECK(report->find("out0") != std::string::npos);
  CHECK(report->find("2x2") != std::string::npos);
  CHECK(report->find("out1") != std::string::npos);
  auto other = ErrorReport(function, Flat({a}), Flat({Floats({1, 2})}));
  CHECK(other.status().message().find("out0: found Tensor[(2, 2), float32]") != std::string::npos);
  CHECK(!ErrorReport(function, Flat({a}), Flat({a, a})).ok());
}

}  // namespace
}  // namespace relayvm::tools
