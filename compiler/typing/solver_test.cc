#include "compiler/typing/solver.h"

#include <doctest/doctest.h>

namespace relayvm::typing {
namespace {

using ir::AdtType;
using ir::FunctionType;
using ir::MakeTensorType;
using ir::MakeType;
using ir::RefType;
using ir::TupleType;
using ir::Type;

const Dim n = Dim::Symbol(900, "n");
const Dim m = Dim::Symbol(901, "m");

Type Floats(std::vector<Dim> shape) { return MakeTensorType(std::move(shape), DType::kFloat32); }
Type List(Type t) { return MakeType(AdtType{"List", {std::move(t)}}); }
Type Fn(std::vector<Type> params, Type result) {
  return MakeType(FunctionType{{}, std::move(params), std::move(result)});
}

struct Fixture {
  ir::IdSource ids;
  Scopes scopes;
  Widenings widenings;
  Solver solver{&ids, &scopes, &widenings};
  uint32_t next = 0;

  Fixture() {
    scopes.DefineSymbol(900, {Scopes::kRoot, 1});
    scopes.DefineSymbol(901, {Scopes::kRoot, 5});
    solver.BeginStep();
  }
  Type Slot(Place limit = {Scopes::kRoot, 9}, bool guessed = false) {
    return solver.NewSlot(limit, {++next, 0}, guessed);
  }
  std::string Show(const Type& t) { return ir::TypeToString(solver.Zonk(t)); }
};

TEST_CASE_FIXTURE(Fixture, "a slot takes the type that flows into it") {
  Type slot = Slot();
  CHECK(solver.IsUnknown(slot));
  CHECK(solver.Flow(Floats({n, 3}), slot).ok());
  CHECK(Show(slot) == "Tensor[(n, 3), float32]");
  CHECK(solver.FirstUnknown(slot) == 0);
}

TEST_CASE_FIXTURE(Fixture, "dims join: equal ones stay, others become ?") {
  struct Row {
    Dim first, second;
    const char* joined;
  };
  const Row rows[] = {{3, 3, "3"}, {n, n, "n"}, {n, m, "?"},
                      {n, 3, "?"}, {2, 3, "?"}, {Dim::Any(), 3, "?"}};
  for (const Row& r : rows) {
    Type slot = Slot();
    CHECK(solver.Flow(Floats({r.first}), slot).ok());
    CHECK(solver.Flow(Floats({r.second}), slot).ok());
    CHECK(Show(slot) == std::string("Tensor[(") + r.joined + "), float32]");
  }
  // What is written stays.
  CHECK(solver.Flow(Floats({3}), Floats({2})).message() ==
        "expected Tensor[(2), float32], found Tensor[(3), float32] (dimension 0: 2 and 3 differ)");
}

TEST_CASE_FIXTURE(Fixture, "what is not visible from the limit becomes ?") {
  Type early = Slot({Scopes::kRoot, 3});  // after n, before m
  CHECK(solver.Flow(Floats({n, m}), early).ok());
  CHECK(Show(early) == "Tensor[(n, ?), float32]");

  ScopeId inner = scopes.NewScope(Scopes::kRoot);
  Dim local = Dim::Symbol(902, "local");
  scopes.DefineSymbol(902, {inner, 6});
  Type outside = Slot();
  CHECK(solver.Flow(Floats({local}), outside).ok());
  CHECK(Show(outside) == "Tensor[(?), float32]");
  Type inside = Slot({inner, 9});
  CHECK(solver.Flow(Floats({local}), inside).ok());
  CHECK(Show(inside) == "Tensor[(local), float32]");
}

TEST_CASE_FIXTURE(Fixture, "symbols that a function type binds are no one else's") {
  Dim bound = Dim::Symbol(903, "b");
  Type slot = Slot();
  CHECK(solver.Flow(Fn({Floats({bound})}, Floats({bound * 2, n})), slot).ok());
  CHECK(Show(slot) == "fn (Tensor[(b), float32]) -> Tensor[(b*2, n), float32]");
}

TEST_CASE_FIXTURE(Fixture, "a guess says nothing of symbols, a definition does") {
  Type slot = Slot({Scopes::kRoot, 9}, /*guessed=*/true);
  CHECK(solver.Flow(Floats({n, 3}), slot).ok());
  CHECK(Show(slot) == "Tensor[(?, 3), float32]");
  Type other = Slot({Scopes::kRoot, 9}, /*guessed=*/true);
  CHECK(solver.Define(other, Floats({n, 3})).ok());
  CHECK(Show(other) == "Tensor[(n, 3), float32]");
}

TEST_CASE_FIXTURE(Fixture, "unknown slots become one") {
  Type a = Slot();
  Type b = Slot();
  CHECK(solver.Flow(a, b).ok());
  CHECK(solver.Flow(MakeType(TupleType{{Floats({2})}}), a).ok());
  CHECK(Show(b) == "(Tensor[(2), float32],)");
}

TEST_CASE_FIXTURE(Fixture, "containers are covariant: what is read does not widen") {
  Type element = Slot();
  CHECK(solver.Flow(Floats({n}), element).ok());
  Type wider = Slot();
  CHECK(solver.Flow(Floats({m}), wider).ok());
  solver.BeginStep();
  CHECK(solver.Flow(List(element), List(wider)).ok());
  CHECK(Show(element) == "Tensor[(n), float32]");
  CHECK(Show(wider) == "Tensor[(?), float32]");
}

TEST_CASE_FIXTURE(Fixture, "references are invariant: both sides widen") {
  Type a = Slot();
  Type b = Slot();
  CHECK(solver.Flow(Floats({n}), a).ok());
  CHECK(solver.Flow(Floats({m}), b).ok());
  CHECK(solver.Flow(MakeType(RefType{a}), MakeType(RefType{b})).ok());
  CHECK(Show(a) == "Tensor[(?), float32]");
  CHECK(Show(b) == "Tensor[(?), float32]");
}

TEST_CASE_FIXTURE(Fixture, "widening what was read asks for another run, which starts wide") {
  Type slot = Slot();
  CHECK(solver.Flow(Floats({n, 3}), slot).ok());
  CHECK_FALSE(solver.must_rerun());
  solver.BeginStep();
  CHECK(solver.Flow(Floats({m, 3}), slot).ok());
  CHECK(solver.must_rerun());

  Solver again(&ids, &scopes, &widenings);
  Type same = again.NewSlot({Scopes::kRoot, 9}, {1, 0});
  CHECK(again.Flow(Floats({n, 3}), same).ok());
  CHECK(ir::TypeToString(again.Zonk(same)) == "Tensor[(?, 3), float32]");
  again.BeginStep();
  CHECK(again.Flow(Floats({m, 3}), same).ok());
  CHECK_FALSE(again.must_rerun());
}

TEST_CASE_FIXTURE(Fixture, "parameters of functions are contravariant") {
  Type param = Slot();
  Type given = Slot();
  Type result = Slot();
  CHECK(solver.Flow(Fn({param}, Floats({2})), Fn({given}, result)).ok());
  CHECK(Show(result) == "Tensor[(2), float32]");
  // Both sides share what is passed.
  CHECK(solver.Flow(Floats({n}), given).ok());
  CHECK(Show(param) == "Tensor[(n), float32]");
  CHECK(Show(Fn({param}, param)) == "fn (Tensor[(?), float32]) -> Tensor[(n), float32]");
}

TEST_CASE_FIXTURE(Fixture, "a generic function is instantiated where it flows") {
  Type a = MakeType(ir::TypeVar{500, "A"});
  Type id = MakeType(FunctionType{{a}, {a}, a});
  Type result = Slot();
  CHECK(solver.Flow(id, Fn({Floats({2})}, result)).ok());
  CHECK(Show(result) == "Tensor[(2), float32]");
}

TEST_CASE_FIXTURE(Fixture, "types that do not fit") {
  CHECK_FALSE(solver.Flow(Floats({2}), MakeType(TupleType{})).ok());
  CHECK_FALSE(solver.Flow(Floats({2}), MakeTensorType({2}, DType::kInt8)).ok());
  CHECK_FALSE(solver.Flow(Floats({2}), Floats({2, 2})).ok());
  CHECK_FALSE(solver.Flow(List(Floats({2})), MakeType(AdtType{"Tree", {Floats({2})}})).ok());
  CHECK_FALSE(solver.Flow(Fn({}, Floats({2})), Fn({Floats({2})}, Floats({2}))).ok());
  CHECK_FALSE(solver.Flow(MakeType(ir::TypeVar{1, "A"}), MakeType(ir::TypeVar{2, "B"})).ok());
  Type slot = Slot();
  CHECK(solver.Flow(List(slot), slot).message().find("contain itself") != std::string::npos);
}

TEST_CASE_FIXTURE(Fixture, "waiters wake once, when their slot is filled") {
  Type a = Slot();
  Type b = Slot();
  solver.Wait(a->As<ir::InferVar>()->id, 7);
  solver.Wait(b->As<ir::InferVar>()->id, 8);
  CHECK_FALSE(solver.HasWoken());
  CHECK(solver.Flow(a, b).ok());
  CHECK_FALSE(solver.HasWoken());
  CHECK(solver.Flow(Floats({}), b).ok());
  CHECK(solver.TakeWoken().size() == 2);
  CHECK_FALSE(solver.HasWoken());
}

TEST_CASE("visibility") {
  Scopes scopes;
  ScopeId f = scopes.NewScope(Scopes::kRoot);
  ScopeId branch = scopes.NewScope(f);
  ScopeId other = scopes.NewScope(f);
  CHECK(scopes.IsVisible({f, 3}, {branch, 4}));
  CHECK_FALSE(scopes.IsVisible({f, 5}, {branch, 4}));
  CHECK_FALSE(scopes.IsVisible({branch, 3}, {other, 4}));
  CHECK_FALSE(scopes.IsVisible({branch, 3}, {f, 4}));
  Place common = scopes.Common({branch, 7}, {other, 6});
  CHECK(common.scope == f);
  CHECK(common.time == 6);
}

}  // namespace
}  // namespace relayvm::typing
