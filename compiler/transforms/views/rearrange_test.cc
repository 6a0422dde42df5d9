#include "compiler/transforms/views/rearrange.h"

#include <doctest/doctest.h>

#include <algorithm>
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
        auto found = PermuteAxes(result, in);
        REQUIRE(found.has_value());
        CHECK(found->shape == expected->shape);
        CHECK(found->dtype == dtype);
        CHECK(found->data == expected->data);
      } while (std::next_permutation(axes.begin(), axes.end()));
    }
  }
}

TEST_CASE("what computes is not a change of axes") {
  HostTensor in{DType::kFloat32, {4, 4}, SharedBytes::Zeros(64)};
  te::Tensor p = te::Placeholder("in", {4, 4}, DType::kFloat32, 0);
  using Indices = std::vector<te::Expr>;
  auto make = [&](const te::BodyFn& body) { return te::Compute("out", {4, 4}, body); };
  CHECK(PermuteAxes(make([&](const Indices& i) { return te::Load(p, {i[1], i[0]}); }), in));
  CHECK_FALSE(PermuteAxes(make([&](const Indices& i) { return te::Load(p, {i[0], i[0]}); }), in));
  CHECK_FALSE(PermuteAxes(make([&](const Indices& i) {
                            return te::Load(p, {te::IntImm(3) - i[0], i[1]});
                          }),
                          in));
  CHECK_FALSE(PermuteAxes(
      make([&](const Indices& i) { return te::Unary(te::UnaryOp::kExp, te::Load(p, i)); }), in));
}

}  // namespace
}  // namespace relayvm::ir
