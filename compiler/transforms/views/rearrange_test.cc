#include "compiler/transforms/views/rearrange.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "kernels/op/op.h"
#include "kernels/te/evaluate.h"

namespace relayvm::ir {
namespace {

// What `transpose` means, by the operator's own definition.
te::Tensor Transposed(const HostTensor& in, const std::vector<int64_t>& axes) {
  std::vector<Dim> from(in.shape.begin(), in.shape.end());
  std::vector<Dim> to;
  for (int64_t a : axes) to.push_back(from[static_cast<size_t>(a)]);
  const OpDef& op = *OpTable::Get().Find("transpose");
  Attrs attrs;
  attrs.Set("axes", AttrList(axes.begin(), axes.end()));
  std::vector<te::Tensor> inputs = {te::Placeholder("in", from, in.dtype, 0)};
  std::vector<TensorType> outputs = {{to, in.dtype}};
  return op.compute({attrs, inputs, outputs})[0];
}

TEST_CASE("axes in every order are what the operator computes") {
  for (const std::vector<int64_t>& shape : std::vector<std::vector<int64_t>>{
           {}, {5}, {0, 3}, {1, 1}, {7, 40}, {33, 16, 3}, {2, 1, 18, 5}, {3, 17, 2, 19}}) {
    for (DType dtype : {DType::kBool, DType::kFloat16, DType::kFloat32, DType::kInt64}) {
      HostTensor in{dtype, shape, {}};
      in.data = SharedBytes::Zeros(static_cast<size_t>(in.size() * DTypeBytes(dtype)));
      // No byte makes a NaN, whose bits the evaluator does not keep.
      for (size_t i = 0; i < in.data.size(); ++i) {
        in.data.Mutable()[i] =
            static_cast<std::byte>(dtype == DType::kBool ? i % 3 == 0 : i * 7 % 112);
      }
      std::vector<int64_t> axes(shape.size());
      std::iota(axes.begin(), axes.end(), 0);
      do {
        te::Tensor result = Transposed(in, axes);
        const HostTensor* inputs[] = {&in};
        auto expected = te::Evaluate(result, inputs, [](uint32_t) { return std::nullopt; });
        REQUIRE(expected.ok());
        auto found = Rearranged(result, in);
        REQUIRE(found.has_value());
        CHECK(found->shape == expected->shape);
        CHECK(found->dtype == dtype);
        CHECK(found->data == expected->data);
      } while (std::next_permutation(axes.begin(), axes.end()));
    }
  }
}

using Indices = std::vector<te::Expr>;

// %input: the numbers from 0 on.
HostTensor Numbers(const std::vector<int64_t>& shape) {
  HostTensor in{DType::kInt32, shape, {}};
  in.data = SharedBytes::Zeros(static_cast<size_t>(in.size()) * sizeof(int32_t));
  auto* numbers = reinterpret_cast<int32_t*>(in.data.Mutable().data());
  std::iota(numbers, numbers + in.size(), 0);
  return in;
}

// Whether what `at` reads is found to be rearranged; then it is what the evaluator computes.
bool IsRearranged(const HostTensor& in, const std::vector<Dim>& shape,
                  const std::function<Indices(const Indices&)>& at) {
  std::vector<Dim> extents(in.shape.begin(), in.shape.end());
  te::Tensor p = te::Placeholder("in", extents, in.dtype, 0);
  te::Tensor result =
      te::Compute("out", shape, [&](const Indices& i) { return te::Load(p, at(i)); });
  const std::optional<HostTensor> found = Rearranged(result, in);
  if (!found) return false;
  const HostTensor* inputs[] = {&in};
  auto expected = te::Evaluate(result, inputs, [](uint32_t) { return std::nullopt; });
  REQUIRE(expected.ok());
  CHECK(found->shape == expected->shape);
  CHECK(found->data == expected->data);
  return true;
}

te::Expr Modulo(const te::Expr& e, int64_t n) {
  return te::Binary(te::BinaryOp::kFloorMod, e, te::IntImm(n));
}

TEST_CASE("slices are parts of what is there, or copies") {
  for (const int64_t n : {40, 400}) {
    const HostTensor in = Numbers({n, 5, 9});
    const auto three = te::IntImm(3);
    CHECK(IsRearranged(in, {n - 3, 5, 9},
                       [&](const Indices& i) { return Indices{i[0] + three, i[1], i[2]}; }));
    CHECK(IsRearranged(in, {n, 2, 3}, [&](const Indices& i) {
      return Indices{i[0], i[1] + three, te::IntImm(1) + i[2] * three};
    }));
    CHECK(IsRearranged(in, {n, 5, 9}, [&](const Indices& i) {
      return Indices{te::IntImm(n - 1) + i[0] * te::IntImm(-1), i[1], i[2]};
    }));
    CHECK(IsRearranged(
        in, {9}, [&](const Indices& i) { return Indices{te::IntImm(2), te::IntImm(4), i[0]}; }));
  }
  const HostTensor in = Numbers({100});
  const auto part = [&](int64_t length) {
    te::Tensor p = te::Placeholder("in", {100}, in.dtype, 0);
    return Rearranged(
        te::Compute("out", {length},
                    [&](const Indices& i) { return te::Load(p, {i[0] + te::IntImm(4)}); }),
        in);
  };
  CHECK(part(90)->data.data() == in.data.data() + 16);
  CHECK(part(10)->data.data() != in.data.data() + 16);
}

TEST_CASE("tables are repeated, rows and diagonals too") {
  for (const int64_t n : {6, 4000}) {
    const HostTensor in = Numbers({n, 3});
    CHECK(IsRearranged(in, {4 * n, 3},
                       [&](const Indices& i) { return Indices{Modulo(i[0], n), i[1]}; }));
    CHECK(IsRearranged(in, {2, n, 6},
                       [&](const Indices& i) { return Indices{i[1], Modulo(i[2], 3)}; }));
    CHECK(IsRearranged(in, {n, 50, 3}, [&](const Indices& i) { return Indices{i[0], i[2]}; }));
    CHECK(IsRearranged(in, {3}, [&](const Indices& i) { return Indices{i[0], i[0]}; }));
    // Not whole periods; two periods of one axis.
    CHECK_FALSE(
        IsRearranged(in, {n, 5}, [&](const Indices& i) { return Indices{i[0], Modulo(i[1], 3)}; }));
    CHECK_FALSE(IsRearranged(
        in, {n * 3}, [&](const Indices& i) { return Indices{Modulo(i[0], n), Modulo(i[0], 3)}; }));
  }
}

TEST_CASE("what has no elements has no places") {
  const HostTensor in = Numbers({0, 3});
  CHECK(IsRearranged(in, {0, 3}, [](const Indices& i) { return i; }));
  CHECK(IsRearranged(in, {3, 0}, [](const Indices& i) { return Indices{i[1], i[0]}; }));
}

TEST_CASE("what is outside, or computed, is not rearranged") {
  const HostTensor in = Numbers({4, 4});
  const auto reads = [&](const std::function<Indices(const Indices&)>& at) {
    te::Tensor p = te::Placeholder("in", {4, 4}, in.dtype, 0);
    return Rearranged(
               te::Compute("out", {4, 4}, [&](const Indices& i) { return te::Load(p, at(i)); }), in)
        .has_value();
  };
  CHECK(reads([](const Indices& i) { return Indices{i[1], i[0]}; }));
  CHECK_FALSE(reads([](const Indices& i) { return Indices{i[0] + te::IntImm(1), i[1]}; }));
  CHECK_FALSE(reads([](const Indices& i) { return Indices{i[0] + te::IntImm(-1), i[1]}; }));
  CHECK_FALSE(reads([](const Indices& i) { return Indices{i[0] * te::IntImm(2), i[1]}; }));
  CHECK_FALSE(reads([](const Indices& i) { return Indices{i[0] * te::IntImm(INT64_MIN), i[1]}; }));
  CHECK_FALSE(reads([](const Indices& i) { return Indices{i[0] * i[0], i[1]}; }));
  CHECK_FALSE(reads([](const Indices& i) { return Indices{te::IntImm(3) - i[0], i[1]}; }));
  te::Tensor p = te::Placeholder("in", {4, 4}, DType::kFloat32, 0);
  const HostTensor floats{DType::kFloat32, {4, 4}, SharedBytes::Zeros(64)};
  CHECK_FALSE(Rearranged(
      te::Compute("out", {4, 4},
                  [&](const Indices& i) { return te::Unary(te::UnaryOp::kExp, te::Load(p, i)); }),
      floats));
}

}  // namespace
}  // namespace relayvm::ir
