// Where and when the expressions of a graph are evaluated: Relay text against the A-normal form it
// becomes.
#include "compiler/ir/to_anf.h"

#include <doctest/doctest.h>

#include "compiler/frontend/parser.h"
#include "compiler/ir/printer.h"

namespace relayvm::ir {
namespace {

const std::string kVersion = "#[version = \"0.0.5\"]\n";

// The body of @main, lines joined, without indentation.
std::string AnfOf(const std::string& definitions) {
  auto m = frontend::ParseRelay("test", kVersion + definitions);
  if (!m.ok()) return m.status().message();
  std::string text = PrintFunction(*m, *m->functions.at("main"));
  std::string out;
  bool blank = true;
  for (char c : text.substr(text.find('{'))) {
    if (c == '\n') c = ' ';
    if (c != ' ' || !blank) out += c;
    blank = c == ' ';
  }
  return out.substr(0, out.size() - 1);
}

TEST_CASE("placement and order") {
  const struct {
    const char* what;
    const char* text;
    const char* anf;
  } kCases[] = {
      {"nested calls, operands left to right",
       "def @main(%x: int32) { add(add(%x, 1), multiply(%x, 2)) }",
       "{ let %_1 = add(%x, 1); let %_2 = multiply(%x, 2); add(%_1, %_2) }"},
      {"a shared node runs once", "def @main(%x: int32) { %0 = add(%x, 1); add(%0, %0) }",
       "{ let %_1 = add(%x, 1); add(%_1, %_1) }"},
      {"an unused graph variable is dropped, an unused let is not",
       "def @main(%x: int32) { %0 = add(%x, 1); let %y = add(%x, 2); %x }",
       "{ let %y = add(%x, 2); %x }"},
      {"what one branch needs runs there",
       "def @main(%c: bool, %x: int32) { %0 = add(%x, 1); if (%c) { %0 } else { %x } }",
       "{ if (%c) { add(%x, 1) } else { %x } }"},
      {"what both branches need runs before",
       "def @main(%c: bool, %x: int32) { if (%c) { %0 = add(%x, 1); %0 } else { multiply(%0, %0) } "
       "}",
       "{ let %_1 = add(%x, 1); if (%c) { %_1 } else { multiply(%_1, %_1) } }"},
      {"what two of three branches need runs where they split",
       "def @main(%c: bool, %x: int32) { %0 = add(%x, 1);"
       " if (%c) { if (%c) { %0 } else { negative(%0) } } else { %x } }",
       "{ if (%c) { let %_1 = add(%x, 1); if (%c) { %_1 } else { negative(%_1) } } else { %x } }"},
      {"a let binds its value itself", "def @main(%x: int32) { let %y = add(%x, 1); %y }",
       "{ let %y = add(%x, 1); %y }"},
      {"a let of a node evaluated before is an alias",
       "def @main(%x: int32) { %0 = add(%x, 1); let %a = negative(%0); let %y = %0; add(%a, %y) }",
       "{ let %_1 = add(%x, 1); let %a = negative(%_1); let %y = %_1; add(%a, %y) }"},
      {"a let of a node used later names it",
       "def @main(%x: int32) { %0 = add(%x, 1); let %y = %0; add(%y, %0) }",
       "{ let %y = add(%x, 1); add(%y, %y) }"},
      {"effects keep the order of lets; a graph variable runs when it is needed",
       "def @main(%r: ref(int32)) { %0 = ref_read(%r); let %a = ref_write(%r, 1); let %b = "
       "ref_read(%r); add(%b, %0) }",
       "{ let %a = ref_write(%r, 1); let %b = ref_read(%r); let %_1 = ref_read(%r); add(%b, %_1) "
       "}"},
      {"an effect in a graph variable runs once",
       "def @main(%r: ref(int32)) { %0 = ref_write(%r, 1); (%0, %0) }",
       "{ let %_1 = ref_write(%r, 1); (%_1, %_1) }"},
      {"a sequence of effects",
       "def @main(%r: ref(int32)) { ref_write(%r, 1); ref_write(%r, 2); ref_read(%r) }",
       "{ let %_1 = ref_write(%r, 1); let %_2 = ref_write(%r, 2); ref_read(%r) }"},
      {"a function's own nodes run when it is called, shared ones when it is made",
       "def @main(%x: int32) { %0 = add(%x, 1); %1 = add(%x, 2); %2 = fn (%y: int32) { add(add(%y, "
       "%0), %1) }; %2(%1) }",
       "{ let %_1 = add(%x, 2); let %_2 = fn (%y: int32) { let %_3 = add(%x, 1); let %_4 = add(%y, "
       "%_3); add(%_4, %_1) };"
       " %_2(%_1) }"},
      {"a let in a let",
       "def @main(%x: int32) { let %a = let %b = add(%x, 1); multiply(%b, %b); negative(%a) }",
       "{ let %b = add(%x, 1); let %a = multiply(%b, %b); negative(%a) }"},
      {"a recursive closure",
       "def @main(%x: int32) { let %f = fn (%n: int32) -> int32 { %f(%n) }; %f(%x) }",
       "{ let %f = fn (%n: int32) -> int32 { %f(%n) }; %f(%x) }"},
      {"a value's own name is the outer one",
       "def @main(%x: int32) { let %x = add(%x, 1); negative(%x) }",
       "{ let %x1 = add(%x, 1); negative(%x1) }"},
      {"a match evaluates in its clauses",
       "type L { Cons(int32, L), Nil, } def @main(%l: L, %x: int32) {"
       " %0 = negative(%x); match (%l) { Cons(%h, Cons(_, %t)) => { add(%h, %0) }, _ => { %x }, } "
       "}",
       "{ match (%l) { Cons(%h, Cons(_, %t)) => { let %_1 = negative(%x); add(%h, %_1) }, _ => { "
       "%x }, } }"},
      {"a bare operator is a function", "def @main(%x: int32) { let %f = add; %f(%x, %x) }",
       "{ let %f = fn (%a0, %a1) { add(%a0, %a1) }; %f(%x, %x) }"},
      {"constructors",
       "type L { Cons(int32, L), Nil, } def @main(%x: int32) { let %c = Cons; %c(1, Nil) }",
       "{ let %c = Cons; let %_1 = Nil; %c(1, %_1) }"},
      {"functions that share variables, as TVM prints them",
       "def @f(%i: int32) { %0 = equal(%i, 0); %0 } def @main(%i-malformed-ir) { if (%0) { %i } "
       "else { @main(%i) } }",
       "{ let %_1 = equal(%i, 0); if (%_1) { %i } else { @main(%i) } }"},
  };
  for (const auto& c : kCases) {
    CAPTURE(c.what);
    CHECK(AnfOf(c.text) == c.anf);
  }
}

TEST_CASE("a variable is used in its scope only") {
  const struct {
    const char* text;
    const char* message;
  } kCases[] = {
      {"def @main(%x: int32) { %0 = (let %y = add(%x, 1); %1 = negative(%y); %1); add(%1, %0) }",
       "variable %y is used outside its scope"},
      {"def @main(%c: bool) { if (%c) { let %y = 1; %0 = negative(%y); %0 } else { %0 } }",
       "variable %y is used outside its scope"},
      {"def @f(%x: int32) { %0 = negative(%x); %0 } def @main() { %0 }",
       "variable %x is used outside its scope"},
  };
  for (const auto& c : kCases) CHECK(AnfOf(c.text).find(c.message) != std::string::npos);
}

TEST_CASE("long programs need no deep stack") {
  constexpr int kLength = 100000;
  const struct {
    const char* what;
    std::string (*line)(int);
    std::string last;
  } kCases[] = {
      {"lets",
       [](int i) {
         return "let %v" + std::to_string(i) + " = negative(%v" + std::to_string(i - 1) + ");\n";
       },
       "%v" + std::to_string(kLength)},
      {"graph variables",
       [](int i) {
         return "%" + std::to_string(i) + " = negative(%" + std::to_string(i - 1) + ");\n";
       },
       "%" + std::to_string(kLength)},
      {"effects", [](int) { return std::string("ref(%v0);\n"); }, "%v0"},
  };
  for (const auto& c : kCases) {
    CAPTURE(c.what);
    std::string text = kVersion + "def @main(%v0: int32) {\n%0 = %v0;\n";
    for (int i = 1; i <= kLength; ++i) text += c.line(i);
    auto m = frontend::ParseRelay("long", text + c.last + "\n}\n");
    REQUIRE(m.ok());
    CHECK(m->functions.at("main")->body->bindings.size() == kLength);
  }
}

TEST_CASE("blocks that nest too deeply are an error") {
  std::string text = kVersion + "def @main(%c: bool, %x: int32) {\n%0 = %x;\n";
  for (int i = 1; i <= 11000; ++i) {
    text +=
        "%" + std::to_string(i) + " = if (%c) { %" + std::to_string(i - 1) + " } else { %x };\n";
  }
  auto m = frontend::ParseRelay("deep", text + "%11000\n}\n");
  REQUIRE_FALSE(m.ok());
  CHECK(m.status().code() == StatusCode::kOutOfRange);
  CHECK(m.status().message().find("blocks are nested deeper than 10000") != std::string::npos);
}

}  // namespace
}  // namespace relayvm::ir
