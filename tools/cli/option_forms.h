// How options are shown: --help in groups with the forms of values, and the same as JSON, of which
// man pages and completions for shells are made (tools/packaging/help_pages.py). Tested by
// tools/messages_test.cc.
#pragma once

#include <CLI/CLI.hpp>
#include <span>
#include <string>
#include <vector>

namespace relayvm::tools {

struct OptionForm {
  const char* name;            // "--output"
  const char* group;           // "Output"
  const char* form = nullptr;  // of its value: "FILE"; null where choices or numbers say it
};

// Gives options their groups and forms, and the app a formatter that shows these. Options that no
// form names keep what they have. Before parsing, when all options are there.
void ShowOptions(CLI::App& app, std::span<const OptionForm> forms);

// As the user types it: "-o", "--output".
std::vector<std::string> NamesOf(const CLI::Option& option);

// What --help says, as one JSON object: tool, version, description, operands, groups of options
// (names, form, choices, whether one may come several times, help) and the footer.
std::string OptionsAsJson(const CLI::App& app);

}  // namespace relayvm::tools
