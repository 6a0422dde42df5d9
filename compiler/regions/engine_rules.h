// Engines that the compiler knows by name, and what each runs: rule files (ENGINE.relay, patterns
// in the language of compiler/rules) that the library holds as text. Tested by
// dnnl_patterns_test.cc.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "bytecode/base/status.h"
#include "compiler/rules/rules.h"

namespace relayvm::regions {

struct Engine {
  std::string_view name;   // "dnnl": of its attribute Compiler, and of its provider
  const char* rules_text;  // ENGINE.relay
};

// Null where there is none of that name. It lives as long as the process.
const Engine* FindEngine(std::string_view name);
std::vector<std::string_view> EngineNames();

// Read when they are first asked for, and kept. Thread-safe. An error of code kInvalidArgument
// where there is no engine of that name.
Result<std::shared_ptr<const rules::RuleSet>> EnginePatterns(std::string_view name);

}  // namespace relayvm::regions
