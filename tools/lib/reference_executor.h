// The reference interpreter as an Executor: relayrun --executor debug.
// Tested by reference_executor_test.cc.
#pragma once

#include <memory>

#include "bytecode/base/status.h"
#include "compiler/ir/ir.h"
#include "tools/values/run.h"

namespace relayvm::tools {

// `module` is typed (RunFrontendPipeline); its entry is what runs. `trace_values`: of the first
// run, so many values are printed on standard error (value_trace.h).
Result<std::unique_ptr<Executor>> MakeReferenceExecutor(ir::Module module, const RunFlags& flags,
                                                        size_t trace_values = 0);

}  // namespace relayvm::tools
