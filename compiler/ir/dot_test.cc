#include "compiler/ir/dot.h"

#include "compiler/transforms/testing.h"

namespace relayvm::ir {
namespace {

std::string Dot(const std::string& text) {
  const Module m = Typed(text);
  return FunctionDot(m, *m.functions.at("main"));
}

size_t Count(const std::string& text, const std::string& what) {
  size_t count = 0;
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += what.size()) ++count;
  return count;
}

TEST_CASE("a graph has a node for each value, and arrows with types from what it reads") {
  const std::string dot =
      Dot("def @main(%x: Tensor[(2, 3), float32]) { let %y = nn.relu(%x); let %z = %y; add(%z, "
          "multiply(%z, 2f)) }");
  CHECK(Count(dot, "shape=ellipse") == 2);  // %x, and the result
  for (const char* op : {"\"nn.relu\"", "\"multiply\"", "\"add\""}) CHECK(Count(dot, op) == 1);
  CHECK(Count(dot, "[label=\"Tensor[(2, 3), float32]\"]") == 5);
  CHECK(Count(dot, "label=\"2f\"") == 1);
}

TEST_CASE("blocks inside are frames, and what is quoted stays in its string") {
  const std::string dot =
      Dot("def @main(%\"a\\\"b\\\\\": Tensor[(), bool], %y: Tensor[(2), float32]) { if "
          "(%\"a\\\"b\\\\\") { "
          "exp(%y) } else { fn (%k: int32) -> int32 { %k }; tanh(%y) } }");
  CHECK(Count(dot, "subgraph") >= 2);
  CHECK(Count(dot, "{") == Count(dot, "}"));
  size_t quotes = 0;
  for (size_t i = 0; i < dot.size(); ++i) {
    if (dot[i] == '\\') {
      ++i;
    } else if (dot[i] == '"') {
      ++quotes;
    }
  }
  CHECK(quotes % 2 == 0);
  CHECK(Count(dot, "a\\\"b\\\\") == 1);
}

}  // namespace
}  // namespace relayvm::ir
