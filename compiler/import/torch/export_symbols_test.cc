#include "compiler/import/torch/export_symbols.h"

#include <doctest/doctest.h>

namespace relayvm::import::torch {
namespace {

std::string Parsed(const std::string& text) {
  const auto d = ParseSymbolic(text, [](const std::string& name) {
    return Dim::Symbol(static_cast<uint32_t>(name.back()), name);
  });
  return d.ok() ? d->ToString() : d.status().message();
}

TEST_CASE("sizes as sympy's srepr and as plain text") {
  CHECK(Parsed("Symbol('s77', positive=True, integer=True)") == "s77");
  CHECK(Parsed("Add(Mul(Integer(2), Symbol('s7', integer=True)), Integer(-1))") == "s7*2 - 1");
  CHECK(Parsed("FloorDiv(Symbol('s1'), Integer(16))") == "floordiv(s1, 16)");
  CHECK(Parsed("Max(Integer(1), Symbol('s1'))") == Parsed("Max(1, s1)"));
  CHECK(Parsed("Pow(Symbol('s1'), Integer(2))") == "s1*s1");
  CHECK(Parsed("Mod(Symbol('s1'), Integer(4))") == "floormod(s1, 4)");
  CHECK(Parsed("s0 + 1") == "s0 + 1");
  CHECK(Parsed("2*s1") == "s1*2");
  CHECK(Parsed("(s0//2)") == "floordiv(s0, 2)");
  CHECK(Parsed("TruncToInt(Mul(Float('2.0', precision=53), ToFloat(Symbol('s1'))))") == "?");
}

TEST_CASE("texts are parsed, never evaluated, and end") {
  for (const char* text : {"", "Add(", "__import__('os').system('true')", "Symbol()", "1 +",
                           "Symbol('s1'", "s1 s2", "99999999999999999999"}) {
    CAPTURE(text);
    CHECK(Parsed(text).find("expected an expression of sizes") != std::string::npos);
  }
  CHECK(Parsed(std::string(100000, '(')).find("expected") != std::string::npos);
  std::string deep = "s1";
  for (int i = 0; i < 1000; ++i) deep = "Max(" + deep + ", 1)";
  CHECK(Parsed(deep).find("expected") != std::string::npos);
  CHECK(Parsed("FloorDiv(s1, Integer(0))") == "?");
}

}  // namespace
}  // namespace relayvm::import::torch
