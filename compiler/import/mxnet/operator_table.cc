#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "compiler/import/mxnet/importer.h"
#include "compiler/import/mxnet/operator.h"

namespace relayvm::import::mxnet {

namespace {

// The names of a row, its own first.
std::vector<std::string_view> NamesOf(const OperatorDef& op) {
  std::vector<std::string_view> names;
  for (std::string_view rest = op.names; !rest.empty();) {
    const size_t end = std::min(rest.find(' '), rest.size());
    names.push_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return names;
}

}  // namespace

std::span<const OperatorDef> Operators() {
  static const std::vector<OperatorDef>* const kAll = [] {
    auto* all = new std::vector<OperatorDef>;
    for (const auto& table :
         {BinaryOperators(),   BoxOperators(),       ControlOperators(), CreateOperators(),
          ImageOperators(),    IndexOperators(),     JoinOperators(),    LinalgOperators(),
          LossOperators(),     MathOperators(),      NnOperators(),      NormOperators(),
          NumpyOperators(),    OrderOperators(),     PoolOperators(),    ProductOperators(),
          QuantOperators(),    RecurrentOperators(), ReduceOperators(),  RegionOperators(),
          SequenceOperators(), ShapeOperators(),     SliceOperators()}) {
      all->insert(all->end(), table.begin(), table.end());
    }
    return all;
  }();
  return *kAll;
}

const OperatorDef* FindOperator(std::string_view name) {
  static const auto* const kByName = [] {
    auto* map = new std::map<std::string_view, const OperatorDef*>;
    for (const OperatorDef& op : Operators()) {
      for (const std::string_view own : NamesOf(op)) map->emplace(own, &op);
    }
    return map;
  }();
  const auto found = kByName->find(name);
  return found == kByName->end() ? nullptr : found->second;
}

}  // namespace relayvm::import::mxnet

namespace relayvm::import {

std::string MxnetOperatorTable() {
  std::map<std::string_view, std::string> rows;
  for (const mxnet::OperatorDef& op : mxnet::Operators()) {
    const auto names = mxnet::NamesOf(op);
    std::string others;
    for (size_t i = 1; i < names.size(); ++i)
      others += fmt::format("{}{}", i == 1 ? "" : " ", names[i]);
    rows[names[0]] = others;
  }
  std::string out =
      "# MXNet operators\n\nMade by `relayc --list-operators mxnet`; a test compares it with the "
      "code.\n\n| operator | other names |\n|---|---|\n";
  for (const auto& [name, others] : rows) out += fmt::format("| {} | {} |\n", name, others);
  return out;
}

}  // namespace relayvm::import
