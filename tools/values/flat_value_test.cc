#include "tools/values/flat_value.h"

#include <doctest/doctest.h>

#include "tools/values/testing.h"

namespace relayvm::tools {
namespace {

TEST_CASE("tensors in depth-first order") {
  Program program = ProgramWithTypes();
  TypeTable types(program);
  ValueType i32 = TensorOf(DType::kInt32, {});
  Value list =
      Value::Adt(0, {Value::Int32(2), Value::Adt(0, {Value::Int32(3), Value::Adt(1, {})})});
  Value all = Value::Tuple({Value::Int32(1), list, Value::Int32(4)});
  FlatValue flat = *Flatten(all, types, types.Intern(TupleOf({i32, ListOf(i32), i32})));
  std::vector<Value> tensors = TensorsOf(flat);
  REQUIRE(tensors.size() == 4);
  for (size_t i = 0; i < 4; ++i) CHECK(tensors[i].element(0) == i + 1);
}

TEST_CASE("sharing that would print without end is refused") {
  Program program = ProgramWithTypes();
  TypeTable types(program);
  Value value = Value::Int32(1);
  ValueType type = TensorOf(DType::kInt32, {});
  for (int i = 0; i < 40; ++i) value = Value::Tuple({value, value});
  Result<FlatValue> flat = Flatten(value, types, types.Intern(type));
  REQUIRE(!flat.ok());
  CHECK(flat.status().code() == StatusCode::kOutOfRange);
}

TEST_CASE("names of outputs") {
  ExportInfo function;
  CHECK(TensorNames(function, 2) == std::vector<std::string>{"out0", "out1"});
  function.output_names = {"scores", "boxes"};
  CHECK(TensorNames(function, 2) == std::vector<std::string>{"scores", "boxes"});
  CHECK(TensorNames(function, 3) == std::vector<std::string>{"out0", "out1", "out2"});
  function.output_names = {"same", "same"};
  CHECK(TensorNames(function, 2) == std::vector<std::string>{"same", "out1"});
  function.output_names = {"out1", "out1", "", "last"};
  CHECK(TensorNames(function, 4) == std::vector<std::string>{"out1", "out1_", "out2", "last"});
}

}  // namespace
}  // namespace relayvm::tools
