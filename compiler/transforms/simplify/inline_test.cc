#include "compiler/transforms/simplify/inline.h"

#include <fmt/format.h>

#include "compiler/transforms/testing.h"

namespace relayvm::ir {
namespace {

TEST_CASE("small functions are copied to their calls, callees first") {
  Module m = Inline(Parsed(R"(
def @square(%x: int32) -> int32 { multiply(%x, %x) }
def @fourth(%x: int32) -> int32 { @square(@square(%x)) }
def @main(%x: int32) -> int32 { add(@fourth(%x), @square(%x)) }
)"));
  CHECK(Outline(m).find("call") == std::string::npos);
  Module typed = Retyped(m);
  CHECK(TypeToString(typed.functions.at("main")->result_type) == "int32");
}

TEST_CASE("how large a function may be that is copied to its calls") {
  std::string sum = "%x";
  for (int i = 0; i < 60; ++i) sum = "add(" + sum + ", 1)";
  const Module m = Parsed("def @long(%x: int32) -> int32 { " + sum +
                          " }\ndef @main(%x: int32) -> int32 { add(@long(%x), @long(2)) }\n");
  CHECK(Outline(Inline(m)).find("call long") != std::string::npos);
  CHECK(Outline(Inline(m, 100)).find("call") == std::string::npos);
}

TEST_CASE("recursive functions stay calls") {
  Module m = Inline(Parsed(R"(
def @even(%n: int32) -> bool { if (equal(%n, 0)) { True } else { @odd(subtract(%n, 1)) } }
def @odd(%n: int32) -> bool { if (equal(%n, 0)) { False } else { @even(subtract(%n, 1)) } }
def @main(%n: int32) -> bool { @even(%n) }
)"));
  CHECK(Outline(m) == "call even");
}

TEST_CASE("each copy has shapes of its own") {
  Module m = Retyped(Inline(Parsed(R"(
def @double(%x: Tensor[(?), float32]) -> Tensor[(?), float32] { concatenate((%x, %x), axis=0) }
def @main(%x: Tensor[(3), float32], %y: Tensor[(5), float32]) { (@double(%x), @double(%y)) }
)")));
  CHECK(TypeToString(m.functions.at("main")->result_type) ==
        "(Tensor[(6), float32], Tensor[(10), float32])");
}

TEST_CASE("generic functions can be inlined at several types") {
  Module m = Retyped(Inline(Parsed(R"(
def @pair[A](%x: A) -> (A, A) { (%x, %x) }
def @main(%x: int32, %y: float32) { (@pair(%x), @pair(%y)) }
)")));
  CHECK(TypeToString(m.functions.at("main")->result_type) ==
        "((int32, int32), (float32, float32))");
}

TEST_CASE("types that grow with each function that is inlined share their parts") {
  std::string text;
  for (int i = 0; i < 40; ++i)
    text += fmt::format("def @f{}[A](%a: A) {{ @f{}((%a, %a)) }}\n", i, i + 1);
  const Module m = Retyped(Inline(Parsed(text + R"(
def @f40[A](%a: A) { 1f }
def @main(%x: Tensor[(?), float32]) { @f0(%x) }
)")));
  CHECK(TypeToString(m.functions.at("main")->result_type) == "float32");
}

TEST_CASE("a local literal that is called is inlined; one that is a value too is not") {
  CHECK(Outline(Inline(Parsed(R"(
def @main(%x: int32) -> int32 { let %f = fn (%a: int32) -> int32 { add(%a, %x) }; %f(1) })")))
            .find("call") == std::string::npos);
  CHECK(Outline(Inline(Parsed(R"(
def @main(%x: int32) { let %f = fn (%a: int32) -> int32 { add(%a, %x) }; (%f, %f(1)) })")))
            .find("call") != std::string::npos);
}

}  // namespace
}  // namespace relayvm::ir
