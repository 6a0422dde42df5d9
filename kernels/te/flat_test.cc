#include "kernels/te/flat.h"

#include <doctest/doctest.h>

#include <functional>
#include <string>

namespace relayvm::te {
namespace {

using Indices = std::vector<Expr>;
using Body = std::function<Expr(const Tensor& x, const Tensor& s, const Indices& i)>;

// An element of the flat computation of 10 elements of y [4, 1, 3], from x of that shape and s.
std::string FlatText(const std::vector<Dim>& s, const Body& body) {
  const std::vector<Dim> shape = {4, 1, 3};
  const std::vector<Tensor> inputs = {Placeholder("x", shape, DType::kFloat32, 0),
                                      Placeholder("s", s, DType::kFloat32, 1)};
  const Tensor y =
      Compute("y", shape, [&](const Indices& i) { return body(inputs[0], inputs[1], i); });
  const auto flat = Flat(inputs, y, 10);
  if (!flat) return "none";
  CHECK(flat->inputs[0]->shape == std::vector<Dim>{10});
  CHECK(flat->output->shape == std::vector<Dim>{10});
  return ToString(flat->output->body);
}

Expr Scaled(const Tensor& x, const Tensor& s, const Indices& i) {
  return Load(x, i) * Load(s, Indices(s->shape.size(), IntImm(0)));
}

TEST_CASE("what reads its own place and single elements is flat") {
  for (const std::vector<Dim>& scalar : std::vector<std::vector<Dim>>{{}, {1}, {1, 1, 1}})
    CHECK(FlatText(scalar, Scaled) == "(x[i0] * s[0])");
  CHECK(FlatText({4, 1, 3}, [](const Tensor& x, const Tensor& s, const Indices& i) {
          return Select(Load(x, i) < Load(s, i), Load(x, i), Const(2, DType::kFloat32));
        }) == "select((x[i0] < s[i0]), x[i0], 2f)");
  // Along an axis of extent 1 there is one place.
  CHECK(FlatText({1}, [](const Tensor& x, const Tensor& s, const Indices& i) {
          return Scaled(x, s, {i[0], IntImm(0), i[2]});
        }) == "(x[i0] * s[0])");
}

TEST_CASE("what depends on more is not") {
  const auto own = [](const Tensor& x, const Tensor&, const Indices& i) { return Load(x, i); };
  CHECK(FlatText({3}, own) == "none");
  CHECK(FlatText({1}, [](const Tensor& x, const Tensor& s, const Indices& i) {
          return Scaled(x, s, {IntImm(3) - i[0], i[1], i[2]});
        }) == "none");
  CHECK(FlatText({1}, [](const Tensor& x, const Tensor&, const Indices& i) {
          return Load(x, i) + Cast(i[0], DType::kFloat32);
        }) == "none");
  CHECK(FlatText({1}, [](const Tensor& x, const Tensor&, const Indices& i) {
          const Axis k = MakeAxis("k", 4);
          return Reduce(ReduceKind::kSum, Load(x, {AxisValue(k), i[1], i[2]}), {k},
                        DType::kFloat32);
        }) == "none");
  CHECK(FlatText({1}, [](const Tensor& x, const Tensor&, const Indices& i) {
          const Tensor doubled = Compute(
              "doubled", x->shape, [&](const Indices& at) { return Load(x, at) + Load(x, at); });
          return Load(doubled, i);
        }) == "none");
}

}  // namespace
}  // namespace relayvm::te
