// Rules as a pass of the pipeline. Tested by tools/tools_test.cc.
#pragma once

#include "compiler/pass.h"
#include "compiler/rules/rules.h"
#include "compiler/transforms/pass_option.h"

namespace relayvm::rules {

// What FileMapping::Open or ReadRules says. `content`: what the file holds is added to it.
Result<std::shared_ptr<const RuleSet>> ReadRuleFile(const std::string& path,
                                                    const CustomOperators& operators = {},
                                                    std::string* content = nullptr);

// --explain-rules: near misses, and how often each rule was applied, are printed.
const OptionOf<bool>& ExplainRulesOption();
// What `run` gives; its report, if --explain-rules asks for one (else null), is printed.
Result<ir::Module> Explained(const PassContext& context,
                             const std::function<Result<ir::Module>(Report* report)>& run);
// ApplyRules with the context's options.
Result<ir::Module> ApplyRulesIn(const ir::Module& m, const RuleSet& rules,
                                const PassContext& context);
// "ApplyRules", of a user's rules.
Pass RewritePass(std::shared_ptr<const RuleSet> rules);
// What is printed: a line for each.
std::string ReportText(const Report& report);

}  // namespace relayvm::rules
