#include "compiler/ir/walk.h"

#include <algorithm>

#include "compiler/transforms/testing.h"

namespace relayvm::ir {
namespace {

// The names of what the binding of %`name` in @main reads, sorted.
std::vector<std::string> UsesOf(const Module& m, const std::string& name) {
  std::vector<std::string> uses;
  ForEachBinding(*m.functions.at("main")->body, [&](const Binding& b) {
    if (b.var->name != name) return;
    ForEachUse(m, b, [&](const Var* v) { uses.push_back(v->name); });
  });
  std::sort(uses.begin(), uses.end());
  uses.erase(std::unique(uses.begin(), uses.end()), uses.end());
  return uses;
}

TEST_CASE("what a binding reads: operands and the values of symbols") {
  Module m = Typed(R"(
def @main(%x: Tensor[(?, 4), float32], %s: Tensor[(2), int64], %n: int64) {
  let %y = repeat(%x, repeats=3, axis=0);
  let %z = dyn.zeros(%s, shape=None, dtype="float32");
  let %r = arange(0i64, %n, 1i64, dtype="int64");
  let %w = argwhere(%y);
  let %t = transpose(%w, axes=[1, 0]);
  let %p = (%y, %z);
  let %q = %p.0;
  (%r, %t, %q)
})");
  using Names = std::vector<std::string>;
  // The kernel of repeat runs over 3 * x.0.
  CHECK(UsesOf(m, "y") == Names{"x", "x.0"});
  CHECK(UsesOf(m, "z") == Names{"s", "s[0]", "s[1]"});
  // A scalar of the program is its symbol's value itself.
  CHECK(UsesOf(m, "r") == Names{"n"});
  // A binding does not read the dims that it makes; who comes after it does.
  CHECK(UsesOf(m, "w") == Names{"x.0", "y"});
  CHECK(UsesOf(m, "t") == Names{"w", "w.argwhere"});
  // What is not allocated by its type needs none of its dims.
  CHECK(UsesOf(m, "p") == Names{"y", "z"});
  CHECK(UsesOf(m, "q") == Names{"p"});
}

TEST_CASE("walks over bindings, globals and patterns go into nested blocks") {
  Module m = Typed(R"(
type Pair[A] { Both(A, A) }
def @f(%x: int32) -> int32 { %x }
def @g(%x: int32) -> int32 { %x }
def @main(%p: Pair[int32], %c: bool) {
  let %h = @g;
  if (%c) { match (%p) { Both(%a, %b) => @f(add(%a, %b)) } } else { %h(1) }
})");
  const Block& body = *m.functions.at("main")->body;
  std::vector<std::string> globals;
  ForEachGlobal(body, [&](const GlobalVar& g, const CallExpr* call) {
    globals.push_back(g.name + (call != nullptr ? "()" : ""));
  });
  CHECK(globals == std::vector<std::string>{"g", "f()"});
  std::vector<std::string> bound;
  ForEachBinding(body, [&](const Binding& b) {
    if (const auto* match = b.value->As<MatchExpr>()) {
      ForEachVar(match->clauses[0].pattern, [&](const Var* v) { bound.push_back(v->name); });
    }
  });
  CHECK(bound == std::vector<std::string>{"a", "b"});
}

}  // namespace
}  // namespace relayvm::ir
