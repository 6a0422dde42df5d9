#include "compiler/transforms/loops/lambda_lift.h"

#include "compiler/ir/verify.h"
#include "compiler/transforms/simplify/dead_code.h"
#include "compiler/transforms/testing.h"

namespace relayvm::ir {
namespace {

Module Lifted(const std::string& text) { return EliminateDeadCode(LambdaLift(Typed(text))); }

const Function* OnlyOther(const Module& m) {
  REQUIRE(m.functions.size() == 2);
  for (const auto& [name, f] : m.functions) {
    if (name != "main") return f;
  }
  return nullptr;
}

TEST_CASE("a literal that is only called is a direct call, captured values first") {
  Module m = Lifted(R"(
def @main(%x: int32, %y: int32) -> int32 {
  let %f = fn (%a: int32) -> int32 { add(%a, %y) };
  %f(%f(%x))
})");
  const Function* f = OnlyOther(m);
  CHECK(f->params.size() == 2);
  CHECK(f->params[0]->name == "y");
  CHECK(Outline(m) == "call " + f->name + " call " + f->name);
}

TEST_CASE("a literal used as a value is a closure over what it captures") {
  Module m = Lifted(R"(
def @main(%x: int32, %y: int32) {
  fn (%a: int32) -> int32 { add(%a, multiply(%x, %y)) }
})");
  CHECK(Outline(m) == "closure/2");
}

TEST_CASE("a recursive literal calls itself directly") {
  Module m = Lifted(R"(
def @main(%n: int32, %step: int32) -> int32 {
  let %f = fn (%k: int32) -> int32 { if (less(%k, 1)) { 0 } else { %f(subtract(%k, %step)) } };
  %f(%n)
})");
  const Function* f = OnlyOther(m);
  CHECK(Outline(*f->body) == "less if{}{subtract call " + f->name + "}");
}

TEST_CASE("nested literals capture through each other") {
  Module m = Lifted(R"(
def @main(%x: int32) {
  fn (%a: int32) { fn (%b: int32) -> int32 { add(add(%a, %b), %x) } }
})");
  CHECK(m.functions.size() == 3);
  for (const auto& [name, f] : m.functions) {
    std::function<void(const Block&)> none = [&](const Block& block) {
      for (const Binding& b : block.bindings) {
        CHECK(b.value->As<FunctionExpr>() == nullptr);
        ForEachBlock(*b.value, none);
      }
    };
    none(*f->body);
  }
}

TEST_CASE("a size that an operand's type speaks of is captured") {
  // The kernel of `max` runs over 3 * n, and the type of %y is all that says so.
  Module m = Lifted(R"(
def @main(%x: Tensor[(?), float32]) {
  let %y = repeat(%x, repeats=3, axis=0);
  fn (%a: float32) -> float32 { maximum(%a, max(%y)) }
})");
  const Function* f = OnlyOther(m);
  REQUIRE(f->params.size() == 3);
  CHECK(f->params[0]->name == "y");
  CHECK(f->params[1]->name == "x.0");
}

TEST_CASE("a captured tensor may have dims that the closure has no use for") {
  Module m = Typed(R"(def @main(%p: Tensor[(?), int32]) {
  let %v = repeat(%p, repeats=2, axis=0);
  let %f = fn (%n: int32) -> Tensor[(?), int32] {
    if (less(%n, 1)) { %v } else { %f(subtract(%n, 1)) }
  };
  %f(3)
})");
  Module lifted = LambdaLift(m);
  Status sound = VerifyModule(lifted, {.typed = true, .lifted = true});
  CHECK_MESSAGE(sound.ok(), sound.message());
}

}  // namespace
}  // namespace relayvm::ir
