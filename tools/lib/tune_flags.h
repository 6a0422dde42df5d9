// relayc --tune: its options, its log, and the table of what it found. Tested by
// tools/tune_test.cc.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "tools/lib/compile_flags.h"

namespace relayvm::tools {

// "500ms", "60s", "2m", "1h".
Result<std::chrono::milliseconds> ParseDuration(const std::string& text);

struct TuneFlags {
  std::string budget, log;
  std::vector<std::string> samples;

  void AddTo(CLI::App& app);
  // After CompileFlags::Finish: what is measured, and whether this machine can, and the log be
  // written.
  Status Finish(bool compiles, CompileFlags* flags);
  // Adds what was measured to the log.
  Status WriteLog(const tuner::TuneReport& report);

  std::string log_text;  // as it was
};

// What was measured, before and after, as a table of lines.
std::string TuneTable(const tuner::TuneReport& report);

}  // namespace relayvm::tools
