#include "compiler/transforms/simplify/dead_code.h"

#include "compiler/transforms/testing.h"

namespace relayvm::ir {
namespace {

TEST_CASE("what nothing needs goes; effects and what they need stay") {
  struct Case {
    const char* body;
    const char* left;
  };
  const Case cases[] = {
      {"let %a = add(%x, %x); let %b = multiply(%a, %x); %a", "add"},
      {"let %a = (%x, %x); let %b = %a.0; %x", ""},
      {"let %r = ref(%x); let %u = ref_write(%r, add(%x, %x)); %x", "ref add write"},
      {"let %r = ref(%x); let %v = ref_read(%r); %x", ""},
      {"let %a = if (True) { add(%x, %x) } else { %x }; %x", ""},
      {"let %f = fn (%y: Tensor[(4), float32]) { add(%y, %x) }; %x", ""},
      {"let %f = fn (%y: Tensor[(4), float32]) { add(%y, %x) }; let %z = %f(%x); %x",
       "fn{add} call"},
  };
  for (const Case& c : cases) {
    INFO(c.body);
    Module m = Typed("def @main(%x: Tensor[(4), float32]) { " + std::string(c.body) + " }");
    CHECK(Outline(EliminateDeadCode(m)) == c.left);
  }
}

TEST_CASE("functions: unused ones go; a call without effects goes, one with effects stays") {
  Module m = Typed(R"(
def @pure(%x: int32) -> int32 { add(%x, 1) }
def @writes(%r: ref(int32)) -> () { ref_write(%r, 1) }
def @unused(%x: int32) -> int32 { @pure(%x) }
def @main(%x: int32) -> int32 {
  let %a = @pure(%x);
  let %r = ref(%x);
  let %u = @writes(%r);
  ref_read(%r)
})");
  Module out = EliminateDeadCode(m);
  CHECK(Outline(out) == "ref call writes read");
  CHECK(out.functions.contains("writes"));
  CHECK_FALSE(out.functions.contains("unused"));
  CHECK_FALSE(out.functions.contains("pure"));
}

TEST_CASE("a value whose only use is its size stays") {
  Module m = Typed(R"(
def @grow(%x: Tensor[(?), float32]) -> Tensor[(?), float32] {
  if (less(take(shape_of(%x, dtype="int32"), 0), 9)) { @grow(concatenate((%x, %x), axis=0)) } else { %x }
}
def @main(%x: Tensor[(?), float32]) {
  let %y = @grow(%x);
  zeros_like(%y)
})");
  CHECK(Outline(EliminateDeadCode(m)).find("call grow") != std::string::npos);
}

}  // namespace
}  // namespace relayvm::ir
