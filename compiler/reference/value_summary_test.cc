#include "compiler/reference/value_summary.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <span>

namespace relayvm::reference {
namespace {

template <typename T>
Value Tensor1(DType dtype, std::vector<T> elements, std::vector<int64_t> shape) {
  HostTensor t{dtype, std::move(shape), SharedBytes::Copy(std::as_bytes(std::span(elements)))};
  return MakeTensor(std::move(t));
}

TEST_CASE("least, greatest and mean are of finite elements; NaN and Inf are counted") {
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = INFINITY;
  CHECK(SummaryText(Tensor1<float>(DType::kFloat32, {nan, -2, inf, 5, -inf, nan}, {2, 3})) ==
        "Tensor[(2, 3), float32]  min -2  max 5  mean 1.5  NaN 2  Inf 2");
  CHECK(SummaryText(Tensor1<float>(DType::kFloat32, {nan, nan}, {2})) ==
        "Tensor[(2), float32]  NaN 2  Inf 0");
}

TEST_CASE("every kind of value has a text") {
  const Value one = Tensor1<int64_t>(DType::kInt64, {-1}, {});
  CHECK(SummaryText(one) == "int64 -1");
  CHECK(SummaryText(Tensor1<uint64_t>(DType::kUInt64, {UINT64_MAX}, {})) ==
        "uint64 18446744073709551615");
  CHECK(SummaryText(Tensor1<uint8_t>(DType::kBool, {1}, {})) == "bool True");
  CHECK(SummaryText(Tensor1<float>(DType::kFloat32, {0.5F}, {})) == "float32 0.5");
  CHECK(SummaryText(Tensor1<int8_t>(DType::kInt8, {-3, 3}, {2})) ==
        "Tensor[(2), int8]  min -3  max 3  mean 0");
  CHECK(SummaryText(Tensor1<float>(DType::kFloat32, {}, {0, 4})) ==
        "Tensor[(0, 4), float32]  empty");
  CHECK(SummaryText(MakeTuple({one, MakeTuple({})})) == "(int64 -1, ())");
  const ir::Constructor cons{"Cons", "List", 0, {}}, nil{"Nil", "List", 1, {}};
  const Value end = Make(Data{&nil, {}});
  CHECK(SummaryText(Make(Data{&cons, {one, end}})) == "Cons(int64 -1, Nil)");
  CHECK(SummaryText(Make(Reference{one})) == "ref");
}

TEST_CASE("the text of a long list is short") {
  const ir::Constructor cons{"Cons", "List", 0, {}}, nil{"Nil", "List", 1, {}};
  const Value one = Tensor1<int64_t>(DType::kInt64, {1}, {});
  Value list = Make(Data{&nil, {}});
  for (int i = 0; i < 100'000; ++i) list = Make(Data{&cons, {one, list}});
  const std::string text = SummaryText(list, 50);
  CHECK(text.size() < 80);
  CHECK(text.ends_with(" ..."));
}

}  // namespace
}  // namespace relayvm::reference
