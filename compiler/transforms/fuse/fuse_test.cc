#include "compiler/transforms/fuse/fuse.h"

#include "compiler/transforms/testing.h"

namespace relayvm::ir {
namespace {

TEST_CASE("what fuses and what does not, with symbolic shapes") {
  struct Case {
    const char* name;
    const char* body;
    const char* outline;
  };
  const Case cases[] = {
      {"a chain of elementwise operators", "exp(negative(add(%x, %x)))", "fused{add negative exp}"},
      {"one operator stays a call", "exp(%x)", "exp"},
      {"an epilogue", "nn.relu(add(nn.dense(%x, %w, units=8), %y))", "fused{nn.dense add nn.relu}"},
      {"a reduction takes its producer in", "sum(exp(%x), axis=[1])", "fused{exp sum}"},
      {"two contractions stay apart, the later one takes the sum",
       "add(nn.dense(%x, %w, units=8), nn.dense(%x, %v, units=8))", "nn.dense fused{nn.dense add}"},
      {"a join is a copy", "concatenate((exp(%x), negative(%x)), axis=0)",
       "exp negative tuple concatenate"},
      {"scalars stay instructions", "add(%x, multiply(%s, 2f))", "multiply add"},
      {"split and what follows its parts",
       "let %t = split(exp(%y), indices_or_sections=2, axis=1); add(sigmoid(%t.0), tanh(%t.1))",
       "fused{exp split .0 .1 sigmoid tanh add}"},
      {"a member used outside is a further output",
       "let %a = add(%x, %x); let %b = exp(%a); (%a, %b)", "fused{add exp tuple} .0 .1 tuple"},
      {"an outside use in the middle keeps the groups apart",
       "let %a = negative(%x); let %d = nn.dense(%a, %k, units=8); add(%a, %d)",
       "negative fused{nn.dense add}"},
      {"a use in a branch in the middle keeps the groups apart",
       "let %a = negative(%x); let %b = if (greater(%s, 0f)) { exp(%a) } else { %x }; "
       "(tanh(%a), %b)",
       "negative greater if{exp}{} tanh tuple"},
      {"a use in a branch behind the group is a further output",
       "let %a = negative(%x); let %t = tanh(%a); if (greater(%s, 0f)) { %a } else { %t }",
       "fused{negative tanh tuple} .0 .1 greater if{}{}"},
  };
  for (const Case& c : cases) {
    INFO(c.name);
    Module m = Typed(
        "def @main(%x: Tensor[(?, 8), float32], %y: Tensor[(1, 8), float32], %w: Tensor[(8, 8), "
        "float32], "
        "%v: Tensor[(8, 8), float32], %k: Tensor[(8, 8), float32], %s: float32) { " +
        std::string(c.body) + " }");
    CHECK(Outline(FuseOps(m)) == c.outline);
  }
}

}  // namespace
}  // namespace relayvm::ir
