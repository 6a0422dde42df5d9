#include "tools/lib/pass_flags.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/pass_plugin.h"

namespace relayvm::tools {

void PassFlags::AddTo(CLI::App& app, CLI::Option* input, PipelineOptions* pipeline) {
  app.add_flag_callback(
      "--list-passes",
      [this, input] {
        list = true;
        input->required(false);
      },
      "print the passes in order, with what they need and give, and end");
  app.add_option("--load-pass", libraries, "a shared library of passes (compiler/pass_plugin.h)");
  app.add_option("--pass", passes,
                 "NAME@PLACE: run a loaded pass at before:PASS, after:PASS, start or end");
  app.add_option("--disable-pass", pipeline->disabled, "a pass that does not run");
}

Status PassFlags::Finish(PipelineOptions* pipeline) {
  for (const std::string& library : libraries) {
    RELAYVM_ASSIGN_OR_RETURN(std::vector<Pass> found, LoadPassPlugin(library));
    for (Pass& pass : found) {
      if (std::ranges::find(loaded_, pass.name, &Pass::name) != loaded_.end()) {
        return {StatusCode::kInvalidArgument,
                fmt::format("--load-pass {}: there is a pass {} already", library, pass.name)};
      }
      loaded_.push_back(std::move(pass));
    }
  }
  for (const std::string& text : passes) {
    const size_t at = text.find('@');
    const std::string name = text.substr(0, at);
    if (at == std::string::npos || at == 0) {
      return {StatusCode::kInvalidArgument,
              fmt::format("--pass {}: expected NAME@PLACE, such as {}@after:FoldConstants", text,
                          name.empty() ? "MyPass" : name)};
    }
    auto pass = std::ranges::find(loaded_, name, &Pass::name);
    if (pass == loaded_.end()) {
      std::vector<std::string_view> names;
      for (const Pass& p : loaded_) names.push_back(p.name);
      return {StatusCode::kInvalidArgument,
              fmt::format("--pass {}: no loaded library has a pass {}; {}", text, name,
                          names.empty() ? "load one with --load-pass"
                                        : fmt::format("there are {}", fmt::join(names, ", ")))};
    }
    pipeline->passes.push_back({*pass, text.substr(at + 1)});
  }
  return OkStatus();
}

Result<std::string> PassFlags::List(const PipelineOptions& pipeline) const {
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
  for (const Pass& p : loaded_) {
    const bool runs = std::ranges::any_of(
        plan, [&](const PlannedPass& q) { return q.inserted() && q.pass.name == p.name; });
    if (!runs) line("-", p);
  }
  return out;
}

}  // namespace relayvm::tools
