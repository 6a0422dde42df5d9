// The command-line options that relayc and relayrun share. Tested by tools/tools_test.cc.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>
#include <vector>

#include "compiler/api/compiler.h"
#include "compiler/driver.h"
#include "tools/lib/pass_flags.h"

namespace relayvm::tools {

struct CompileFlags {
  std::string input;
  CompilerOptions compiler;  // what the command line says
  CompileOptions options;    // the same as the driver takes it, after Finish
  std::vector<std::string> shapes, dims, schedules;  // NAME=...
  std::map<std::string, CLI::Option*> of_passes;     // by the options' names; the app's
  PassFlags passes;
  bool time_passes = false;
  std::vector<PassTiming> timings;

  void AddTo(CLI::App& app);
  // The options that passes declare, also those of libraries that `args` loads. Fails where such a
  // library does, or an option is the tool's already: so when all of its own are there.
  Status AddPassOptions(CLI::App& app, const std::vector<std::string>& args);
  // After parsing: fills in what `compiler` and `options` derive. A Status for a malformed one.
  Status Finish();
  void PrintTimings() const;
};

// --help in groups, with the forms of values. Before parsing, when all options are there.
void GroupOptions(CLI::App& app);

// -O0..-O3 spelled --O0..--O3. `args` are in order, without argv[0].
std::vector<std::string> NormalizeArguments(std::vector<std::string> args);

// Exit statuses of all tools.
inline constexpr int kExitUsage = 1;
inline constexpr int kExitBadInput = 2;
inline constexpr int kExitRunFailed = 3;
inline constexpr int kExitMismatch = 4;

// Prints "tool: message" to standard error and gives the exit status for it.
int Fail(const std::string& tool, const Status& status);

}  // namespace relayvm::tools
