#include "tools/lib/pass_flags.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/api/options.h"

namespace relayvm::tools {

void PassFlags::AddTo(CLI::App& app, CLI::Option* input, CompilerOptions* options) {
  app.add_flag_callback(
      "--list-passes",
      [this, input] {
        list = true;
        input->required(false);
      },
      "print the passes in order, with what they need and give, and their options, and end");
  app.add_option("--load-pass", options->pass_libraries,
                 "a shared library of passes (compiler/pass_plugin.h)");
  app.add_option("--pass", options->passes,
                 "NAME@PLACE: run a loaded pass at before:PASS, after:PASS, start or end");
  app.add_option(
      "--rules", options->rules,
      "a file of rewrite rules (compiler/rules/README.md), applied before SimplifyInference");
  app.add_option("--disable-pass", options->disabled_passes, "a pass that does not run");
}

Result<std::string> ListPasses(const PipelineOptions& pipeline,
                               const std::vector<std::string>& libraries) {
  RELAYVM_ASSIGN_OR_RETURN(const std::vector<Pass> loaded, LoadPasses(libraries));
  RELAYVM_ASSIGN_OR_RETURN(std::vector<PlannedPass> plan, PlanPasses(pipeline));
  std::string out =
      fmt::format("{:5} {:30} {:24} {:10} {}\n", "from", "pass", "needs", "gives", "what it does");
  auto line = [&](std::string_view from, const Pass& p) {
    out += fmt::format("{:5} {:30} {:24} {:10} {}\n", from, p.name, p.needs.ToString(),
                       p.gives.ToString(), p.description);
  };
  for (const PlannedPass& p : plan) {
    line(p.inserted() ? "yours" : fmt::format("-O{}", p.level), p.pass);
  }
  for (const Pass& p : loaded) {
    const bool runs = std::ranges::any_of(
        plan, [&](const PlannedPass& q) { return q.inserted() && q.pass.name == p.name; });
    if (!runs) line("-", p);
  }
  out += "\noptions of passes:\n";
  for (const DeclaredOption& d : PassOptions(loaded)) {
    const PassOption& o = *d.option;
    const std::string option = fmt::format("--{} {}", o.name, o.is_flag() ? "" : o.Form());
    out += fmt::format("{:36} {:34} {}{}\n", option, fmt::format("{}", fmt::join(d.passes, ", ")),
                       o.help, o.initial.empty() ? "" : fmt::format(" (default: {})", o.initial));
  }
  return out;
}

}  // namespace relayvm::tools
