// Attributes of a module's entry that go into its signature, for hosts.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/ir.h"

namespace relayvm::ir {

// The names of its result's tensors, depth first, as strings: models of other systems name their
// outputs.
inline constexpr const char* kOutputNames = "output_names";
// What it keeps between runs: positions of an input and an output, of another two ...
// (transforms/loops/name_states.h).
inline constexpr const char* kStates = "states";

// Empty where the function does not name its outputs.
inline std::vector<std::string> OutputNamesOf(const Function& function) {
  std::vector<std::string> names;
  const auto at = function.attrs.find(kOutputNames);
  const auto* list =
      at == function.attrs.end() ? nullptr : std::get_if<AttrList>(&at->second.value);
  for (size_t i = 0; list != nullptr && i < list->size(); ++i) {
    const auto* name = std::get_if<std::string>(&(*list)[i].value);
    if (name == nullptr) return {};
    names.push_back(*name);
  }
  return names;
}

// Positions of inputs and outputs.
inline std::vector<std::pair<uint32_t, uint32_t>> StatesOf(const Function& function) {
  std::vector<std::pair<uint32_t, uint32_t>> states;
  const auto at = function.attrs.find(kStates);
  const auto* list =
      at == function.attrs.end() ? nullptr : std::get_if<AttrList>(&at->second.value);
  const auto number = [&](size_t i) {
    const auto* value = std::get_if<Dim>(&(*list)[i].value);
    return value == nullptr ? 0 : static_cast<uint32_t>(value->value());
  };
  for (size_t i = 0; list != nullptr && i + 1 < list->size(); i += 2)
    states.emplace_back(number(i), number(i + 1));
  return states;
}

}  // namespace relayvm::ir
