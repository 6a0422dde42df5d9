#include <map>
#include <tuple>

#include "compiler/import/onnx/operator.h"

namespace relayvm::import {

std::span<const OperatorDef> Operators() {
  static const std::vector<OperatorDef>* const kAll = [] {
    auto* all = new std::vector<OperatorDef>;
    for (const auto& table : {MathOperators(), TensorOperators(), NnOperators(), ReduceOperators(),
                              ControlOperators()}) {
      all->insert(all->end(), table.begin(), table.end());
    }
    return all;
  }();
  return *kAll;
}

const OperatorDef* FindOperator(std::string_view domain, std::string_view name, int opset) {
  using Key = std::pair<std::string_view, std::string_view>;
  static const auto* const kByName = [] {
    auto* map = new std::map<Key, std::map<int, const OperatorDef*>>;
    for (const OperatorDef& op : Operators()) (*map)[{op.domain, op.name}][op.since] = &op;
    return map;
  }();
  const auto versions = kByName->find({domain, name});
  if (versions == kByName->end()) return nullptr;
  auto newest = versions->second.upper_bound(opset);
  return newest == versions->second.begin() ? nullptr : std::prev(newest)->second;
}

}  // namespace relayvm::import
