// relayc --kernel: one operator in place of a program. Tested by tools/tools_test.cc.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "bytecode/base/status.h"
#include "tools/lib/compile_flags.h"
#include "tools/lib/kernel_source.h"

namespace relayvm::tools {

struct KernelFlags {
  std::string text, schedule;
  uint32_t threads = 1;
  KernelSource source;
  DimValues dims;

  void AddTo(CLI::App& app);
  // What relayc does with the operator: its own INPUT.
  Status Finish(const std::string& emit, CompileFlags* flags);
  // --dim is the kernel's: sizes that it is compiled for, or, where its time is taken, run with.
  Status TakeDims(const std::string& emit, CompileFlags* flags);

 private:
  bool HasDim(const std::string& name) const;
  // Sizes by the operator's names of dims become those of its program's, x0.1 for the second one of
  // the first argument. What its time is taken with is measured with.
  Status NameSamples(const std::string& emit, tuner::TuneOptions* tune) const;
};

}  // namespace relayvm::tools
