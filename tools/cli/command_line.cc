#include "tools/cli/command_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "bytecode/base/printable.h"
#include "bytecode/base/suggestion.h"
#include "bytecode/file_format.h"
#include "bytecode/image_loader.h"
#include "bytecode/opcode.h"
#include "tools/cli/option_forms.h"

namespace relayvm::tools {
namespace {

// What may have been meant by an option that there is not.
std::string SuggestOption(const CLI::App& app, std::string_view argument) {
  if (!argument.starts_with("--")) return "";
  Suggestion suggestion(argument.substr(0, argument.find('=')));
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  for (const std::string& name : names) suggestion.Consider(name);
  return suggestion.Text("");
}

}  // namespace

std::optional<int> ParseCommandLine(CLI::App& app, std::vector<std::string> args,
                                    const HintFn& hint) {
  constexpr int kUsage = 1;
  if (const char* level = std::getenv(kMaxCpuLevelVariable);
      level != nullptr && *level != '\0' && !IsCpuLevel(level)) {
    fmt::print(stderr, "{}: {}: expected x86-64-v2, x86-64-v3 or x86-64-v4, found {}\n",
               app.get_name(), kMaxCpuLevelVariable, Printable(level));
    return kUsage;
  }
  app.set_version_flag(
      "--version",
      fmt::format("{} (relayvm) {}, .vmx format {}.{}, bytecode {}", app.get_name(),
                  RELAYVM_VERSION, kFormatMajor, kFormatMinor, kBytecodeVersion),
      "print the version, and those of the formats");
  if (args.size() == 1 && args[0] == "--help-json") {
    fmt::print("{}", OptionsAsJson(app));
    return 0;
  }
  // An option that may come several times takes one value each time: the next word is not its own.
  for (CLI::Option* option : app.get_options()) {
    if (!option->get_positional()) option->allow_extra_args(false);
  }
  std::reverse(args.begin(), args.end());  // as CLI11 wants them
  try {
    app.parse(std::move(args));
    return std::nullopt;
  } catch (const CLI::Success& done) {
    app.exit(done);
    return 0;
  } catch (const CLI::ExtrasError&) {
    const std::string extra = app.remaining().empty() ? "" : app.remaining().front();
    const std::string remedy = hint == nullptr ? "" : hint(extra);
    fmt::print(stderr, "{}: unexpected argument {}{}{}{}\n", app.get_name(), extra,
               SuggestOption(app, extra), remedy.empty() ? "" : "; ", remedy);
  } catch (const CLI::ParseError& error) {
    fmt::print(stderr, "{}: {}\n", app.get_name(), error.what());
  }
  fmt::print(stderr, "{} --help lists the options\n", app.get_name());
  return kUsage;
}

std::string InputPath(const std::string& argument) {
  return argument == "-" ? "/dev/stdin" : argument;
}

}  // namespace relayvm::tools
