// What tests of dnnl.relay share: what its patterns find in a program, as text.
#pragma once

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <vector>

#include "compiler/regions/engine_rules.h"
#include "compiler/rules/replace.h"
#include "compiler/transforms/simplify/dead_code.h"
#include "compiler/transforms/simplify/fold_constants.h"
#include "compiler/transforms/testing.h"

namespace relayvm::regions {

// The pattern's own steps, inner to outer, as a composite is named.
inline std::string NameOf(const rules::Match& match) {
  std::string name;
  const auto steps = match.OwnSteps();
  for (auto step = steps.rbegin(); step != steps.rend(); ++step)
    name += (name.empty() ? "" : "_") + (*step)->way->label;
  return name;
}

// The names of what matches in the program, the last first. The matches themselves, where wanted:
// they point into the program, which lives as long as `keep`.
inline std::string Found(const std::string& program, std::vector<rules::Match>* matches = nullptr,
                         ir::Module* keep = nullptr) {
  const auto patterns = EnginePatterns("dnnl");
  REQUIRE_MESSAGE(patterns.ok(), patterns.status().message());
  const ir::Module m = ir::EliminateDeadCode(ir::FoldConstants(ir::Typed(program)));
  std::string found;
  rules::ReplacePatterns(
      m, **patterns, [&](const rules::Place& place, std::vector<ir::Binding>& out, std::string*) {
        found += (found.empty() ? "" : ", ") + NameOf(place.match);
        if (matches != nullptr) matches->push_back(place.match);
        out.push_back({place.root.var, place.root.value});
        return true;
      });
  if (keep != nullptr) *keep = m;
  return found;
}

// The types of what the steps take besides the value, inner to outer, and their numbers.
inline std::string Operands(const rules::Match& match, const ir::Module& m) {
  std::string text;
  const auto steps = match.OwnSteps();
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    if (step == steps.rbegin()) continue;
    text += (text.empty() ? "" : "; ") + (*step)->way->label;
    for (const ir::Atom& a : (*step)->Operands())
      text += " " + ir::TypeToString(ir::AtomType(m, a));
    for (const auto& [name, value] : (*step)->variables) {
      if (const auto* number = std::get_if<double>(&value.value))
        text += fmt::format(" {}={}", name, *number);
    }
  }
  return text;
}

}  // namespace relayvm::regions
