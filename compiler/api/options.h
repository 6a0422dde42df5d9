// The public options of a compilation as the driver takes them: names become numbers, files are
// read, libraries loaded. Tested by compiler_test.cc and tools/tools_test.cc.
#pragma once

#include "bytecode/base/status.h"
#include "compiler/api/compiler.h"
#include "compiler/driver.h"

namespace relayvm {

// kInvalidArgument and what reading files gives. Callbacks and warnings are the caller's to
// connect.
Result<CompileOptions> ReadCompilerOptions(const CompilerOptions& options);

// Of pass libraries, in order. kInvalidArgument where two have one name, or an option of theirs is
// another one already.
Result<std::vector<Pass>> LoadPasses(const std::vector<std::string>& libraries);

}  // namespace relayvm
