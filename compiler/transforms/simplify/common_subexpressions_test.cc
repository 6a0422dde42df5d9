#include "compiler/transforms/simplify/common_subexpressions.h"

#include "compiler/ir/verify.h"
#include "compiler/transforms/testing.h"

namespace relayvm::ir {
namespace {

std::string Merged(const std::string& body) {
  return Outline(
      EliminateCommonSubexpressions(Typed("def @main(%x: Tensor[(4), float32]) { " + body + " }")));
}

TEST_CASE("equal calls are made once, also across the blocks that a block encloses") {
  CHECK(Merged("multiply(add(%x, 1f), add(%x, 1f))") == "add multiply");
  CHECK(Merged("let %a = add(%x, 1f); if (True) { add(%x, 1f) } else { %x }") == "add if{}{}");
}

TEST_CASE("branches do not see each other; attributes and constants tell calls apart") {
  CHECK(Merged("if (True) { exp(%x) } else { negative(exp(%x)) }") == "if{exp}{exp negative}");
  CHECK(Merged("add(sum(%x, axis=[0]), sum(%x, axis=[0], keepdims=True))") == "sum sum add");
  CHECK(Merged("add(add(%x, 1f), add(%x, 2f))") == "add add add");
}

TEST_CASE("effects are not merged") {
  CHECK(Merged("let %r = ref(%x); let %s = ref(%x); (%r, %s)") == "ref ref tuple");
}

TEST_CASE("dims that are elements of a merged variable keep their meaning") {
  Module m = Retyped(Typed(R"(def @main(%p: (Tensor[(2), int64], bool), %x: Tensor[(6), float32]) {
  let %a = %p.0;
  let %b = %p.0;
  add(dyn.reshape(%x, abs(%b), newshape=[]), dyn.reshape(%x, abs(%a), newshape=[]))
})"));
  REQUIRE(VerifyModule(m, {.typed = true}).ok());
  Module merged = EliminateCommonSubexpressions(m);
  CHECK(Outline(merged).find(".0 .0") == std::string::npos);
  Status sound = VerifyModule(merged, {.typed = true});
  CHECK_MESSAGE(sound.ok(), sound.message());
}

}  // namespace
}  // namespace relayvm::ir
