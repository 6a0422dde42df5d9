// What the reader takes, by what the printer then shows. Errors: parser_error_test.cc; evaluation
// order: compiler/ir/to_anf_test.cc.
#include "compiler/frontend/parser.h"

#include <doctest/doctest.h>

#include "compiler/ir/printer.h"
#include "compiler/testing.h"

namespace relayvm::frontend {
namespace {

const std::string kVersion = "#[version = \"0.0.5\"]\n";

ir::Module Parse(const std::string& text) {
  auto m = ParseRelay("test", text);
  if (!m.ok()) FAIL(m.status().message());
  return *std::move(m);
}

std::string PeopleText(const ir::Module& m) {
  std::string text = ir::PrintModule(m, ir::PrintOptions{true});
  return text.substr(kVersion.size());
}

// What `text` as the body of @main(%x: int32, %t: (int32, (int32, int32))) prints as.
std::string Body(const std::string& text) {
  auto m = ParseRelay("test", kVersion +
                                  "type L[A] { Cons(A, L[A]), Nil, }\n"
                                  "def @f(%x: int32) -> int32 { %x }\n"
                                  "def @main(%x: int32, %t: (int32, (int32, int32))) {" +
                                  text + "}");
  if (!m.ok()) return m.status().message();
  std::string out = ir::PrintFunction(*m, *m->functions.at("main"));
  out = out.substr(out.find("{\n") + 4);
  return out.substr(0, out.rfind("\n}"));
}

TEST_CASE("values") {
  const struct {
    const char* text;
    const char* printed;
  } kCases[] = {
      {"5", "5"},
      {"-5", "-5"},
      {"--5", "5"},
      {"2147483648", "2147483648i64"},
      {"-2147483648", "-2147483648"},
      {"-9223372036854775808i64", "-9223372036854775808i64"},
      {"5i16", "5i16"},
      {"1.5", "1.5f"},
      {"0.1f", "0.1f"},
      {"16777217f", "16777216f"},
      {"0.1f64", "0.1f64"},
      {"1e-60f", "0f"},
      {"-inff", "-inff"},
      {"True", "True"},
      {"%x", "%x"},
      {"%x.0", "%x.0"},
      {"%t.1.0", "let %_1 = %t.1;\n  %_1.0"},
      {"(%t).0", "%t.0"},
      {"()", "()"},
      {"(%x)", "%x"},
      {"(%x,)", "(%x,)"},
      {"(%x, 1,)", "(%x, 1)"},
      {"(%x, 1).0", "let %_1 = (%x, 1);\n  %_1.0"},
      {"@f(%x)", "@f(%x)"},
      {"@f", "@f"},
      {"Cons(%x, Nil)", "let %_1 = Nil;\n  Cons(%x, %_1)"},
      {"Nil()", "Nil"},
      {"ref(%x)", "ref(%x)"},
      {"{ %x }", "%x"},
      {"fn (%y: int32, Primitive=1, tag=\"a\") -> int32 { %y }(%x)",
       "let %_1 = fn (%y: int32, Primitive=1, tag=\"a\") -> int32 {\n    %y\n  };\n  %_1(%x)"},
      {"if (True) { 1 } else if (False) { 2 } else { 3 }",
       "if (True) {\n    1\n  } else {\n    if (False) {\n      2\n    } else {\n      3\n    }\n  "
       "}"},
      {"match? (%t) { (_, (%a, %b: int32)) => %a, }",
       "match? (%t) {\n    (_, (%a, %b: int32)) => {\n      %a\n    },\n  }"},
      {"let %y = match (%x) { %z => { %z } }; %y",
       "let %y = (match (%x) {\n    %z => {\n      %z\n    },\n  });\n  %y"},
      {"let %y: Tensor[(?, 2), float32] = zeros(shape=[2, 2], dtype=\"float32\"); %y",
       "let %y: Tensor[(?, 2), float32] = zeros(shape=[2, 2], dtype=\"float32\");\n  %y"},
  };
  for (const auto& c : kCases) {
    CAPTURE(c.text);
    CHECK(Body(c.text) == c.printed);
  }
}

TEST_CASE("infix operators") {
  const struct {
    const char* text;
    const char* printed;
  } kCases[] = {
      {"%x + 1 * 2", "let %_1 = multiply(1, 2);\n  add(%x, %_1)"},
      {"%x - 1 - 2", "let %_1 = subtract(%x, 1);\n  subtract(%_1, 2)"},
      {"%x-1", "subtract(%x, 1)"},
      {"%x -1", "subtract(%x, 1)"},
      {"%x / 2 == 1", "let %_1 = divide(%x, 2);\n  equal(%_1, 1)"},
      {"%x < 1 != True", "let %_1 = less(%x, 1);\n  not_equal(%_1, True)"},
      {"(%x + 1) >= 2", "let %_1 = add(%x, 1);\n  greater_equal(%_1, 2)"},
      {"@f(%x) + @f(1)", "let %_1 = @f(%x);\n  let %_2 = @f(1);\n  add(%_1, %_2)"},
      {"1+1", "add(1, 1)"},
      {"1 - -1", "subtract(1, -1)"},
  };
  for (const auto& c : kCases) {
    CAPTURE(c.text);
    CHECK(Body(c.text) == c.printed);
  }
}

TEST_CASE("attributes") {
  const struct {
    const char* text;
    const char* printed;
  } kCases[] = {
      {"reshape(%x, newshape=[1, -1])", "reshape(%x, newshape=[1, -1])"},
      {"reshape(%x, newshape=[1, 2 3,])", "reshape(%x, newshape=[1, 2, 3])"},
      {"clip(%x, a_min=-inff, a_max=6f)", "clip(%x, a_min=-inff, a_max=6f)"},
      {"nn.leaky_relu(%x, alpha=1e-05f)", "nn.leaky_relu(%x, alpha=1e-05f)"},
      {"sum(%x, axis=[0], keepdims=True)", "sum(%x, axis=[0], keepdims=True)"},
      {"sum(%x, keepdims=1 axis=[0])", "sum(%x, axis=[0], keepdims=True)"},
      {"cast(%x, dtype=\"int64\")", "cast(%x, dtype=\"int64\")"},
      {"nn.dense(%x, %x, units=None)", "nn.dense(%x, %x)"},
      {"cumsum(%x, axis=(1), attrs_type_key=\"relay.attrs.ScanopAttrs\")", "cumsum(%x, axis=1)"},
      {"zeros(shape=[?, 2], dtype=\"int32\")", "zeros(shape=[?, 2], dtype=\"int32\")"},
      {"arange(0, %x, 1, start=%x, stop=add(%x, 1), step=@f, dtype=\"int32\")",
       "arange(0, %x, 1, dtype=\"int32\")"},
  };
  for (const auto& c : kCases) {
    CAPTURE(c.text);
    CHECK(Body(c.text) == c.printed);
  }
}

TEST_CASE("names of other systems") {
  const struct {
    const char* what;
    const char* text;
    const char* printed;
  } kCases[] = {
      {"the longest name in scope wins, the rest is projection",
       "let %a.b = %t; let %a = %x; add(%a.b.0, %a)",
       "let %\"a.b\" = %t;\n  let %a = %x;\n  let %_1 = %\"a.b\".0;\n  add(%_1, %a)"},
      {"projection where the name is not bound", "let %a = %t; let %a.1 = %a.1; (%a.0, %a.1)",
       "let %a = %t;\n  let %\"a.1\" = (%a).1;\n  let %_1 = (%a).0;\n  (%_1, %\"a.1\")"},
      {"colons", "let %aten::relu_0.1: int32 = %x; %aten::relu_0.1",
       "let %\"aten::relu_0.1\": int32 = %x;\n  %\"aten::relu_0.1\""},
      {"a number after a colon", "let %x:0 = 1; %x:0", "let %\"x:0\" = 1;\n  %\"x:0\""},
      {"a type after a colon, without a space", "let %y:int32 = 1; %y", "let %y: int32 = 1;\n  %y"},
      {"dashes and slashes", "let %in-put/0 = 1; add(%in-put/0, %x)",
       "let %\"in-put/0\" = 1;\n  add(%\"in-put/0\", %x)"},
      {"a dash that is a minus", "let %y = 2; %y-%x", "let %y = 2;\n  subtract(%y, %x)"},
      {"quotes", "let %\"a \\\"b\\\" \\x41\" = 1; %\"a \\\"b\\\" A\"",
       "let %\"a \\\"b\\\" A\" = 1;\n  %\"a \\\"b\\\" A\""},
      {"keywords", "let %match = 1; let %fn = %match; %fn",
       "let %match = 1;\n  let %fn = %match;\n  %fn"},
      {"temporaries have no name", "let %_7 = @f(%x); @f(%_7)", "let %_1 = @f(%x);\n  @f(%_1)"},
      {"shadowing", "let %y = 1; let %y = add(%y, 1); %y",
       "let %y = 1;\n  let %y1 = add(%y, 1);\n  %y1"},
  };
  for (const auto& c : kCases) {
    CAPTURE(c.what);
    CHECK(Body(c.text) == c.printed);
  }
}

TEST_CASE("graph variables belong to a function") {
  CHECK(PeopleText(ir::Parsed("def @f(%x: int32) { %0 = add(%x, 1); %0 } def @g(%y: int32) { "
                              "%0 = negative(%y); %0 }")) ==
        "def @f(%x: int32) {\n  add(%x, 1)\n}\n\ndef @g(%y: int32) {\n  negative(%y)\n}\n");
  // An inner function may count anew, and the outer one goes on with its own.
  CHECK(
      Body("%0 = negative(%x); %1 = fn (%y: int32) { %0 = add(%y, 1); %0 }; (%1, %0)") ==
      "let %_1 = fn (%y: int32) {\n    add(%y, 1)\n  };\n  let %_2 = negative(%x);\n  (%_1, %_2)");
}

TEST_CASE("definitions") {
  const char* kText =
      "extern type Storage\n"
      "extern type Other[A]\n"
      "def @use(%l: List[Nat[]], %s: Storage, %r: ref((int32,))) -> fn [A](A) -> List[A] { @\"a "
      "b\"(%l) }\n"
      "type List[A] { Cons(A, List[A]), Nil }\n"
      "type Nat { Zero, Succ(Nat), }\n"
      "def @\"a b\"[B](%l: List[B], %x: bfloat16, %t: Tensor[(?, 3i64), uint1]) -> _ { %l }\n";
  CHECK(PeopleText(ir::Parsed(kText)) ==
        "type List[A] {\n  Cons(A, List[A]),\n  Nil,\n}\n\n"
        "type Nat {\n  Zero,\n  Succ(Nat[]),\n}\n\n"
        "type Other[A]\n\n"
        "type Storage\n\n"
        "def @\"a b\"[B](%l: List[B], %x: bfloat16, %t: Tensor[(?, 3), bool]) -> _ {\n  %l\n}\n\n"
        "def @use(%l: List[Nat[]], %s: Storage[], %r: ref((int32,))) -> fn [A](A) -> List[A] {\n  "
        "@\"a b\"(%l)\n}\n");
}

TEST_CASE("dtypes without bits have 32") {
  auto m =
      ParseRelay("test", kVersion + "def @main(%x: int, %y: Tensor[(2), float], %z: uint) { %y }");
  REQUIRE(m.ok());
  CHECK(PeopleText(*m).find("%x: int32, %y: Tensor[(2), float32], %z: uint32") !=
        std::string::npos);
}

TEST_CASE("an expression becomes @main") {
  const struct {
    const char* text;
    const char* printed;
  } kCases[] = {
      {"1", "def @main() {\n  1\n}\n"},
      {"#[version = \"0.0.5\"] add(1, 2)", "def @main() {\n  add(1, 2)\n}\n"},
      {"free_var %x: int32; free_var %y; add(%x, %y)",
       "def @main(%x: int32, %y) {\n  add(%x, %y)\n}\n"},
      {"fn (%x: int32) { %x }", "def @main(%x: int32) {\n  %x\n}\n"},
      {"let %y = 1; %y", "def @main() {\n  let %y = 1;\n  %y\n}\n"},
  };
  for (const auto& c : kCases) {
    CAPTURE(c.text);
    CHECK(PeopleText(Parse(c.text)) == c.printed);
  }
}

TEST_CASE("constructors that TVM numbers") {
  CHECK(PeopleText(ir::Parsed("type F { 0, 1(int32), } def @main(%f: F) { %0 = 0; %1 = 1(0); "
                              "match (%f) { 0 => { %0 }, 1(%n) => { %1 }, } }")) ==
        "type F {\n  0,\n  1(int32),\n}\n\n"
        "def @main(%f: F[]) {\n  match (%f) {\n    0 => {\n      0()\n    },\n    1(%n) => {\n     "
        " 1(0)\n    },\n  }\n}\n");
}

TEST_CASE("annotations are kept, and only those written") {
  ir::Module m = ir::Parsed("def @main(%x, %y: Tensor[(?), int8]) { let %z: _ = %x; %z }");
  const ir::Function& f = *m.functions.at("main");
  CHECK(f.params[0]->type == nullptr);
  CHECK(ir::TypeToString(f.params[1]->type) == "Tensor[(?), int8]");
  CHECK(f.result_type == nullptr);
  CHECK(f.body->bindings[0].var->type->As<ir::InferVar>() != nullptr);
  CHECK(f.body->bindings[0].var->span.line == 2);
  CHECK(m.entry == "main");
}

}  // namespace
}  // namespace relayvm::frontend
