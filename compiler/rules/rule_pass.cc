#include "compiler/rules/rule_pass.h"

#include <fmt/format.h>

#include "bytecode/base/file_mapping.h"

namespace relayvm::rules {

Result<std::shared_ptr<const RuleSet>> ReadRuleFile(const std::string& path,
                                                    const CustomOperators& operators) {
  RELAYVM_ASSIGN_OR_RETURN(const auto file, FileMapping::Open(path, FileMapping::Kind::kRead));
  return ReadRules(path, std::string(file->bytes().begin(), file->bytes().end()), operators);
}

Pass RewritePass(std::shared_ptr<const RuleSet> rules, bool explain) {
  Pass pass;
  pass.name = "ApplyRules";
  pass.run = [rules = std::move(rules), explain](const ir::Module& m,
                                                 const PassContext& context) -> Result<ir::Module> {
    Report report;
    RELAYVM_ASSIGN_OR_RETURN(ir::Module out,
                             ApplyRules(m, *rules, {explain, context.stop}, &report));
    if (explain && context.print) context.print(ReportText(report));
    return out;
  };
  pass.refuses = {Fact::kFused, Fact::kFinalTypes};
  pass.drops = {};
  pass.description = "rewrite rules of the user's files";
  return pass;
}

std::string ReportText(const Report& report) {
  std::string out;
  for (const std::string& miss : report.misses) out += miss + "\n";
  for (const auto& [name, count] : report.applied)
    out += fmt::format("rule @{}: applied {} time{}\n", name, count, count == 1 ? "" : "s");
  return out;
}

}  // namespace relayvm::rules
