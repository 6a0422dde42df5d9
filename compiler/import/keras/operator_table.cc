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
    for (const auto& table : {CoreLayers(), ConvLayers(), NormLayers(), RecurrentLayers(),
                              ImageLayers(), OperationLayers()}) {
      all->insert(all->end(), table.begin(), table.end());
    }
    return all;
  }();
  return *kAll;
}

const LayerDef* FindLayer(std::string_view name) {
  static const auto* const kByName = [] {
    auto* map = new std::map<std::string_view, const LayerDef*>;
    for (const LayerDef& layer : Layers()) map->emplace(layer.name, &layer);
    return map;
  }();
  const auto found = kByName->find(name);
  return found == kByName->end() ? nullptr : found->second;
}

}  // namespace keras

std::string KerasOperatorTable() {
  std::vector<std::string_view> names = {"Functional", "Sequential"};
  for (const keras::LayerDef& layer : keras::Layers()) names.push_back(layer.name);
  std::ranges::sort(names);
  std::string out =
      "# Keras layers\n\nMade by `relayc --list-operators keras`; a test compares it with the "
      "code.\n\n| layer |\n|---|\n";
  for (const std::string_view name : names) out += fmt::format("| {} |\n", name);
  return out;
}

}  // namespace relayvm::import
