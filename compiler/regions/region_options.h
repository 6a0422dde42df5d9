// --byoc and its kin: the engines that a compilation cuts regions for. Tested by regions_test.cc
// and tests/byoc.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "bytecode/base/status.h"
#include "compiler/regions/annotate_target.h"
#include "compiler/transforms/pass_option.h"

namespace relayvm::regions {

// Of --byoc: all of the compiler's own engines, and of their regions, and those of others that are
// named, those alone that are measured to be faster.
inline constexpr const char* kAutoEngine = "auto";

// --byoc ENGINE, of the compiler's own engines (engine_rules.h) or of --byoc-rules; the first that
// has an operator gets it.
const OptionOf<std::vector<std::string>>& ByocOption();
// --byoc-rules ENGINE.relay: what another engine runs, or one of the compiler's own in place of
// that.
const OptionOf<std::vector<std::string>>& ByocRulesOption();
// --byoc-regions ENGINE: the regions that the program has for it already are its own; none is cut.
const OptionOf<std::vector<std::string>>& ByocRegionsOption();
// --byoc-only: no native program beside the one with regions.
const OptionOf<bool>& ByocOnlyOption();

// --explain: where each operator runs, and why not elsewhere, is printed.
const OptionOf<bool>& ExplainOption();

// "mine" of "a/mine.relay".
std::string EngineOfFile(const std::string& path);

// Files of --byoc-rules, each of which is read when it is first asked for, and kept: passes of one
// compilation share them (PassContext::rule_files). Not thread-safe. Tested by
// compiler/pipeline_test.cc.
class RuleFiles {
 public:
  // As ReadPatterns, or the error of reading the file, which is not kept.
  Result<std::shared_ptr<const rules::RuleSet>> PatternsOf(const std::string& path);

 private:
  std::map<std::string, std::shared_ptr<const rules::RuleSet>> read_;  // by path
};

// Those of --byoc with their patterns. kInvalidArgument where there is no such engine, or as
// RuleFiles says.
Result<std::vector<EnginePattern>> EnginesOf(const PassOptionValues& options, RuleFiles& files);
// Those and the ones of --byoc-regions, which need no patterns (null): what LowerRegions lowers.
Result<std::vector<EnginePattern>> EnginesOfRegions(const PassOptionValues& options,
                                                    RuleFiles& files);
// Whether a compilation has regions to look for.
bool HasEngines(const PassOptionValues& options);
// Whether light regions of an engine are put back: of the compiler's own; a user's rules say what
// is worth it.
bool PrunesLightRegions(const PassOptionValues& options, const std::string& engine);

}  // namespace relayvm::regions
