// relayc --check: what a program that was compiled with less precise weights gives on an input,
// against the same program as it was written. Tested by tools/tools_test.cc.
#pragma once

#include <string>
#include <vector>

#include "bytecode/base/status.h"
#include "tools/lib/compile_flags.h"
#include "tools/values/run.h"

namespace relayvm::tools {

struct Check {
  std::string report;  // a table, on success
  Status status;
  Exit exit = Exit::kDone;
};

// Compiles flags.input once more, without regions and reduced precision; where there is none, with
// -O0. Runs both with `inputs`, as vmrun's --input: of what was made both forms, where one has
// regions; the one that needs an engine which is not here is not run, and the report says so.
Check CheckPrecision(const CompileFlags& flags, const Compiled& made,
                     const std::vector<std::string>& inputs);

}  // namespace relayvm::tools
