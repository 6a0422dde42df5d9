// Relay types. Immutable, shared, compared by structure.
//
// Dims inside a type:
//   - In the type of a variable, the dims of a tensor (also inside tuples) are expressions over
//   symbols in scope.
//   - Inside ADT arguments, references and function types, and in declared result types, Dim::Any()
//   stands for an unknown
//     dimension without identity. When such a value becomes a variable's tensor, each Any is
//     "opened": replaced by a fresh symbol that stands for that variable's run-time dimension.
// Tested by type_test.cc.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "kernels/op/tensor_type.h"

namespace relayvm::ir {

struct TypeNode;
using Type = std::shared_ptr<const TypeNode>;  // never null where a type is required; null where
                                               // none was written

struct TupleType {
  std::vector<Type> fields;
};
// A generic function's type parameters are TypeVars that occur in params and result. `dim_params`
// are the symbols that its parameter types bind: they are universally quantified, and the result
// may mention them.
struct FunctionType {
  std::vector<Type> type_params;
  std::vector<Type> params;
  Type result;
};
struct RefType {
  Type value;
};
struct AdtType {  // List[int32]: `name` names a type definition of the module
  std::string name;
  std::vector<Type> args;
};
struct TypeVar {  // a type parameter in scope; identity is `id`
  uint32_t id;
  std::string name;
};
struct InferVar {  // to be inferred ("_", or an annotation left out); identity is `id`. None are
                   // left after inference.
  uint32_t id;
};

struct TypeNode {
  std::variant<TensorType, TupleType, FunctionType, RefType, AdtType, TypeVar, InferVar> node;

  template <typename T>
  const T* As() const {
    return std::get_if<T>(&node);
  }
};

template <typename T>
Type MakeType(T node) {
  return std::make_shared<const TypeNode>(TypeNode{std::move(node)});
}
Type MakeTensorType(std::vector<Dim> shape, DType dtype);
Type MakeScalarType(DType dtype);
Type UnitType();  // the empty tuple

bool TypeEquals(const Type& a, const Type& b);
// As Relay prints it: "Tensor[(n, 3), float32]", "fn (int32) -> List[int32]". Symbols print by name
// with `names`, as `?` without.
std::string TypeToString(const Type& t, bool symbol_names = true);
// The same with the caller's spelling of dims and of type variables.
struct TypeSpelling {
  std::function<std::string(const Dim&)> dim;
  std::function<std::string(const TypeVar&)> var;
};
std::string TypeToString(const Type& t, const TypeSpelling& spelling);
// Calls fn on each Dim / replaces each Dim.
void ForEachDim(const Type& t, const std::function<void(const Dim&)>& fn);
Type MapDims(const Type& t, const std::function<Dim(const Dim&)>& fn);
// True for a rank-0 tensor whose dtype fits a scalar register (all but float16 and bfloat16).
bool IsScalarType(const Type& t);

}  // namespace relayvm::ir
