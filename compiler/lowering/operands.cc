#include "compiler/lowering/operands.h"

#include <algorithm>
#include <string>

namespace relayvm::lower {

std::vector<te::Tensor> MakePlaceholders(const std::vector<Value>& inputs) {
  std::vector<te::Tensor> tensors;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const auto& t = *inputs[i].type->As<TensorType>();
    tensors.push_back(
        te::Placeholder("in" + std::to_string(i), t.shape, t.dtype, static_cast<int>(i)));
  }
  return tensors;
}

bool OwnsMemory(const Value& value, const std::vector<Value>& inputs) {
  const Location& l = *value.location;
  if (l.constant != nullptr || (!l.object && !l.slot)) return false;
  return std::count_if(inputs.begin(), inputs.end(), [&](const Value& other) {
           const Location& m = *other.location;
           return (l.slot && m.slot == l.slot) || (l.object && m.object == l.object);
         }) == 1;
}

}  // namespace relayvm::lower
