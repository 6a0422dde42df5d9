// The command-line options about passes, for relayc and relayrun:
//
//   --list-passes                     the passes in order, what they need and give, their options
//   --load-pass libmine.so            passes of a shared library (compiler/pass_plugin.h)
//   --pass NAME@after:FoldConstants   runs one of them, there
//   --disable-pass NAME               leaves one out
//
// Tested by tests/passes/run_passes.py.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "compiler/api/compiler.h"
#include "compiler/pipeline.h"

namespace relayvm::tools {

struct PassFlags {
  bool list = false;

  // `input` need not be given with --list-passes.
  void AddTo(CLI::App& app, CLI::Option* input, CompilerOptions* options);
};

// The text of --list-passes: the plan of `pipeline`, and passes of `libraries` that it leaves out.
Result<std::string> ListPasses(const PipelineOptions& pipeline,
                               const std::vector<std::string>& libraries);

}  // namespace relayvm::tools
