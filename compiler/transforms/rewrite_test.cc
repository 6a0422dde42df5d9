#include "compiler/transforms/rewrite.h"

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

TEST_CASE(
    "a symbol belongs to the first variable that has it as a dim, or to the tensor it is an "
    "element of") {
  Module m = Typed(
      "def @main(%x: Tensor[(?), float32], %n: int64) { dyn.zeros(stack((%n,), axis=0), "
      "shape=None, dtype=\"float32\") }");
  SymbolOwners owners(m);
  const Function& main = *m.functions.at("main");
  owners.AddFunction(main);
  const auto& shape = main.params[0]->type->As<TensorType>()->shape;
  CHECK(owners.Find(shape[0].symbol_id()) == main.params[0]);
  for (const auto& [id, element] : m.symbols) CHECK(owners.Find(id) == element.var);
}

}  // namespace
}  // namespace relayvm::ir
