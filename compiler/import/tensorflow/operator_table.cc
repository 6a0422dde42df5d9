#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "compiler/import/tensorflow/importer.h"
#include "compiler/import/tensorflow/operator.h"

namespace relayvm::import {

namespace tensorflow {

std::span<const OperatorDef> Operators() {
  static const std::vector<OperatorDef>* const kAll = [] {
    auto* all = new std::vector<OperatorDef>;
    for (const auto& table :
         {BasicOperators(),  ControlOperators(),   ListOperators(),      StateOperators(),
          MathOperators(),   SpecialOperators(),   ShapeOperators(),     SliceOperators(),
          ReduceOperators(), IndexOperators(),     SegmentOperators(),   SparseOperators(),
          NnOperators(),     PoolOperators(),      NormOperators(),      ResizeOperators(),
          ImageOperators(),  RecurrentOperators(), QuantOperators(),     LinalgOperators(),
          SignalOperators(), RandomOperators(),    QuantisedOperators(), StringOperators(),
          FactorOperators()}) {
      all->insert(all->end(), table.begin(), table.end());
    }
    return all;
  }();
  return *kAll;
}

const OperatorDef* FindOperator(std::string_view name) {
  static const auto* const kByName = [] {
    auto* map = new std::map<std::string_view, const OperatorDef*>;
    for (const OperatorDef& op : Operators()) map->emplace(op.name, &op);
    return map;
  }();
  const auto found = kByName->find(name);
  return found == kByName->end() ? nullptr : found->second;
}

}  // namespace tensorflow

std::string TensorFlowOperatorTable() {
  std::vector<std::string_view> names;
  for (const tensorflow::OperatorDef& op : tensorflow::Operators()) names.push_back(op.name);
  std::ranges::sort(names);
  std::string out =
      "# TensorFlow operators\n\nMade by `relayc --list-operators tensorflow`; a test compares it "
      "with the code.\n\n| operator |\n|---|\n";
  for (const std::string_view name : names) out += fmt::format("| {} |\n", name);
  return out;
}

}  // namespace relayvm::import
