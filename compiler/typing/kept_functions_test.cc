// Retyping what a pass changed, and that alone.
#include "compiler/typing/kept_functions.h"

#include "compiler/ir/verify.h"
#include "compiler/typing/testing.h"

namespace relayvm::typing {
namespace {

constexpr const char* kProgram = R"(
def @twice(%x: Tensor[(?), float32]) { concatenate((%x, %x)) }
def @outer(%x: Tensor[(?), float32]) { nn.relu(@twice(%x)) }
def @other(%x: Tensor[(?), float32]) {
  let %y = concatenate((%x, %x));
  add(%y, dyn.reshape(%x, shape_of(%y, dtype="int64"), newshape=[]))
}
def @main(%x: Tensor[(?), float32]) { (@outer(%x), @other(%x)) }
)";

// `m` with what `fn` makes of the function.
ir::Module With(ir::Module m, const std::string& name,
                const std::function<void(ir::Function&)>& fn) {
  ir::Function f = *m.functions.at(name);
  fn(f);
  m.functions[name] = m.arena->New<ir::Function>(std::move(f));
  return m;
}

ir::Module Again(const ir::Module& m) {
  auto typed = Retype(m);
  REQUIRE_MESSAGE(typed.ok(), typed.status().message());
  Status sound = ir::VerifyModule(*typed, {.typed = true});
  REQUIRE_MESSAGE(sound.ok(), sound.message());
  return *std::move(typed);
}

std::string Changed(const ir::Module& before, const ir::Module& after) {
  std::string names;
  for (const auto& [name, f] : after.functions) {
    auto at = before.functions.find(name);
    if (at == before.functions.end() || at->second != f) names += name + " ";
  }
  return names;
}

TEST_CASE("what no pass changed stays as it is") {
  ir::Module m = MustType(kProgram);
  CHECK(Changed(m, Again(m)).empty());
}

TEST_CASE("a function that changes is typed again, and its callers when its type changes") {
  ir::Module m = MustType(kProgram);
  // The same body in new nodes.
  ir::Module same =
      With(m, "twice", [&](ir::Function& f) { f.body = m.arena->New<ir::Block>(*f.body); });
  ir::Module out = Again(same);
  CHECK(Changed(m, out) == "twice ");
  CHECK(Signature(out, "twice") == Signature(m, "twice"));
  CHECK(out.symbols.size() == m.symbols.size());
  // A body that gives the parameter.
  ir::Module shorter = With(m, "twice", [&](ir::Function& f) {
    f.body = m.arena->New<ir::Block>(ir::Block{{}, f.params[0]});
    f.result_type = nullptr;
  });
  out = Again(shorter);
  CHECK(Changed(m, out) == "main outer twice ");
  CHECK(Signature(out, "twice") == "fn (Tensor[(x.0), float32]) -> Tensor[(x.0), float32]");
  CHECK(Signature(out, "outer") == "fn (Tensor[(x.0), float32]) -> Tensor[(x.0), float32]");
}

TEST_CASE("a symbol of a function that stays is not taken by another") {
  ir::Module m = MustType(kProgram);
  // A new function with the old one's nodes but for the parameters: its types mention the symbols
  // of @other, whose name comes first.
  const ir::Function& other = *m.functions.at("other");
  ir::Module more = With(m, "main", [&](ir::Function& f) {
    ir::Block body = *f.body;
    const ir::Var* copy = ir::MakeVar(m, "a", other.params[0]->type, {});
    auto* closure = m.arena->New<ir::Function>(ir::Function{
        "", {}, {copy}, nullptr, m.arena->New<ir::Block>(ir::Block{{}, copy}), {}, {}});
    const ir::Var* unused = ir::MakeVar(m, "unused", nullptr, {});
    body.bindings.insert(body.bindings.begin(),
                         {unused, ir::MakeExpr(m, ir::FunctionExpr{closure}, {})});
    f.body = m.arena->New<ir::Block>(std::move(body));
  });
  ir::Module out = Again(more);
  CHECK(Changed(m, out) == "main ");
  const Dim& taken = FindVar(out, "a")->type->As<TensorType>()->shape[0];
  const Dim& owned = other.params[0]->type->As<TensorType>()->shape[0];
  REQUIRE(taken.is_symbol());
  CHECK(taken.symbol_id() != owned.symbol_id());
}

TEST_CASE("functions that are gone leave nothing behind") {
  ir::Module m = MustType(kProgram);
  ir::Module less = With(m, "main", [&](ir::Function& f) {
    f.body = m.arena->New<ir::Block>(ir::Block{{}, f.params[0]});
    f.result_type = nullptr;
  });
  for (const char* name : {"outer", "other", "twice"}) less.functions.erase(name);
  ir::Module out = Again(less);
  CHECK(Signature(out) == "fn (Tensor[(x.0), float32]) -> Tensor[(x.0), float32]");
  CHECK(out.symbols.empty());
  CHECK(out.contents.empty());
}

}  // namespace
}  // namespace relayvm::typing
