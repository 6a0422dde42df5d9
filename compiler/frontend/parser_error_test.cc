// Programs that must fail: what is said, and where.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "compiler/frontend/parser.h"
#include "compiler/ir/printer.h"

namespace relayvm::frontend {
namespace {

const std::string kVersion = "#[version = \"0.0.5\"]\n";

TEST_CASE("errors name the place and the remedy") {
  const struct {
    const char* text;  // after the version line: line 2
    const char* message;
    StatusCode code = StatusCode::kInvalidInput;
  } kCases[] = {
      // Names
      {"def @main(%count: int32) { %cuont }",
       "2:28: unknown variable %cuont; did you mean %count?"},
      {"def @main() { %x }", "2:15: unknown variable %x"},
      {"def @main() { @mian() }", "2:15: unknown function @mian; did you mean @main?"},
      {"def @main() { %3 }", "2:15: unknown graph variable %3; it is used before it is bound"},
      {"def @main() { %0 = 1; %0 = 2; %0 }", "2:23: graph variable %0 is bound twice"},
      {"def @main() { nn.conv9d(1) }",
       "2:15: unsupported operator \"nn.conv9d\"; did you mean nn.conv1d?",
       StatusCode::kUnsupported},
      {"def @main() { frobnicate(1) }", "2:15: unsupported operator \"frobnicate\"",
       StatusCode::kUnsupported},
      {"def @main(%x: List[int32]) { 1 }", "2:15: unknown type List"},
      {"def @main(%x: flaot32) { 1 }", "2:15: unknown type flaot32; did you mean float32?"},
      {"def @main(%x: int4) { 1 }", "2:15: unsupported dtype \"int4\"", StatusCode::kUnsupported},
      {"def @main(%x: Tensor[(1), flot32]) { 1 }",
       "2:27: unknown dtype \"flot32\"; did you mean float32?"},
      {"type L { Nil, } def @main(%l: L) { match (%l) { Nill => { 1 } } }",
       "2:49: unknown constructor Nill; did you mean Nil?"},
      // Definitions
      {"def @main() { 1 } def @main() { 2 }", "2:23: function @main is defined twice"},
      {"type L { A, } type L { B, }", "2:20: type L is defined twice"},
      {"type L { A, } type M { A, }", "2:24: constructor A is defined twice"},
      {"type float32 { A, }", "2:6: float32 is a built-in type"},
      {"type L[A, A] { B, }", "2:11: type parameter A is declared twice"},
      {"def @main(%x, %x) { 1 }", "2:15: parameter %x is declared twice"},
      {"extern type S { A, }", "2:15: extern type S has no constructors"},
      {"extern S", "2:8: expected 'type' after extern, found 'S'"},
      {"def main() { 1 }", "2:5: expected a function's name such as @main, found 'main'"},
      {"def @main() { 1 } 5", "2:19: expected a definition (def, type, extern type), found '5'"},
      // Brackets
      {"def @main() { add(1, 2 }",
       "2:24: unexpected '}': the '(' of line 2, column 18 is not closed"},
      {"def @main() { (1", "2:15: '(' is never closed"},
      {"def @main() { 1 }}", "2:18: expected a definition (def, type, extern type), found '}'"},
      // Syntax
      {"def @main() { }", "2:15: expected an expression, found '}'"},
      {"def @main() { let x = 1; x }", "2:19: expected a variable such as %x, found 'x'"},
      {"def @main() { let %x 1; %x }", "2:22: expected '=' in a let, found '1'"},
      {"def @main() { let %x = 1 %x }", "2:26: expected ';' after the value of a let, found '%x'"},
      {"def @main() { 1; }", "2:18: expected an expression, found '}'"},
      {"def @main() { if (True) { 1 } }", "2:31: expected else, found '}'"},
      {"def @main() { add(1 2) }", "2:21: expected ',' or ')' after an argument, found '2'"},
      {"def @main(%x: (int32,)) { %x.y }",
       "2:29: expected the number of a tuple's field after '.'"},
      {"def @main() { \"text\" }", "2:15: expected an expression, found \"text\""},
      {"def @main() { free_var %x; %x }",
       "2:15: free_var stands only at the start of a file that is one expression"},
      {"def @main() { fn (x) { 1 } }", "2:19: expected a variable such as %x, found 'x'"},
      {"def @main() { 1 $ }", "2:17: unexpected character '$'"},
      {"def @main(%x: Tensor[(-1), int8]) { 1 }",
       "2:23: expected a dimension (an integer, '?' or a metadata reference), found '-'"},
      {"def @main(%x: fn (int32)) { 1 }", "2:25: expected '->' in a function type, found ')'"},
      // Arity
      {"def @main() { add(1) }", "2:15: operator add takes 2 arguments, 1 given"},
      {"type L { C(int32), } def @main() { C(1, 2) }",
       "2:36: constructor C takes 1 argument, 2 given"},
      {"type L { C(int32), } def @main(%x: L) { match (%x) { C(%a, %b) => { 1 } } }",
       "2:54: constructor C has 1 field, the pattern 2"},
      {"type L[A] { C(A), } def @main(%x: L) { 1 }", "2:35: type L takes 1 type argument, 0 given"},
      // Attributes
      {"def @f() { 1 } def @main() { @f(axis=1) }",
       "2:33: attribute axis: only calls of operators have attributes"},
      {"def @main() { sum(1, axis=0, axis=1) }", "2:30: attribute axis is given twice"},
      {"def @main(%x) { sum(%x, axis=%x) }",
       "2:25: sum: attribute axis needs a value, not an expression"},
      {"def @main() { cumsum(1, meta[relay.attrs.ScanopAttrs][0]) }",
       "2:25: cumsum: metadata: meta[relay.attrs.ScanopAttrs][0] is not there, the file has no "
       "metadata section"},
      // Numbers
      {"def @main() { 300i8 }", "2:15: number 300i8 is out of range"},
      {"def @main() { -1u8 }", "2:15: number -1u8 is out of range"},
      {"def @main() { 99999999999999999999 }", "2:15: number 99999999999999999999 is out of range"},
      {"def @main() { 1e39f }", "2:15: number 1e39f is out of range"},
      {"def @main() { 65520f16 }", "2:15: number 65520f16 is out of range"},
      {"def @main() { 1q }", "2:15: malformed number \"1q\""},
      {"def @main() { -%x }", "2:16: expected a number after '-', found '%x'"},
      // Metadata
      {"def @main() { meta[relay.Constant][0] }",
       "2:15: metadata: meta[relay.Constant][0] is not there, the file has no metadata section"},
      {"def @main() { 1 }\n#[metadata]\n{\"root\": }", "4:10: metadata: malformed JSON"},
      {"def @main() { 1 }\n#[metadata]\n", "4:1: metadata: malformed JSON"},
      {"#[other]", "2:3: expected metadata], found 'other'"},
  };
  for (const auto& c : kCases) {
    CAPTURE(c.text);
    auto m = ParseRelay("f", kVersion + c.text);
    REQUIRE_FALSE(m.ok());
    const std::string& message = m.status().message();
    CHECK(message.substr(0, message.find('\n')) == std::string("f:") + c.message);
    CHECK(m.status().code() == c.code);
  }
}

TEST_CASE("an error shows the source") {
  auto m =
      ParseRelay("model.relay", kVersion + "def @main(%size: int32) {\n  add(%size, %sise)\n}\n");
  REQUIRE_FALSE(m.ok());
  CHECK(m.status().ToString() ==
        "invalid input: model.relay:3:14: unknown variable %sise; did you mean %size?\n"
        "  add(%size, %sise)\n"
        "             ^~~~~");
}

TEST_CASE("the version") {
  const struct {
    const char* text;
    const char* message;
  } kCases[] = {
      {"def @main() { 1 }", "f:1:1: a module starts with its version: #[version = \"0.0.5\"]"},
      {"", "f:1:1: a module starts with its version: #[version = \"0.0.5\"]"},
      {"#[version = \"0.0.4\"]\ndef @main() { 1 }",
       "f:1:13: version \"0.0.4\" of the text format is not supported, only \"0.0.5\" is"},
      {"#[version = 5]", "f:1:13: expected the version as a string, found '5'"},
      {"#[author = \"x\"]", "f:1:3: expected version or metadata, found 'author'"},
  };
  for (const auto& c : kCases) {
    auto m = ParseRelay("f", c.text);
    REQUIRE_FALSE(m.ok());
    CHECK(m.status().message().substr(0, m.status().message().find('\n')) == c.message);
  }
}

std::string Repeat(const std::string& text, int n) {
  std::string out;
  for (int i = 0; i < n; ++i) out += text;
  return out;
}

TEST_CASE("deep nesting is an error, not a crash") {
  const struct {
    const char* what;
    std::string (*text)(int);
  } kCases[] = {
      {"parentheses",
       [](int n) { return "def @main() { " + Repeat("(", n) + "1" + Repeat(")", n) + " }"; }},
      {"calls",
       [](int n) {
         return "def @main() { " + Repeat("negative(", n) + "1" + Repeat(")", n) + " }";
       }},
      {"functions",
       [](int n) {
         return "def @main() { " + Repeat("fn () { ", n) + "1" + Repeat("}", n) + " }";
       }},
      {"branches",
       [](int n) {
         return "def @main() { " + Repeat("if (True) { ", n) + "1" + Repeat("} else { 2 }", n) +
                " }";
       }},
      {"lets",
       [](int n) {
         return "def @main() { " + Repeat("let %x = ", n) + "1" + Repeat("; %x", n) + " }";
       }},
      {"matches",
       [](int n) {
         return "def @main() { " + Repeat("match (1) { _ => ", n) + "1" + Repeat("}", n) + " }";
       }},
      {"patterns",
       [](int n) {
         return "def @main() { match (1) { " + Repeat("(", n) + Repeat(")", n) + " => 1 } }";
       }},
      {"types",
       [](int n) { return "def @main(%x: " + Repeat("(", n) + Repeat(")", n) + ") { 1 }"; }},
      {"attributes",
       [](int n) {
         return "def @main() { sum(1, axis=" + Repeat("[", n) + Repeat("]", n) + ") }";
       }},
  };
  for (const auto& c : kCases) {
    CAPTURE(c.what);
    auto m = ParseRelay("f", kVersion + c.text(2 * kMaxNesting));
    REQUIRE_FALSE(m.ok());
    CHECK(m.status().code() == StatusCode::kOutOfRange);
    // The deepest that may pass: any answer but a crash.
    for (int depth : {kMaxNesting - 2, kMaxTypeNesting - 2}) {
      auto last = ParseRelay("f", kVersion + c.text(depth));
      CHECK((last.ok() || !last.status().message().empty()));
    }
  }
}

TEST_CASE("a chain of else if is as long as blocks may nest") {
  auto chain = [](int n) {
    std::string text = kVersion + "def @main(%x: int32) {\n";
    for (int i = 0; i < n; ++i) text += "if (equal(%x, " + std::to_string(i) + ")) { 1 } else ";
    return ParseRelay("f", text + "{ 2 } }");
  };
  CHECK(chain(2'000).ok());
  CHECK(chain(9'990).ok());
  CHECK(chain(20'000).status().message().find("blocks are nested deeper than 10000") !=
        std::string::npos);
}

TEST_CASE("a tensor has as many dimensions as a file has room for") {
  const auto with_rank = [](size_t rank) {
    std::string dims;
    for (size_t i = 0; i < rank; ++i) dims += "1, ";
    return ParseRelay("f", kVersion + "def @main(%x: Tensor[(" + dims + "), int8]) { %x }");
  };
  CHECK(with_rank(255).ok());
  const Status s = with_rank(100'000).status();
  CHECK(s.code() == StatusCode::kUnsupported);
  CHECK(s.message().find("f:2:21: a tensor has at most 255 dimensions") == 0);
}

TEST_CASE("long lists are looked through once") {
  std::string params, types, attrs;
  for (int i = 0; i < 50'000; ++i) {
    params += fmt::format("%p{}: int8, ", i);
    types += fmt::format("T{}, ", i);
    attrs += fmt::format("a{}=1, ", i);
  }
  const auto error = [](const std::string& text) {
    return ParseRelay("f", kVersion + text).status().message();
  };
  CHECK(error("def @main(" + params + "%p0: int8) { 1 }").find("parameter %p0 is declared twice") !=
        std::string::npos);
  CHECK(error("def @main[" + types + "T0]() { 1 }").find("type parameter T0 is declared twice") !=
        std::string::npos);
  CHECK(error("def @main() { exp(1f, " + attrs + "a0=1) }").find("attribute a0 is given twice") !=
        std::string::npos);
}

TEST_CASE("a long name with many prefixes that are no names") {
  std::string text = kVersion + "def @main(%x: int32) { %x" + Repeat(".0", 50000) + " }";
  CHECK(ParseRelay("f", text).ok());  // at once, not in quadratic time
}

const char* const kSample = R"(#[version = "0.0.5"]
type List[A] {
  Cons(A, List[A]),
  Nil,
}
def @map[A, B](%f: fn (A) -> B, %xs: List[A]) -> List[B] {
  match (%xs) {
    Cons(%x: A, %rest.0: List[A]) => { %0 = %f(%x); Cons(%0, @map(%f, %rest.0)) },
    Nil => { Nil },
  }
}
def @main(%data: Tensor[(meta[tir.SizeVar][0], 3), float32], %c: bool) {
  let %r: ref(int32) = ref(1i64); /* comment */
  %1 = cumsum(%data, meta[relay.attrs.ScanopAttrs][0]); // comment
  ref_write(%r, -2);
  %2 = (%1, meta[relay.Constant][0]).0;
  if (%c) { reshape(%2, newshape=[-1], allowzero=False) } else { %2 * 1.5e-3f + sum(%1, axis=[0]) }
}
#[metadata]
{"root": 1, "nodes": [{"type_key": ""},
  {"type_key": "Map", "keys": ["relay.Constant", "relay.attrs.ScanopAttrs", "tir.SizeVar"], "data": [2, 3, 4]},
  {"type_key": "Array", "data": [5]}, {"type_key": "Array", "data": [6]}, {"type_key": "Array", "data": [7]},
  {"type_key": "relay.Constant", "attrs": {"data": "0"}},
  {"type_key": "relay.attrs.ScanopAttrs", "attrs": {"axis": "8", "dtype": "", "exclusive": "9"}},
  {"type_key": "tir.SizeVar", "attrs": {"dtype": "int32", "name": "10"}},
  {"type_key": "IntImm", "attrs": {"dtype": "int32", "value": "0"}},
  {"type_key": "IntImm", "attrs": {"dtype": "bool", "value": "1"}},
  {"type_key": "runtime.String", "repr_str": "n"}],
 "b64ndarrays": ["P6G0lvBAXt0AAAAAAAAAAAEAAAAAAAAAAQAAAAIgAQADAAAAAAAAAAwAAAAAAAAAAACAPwAAAEAAAEBA"]}
)";

TEST_CASE("damaged programs give an error or a module that prints and reads back") {
  const std::string sample = kSample;
  REQUIRE(ParseRelay("f", sample).ok());
  auto check = [](const std::string& text) {
    auto m = ParseRelay("f", text);
    if (!m.ok()) return !m.status().message().empty();
    std::string printed = ir::PrintModule(*m);
    auto again = ParseRelay("printed", printed);
    return again.ok() && ir::PrintModule(*again) == printed;
  };
  uint32_t random = 1;
  for (size_t i = 0; i < sample.size(); i += 5) {
    CAPTURE(i);
    REQUIRE(check(sample.substr(0, i)));
    REQUIRE(check(sample.substr(i)));
    for (int k = 0; k < 4; ++k) {
      random = random * 1664525 + 1013904223;
      std::string changed = sample;
      changed[i] =
          k < 2 ? static_cast<char>(random >> 24) : "(){}[]%@.,;:=\"/*-0a_?#<"[(random >> 16) % 23];
      REQUIRE(check(changed));
      changed = sample;
      changed.erase(i, 1 + (random >> 20) % 8);
      REQUIRE(check(changed));
    }
  }
}

}  // namespace
}  // namespace relayvm::frontend
