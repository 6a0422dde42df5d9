#include "compiler/transforms/pack_weights.h"

#include <cstring>

#include "compiler/transforms/testing.h"

namespace relayvm::ir {
namespace {

TEST_CASE("a constant weight is packed in panels, padded with zeros") {
  Module m = Typed(
      "def @main(%x: Tensor[(2, 3), float32]) { nn.dense(%x, ones(shape=[5, 3], "
      "dtype=\"float32\"), units=5) }");
  // Make the weight a constant with known numbers.
  HostTensor w;
  w.dtype = DType::kFloat32;
  w.shape = {5, 3};
  w.data = SharedBytes::Zeros(15 * sizeof(float));
  for (int i = 0; i < 15; ++i) {
    auto v = static_cast<float>(i + 1);
    std::memcpy(w.data.Mutable().data() + static_cast<size_t>(i) * sizeof(float), &v, sizeof v);
  }
  const Constant* constant = MakeConstant(m, w);
  const Function& main = *m.functions.at("main");
  Block body = *main.body;
  OpCall dense = *body.bindings.back().value->As<OpCall>();
  dense.args[1] = constant;
  body.bindings = {{body.bindings.back().var, MakeExpr(m, dense, Span{})}};
  Function f = main;
  f.body = m.arena->New<Block>(body);
  m.functions["main"] = m.arena->New<Function>(f);

  Module packed = PackWeights(m, "x86-64-v3");
  REQUIRE(Outline(packed) == "nn.contrib_dense_pack");
  const auto& call = *packed.functions.at("main")->body->bindings[0].value->As<OpCall>();
  const HostTensor& p = std::get<const Constant*>(call.args[1])->value;
  REQUIRE(p.shape.size() == 3);
  int64_t width = p.shape[2];
  CHECK(p.shape[0] == (5 + width - 1) / width);
  CHECK(p.shape[1] == 3);
  for (int64_t n = 0; n < p.shape[0] * width; ++n) {
    for (int64_t k = 0; k < 3; ++k) {
      float v = 0;
      auto at = static_cast<size_t>(((n / width) * 3 + k) * width + n % width);
      std::memcpy(&v, p.data.data() + at * sizeof(float), sizeof v);
      CHECK(v == (n < 5 ? static_cast<float>(n * 3 + k + 1) : 0.0F));
    }
  }
  CHECK(TypeToString(Retyped(packed).functions.at("main")->result_type) ==
        "Tensor[(2, 5), float32]");
}

TEST_CASE("a weight that is an argument stays as it is") {
  Module m = Typed(
      "def @main(%x: Tensor[(2, 3), float32], %w: Tensor[(5, 3), float32]) { nn.dense(%x, %w, "
      "units=5) }");
  CHECK(Outline(PackWeights(m, "x86-64-v3")) == "nn.dense");
}

}  // namespace
}  // namespace relayvm::ir
