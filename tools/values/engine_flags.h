// The engines that a tool lets regions of programs run on: --engine and --no-byoc. Tested by
// engine_flags_test.cc.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "bytecode/base/status.h"
#include "vm/run/executable.h"

namespace relayvm::tools {

class EngineFlags {
 public:
  void AddTo(CLI::App& app);
  // For native code: --engine alone.
  void AddNativeTo(CLI::App& app);
  // After parsing. kInvalidArgument for a malformed one.
  Status Finish();
  // Notices go to standard error, as "TOOL: note: ...". REQUIRES: this lives as long as `options`.
  void Use(const std::string& tool, LoadOptions* options) const;
  const std::vector<EngineLibrary>& engines() const { return engines_; }

 private:
  std::vector<std::string> given_;  // "NAME" or "NAME=PATH"
  bool none_ = false;
  std::vector<EngineLibrary> engines_;
};

}  // namespace relayvm::tools
