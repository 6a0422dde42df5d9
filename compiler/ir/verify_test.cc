#include "compiler/ir/verify.h"

#include <doctest/doctest.h>

#include <functional>
#include <string>

#include "compiler/transforms/testing.h"

namespace relayvm::ir {
namespace {

const char* const kProgram = R"(
type List[A] { Cons(A, List[A]), Nil }
def @length[A](%l: List[A]) -> int32 {
  match (%l) { Cons(_, %rest) => add(1, @length(%rest)), Nil => 0 }
}
def @main(%x: Tensor[(?, 4), float32], %flag: bool) {
  let %pair = (nn.relu(%x), %flag);
  let %down = fn (%n: int32) -> int32 { if (less(%n, 1)) { 0 } else { %down(subtract(%n, 1)) } };
  if (%pair.1) { concatenate((%pair.0, %x), axis=0) } else { add(%x, cast(@length(Cons(%flag, Nil)), dtype="float32")) }
})";

// A copy of the module whose @main has the body that `change` makes of its own.
Module WithMain(const Module& m, const std::function<void(Block&)>& change) {
  Module copy = m;
  Function main = *m.functions.at("main");
  Block body = *main.body;
  change(body);
  main.body = m.arena->New<Block>(std::move(body));
  copy.functions["main"] = m.arena->New<Function>(std::move(main));
  return copy;
}

TEST_CASE("what the frontend and type inference make is sound") {
  Module parsed = Parsed(kProgram);
  CHECK(VerifyModule(parsed, {}).ok());
  Status untyped = VerifyModule(parsed, {.typed = true});
  REQUIRE_FALSE(untyped.ok());
  CHECK(untyped.code() == StatusCode::kInternal);
  Module typed = Retyped(parsed);
  CHECK(VerifyModule(typed, {.typed = true}).ok());
  Status literal = VerifyModule(typed, {.typed = true, .lifted = true});
  REQUIRE_FALSE(literal.ok());
  CHECK(literal.message().find("function literal") != std::string::npos);
}

TEST_CASE("each defect is named, with its place") {
  Module m = Typed(kProgram);
  auto bind = [&](Block& b, auto node, Type type) {
    const Var* var = MakeVar(m, "new", std::move(type), {});
    b.bindings.push_back({var, MakeExpr(m, std::move(node), {})});
    return var;
  };
  const Function& main = *m.functions.at("main");
  const Var* x = main.params[0];
  const Var* flag = main.params[1];
  struct Case {
    const char* message;
    std::function<void(Block&)> change;
  };
  const Var* stranger = MakeVar(m, "stranger", MakeScalarType(DType::kInt32), {});
  const GlobalVar* nobody = m.arena->New<GlobalVar>(GlobalVar{"nobody"});
  const GlobalVar* length = m.arena->New<GlobalVar>(GlobalVar{"length"});
  Dim unknown = Dim::Symbol(m.ids->Next(), "q");
  Case cases[] = {
      {"%stranger (number", [&](Block& b) { b.result = Atom(stranger); }},
      {"is bound twice", [&](Block& b) { b.bindings.push_back(b.bindings.back()); }},
      {"there is no function @nobody",
       [&](Block& b) {
         bind(b, CallExpr{Atom(nobody), {}, {}}, UnitType());
       }},
      {"a call: 2 operands for 1 parameters",
       [&](Block& b) {
         bind(b, CallExpr{Atom(length), {Atom(x), Atom(x)}, {}}, MakeScalarType(DType::kInt32));
       }},
      {"an argument has the type bool",
       [&](Block& b) {
         bind(b, CallExpr{Atom(length), {Atom(flag)}, {}}, MakeScalarType(DType::kInt32));
       }},
      {"add: 1 operands for 2 parameters",
       [&](Block& b) {
         bind(b, OpCall{OpTable::Get().Find("add"), {Atom(x)}, {}}, x->type);
       }},
      {"field 2 of a (",
       [&](Block& b) {
         Type pair = MakeType(TupleType{{x->type, flag->type}});
         const Var* tuple = bind(b, MakeTuple{{Atom(x), Atom(flag)}}, pair);
         bind(b, TupleGet{Atom(tuple), 2}, x->type);
       }},
      {"the value has the type bool",
       [&](Block& b) { bind(b, AtomExpr{Atom(flag)}, MakeScalarType(DType::kInt32)); }},
      {"has no type", [&](Block& b) { bind(b, AtomExpr{Atom(flag)}, nullptr); }},
      {"no variable gives the symbol q",
       [&](Block& b) {
         bind(b, ShapeValue{{unknown + Dim(1)}}, MakeTensorType({Dim(1)}, DType::kInt64));
       }},
      {"no variable gives the symbol q",
       [&](Block& b) {
         bind(b, Guard{Guard::Kind::kEqual, unknown, Dim(1), "equal"}, UnitType());
       }},
      {"an operand is missing",
       [&](Block& b) { b.result = Atom(static_cast<const Var*>(nullptr)); }},
      {"the function's result has the type bool", [&](Block& b) { b.result = Atom(flag); }},
  };
  for (const Case& c : cases) {
    CAPTURE(c.message);
    Status status = VerifyModule(WithMain(m, c.change), {.typed = true});
    REQUIRE_FALSE(status.ok());
    CHECK(status.code() == StatusCode::kInternal);
    CHECK(status.message().find("@main") != std::string::npos);
    CHECK_MESSAGE(status.message().find(c.message) != std::string::npos, status.message());
  }
}

}  // namespace
}  // namespace relayvm::ir
