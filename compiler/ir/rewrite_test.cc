#include "compiler/ir/rewrite.h"

#include "compiler/transforms/testing.h"

namespace relayvm::ir {
namespace {

TEST_CASE("a rewrite that changes nothing gives the same nodes") {
  Module m = Typed("def @main(%x: int32) { if (less(%x, 1)) { add(%x, 1) } else { %x } }");
  Module same =
      RewriteModule(m, [](const Binding& b, std::vector<Binding>& out) { out.push_back(b); });
  CHECK(same.functions.at("main") == m.functions.at("main"));
}

TEST_CASE("bindings can be dropped and added, in nested blocks too") {
  Module m = Typed("def @main(%x: int32) { if (less(%x, 1)) { add(%x, 1) } else { %x } }");
  Module twice = RewriteModule(m, [&](const Binding& b, std::vector<Binding>& out) {
    if (b.value->As<OpCall>() != nullptr) {
      out.push_back({MakeVar(m, "", b.var->type, Span{}), b.value});
    }
    out.push_back(b);
  });
  CHECK(Outline(twice) == "less less if{add add}{}");
}

}  // namespace
}  // namespace relayvm::ir
