// Relay types. Immutable, shared, compared by structure.
//
// Dims inside a type:
//   - In the type of a variable, the dims of a tensor (also inside tuples) are expressions over
//     symbols in scope.
//   - Inside ADT arguments, references and function types, and in declared result types, Dim::Any()
//     stands for an unknown dimension without identity. When such a value becomes a variable's
//     tensor, each Any is "opened": replaced by a fresh symbol that stands for that variable's
//     run-time dimension. A List[Tensor[(?), int8]] has heads of Tensor[(d0), int8], then d1 ...
// Tested by type_test.cc.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "kernels/op/tensor_type.h"

namespace relayvm::ir {

struct TypeNode;
// Never null where a type is required; null where none was written.
using Type = std::shared_ptr<const TypeNode>;

struct TupleType {
  std::vector<Type> fields;
};
// A generic function's type parameters are TypeVars that occur in params and result. Symbols that
// stand in the types of its parameters are universally quantified, and the result may mention them:
// fn (Tensor[(n), int8]) -> Tensor[(n*2), int8].
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

using TypeVariant =
    std::variant<TensorType, TupleType, FunctionType, RefType, AdtType, TypeVar, InferVar>;

struct TypeNode {
  explicit TypeNode(TypeVariant n);

  template <typename T>
  const T* As() const {
    return std::get_if<T>(&node);
  }

  const TypeVariant node;
  // What is anywhere inside, so that a walk in search of it need not begin.
  bool has_infer_var = false;
  bool has_type_var = false;
  bool has_open_dim = false;  // one that is not a constant
  size_t hash = 0;            // of equal types the same
  // Nodes of the type as a tree, at most kLarge. Types share their parts: a tower of n pairs has n
  // nodes in memory and 2^n as a tree, so a walk over a large type remembers where it was.
  static constexpr uint32_t kLarge = 256;
  uint32_t size = 1;
  bool is_large() const { return size >= kLarge; }
  // Of a large type: the symbols in its dims but for those that function types inside it bind,
  // where these are few. Parts of a tower mention the same ones.
  static constexpr size_t kFewSymbols = 8;
  std::vector<uint32_t> symbols;
  bool has_many_symbols = false;
};

template <typename T>
Type MakeType(T node) {
  return std::make_shared<const TypeNode>(TypeVariant(std::move(node)));
}
Type MakeTensorType(std::vector<Dim> shape, DType dtype);
Type MakeScalarType(DType dtype);
Type UnitType();  // the empty tuple

// Calls fn on each symbol that is a dim of a parameter, in tuples too: a function type binds it.
void ForEachBoundSymbol(const std::vector<Type>& params, const std::function<void(uint32_t)>& fn);
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
// Calls fn on each Dim / replaces each Dim. Of a part that occurs several times in a large type,
// once.
void ForEachDim(const Type& t, const std::function<void(const Dim&)>& fn);
Type MapDims(const Type& t, const std::function<Dim(const Dim&)>& fn);
// Calls fn on each child type: fields, arguments, parameters and result.
template <typename Fn>
void ForEachChild(const TypeNode& t, const Fn& fn);
// `t` with every child type replaced; the same pointer when nothing changed.
Type MapChildren(const Type& t, const std::function<Type(const Type&)>& fn);
// Replaces type variables by types; shares what is unchanged.
Type SubstituteTypeVars(const Type& t, const std::map<uint32_t, Type>& types);
// True for a rank-0 tensor whose dtype fits a scalar register (all but float16 and bfloat16).
bool IsScalarType(const Type& t);

template <typename Fn>
void ForEachChild(const TypeNode& t, const Fn& fn) {
  if (auto* tuple = t.As<TupleType>()) {
    for (const Type& x : tuple->fields) fn(x);
  } else if (auto* function = t.As<FunctionType>()) {
    for (const Type& x : function->params) fn(x);
    fn(function->result);
  } else if (auto* ref = t.As<RefType>()) {
    fn(ref->value);
  } else if (auto* adt = t.As<AdtType>()) {
    for (const Type& x : adt->args) fn(x);
  }
}

// What a walk over types has done, by node. It remembers the parts of large types alone, and of
// those that slots of type inference may make large: small ones are faster walked again. Holds the
// types that it knows, so that no other takes their address.
template <typename T>
class TypeMemo {
 public:
  const T* Find(const Type& t) const {
    if (!IsRemembered(*t)) return nullptr;
    auto at = known_.find(t.get());
    return at == known_.end() ? nullptr : &at->second.second;
  }
  void Add(const Type& t, T value) {
    if (IsRemembered(*t)) known_.emplace(t.get(), std::pair(t, std::move(value)));
  }

 private:
  static bool IsRemembered(const TypeNode& t) {
    return t.is_large() || (t.has_infer_var && t.size > 1);
  }

  std::unordered_map<const TypeNode*, std::pair<Type, T>> known_;
};

}  // namespace relayvm::ir
