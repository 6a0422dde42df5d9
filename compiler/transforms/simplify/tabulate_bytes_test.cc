#include "compiler/transforms/simplify/tabulate_bytes.h"

#include "compiler/ir/verify.h"
#include "compiler/transforms/simplify/dead_code.h"
#include "compiler/transforms/simplify/fold_constants.h"
#include "compiler/transforms/testing.h"

namespace relayvm::ir {
namespace {

// What the program does for each byte: what is done for all 256 of them is constant.
std::string Tabulated(const std::string& body, const std::string& type = "int8") {
  const Module m = FoldConstants(Typed("def @main(%x: Tensor[(?, 4), " + type +
                                       "], %y: Tensor[(?, 4), int8], %c: bool) { " + body + " }"));
  const Module out = EliminateDeadCode(FoldConstants(TabulateBytes(m)));
  const Status sound = VerifyModule(out, {.typed = true});
  CHECK_MESSAGE(sound.ok(), sound.message());
  return Outline(out);
}

const std::string kSigmoid =
    "cast(clip(round(multiply(sigmoid(multiply(cast(%x, dtype=\"float32\"), 0.1f)), 255f)), "
    "a_min=0, a_max=255), dtype=\"uint8\")";

TEST_CASE("a chain from bytes to bytes is a table") {
  CHECK(Tabulated(kSigmoid) == "contrib_byte_table");
  CHECK(Tabulated(kSigmoid, "uint8") == "contrib_byte_table");
  // The bytes may be read more than once, and numbers have any rank.
  CHECK(Tabulated("let %f = cast(%x, dtype=\"float32\"); cast(multiply(%f, tanh(add(%f, full(1f, "
                  "shape=[1, 1], dtype=\"float32\")))), dtype=\"int8\")") == "contrib_byte_table");
  // A table that the program has.
  CHECK(Tabulated("let %t = cast(arange(0f, 256f, 1f, dtype=\"float32\"), dtype=\"uint8\"); "
                  "cast(subtract(take(%t, add(cast(%x, dtype=\"int32\"), 128), axis=0), 3u8), "
                  "dtype=\"int8\")") == "contrib_byte_table");
}

TEST_CASE("what is short, or of something else too, or no byte, stays") {
  CHECK(Tabulated("add(%x, 1i8)") == "add");
  CHECK(Tabulated("cast(tanh(add(cast(%x, dtype=\"float32\"), cast(%y, dtype=\"float32\"))), "
                  "dtype=\"int8\")")
            .find("contrib_byte_table") == std::string::npos);
  CHECK(Tabulated("tanh(cast(%x, dtype=\"float32\"))") == "cast tanh");
  CHECK(Tabulated("cast(tanh(cast(%x, dtype=\"float32\")), dtype=\"int8\")", "int16") ==
        "cast tanh cast");
}

TEST_CASE("steps that something else uses stay, and do not count") {
  // All that the table would save is the last cast.
  CHECK(Tabulated("let %t = tanh(cast(%x, dtype=\"float32\")); (%t, cast(%t, dtype=\"int8\"))") ==
        "cast tanh cast tuple");
  CHECK(Tabulated("let %f = cast(%x, dtype=\"float32\"); (%f, cast(tanh(%f), dtype=\"int8\"))") ==
        "cast contrib_byte_table tuple");
}

TEST_CASE("chains one behind the other are one; in branches too") {
  CHECK(Tabulated("let %a = " + kSigmoid +
                  "; cast(exp(cast(%a, dtype=\"float32\")), dtype=\"int8\")") ==
        "contrib_byte_table");
  CHECK(Tabulated("let %a = " + kSigmoid +
                  "; (%a, cast(exp(cast(%a, dtype=\"float32\")), dtype=\"int8\"))") ==
        "contrib_byte_table contrib_byte_table tuple");
  CHECK(Tabulated("if (%c) { " + kSigmoid + " } else { cast(%x, dtype=\"uint8\") }") ==
        "if{contrib_byte_table}{cast}");
}

TEST_CASE("a step is computed of all bytes once, however many tables there are") {
  std::string body = "let %a0 = cast(tanh(cast(%x, dtype=\"float32\")), dtype=\"int8\"); ";
  std::string results = "(";
  constexpr int kTables = 40;
  for (int i = 1; i <= kTables; ++i) {
    body += "let %a" + std::to_string(i) + " = cast(tanh(cast(%a" + std::to_string(i - 1) +
            ", dtype=\"float32\")), dtype=\"int8\"); ";
    results += "%a" + std::to_string(i) + ", ";
  }
  const Module m = Typed("def @main(%x: Tensor[(?, 4), int8]) { " + body + results + ") }");
  const Module out = TabulateBytes(m);
  // What was there, three steps of all bytes and a table for each.
  CHECK(out.functions.at("main")->body->bindings.size() <= 6 * (kTables + 1) + 2);
}

}  // namespace
}  // namespace relayvm::ir
