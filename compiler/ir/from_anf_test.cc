// Functions to the surface DAG and back: the same text, and what becomes a let.
#include "compiler/ir/from_anf.h"

#include <doctest/doctest.h>

#include "compiler/ir/printer.h"
#include "compiler/ir/to_anf.h"
#include "compiler/testing.h"
#include "compiler/typing/infer.h"

namespace relayvm::ir {
namespace {

struct Surface {
  Graph graph;
  size_t lets = 0, expressions = 0;
  std::string text;  // of the function that the graph gives
};
Surface SurfaceOf(const Module& m) {
  Surface s;
  const NodeId function = SurfaceBuilder(m).Add(*m.functions.at("main"), &s.graph);
  for (const Node& n : s.graph.nodes) {
    if (n.kind == NodeKind::kLet) ++s.lets;
    if (n.kind == NodeKind::kExpr) ++s.expressions;
  }
  auto lowered = AnfBuilder(m, s.graph).Lower(function);
  REQUIRE_MESSAGE(lowered.ok(), lowered.status().message());
  s.text = PrintFunction(m, **lowered);
  return s;
}

TEST_CASE("a function becomes a DAG, and the same function again") {
  const struct {
    const char* what;
    const char* text;
    size_t lets;
  } kCases[] = {
      {"nested and shared calls",
       "def @main(%x: int32) { %0 = add(%x, 1); add(%0, multiply(%0, %x)) }", 0},
      {"what has a name", "def @main(%x: int32) { let %y = add(%x, 1); multiply(%y, %y) }", 1},
      {"an alias", "def @main(%x: int32) { let %y = %x; multiply(%y, %y) }", 1},
      {"branches",
       "def @main(%c: bool, %x: int32) { %0 = if (%c) { add(%x, 1) } else { %x }; add(%0, %0) }",
       0},
      {"what only literals use is computed outside of them",
       "def @main(%x: int32) { let %y = add(%x, 1); fn (%z: int32) { add(%z, %y) } }", 1},
      {"recursive literals",
       "def @main(%x: int32) { let %f = fn (%n: int32) -> int32 { if (less(%n, 1)) { %n } else { "
       "%f(subtract(%n, 1)) } }; %f(%x) }",
       1},
      {"effects keep their order",
       "def @main(%x: int32) { let %r = ref(%x); let %a = ref_read(%r); "
       "let %_ = ref_write(%r, add(%a, 1)); (%a, ref_read(%r)) }",
       4},
      {"patterns",
       "type L { C(int32, L), N } def @main(%l: L) -> int32 { match (%l) { C(%h, C(%k, _)) => { "
       "add(%h, %k) }, C(%h, N) => { %h }, N => { 0 } } }",
       0},
      {"calls of functions without effects",
       "def @f(%x: int32) -> int32 { add(%x, 1) } def @main(%x: int32) { @f(@f(%x)) }", 0},
      {"calls of composites",
       "def @main(%x: int32) { %0 = fn (%y: int32, Composite=\"a.b\") { add(%y, 1) }; "
       "(%0(%x), %0(1)) }",
       0},
      {"calls of functions with effects",
       "def @f(%r: ref(int32)) -> int32 { let %_ = ref_write(%r, 1); 2 } "
       "def @main(%r: ref(int32)) { (@f(%r), @f(%r)) }",
       2},
  };
  for (const auto& c : kCases) {
    CAPTURE(c.what);
    const Module m = Parsed(c.text);
    const Surface s = SurfaceOf(m);
    CHECK(s.text == PrintFunction(m, *m.functions.at("main")));
    CHECK(s.lets == c.lets);
  }
}

TEST_CASE("what type inference makes is left out, but for what expressions read") {
  const Module m = Parsed(
      "def @main(%x: Tensor[(?, 4), float32], %y: Tensor[(?, 4), float32]) {"
      " add(concatenate((%x, %y)), concatenate((%y, %x))) }");
  auto typed = InferTypes(m);
  REQUIRE(typed.ok());
  const Surface s = SurfaceOf(*typed);
  CHECK(s.lets == 0);
  CHECK(s.expressions == 0);
  // Variables keep their types, and are those that the function had.
  for (const Node& n : s.graph.nodes) {
    if (n.kind != NodeKind::kOpCall) continue;
    REQUIRE(n.bind != nullptr);
    CHECK(n.bind->type != nullptr);
  }
  auto stated = InferTypes(Parsed(
      "def @main(%x: Tensor[(?), float32]) { let %y: Tensor[(2), float32] = negative(%x); %y }"));
  REQUIRE(stated.ok());
  const Surface t = SurfaceOf(*stated);
  CHECK(t.expressions == 1);  // ir::Stated
}

}  // namespace
}  // namespace relayvm::ir
