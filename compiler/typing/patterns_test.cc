#include "compiler/typing/patterns.h"

#include <fmt/format.h>

#include "compiler/typing/testing.h"

namespace relayvm::typing {
namespace {

// The case that the clauses of a match on `type` leave out; "" when they are exhaustive.
std::string Missing(const std::string& type, const std::string& clauses) {
  auto m = Typed(
      "type List[A] { Cons(A, List[A]), Nil, } type Tree { Leaf, Node(Tree[], Tree[]), } "
      "type Color { Red, Green, Blue, }"
      "def @main(%x: " +
      type + ") { match? (%x) { " + clauses + " } }");
  REQUIRE_MESSAGE(m.ok(), m.status().ToString());
  std::string missing;
  ForEachBinding(*m->functions.at("main")->body, [&](const ir::Binding& b) {
    if (auto* match = b.value->As<ir::MatchExpr>()) {
      missing = UnmatchedCase(*m, *match)->value_or("");
    }
  });
  return missing;
}

TEST_CASE("the case that is left out") {
  struct Row {
    const char* type;
    const char* clauses;
    const char* missing;
  };
  const Row rows[] = {
      {"List[int8]", "_ => { 1 }", ""},
      {"List[int8]", "%y => { 1 }", ""},
      {"List[int8]", "Nil => { 1 }, Cons(_, _) => { 2 }", ""},
      {"List[int8]", "Cons(_, _) => { 2 }", "Nil"},
      {"List[int8]", "Nil => { 1 }", "Cons(_, _)"},
      {"List[int8]", "Nil => { 1 }, _ => { 2 }", ""},
      {"List[int8]", "Nil => { 1 }, Cons(_, Nil) => { 2 }", "Cons(_, Cons(_, _))"},
      {"List[int8]", "Nil => { 1 }, Cons(_, Nil) => { 2 }, Cons(_, Cons(_, _)) => { 3 }", ""},
      {"Tree[]", "Leaf => { 1 }, Node(Leaf, _) => { 2 }, Node(_, Leaf) => { 3 }",
       "Node(Node(_, _), Node(_, _))"},
      {"(List[int8], Tree[])", "(Nil, _) => { 1 }, (_, Leaf) => { 2 }", "(Cons(_, _), Node(_, _))"},
      {"(List[int8], Tree[])", "(Nil, _) => { 1 }, (%a, %b) => { 2 }", ""},
      {"(Tree[],)", "(Leaf,) => { 1 }", "(Node(_, _),)"},
      // The first in the type's order.
      {"Color", "Blue => { 1 }", "Red"},
      {"Color", "Blue => { 1 }, Red => { 2 }", "Green"},
      {"Color", "Green => { 1 }, Red => { 2 }", "Blue"},
      {"(Color, Color)", "(Green, Red) => { 1 }, (_, Blue) => { 2 }, (Red, _) => { 3 }",
       "(Green, Green)"},
      {"(Color, Color)", "(Green, _) => { 1 }, (_, Blue) => { 2 }, (Red, _) => { 3 }",
       "(Blue, Red)"},
  };
  for (const Row& r : rows) {
    CAPTURE(r.clauses);
    CHECK(Missing(r.type, r.clauses) == r.missing);
  }
}

TEST_CASE("a clause for each of many constructors") {
  constexpr int kCount = 20'000;
  ir::TypeDef type{"T", {}, {}, {}};
  std::vector<ir::Constructor> constructors(kCount);
  ir::MatchExpr match;
  for (uint32_t i = 0; i < kCount; ++i) {
    constructors[i] = {fmt::format("C{}", i), "T", i, {}};
    type.constructors.push_back(&constructors[i]);
    match.clauses.emplace_back();
    match.clauses.back().pattern.kind = ir::Pattern::Kind::kConstructor;
    match.clauses.back().pattern.constructor = &constructors[i];
  }
  ir::Module m;
  m.types["T"] = type;
  CHECK(UnmatchedCase(m, match)->value_or("") == "");
  match.clauses.erase(match.clauses.begin() + 7);
  CHECK(UnmatchedCase(m, match)->value_or("") == "C7");
}

}  // namespace
}  // namespace relayvm::typing
