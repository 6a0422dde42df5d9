// The reference interpreter as an Executor: relayrun --executor reference.
// Tested by reference_executor_test.cc.
#pragma once

#include <memory>

#include "bytecode/base/status.h"
#include "compiler/ir/ir.h"
#include "tools/values/run.h"

namespace relayvm::tools {

// `module` is typed (RunFrontendPipeline); its entry is what runs.
Result<std::unique_ptr<Executor>> MakeReferenceExecutor(ir::Module module, const RunFlags& flags);

}  // namespace relayvm::tools
