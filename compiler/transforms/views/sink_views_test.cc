#include "compiler/transforms/views/sink_views.h"

#include "compiler/transforms/testing.h"

namespace relayvm::ir {
namespace {

TEST_CASE("what a view of a product moves behind, and what holds it") {
  struct Case {
    const char* name;
    const char* body;
    const char* outline;
  };
  const Case cases[] = {
      {"bias and activation", "nn.relu(add(%v, %bias))", "nn.dense add nn.relu reshape"},
      {"an operand of one row and rank 3", "add(%row, %v)", "nn.dense reshape add reshape"},
      {"a scalar", "multiply(%v, 2f)", "nn.dense multiply reshape"},
      {"an operand of the view's shape", "add(%v, %r)", "nn.dense reshape add reshape"},
      {"what is a view of rows is read without", "add(%v, reshape(%y, newshape=[2, 3, 8]))",
       "nn.dense reshape add reshape"},
      {"values used twice inside", "let %a = add(%v, %bias); multiply(%a, erf(%a))",
       "nn.dense add erf multiply reshape"},
      {"a norm finds its operators as they were",
       "let %a = add(%v, %bias); subtract(%a, sum(exp(%a), axis=[2], keepdims=True))",
       "nn.dense add reshape exp sum subtract"},
      {"a use in a branch is outside",
       "let %a = add(%v, %bias); let %b = nn.relu(%a); if (%c) { %a } else { %b }",
       "nn.dense add reshape nn.relu if{}{}"},
      {"a view that is needed", "(%v, nn.relu(%v))", "nn.dense reshape nn.relu tuple"},
      {"two products of one sum", "add(%v, reshape(nn.dense(%y, %w, units=8), newshape=[2, 3, 8]))",
       "nn.dense nn.dense reshape add reshape"},
      {"a view after a view", "nn.relu(reshape(%v, newshape=[3, 2, 8]))",
       "nn.dense nn.relu reshape"},
      {"other columns", "nn.relu(reshape(%v, newshape=[2, 24]))",
       "nn.dense reshape reshape nn.relu"},
      {"a sum that grows", "add(%v, %large)", "nn.dense reshape add"},
      {"an operand of a column", "add(%v, %column)", "nn.dense reshape add"},
      {"an operator with an axis", "nn.softmax(%v)", "nn.dense reshape nn.softmax"},
  };
  for (const Case& c : cases) {
    INFO(c.name);
    Module m = Typed(
        "def @main(%x: Tensor[(6, 8), float32], %y: Tensor[(6, 8), float32], %w: Tensor[(8, 8), "
        "float32], %r: Tensor[(2, 3, 8), float32], %row: Tensor[(1, 1, 8), float32], %bias: "
        "Tensor[(8), float32], %large: Tensor[(4, 2, 3, 8), float32], %column: Tensor[(2, 3, 1), "
        "float32], %c: bool) { let %v = reshape(nn.dense(%x, %w, units=8), newshape=[2, 3, 8]); " +
        std::string(c.body) + " }");
    const Module sunk = SinkViews(m);
    CHECK(Outline(sunk) == c.outline);
    Retyped(sunk);
  }
}

TEST_CASE("open rows") {
  const Module m = Typed(
      "def @main(%x: Tensor[(?, ?, 8), float32], %w: Tensor[(8, 8), float32]) { "
      "let %p = nn.dense(reshape(%x, newshape=[-1, 8]), %w, units=8); "
      "nn.relu(add(reshape_like(%p, %x), %x)) }");
  const Module sunk = SinkViews(m);
  CHECK(Outline(sunk) == "reshape nn.dense reshape add nn.relu reshape");
  Retyped(sunk);
}

}  // namespace
}  // namespace relayvm::ir
