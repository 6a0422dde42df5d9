#include "tools/values/types.h"

#include <doctest/doctest.h>

#include "tools/values/testing.h"

namespace relayvm::tools {
namespace {

using namespace testing;

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

}  // namespace
}  // namespace relayvm::tools
