#include "tools/values/types.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "tools/values/testing.h"

namespace relayvm::tools {
namespace {

TEST_CASE("equal types have one number, and constructors' fields are substituted") {
  Program program = ProgramWithTypes();
  TypeTable types(program);
  TypeTable::Id list = types.Intern(ListOf(TensorOf(DType::kInt32, {})));
  CHECK(types.Intern(ListOf(TensorOf(DType::kInt32, {}))) == list);
  TypeTable::Id floats = types.Intern(ListOf(TensorOf(DType::kFloat32, {-1, 3}, {"n"})));
  CHECK(floats != list);
  const std::vector<TypeTable::Id>& fields = types.ConstructorFields(floats, 0);
  REQUIRE(fields.size() == 2);
  CHECK(types.ToString(fields[0]) == "Tensor[(n, 3), float32]");
  CHECK(fields[1] == floats);
  CHECK(types.ConstructorFields(floats, 1).empty());
}

TEST_CASE("types of types") {
  Program program = ProgramWithTypes();
  TypeTable types(program);
  TypeTable::Id nested = types.Intern(ListOf(ListOf(TupleOf({Tree()}))));
  CHECK(types.ToString(nested) == "List[List[(Tree,)]]");
  CHECK(types.ToString(types.ConstructorFields(nested, 0)[0]) == "List[(Tree,)]");
}

TEST_CASE("types are written to a depth and a length") {
  Program program = ProgramWithTypes();
  TypeTable types(program);
  TypeTable::Id type = types.Intern(TensorOf(DType::kInt32, {}));
  for (int i = 0; i < 60; ++i) type = types.NewTuple({type, type});  // 2^60 parts
  const std::string text = types.ToString(type);
  CHECK(text.size() < 2000);
  CHECK(text.find("...") != std::string::npos);
  CHECK(std::ranges::count(text, '(') == std::ranges::count(text, ')'));
  TypeTable::Id list = types.Intern(TensorOf(DType::kInt32, {}));
  for (int i = 0; i < 10; ++i) list = types.NewTuple({list});
  CHECK(types.ToString(list) == "((((((((((int32,),),),),),),),),),)");
}

TEST_CASE("a function's type parameters are variables, which its inputs bind") {
  Program program = ProgramWithTypes();
  ExportInfo function;
  function.num_type_params = 2;
  TypeTable types(program);
  TypeTable::Id a = types.InternOf(function, TypeParameter(0));
  TypeTable::Id pair = types.InternOf(function, TupleOf({TypeParameter(0), TypeParameter(1)}));
  CHECK(types.kind(a) == ValueType::Kind::kTypeVar);
  CHECK(types.ToString(pair) == "(A, B)");
  TypeTable::Id list = types.NewAdt(0);
  types.Bind(a, list);
  types.Bind(a, list);
  CHECK(types.kind(a) == ValueType::Kind::kAdt);
  types.Bind(types.args(list)[0], types.Intern(TensorOf(DType::kInt32, {})));
  CHECK(types.ToString(pair) == "(List[int32], B)");
  CHECK(types.ToString(types.ConstructorFields(a, 0)[1]) == "List[int32]");
  CHECK(types.ToString(types.NewTuple({a, a})) == "(List[int32], List[int32])");
}

}  // namespace
}  // namespace relayvm::tools
