#include "compiler/regions/region_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "bytecode/base/file_mapping.h"
#include "bytecode/base/suggestion.h"
#include "compiler/regions/engine_rules.h"

namespace relayvm::regions {

namespace {

Status AddEngine(std::string_view text, std::vector<std::string>* engines) {
  const auto is_word = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  if (text.empty() || !std::ranges::all_of(text, is_word))
    return {StatusCode::kInvalidArgument, "write ENGINE, the name of one"};
  if (std::ranges::count(*engines, text) == 0) engines->emplace_back(text);
  return OkStatus();
}

}  // namespace

const OptionOf<std::vector<std::string>>& ByocOption() {
  static const OptionOf<std::vector<std::string>> option(
      {.name = "byoc",
       .help = "what this engine (dnnl: oneDNN) runs becomes regions for it, which the file holds "
               "beside the native program; auto: where they are measured to be faster",
       .form = "ENGINE",
       .repeats = true},
      AddEngine);
  return option;
}

const OptionOf<std::vector<std::string>>& ByocRegionsOption() {
  static const OptionOf<std::vector<std::string>> option(
      {.name = "byoc-regions",
       .help = "regions that the program has for this engine already (functions with the attribute "
               "Compiler) run on it",
       .form = "ENGINE",
       .repeats = true},
      AddEngine);
  return option;
}

const OptionOf<std::vector<std::string>>& ByocRulesOption() {
  static const OptionOf<std::vector<std::string>> option(
      {.name = "byoc-rules",
       .help = "what the engine that the file is named for runs: patterns (compiler/rules)",
       .form = "ENGINE.relay",
       .repeats = true},
      [](std::string_view text, std::vector<std::string>* files) -> Status {
        constexpr std::string_view kEnding = ".relay";
        if (!text.ends_with(kEnding) || text.size() == kEnding.size())
          return {StatusCode::kInvalidArgument, "write ENGINE.relay, a file of patterns"};
        files->emplace_back(text);
        return OkStatus();
      });
  return option;
}

const OptionOf<bool>& ByocOnlyOption() {
  static const OptionOf<bool> option = FlagOption(
      {.name = "byoc-only",
       .help =
           "the file holds no native program beside the one with regions, and needs the engine"});
  return option;
}

const OptionOf<bool>& ExplainOption() {
  static const OptionOf<bool> option = FlagOption(
      {.name = "explain",
       .help = "print, on standard error, the region that each operator runs in, or what keeps it "
               "native and what would change that (with --byoc)"});
  return option;
}

std::string EngineOfFile(const std::string& path) {
  return std::filesystem::path(path).stem().string();
}

Result<std::shared_ptr<const rules::RuleSet>> RuleFiles::PatternsOf(const std::string& path) {
  if (const auto at = read_.find(path); at != read_.end()) return at->second;
  RELAYVM_ASSIGN_OR_RETURN(const auto mapping, FileMapping::Open(path));
  const auto bytes = mapping->bytes();
  RELAYVM_ASSIGN_OR_RETURN(auto patterns,
                           rules::ReadPatterns(path, std::string(bytes.begin(), bytes.end())));
  return read_.emplace(path, std::move(patterns)).first->second;
}

Result<std::vector<EnginePattern>> EnginesOf(const PassOptionValues& options, RuleFiles& files) {
  std::vector<EnginePattern> engines;
  const std::vector<std::string> paths = ByocRulesOption().In(options);
  std::vector<std::string> names = ByocOption().In(options);
  if (std::erase(names, kAutoEngine) > 0) {
    for (const std::string_view own : EngineNames()) {
      if (std::ranges::count(names, own) == 0) names.emplace_back(own);
    }
  }
  for (const std::string& name : names) {
    const auto file = std::ranges::find(paths, name, EngineOfFile);
    if (file != paths.end()) {
      RELAYVM_ASSIGN_OR_RETURN(auto patterns, files.PatternsOf(*file));
      engines.push_back({name, std::move(patterns)});
      continue;
    }
    if (FindEngine(name) == nullptr) {
      std::vector<std::string_view> known = EngineNames();
      known.emplace_back(kAutoEngine);
      return Status(StatusCode::kInvalidArgument,
                    fmt::format("--byoc {}: there is no such engine{}; there are {}. Of your own, "
                                "--byoc-rules {}.relay says what it runs",
                                name, DidYouMean(name, known), fmt::join(known, ", "), name));
    }
    RELAYVM_ASSIGN_OR_RETURN(auto patterns, EnginePatterns(name));
    engines.push_back({name, std::move(patterns)});
  }
  return engines;
}

Result<std::vector<EnginePattern>> EnginesOfRegions(const PassOptionValues& options,
                                                    RuleFiles& files) {
  RELAYVM_ASSIGN_OR_RETURN(std::vector<EnginePattern> engines, EnginesOf(options, files));
  const std::vector<std::string> paths = ByocRulesOption().In(options);
  for (const std::string& name : ByocRegionsOption().In(options)) {
    if (std::ranges::count(engines, name, &EnginePattern::engine) > 0) continue;
    EnginePattern engine{name, nullptr};
    if (const auto file = std::ranges::find(paths, name, EngineOfFile); file != paths.end()) {
      RELAYVM_ASSIGN_OR_RETURN(engine.patterns, files.PatternsOf(*file));
    } else if (FindEngine(name) != nullptr) {
      RELAYVM_ASSIGN_OR_RETURN(engine.patterns, EnginePatterns(name));
    }
    engines.push_back(std::move(engine));
  }
  return engines;
}

bool HasEngines(const PassOptionValues& options) {
  return !ByocOption().In(options).empty() || !ByocRegionsOption().In(options).empty();
}

bool PrunesLightRegions(const PassOptionValues& options, const std::string& engine) {
  return FindEngine(engine) != nullptr &&
         std::ranges::count(ByocRulesOption().In(options), engine, EngineOfFile) == 0;
}

}  // namespace relayvm::regions
