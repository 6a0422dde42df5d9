#include "compiler/transforms/simplify/resolve_aliases.h"

#include "compiler/transforms/simplify/dead_code.h"
#include "compiler/transforms/testing.h"

namespace relayvm::ir {
namespace {

TEST_CASE("fields of tuples that are made before are what the tuples are made of") {
  const auto resolved = [](const std::string& body) {
    return Outline(EliminateDeadCode(
        ResolveAliases(Typed("def @main(%x: Tensor[(2), float32], %c: bool) { " + body + " }"))));
  };
  CHECK(resolved("let %t = (tanh(%x), (%x, exp(%x))); let %u = %t.1; add(%u.1, %t.0)") ==
        "tanh exp add");
  CHECK(resolved("let %t = (tanh(%x), %x); if (%c) { %t.0 } else { %t.1 }") == "tanh if{}{}");
  CHECK(resolved("let %t = (tanh(%x), %x); (%t, %t.0)") == "tanh tuple tuple");
  CHECK(resolved("split(%x, indices_or_sections=2).1") == "split .1");
}

TEST_CASE("aliases are looked through") {
  CHECK(Outline(ResolveAliases(
            Parsed("def @main(%x: int32) { let %y = %x; let %z = 1; add(%y, %z) }"))) == "add");
}

}  // namespace
}  // namespace relayvm::ir
