#include "compiler/ir/ir.h"

#include <doctest/doctest.h>

#include "compiler/ir/scalar.h"
#include "compiler/ir/substitute.h"
#include "compiler/ir/walk.h"

namespace relayvm::ir {
namespace {

TEST_CASE("types of atoms") {
  Module m = MakeModule();
  Type a = MakeType(TypeVar{m.ids->Next(), "A"});
  auto* cons = m.arena->New(Constructor{"Cons", "List", 0, {a, MakeType(AdtType{"List", {a}})}});
  auto* nil = m.arena->New(Constructor{"Nil", "List", 1, {}});
  m.types["List"] = TypeDef{"List", {a}, {cons, nil}, {}};
  const Var* x = MakeVar(m, "x", MakeScalarType(DType::kInt32), {});
  m.functions["f"] =
      m.arena->New(Function{"f", {}, {x}, MakeScalarType(DType::kBool), nullptr, {}, {}});

  CHECK(TypeToString(AtomType(m, x)) == "int32");
  CHECK(TypeToString(AtomType(m, MakeConstant(m, FloatScalar(DType::kFloat16, 1)))) == "float16");
  CHECK(TypeToString(
            AtomType(m, MakeConstant(m, {DType::kInt8, {2, 1}, std::vector<std::byte>(2)}))) ==
        "Tensor[(2, 1), int8]");
  CHECK(TypeToString(AtomType(m, m.arena->New(GlobalVar{"f"}))) == "fn (int32) -> bool");
  CHECK(AtomType(m, m.arena->New(GlobalVar{"g"})) == nullptr);
  CHECK(TypeToString(AtomType(m, cons)) == "fn [A](A, List[A]) -> List[A]");
  CHECK(TypeToString(AtomType(m, nil)) == "fn [A]() -> List[A]");
  CHECK(MakeVar(m, "x", nullptr, {})->id != x->id);
}

TEST_CASE("operands, nested blocks and substitution, for each kind of expression") {
  Module m = MakeModule();
  const Var* x = MakeVar(m, "x", nullptr, {});
  const Var* y = MakeVar(m, "y", nullptr, {});
  const Var* z = MakeVar(m, "z", nullptr, {});
  auto* global = m.arena->New(GlobalVar{"f"});
  auto* uses_x = m.arena->New(Block{{{z, MakeExpr(m, AtomExpr{x}, {})}}, z});
  auto* plain = m.arena->New(Block{{}, y});
  auto* function = m.arena->New(Function{"", {}, {}, nullptr, uses_x, {}, {}});
  const struct {
    const Expr* expr;
    size_t atoms, of_x, blocks;
  } kCases[] = {
      {MakeExpr(m, AtomExpr{x}, {}), 1, 1, 0},
      {MakeExpr(m, OpCall{nullptr, {x, y, x}, {}}, {}), 3, 2, 0},
      {MakeExpr(m, CallExpr{x, {x, y}, {}}, {}), 3, 2, 0},
      {MakeExpr(m, CallExpr{global, {y}, {}}, {}), 2, 0, 0},
      {MakeExpr(m, PrimitiveCall{function, {x}}, {}), 1, 1, 0},
      {MakeExpr(m, MakeTuple{{x, y}}, {}), 2, 1, 0},
      {MakeExpr(m, TupleGet{x, 1}, {}), 1, 1, 0},
      {MakeExpr(m, FunctionExpr{function}, {}), 0, 0, 1},
      {MakeExpr(m, MakeClosure{global, {x, x}}, {}), 2, 2, 0},
      {MakeExpr(m, IfExpr{y, uses_x, plain}, {}), 1, 0, 2},
      {MakeExpr(m, MatchExpr{x, {{Pattern{}, plain}, {Pattern{}, uses_x}}, true}, {}), 1, 1, 2},
      {MakeExpr(m, RefCreate{x}, {}), 1, 1, 0},
      {MakeExpr(m, RefRead{x}, {}), 1, 1, 0},
      {MakeExpr(m, RefWrite{x, x}, {}), 2, 2, 0},
      {MakeExpr(m, Guard{Guard::Kind::kEqual, 1, 2, ""}, {}), 0, 0, 0},
      {MakeExpr(m, DimOf{x, {1}, 0}, {}), 1, 1, 0},
      {MakeExpr(m, ElementOf{x, 2}, {}), 1, 1, 0},
  };
  const Constant* one = MakeConstant(m, IntScalar(DType::kInt32, 1));
  auto count = [](const Expr& e, Atom wanted) {
    size_t n = 0;
    ForEachAtom(e, [&](const Atom& a) { n += a == wanted; });
    return n;
  };
  for (const auto& c : kCases) {
    size_t atoms = 0;
    size_t blocks = 0;
    ForEachAtom(*c.expr, [&](const Atom&) { ++atoms; });
    ForEachBlock(*c.expr, [&](const Block&) { ++blocks; });
    CAPTURE(c.expr->node.index());
    CHECK(atoms == c.atoms);
    CHECK(blocks == c.blocks);
    CHECK(count(*c.expr, x) == c.of_x);

    const Expr* replaced = Substitute(m, *c.expr, {{x->id, one}});
    CHECK(count(*replaced, x) == 0);
    CHECK(count(*replaced, one) == c.of_x);
    ForEachBlock(*replaced, [&](const Block& b) {
      for (const Binding& binding : b.bindings) CHECK(count(*binding.value, x) == 0);
    });
    const bool changed = c.of_x > 0 || c.blocks > 0;
    CHECK((replaced != c.expr) == changed);
    CHECK(Substitute(m, *c.expr, {}) == c.expr);
  }
  CHECK(Substitute(m, *plain, {{y->id, one}})->result == Atom(one));
}

}  // namespace
}  // namespace relayvm::ir
