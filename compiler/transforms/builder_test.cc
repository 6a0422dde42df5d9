#include "compiler/transforms/builder.h"

#include <fmt/format.h>

#include "compiler/ir/copy.h"
#include "compiler/ir/rewrite.h"
#include "compiler/transforms/testing.h"

namespace relayvm::ir {
namespace {

// "AT_LEAST x.1 + -3 0 nn.conv1d: ..." of each guard, one a line; "kept " before those that are.
std::string Guards(const Module& m) {
  std::string out;
  for (const auto& [name, f] : m.functions) {
    ForEachBinding(*f->body, [&](const Binding& b) {
      const auto* g = b.value->As<Guard>();
      if (g == nullptr) return;
      out += fmt::format("{}{}: {}, {}\n", g->is_kept ? "kept " : "", g->message,
                         g->left.ToString(), g->right.ToString());
    });
  }
  return out;
}

// Each nn.dense and nn.conv1d is an exp of its data.
Module Replaced(const Module& m) {
  return RewriteModule(m, [&](const Binding& b, std::vector<Binding>& out) {
    const auto* call = b.value->As<OpCall>();
    if (call == nullptr || call->op->name == "exp") {
      out.push_back(b);
      return;
    }
    KeepGuards(m, *call, b.value->span, out);
    BindingBuilder(m, b.value->span, out).BindCall(b.var, "exp", {call->args[0]});
  });
}

TEST_CASE("guards of a call outlive it") {
  const Module m = Retyped(Replaced(Typed(
      "def @main(%x: Tensor[(1, 2, ?), float32], %w: Tensor[(2, 2, 3), float32]) { nn.conv1d(%x, "
      "%w) }")));
  CHECK(Outline(m) == "guard exp");
  const std::string guard = "kept nn.conv1d: the output's extent: x.2 - 2, 0\n";
  CHECK(Guards(m) == guard);
  CHECK(Guards(Retyped(m)) == guard);
}

TEST_CASE("a guard that is kept goes with the code that is copied, and where it is proved") {
  const Module m = Retyped(
      Replaced(Typed("def @main(%x: Tensor[(?, ?), float32], %w: Tensor[(4, 3), float32]) {\n"
                     "  nn.dense(exp(%x), %w)\n}")));
  REQUIRE(Outline(m) == "exp guard exp");
  CHECK(Guards(m) == "kept nn.dense: the reduced dimensions of data and weight: x.1, 3\n");
  // Called with 3 columns.
  Module copied = Typed("def @main(%y: Tensor[(?, 3), float32]) { exp(%y) }");
  const Function& f = *m.functions.at("main");
  const auto copy = [&](const Module& into, const Var* y) {
    Module out = into;
    out.symbols.insert(m.symbols.begin(), m.symbols.end());
    AtomMap map = {{f.params[0]->id, Atom(y)}};
    out.functions["main"] =
        WithBody(into, *into.functions.at("main"), CopyBlock(m, *f.body, map, {}, out.symbols));
    return Retyped(out);
  };
  const Function& three = *copied.functions.at("main");
  CHECK(Outline(copy(copied, three.params[0])) == "exp exp");
  copied = Typed("def @main(%y: Tensor[(?, ?), float32]) { exp(%y) }");
  const Module open = copy(copied, copied.functions.at("main")->params[0]);
  CHECK(Outline(open) == "exp guard exp");
  CHECK(Guards(open) == "kept nn.dense: the reduced dimensions of data and weight: y.1, 3\n");
}

}  // namespace
}  // namespace relayvm::ir
