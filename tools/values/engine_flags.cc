#include "tools/values/engine_flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "bytecode/base/printable.h"
#include "bytecode/regions.h"
#include "tools/cli/option_forms.h"

namespace relayvm::tools {
namespace {

constexpr OptionForm kEngineForms[] = {{"--engine", "Running", "NAME[=LIBRARY]"},
                                       {"--no-byoc", "Running"}};

}  // namespace

void EngineFlags::AddTo(CLI::App& app) {
  app.add_option("--engine", given_,
                 "an engine that regions of the program may run on, by its name or NAME=LIBRARY, "
                 "a provider's file; dnnl is one without being named");
  app.add_flag("--no-byoc", none_, "the program's own kernels run all of it, and no engine");
  ShowOptions(app, kEngineForms);
}

void EngineFlags::AddNativeTo(CLI::App& app) {
  app.add_option(
      "--engine", given_,
      "NAME=LIBRARY: a provider's file for an engine that the program's regions run on; "
      "without, the one that comes with relayvm, in the folder that RELAYVM_ENGINES names");
  ShowOptions(app, kEngineForms);
}

Status EngineFlags::Finish() {
  if (none_ && !given_.empty())
    return {StatusCode::kInvalidArgument, "--no-byoc: expected no --engine beside it"};
  engines_.clear();
  if (!none_) engines_.push_back({"dnnl", ""});
  for (const std::string& text : given_) {
    const size_t equals = std::min(text.find('='), text.size());
    const EngineLibrary engine{text.substr(0, equals),
                               text.substr(std::min(equals + 1, text.size()))};
    if (!IsEngineName(engine.name) || (engine.path.empty() && equals < text.size())) {
      return {StatusCode::kInvalidArgument,
              fmt::format("--engine {}: expected NAME or NAME=LIBRARY, a name of a-z, 0-9 and _",
                          text)};
    }
    std::erase_if(engines_, [&](const EngineLibrary& e) { return e.name == engine.name; });
    engines_.push_back(engine);
  }
  return OkStatus();
}

void EngineFlags::Use(const std::string& tool, LoadOptions* options) const {
  options->engines = engines_;
  options->notice = [tool](const std::string& text) {
    fmt::print(stderr, "{}: note: {}\n", tool, PrintableLines(text));
  };
}

}  // namespace relayvm::tools
