#include "kernels/codegen/tensor_order.h"

#include <unordered_set>
#include <utility>

namespace relayvm::codegen {

std::vector<te::Tensor> TensorsInOrder(const std::vector<te::Tensor>& outputs) {
  std::vector<te::Tensor> order;
  std::unordered_set<const te::TensorNode*> seen;
  std::vector<std::pair<te::Tensor, bool>> stack;
  for (size_t i = outputs.size(); i-- > 0;) stack.push_back({outputs[i], false});
  while (!stack.empty()) {
    auto [t, expanded] = std::move(stack.back());
    stack.pop_back();
    if (expanded) {
      order.push_back(std::move(t));
      continue;
    }
    if (!seen.insert(t.get()).second) continue;
    stack.push_back({t, true});
    if (t->is_placeholder()) continue;
    std::vector<te::Tensor> loads;
    std::vector<const te::ExprNode*> exprs = {t->body.get()};
    std::unordered_set<const te::ExprNode*> visited;
    while (!exprs.empty()) {
      const te::ExprNode* e = exprs.back();
      exprs.pop_back();
      if (!visited.insert(e).second) continue;
      if (e->tensor) loads.push_back(e->tensor);
      for (const te::Expr& operand : e->operands) exprs.push_back(operand.get());
    }
    for (te::Tensor& load : loads) {
      if (!seen.contains(load.get())) stack.push_back({std::move(load), false});
    }
  }
  return order;
}

}  // namespace relayvm::codegen
