#include "compiler/ir/scalar_call.h"

#include <vector>

#include "kernels/te/scalar_expression.h"

namespace relayvm::ir {

bool IsScalarCall(const OpCall& call, std::span<const Type> arg_types, const Type& result) {
  if (!IsScalarType(result) || !call.op->compute || call.op->builtin) return false;
  std::vector<te::Tensor> inputs;
  auto add = [&](const Type& type) {
    const auto* t = type->As<TensorType>();
    if (t == nullptr) return false;
    inputs.push_back(te::Placeholder("s", t->shape, t->dtype, static_cast<int>(inputs.size())));
    return true;
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
  const TensorType& out = *result->As<TensorType>();
  std::vector<te::Tensor> computed = call.op->compute({call.attrs, inputs, std::span(&out, 1)});
  return computed.size() == 1 && te::IsScalarExpression(computed[0]);
}

}  // namespace relayvm::ir
