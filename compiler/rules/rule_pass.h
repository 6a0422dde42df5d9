// Rules as a pass of the pipeline. Tested by tools/tools_test.cc.
#pragma once

#include "compiler/pass.h"
#include "compiler/rules/rules.h"

namespace relayvm::rules {

// What FileMapping::Open or ReadRules says.
Result<std::shared_ptr<const RuleSet>> ReadRuleFile(const std::string& path,
                                                    const CustomOperators& operators = {});

// "ApplyRules". `explain`: near misses, and how often each rule was applied, are printed.
Pass RewritePass(std::shared_ptr<const RuleSet> rules, bool explain);
// What `explain` prints: a line for each.
std::string ReportText(const Report& report);

}  // namespace relayvm::rules
