#include "compiler/ir/scalar_call.h"

#include <vector>

#include "kernels/te/scalar_expression.h"

namespace relayvm::ir {

bool IsScalarCall(const OpCall& call, std::span<const Type> arg_types, const Type& result) {
  if (!IsScalarType(result)) return false;
  std::vector<TensorType> inputs;
  auto add = [&](const Type& type) {
    const auto* t = type->As<TensorType>();
    if (t != nullptr) inputs.push_back(*t);
    return t != nullptr;
  };
  for (const Type& type : arg_types) {
    const auto* tuple = type->As<TupleType>();
    if (tuple == nullptr) {
      if (!add(type)) return false;
      continue;
    }
    for (const Type& field : tuple->fields) {
      if (!add(field)) return false;
    }
  }
  const te::Tensor e = ExpressionOf(*call.op, call.attrs, inputs, *result->As<TensorType>());
  return e != nullptr && te::IsScalarExpression(e);
}

}  // namespace relayvm::ir
