#include "compiler/regions/engine_rules.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <mutex>
#include <string>

#include "compiler/regions/engine_rules_text.h"

namespace relayvm::regions {
namespace {

const Engine kEngines[] = {{"dnnl", kDnnlText}};

}  // namespace

const Engine* FindEngine(std::string_view name) {
  for (const Engine& engine : kEngines) {
    if (engine.name == name) return &engine;
  }
  return nullptr;
}

std::vector<std::string_view> EngineNames() {
  std::vector<std::string_view> names;
  for (const Engine& engine : kEngines) names.push_back(engine.name);
  return names;
}

Result<std::shared_ptr<const rules::RuleSet>> EnginePatterns(std::string_view name) {
  const Engine* engine = FindEngine(name);
  if (engine == nullptr) {
    return Status(
        StatusCode::kInvalidArgument,
        fmt::format("there is no engine {}: expected {}", name, fmt::join(EngineNames(), " or ")));
  }
  static std::mutex mutex;
  static std::map<const Engine*, std::shared_ptr<const rules::RuleSet>> known;
  const std::lock_guard lock(mutex);
  if (const auto at = known.find(engine); at != known.end()) return at->second;
  RELAYVM_ASSIGN_OR_RETURN(
      const std::shared_ptr<const rules::RuleSet> patterns,
      rules::ReadPatterns(std::string(engine->name) + ".relay", engine->rules_text));
  return known.emplace(engine, patterns).first->second;
}

}  // namespace relayvm::regions
