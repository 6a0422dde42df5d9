// What the tests of this folder share: a program's signature with a list, a tree and a function of
// them.
#pragma once

#include <string>

#include "bytecode/program.h"
#include "tests/temp_folder.h"

namespace relayvm::tools {

using relayvm::testing::TempFolder;

inline ValueType TensorOf(DType dtype, std::vector<int64_t> dims,
                          std::vector<std::string> names = {}) {
  ValueType t;
  t.dtype = dtype;
  t.dims = std::move(dims);
  t.dim_names = std::move(names);
  t.dim_names.resize(t.dims.size());
  return t;
}
inline ValueType TypeOf(ValueType::Kind kind, std::vector<ValueType> args, uint32_t index = 0) {
  ValueType t;
  t.kind = kind;
  t.args = std::move(args);
  t.index = index;
  return t;
}
inline ValueType TupleOf(std::vector<ValueType> fields) {
  return TypeOf(ValueType::Kind::kTuple, std::move(fields));
}
inline ValueType ListOf(ValueType element) {
  return TypeOf(ValueType::Kind::kAdt, {std::move(element)}, 0);
}
inline ValueType TypeParameter(uint32_t index) {
  return TypeOf(ValueType::Kind::kTypeVar, {}, index);
}
inline ValueType Tree() { return TypeOf(ValueType::Kind::kAdt, {}, 1); }

// List[A] = Cons(A, List[A]) | Nil; Tree = Leaf(Tensor[(2), float32]) | Node(Tree, Tree).
inline Program ProgramWithTypes() {
  Program program;
  ValueType a = TypeOf(ValueType::Kind::kTypeVar, {}, 0);
  program.adts.push_back({"List", 1, {{"Cons", {a, ListOf(a)}}, {"Nil", {}}}});
  program.adts.push_back(
      {"Tree", 0, {{"Leaf", {TensorOf(DType::kFloat32, {2})}}, {"Node", {Tree(), Tree()}}}});
  return program;
}

}  // namespace relayvm::tools
