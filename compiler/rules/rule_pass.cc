#include "compiler/rules/rule_pass.h"

#include <fmt/format.h>

#include <iterator>

#include "bytecode/base/file_mapping.h"

namespace relayvm::rules {

Result<std::shared_ptr<const RuleSet>> ReadRuleFile(const std::string& path,
                                                    const CustomOperators& operators,
                                                    std::string* content) {
  RELAYVM_ASSIGN_OR_RETURN(const auto file, FileMapping::Open(path, FileMapping::Kind::kRead));
  std::string text(file->bytes().begin(), file->bytes().end());
  if (content != nullptr)
    fmt::format_to(std::back_inserter(*content), "{} {} {}{}", path.size(), text.size(), path,
                   text);
  return ReadRules(path, std::move(text), operators);
}

const OptionOf<bool>& ExplainRulesOption() {
  static const OptionOf<bool> option = FlagOption(
      {.name = "explain-rules",
       .help = "print, on standard error, which rewrite rules were applied, and where one "
               "nearly matched and what was missing"});
  return option;
}

Result<ir::Module> Explained(const PassContext& context,
                             const std::function<Result<ir::Module>(Report* report)>& run) {
  if (!ExplainRulesOption().In(context.options) || !context.print) return run(nullptr);
  Report report;
  RELAYVM_ASSIGN_OR_RETURN(ir::Module out, run(&report));
  context.print(ReportText(report));
  return out;
}

Result<ir::Module> ApplyRulesIn(const ir::Module& m, const RuleSet& rules,
                                const PassContext& context) {
  return Explained(context, [&](Report* report) {
    return ApplyRules(m, rules, {report != nullptr, context.stop}, report);
  });
}

Pass RewritePass(std::shared_ptr<const RuleSet> rules) {
  Pass pass;
  pass.name = "ApplyRules";
  pass.run = [rules = std::move(rules)](const ir::Module& m, const PassContext& context) {
    return ApplyRulesIn(m, *rules, context);
  };
  pass.options = {&ExplainRulesOption().row()};
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
