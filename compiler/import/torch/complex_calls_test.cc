#include "compiler/import/torch/complex_calls.h"

#include <doctest/doctest.h>

#include "compiler/import/torch/export_testing.h"

namespace relayvm::import::torch {
namespace {

using exported::Arg;
using exported::Node;
using exported::Ref;

// What an operator gives of z = 1 + 2i, 3 - i: real and imaginary parts by turns.
std::vector<float> OfComplex(const std::string& target, const std::string& more = "") {
  const exported::Text t{Ref("x"), exported::UserInput("x"),
                         Node("torch.ops.aten.view_as_complex.default", Arg(Ref("x")), "z") + ", " +
                             Node("torch.ops.aten." + target, Arg(Ref("z")) + more, "w") + ", " +
                             Node("torch.ops.aten.view_as_real.default", Arg(Ref("w")), "o"),
                         "o",
                         fmt::format("'x': {}", exported::Tensor("{'as_int': 2}, {'as_int': 2}"))};
  const auto module = exported::Import({{"models/model.json", exported::Program(t)}});
  REQUIRE_MESSAGE(module.ok(), module.status().message());
  return exported::Run(*module, {exported::Floats({1, 2, 3, -1}, {2, 2})});
}

TEST_CASE("operators of complex tensors by their parts") {
  using Numbers = std::vector<float>;
  const std::string z = ", " + Arg(Ref("z"));
  CHECK(OfComplex("add.Tensor", z) == Numbers{2, 4, 6, -2});
  CHECK(OfComplex("add.Tensor", ", " + Arg("{'as_int': 5}")) == Numbers{6, 2, 8, -1});
  CHECK(OfComplex("sub.Tensor", ", " + Arg("{'as_complex': {'real': 1, 'imag': 2}}")) ==
        Numbers{0, 0, 2, -3});
  CHECK(OfComplex("flip.default", ", " + Arg("{'as_ints': [0]}")) == Numbers{3, -1, 1, 2});
  CHECK(OfComplex("sum.default") == Numbers{4, 1});
  // (1 + 2i)^2 + (3 - i)^2
  CHECK(OfComplex("dot.default", z) == Numbers{5, -2});
  CHECK(OfComplex("square.default") == Numbers{-3, 4, 8, -6});
  CHECK(OfComplex("zeros_like.default") == Numbers{0, 0, 0, 0});
  CHECK(OfComplex("ones_like.default") == Numbers{1, 0, 1, 0});
}

}  // namespace
}  // namespace relayvm::import::torch
