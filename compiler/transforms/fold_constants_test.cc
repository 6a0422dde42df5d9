#include "compiler/transforms/fold_constants.h"

#include <cstring>

#include "compiler/transforms/dead_code.h"
#include "compiler/transforms/testing.h"

namespace relayvm::ir {
namespace {

std::string Folded(const std::string& body) {
  return Outline(EliminateDeadCode(
      FoldConstants(Typed("def @main(%x: Tensor[(4), float32]) { " + body + " }"))));
}

TEST_CASE("operators on constants are evaluated, through tuples and branches") {
  CHECK(Folded("add(%x, multiply(2f, 3f))") == "add");
  CHECK(Folded("add(%x, exp(negative(1f)))") == "add");
  CHECK(Folded("let %t = (1f, 2f); add(%x, %t.1)") == "add");
  CHECK(Folded("add(%x, concatenate((zeros(shape=[2], dtype=\"float32\"), ones(shape=[2], "
               "dtype=\"float32\")), axis=0))") == "add");
  CHECK(Folded("if (less(1, 2)) { add(%x, 1f) } else { multiply(%x, 2f) }") == "add =");
}

TEST_CASE("the value is right") {
  Module m = FoldConstants(Typed("def @main() { add(multiply(2f, 3f), 0.5f) }"));
  const auto* c = std::get_if<const Constant*>(&m.functions.at("main")->body->result);
  REQUIRE(c != nullptr);
  float value = 0;
  std::memcpy(&value, (*c)->value.data.data(), sizeof value);
  CHECK(value == 6.5F);
}

TEST_CASE("large constants are not made out of nothing") {
  CHECK(Folded("zeros(shape=[100000], dtype=\"float32\")") == "zeros");
}

}  // namespace
}  // namespace relayvm::ir
