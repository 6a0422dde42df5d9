// Outputs that would replace what they are made of. Tested by output_files_test.cc and
// ..tools/tools_test.cc.
#pragma once

#include <string>
#include <vector>

#include "bytecode/base/status.h"

namespace relayvm::tools {

// A file that a command reads, and what a message calls it: "the input", "the file of --params".
struct SourceFile {
  std::string path, what;
};

// kInvalidArgument where a file of `outputs` is one of `sources`, by whatever name. Names of no
// files ("", "-") are passed by.
Status CheckOutputs(const std::vector<std::string>& outputs,
                    const std::vector<SourceFile>& sources);

}  // namespace relayvm::tools
