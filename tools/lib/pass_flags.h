// The command-line options about passes, for relayc and relayrun:
//
//   --list-passes                     the passes in order, with what they need and give
//   --load-pass libmine.so            passes of a shared library (compiler/pass_plugin.h)
//   --pass NAME@after:FoldConstants   runs one of them, there
//   --disable-pass NAME               leaves one out
//
// Tested by tests/passes/run_passes.py.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "compiler/pipeline.h"

namespace relayvm::tools {

struct PassFlags {
  bool list = false;
  std::vector<std::string> libraries;
  std::vector<std::string> passes;

  // `input` need not be given with --list-passes.
  void AddTo(CLI::App& app, CLI::Option* input, PipelineOptions* pipeline);
  // After parsing: loads libraries, and puts passes into the options.
  Status Finish(PipelineOptions* pipeline);
  // The text of --list-passes.
  Result<std::string> List(const PipelineOptions& pipeline) const;

 private:
  std::vector<Pass> loaded_;
};

}  // namespace relayvm::tools
