#include "compiler/import/typed_builder.h"

#include <doctest/doctest.h>

#include <cmath>

namespace relayvm::import {
namespace {

struct Fixture {
  ir::Module module = ir::MakeModule();
  TypedBuilder b{module};
  Dim n = Dim::Symbol(module.ids->Next(), "n");

  Value Input(std::vector<Dim> shape, DType dtype = DType::kFloat32) {
    return b.Use(b.NewVar("x", ir::MakeTensorType(std::move(shape), dtype)));
  }
};

TEST_CASE_FIXTURE(Fixture, "types of calls") {
  const Value x = Input({n, 4});
  const Value y = b.Op("nn.dense", {x, Input({8, 4})}, {{"units", AttrValue()}});
  CHECK(ir::TypeToString(y.type) == "Tensor[(n, 8), float32]");
  CHECK(y.dim(-1) == Dim(8));
  CHECK(y.dim(7) == Dim(1));
  const std::vector<Value> parts = b.Ops("split", {x}, {{"indices_or_sections", 2}, {"axis", 1}});
  REQUIRE(parts.size() == 2);
  CHECK(ir::TypeToString(parts[1].type) == "Tensor[(n, 2), float32]");
  CHECK(b.status().ok());
}

TEST_CASE_FIXTURE(Fixture, "shape arithmetic is known while building") {
  const Value x = Input({n, 4, 6});
  const Value shape = b.Concat({b.DimOf(x, 0), b.Ints({-1})}, 0);
  auto elements = b.Elements(shape);
  REQUIRE(elements.has_value());
  CHECK((*elements)[0] == n);
  CHECK((*elements)[1] == Dim(-1));
  CHECK(!b.ConstantInts(shape).has_value());
  CHECK(ir::TypeToString(b.ReshapeTo(x, shape).type) == "Tensor[(n, 24), float32]");
  const Value twice = b.Op("multiply", {b.DimOf(x, 0), b.Ints({2})});
  CHECK((*b.Elements(twice))[0] == n * Dim(2));
  CHECK(b.ConstantInts(b.ShapeOf(Input({2, 3}))) == std::vector<int64_t>{2, 3});
  CHECK(b.status().ok());
}

TEST_CASE_FIXTURE(Fixture, "numbers that only running tells get one symbol each") {
  const Value shape = Input({2}, DType::kInt64);
  const Value a = b.Op("dyn.zeros", {shape}, {{"dtype", "int8"}});
  const Value c = b.Op("dyn.ones", {shape}, {{"dtype", "int8"}});
  REQUIRE(b.status().ok());
  CHECK(a.rank() == 2);
  CHECK(a.dim(0) == c.dim(0));
}

TEST_CASE_FIXTURE(Fixture, "constants of each dtype") {
  for (int i = 0; i < kNumDTypes; ++i) {
    const auto dtype = static_cast<DType>(i);
    CAPTURE(DTypeName(dtype));
    const Value v = b.Scalar(1, dtype);
    CHECK(v.dtype() == dtype);
    CHECK(v.rank() == 0);
    if (IsInt(dtype)) CHECK(b.ConstantInts(v) == std::vector<int64_t>{1});
  }
  CHECK(b.ConstantInts(b.Ints({1, -2}, DType::kInt32)) == std::vector<int64_t>{1, -2});
  CHECK(b.status().ok());
}

TEST_CASE_FIXTURE(Fixture, "constants of numbers that a dtype does not hold") {
  CHECK(b.ConstantInts(b.Scalar(-1, DType::kUInt8)) == std::vector<int64_t>{255});
  CHECK(b.ConstantInts(b.Scalar(-128, DType::kInt8)) == std::vector<int64_t>{-128});
  for (const double none : {1e30, -1e30, HUGE_VAL, std::nan("")}) {
    CHECK(b.ConstantInts(b.Scalar(none, DType::kInt32)) == std::vector<int64_t>{0});
    CHECK(b.ConstantInts(b.Scalar(none, DType::kInt64)) == std::vector<int64_t>{0});
  }
}

TEST_CASE_FIXTURE(Fixture, "what is made of a few numbers has an end") {
  const Value large = b.Full({int64_t{1} << 28}, 0, DType::kFloat64);
  CHECK(!large.is_tensor());
  CHECK(b.status().code() == StatusCode::kResourceExhausted);
}

TEST_CASE_FIXTURE(Fixture, "the first error stays, and what is built after it is harmless") {
  b.SetSpan(module.sources->NodeSpan(module.sources->AddModel("m.onnx"), "bad", "MatMul"));
  const Value wrong = b.Op("nn.dense", {Input({3, 4}), Input({8, 5})}, {{"units", AttrValue()}});
  CHECK(!b.status().ok());
  const std::string first(b.status().message());
  CHECK(first.find("m.onnx: node 'bad' (MatMul): nn.dense") == 0);
  const Value more = b.Op("add", {wrong, b.Field(b.Tuple({wrong, wrong}), 1)});
  CHECK(more.rank() == 0);
  CHECK(b.Fields(more).empty());
  CHECK(b.status().message() == first);
}

// An optional vector is not one that is there, and empty.
TEST_CASE_FIXTURE(Fixture, "what returns an error returns nothing") {
  const auto ints = [&]() -> std::optional<std::vector<int64_t>> { return b.Fail("no"); };
  const auto dims = [&]() -> std::optional<std::vector<Dim>> { return b.Fail("no"); };
  const auto values = [&]() -> std::optional<std::vector<Value>> { return b.Fail("no"); };
  const auto number = [&]() -> std::optional<int64_t> { return b.Fail("no"); };
  const auto outputs = [&]() -> std::vector<Value> { return b.Fail("no"); };
  CHECK(!ints().has_value());
  CHECK(!dims().has_value());
  CHECK(!values().has_value());
  CHECK(!number().has_value());
  CHECK(outputs().empty());
}

}  // namespace
}  // namespace relayvm::import
