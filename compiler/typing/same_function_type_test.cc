#include "compiler/typing/same_function_type.h"

#include <doctest/doctest.h>

#include <utility>

namespace relayvm::typing {
namespace {

using ir::FunctionType;
using ir::MakeTensorType;
using ir::MakeType;
using ir::Type;

Dim Symbol(uint32_t id) { return Dim::Symbol(id, "s"); }
const Dim a = Symbol(1), b = Symbol(2), c = Symbol(3), d = Symbol(4);

Type Floats(std::vector<Dim> shape) { return MakeTensorType(std::move(shape), DType::kFloat32); }
Type Fn(std::vector<Type> params, Type result, std::vector<Type> type_params = {}) {
  return MakeType(FunctionType{std::move(type_params), std::move(params), std::move(result)});
}
Type Var(uint32_t id) { return MakeType(ir::TypeVar{id, "T"}); }
bool Same(const Type& x, const Type& y) { return FunctionTypeEquality()(x, y); }

TEST_CASE("function types are equal up to what they bind") {
  CHECK(Same(Fn({Floats({a})}, Floats({a * 2})), Fn({Floats({b})}, Floats({b * 2}))));
  CHECK(Same(Fn({Floats({a, b})}, Floats({a + b})), Fn({Floats({b, a})}, Floats({a + b}))));
  CHECK(!Same(Fn({Floats({a, b})}, Floats({a})), Fn({Floats({c, d})}, Floats({d}))));
  // One to one: two sizes are not one.
  CHECK(!Same(Fn({Floats({a, b})}, Floats({})), Fn({Floats({c, c})}, Floats({}))));
  CHECK(!Same(Fn({Floats({c, c})}, Floats({})), Fn({Floats({a, b})}, Floats({}))));
  // Names that nothing binds are what they are.
  CHECK(Same(Fn({Floats({a})}, Floats({c})), Fn({Floats({b})}, Floats({c}))));
  CHECK(!Same(Fn({Floats({a})}, Floats({c})), Fn({Floats({b})}, Floats({d}))));
  CHECK(!Same(Fn({Floats({a})}, Floats({b})), Fn({Floats({b})}, Floats({b}))));
  CHECK(!Same(Fn({Floats({a})}, Floats({a})), Fn({Floats({b})}, Floats({a}))));
  CHECK(!Same(Fn({Floats({a})}, Floats({a})), Fn({Floats({3})}, Floats({3}))));
}

TEST_CASE("function types inside function types bind names of their own") {
  auto nested = [](const Dim& outer, const Dim& inner, const Dim& result) {
    return Fn({Floats({outer})}, Fn({Floats({inner})}, Floats({result})));
  };
  CHECK(Same(nested(a, b, a + b), nested(c, d, c + d)));
  CHECK(Same(nested(a, b, b), nested(c, c, c)));  // the inner one hides the outer one
  CHECK(!Same(nested(a, b, a), nested(c, d, d)));
  CHECK(!Same(nested(a, b, a), nested(c, c, c)));
}

TEST_CASE("type parameters are bound too") {
  CHECK(Same(Fn({Var(1)}, Var(1), {Var(1)}), Fn({Var(2)}, Var(2), {Var(2)})));
  CHECK(!Same(Fn({Var(1)}, Var(3), {Var(1)}), Fn({Var(2)}, Var(2), {Var(2)})));
  CHECK(!Same(Fn({Var(1)}, Var(1), {Var(1)}), Fn({Var(1)}, Var(1))));
}

TEST_CASE("towers are compared in linear time, each part once") {
  FunctionTypeEquality equality;
  Type x = Fn({Floats({a})}, Floats({a})), y = Fn({Floats({b})}, Floats({b})), z = Floats({c});
  // As trees they have 2^2000 nodes.
  for (int i = 0; i < 2000; ++i) {
    x = Fn({}, MakeType(ir::TupleType{{x, x}}));
    y = Fn({}, MakeType(ir::TupleType{{y, y}}));
    z = Fn({}, MakeType(ir::TupleType{{z, z}}));
    CHECK(equality(x, y));
    CHECK(!equality(x, z));
  }
}

}  // namespace
}  // namespace relayvm::typing
