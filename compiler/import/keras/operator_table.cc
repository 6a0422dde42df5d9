#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "compiler/import/keras/importer.h"
#include "compiler/import/keras/layer.h"

namespace relayvm::import {

namespace keras {

std::span<const LayerDef> Layers() {
  static const std::vector<LayerDef>* const kAll = [] {
    auto* all = new std::vector<LayerDef>;
    for (const auto& table : {CoreLayers(), ConvLayers(), NormLayers(), AttentionLayers(),
                              RecurrentLayers(), ImageLayers(), CategoryLayers()}) {
      all->insert(all->end(), table.begin(), table.end());
    }
    return all;
  }();
  return *kAll;
}

std::span<const LayerDef> Operations() {
  static const std::vector<LayerDef>* const kAll = [] {
    auto* all = new std::vector<LayerDef>;
    for (const auto& table : {MathOperations(), ArrayOperations()})
      all->insert(all->end(), table.begin(), table.end());
    return all;
  }();
  return *kAll;
}

namespace {

using ByName = std::map<std::string_view, const LayerDef*>;
const ByName* MapOf(std::span<const LayerDef> first, std::span<const LayerDef> second) {
  auto* map = new ByName;
  for (const LayerDef& layer : first) map->emplace(layer.name, &layer);
  for (const LayerDef& layer : second) map->emplace(layer.name, &layer);
  return map;
}
const LayerDef* FoundIn(const ByName& map, std::string_view name) {
  const auto found = map.find(name);
  return found == map.end() ? nullptr : found->second;
}

}  // namespace

const LayerDef* FindLayer(std::string_view name) {
  static const ByName* const kByName = MapOf(Layers(), Operations());
  return FoundIn(*kByName, name);
}
const LayerDef* FindOperation(std::string_view name) {
  static const ByName* const kByName = MapOf(Operations(), Layers());
  return FoundIn(*kByName, name);
}

}  // namespace keras

std::string KerasOperatorTable() {
  std::vector<std::string_view> names = {"Functional", "Sequential"};
  for (const keras::LayerDef& layer : keras::Layers()) names.push_back(layer.name);
  std::vector<std::string_view> operations, functions;
  for (const keras::LayerDef& line : keras::Operations()) operations.push_back(line.name);
  for (const keras::FunctionDef& function : keras::Functions()) functions.push_back(function.name);
  for (auto* all : {&names, &operations, &functions}) std::ranges::sort(*all);
  std::string out =
      "# Keras layers\n\nMade by `relayc --list-operators keras`; a test compares it with the "
      "code.\n\n| layer |\n|---|\n";
  for (const std::string_view name : names) out += fmt::format("| {} |\n", name);
  out += "\nLines between layers are operations of `keras.ops`:\n\n| operation |\n|---|\n";
  for (const std::string_view name : operations) out += fmt::format("| {} |\n", name);
  out += "\nand, of Keras 2, functions of `tf` (TFOpLambda):\n\n| function |\n|---|\n";
  for (const std::string_view name : functions) out += fmt::format("| {} |\n", name);
  return out;
}

}  // namespace relayvm::import
