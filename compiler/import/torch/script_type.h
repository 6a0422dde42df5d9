// The types of TorchScript: Tensor, int, Optional[List[Tensor]], classes by name. Values.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compiler/import/torch/script_syntax.h"

namespace relayvm::import::torch {

struct ScriptType {
  enum class Kind : uint8_t {
    kAny,  // not said
    kTensor,
    kInt,
    kFloat,
    kBool,
    kNumber,
    kComplex,
    kString,
    kNone,
    kDevice,
    kOptional,
    kList,
    kDict,
    kTuple,
    kUnion,
    kFuture,
    kClass  // `name`
  };
  Kind kind = Kind::kAny;
  std::string name;
  std::vector<ScriptType> arguments;

  bool is(Kind k) const { return kind == k; }
  // Of a list, an optional value; any where it is not said.
  const ScriptType& element() const;
  friend bool operator==(const ScriptType&, const ScriptType&) = default;
};
ScriptType SimpleType(ScriptType::Kind kind);
ScriptType ListOfType(ScriptType element);
// What an expression in a type's place says; any where it says nothing.
ScriptType TypeOfExpr(const Expr& e);
// "List[Tensor]".
std::string TypeText(const ScriptType& t);
// "__torch__.a.b" of attributes of names; empty: it is none.
std::string DottedName(const Expr& e);

}  // namespace relayvm::import::torch
