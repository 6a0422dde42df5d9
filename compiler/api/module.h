// The two halves of CompileModel, for who looks at the program or changes it in between, or at what
// comes out: not part of the
// library's interface. Tested by compiler_test.cc and tools/python.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "compiler/api/compiler.h"
#include "compiler/import/user_operators.h"
#include "compiler/ir/ir.h"
#include "compiler/pipeline.h"
#include "kernels/op/custom_ops.h"

namespace relayvm {

struct LoadedModel {
  ir::Module module;
  CustomOperators operators;  // of plugins, that the module may call
};

// What CompileModel compiles: parameters and shapes bound, types not yet inferred.
Result<LoadedModel> ReadModel(const ModelSource& source, const CompilerOptions& options = {},
                              std::stop_token stop = {},
                              const import::UserOperators& user_operators = {});

// Takes no notice of the options that ReadModel has used: shapes (but for bounds), dims, params,
// plugins. `passes` are inserted besides those of the options.
Result<CompiledModel> CompileLoaded(const LoadedModel& model, const CompilerOptions& options = {},
                                    std::stop_token stop = {},
                                    const std::vector<InsertedPass>& passes = {});

// What LLVM makes of the kernels, as text: its representation before it is optimised, and the
// machine's instructions. For one processor: of several targets, kInvalidArgument.
struct KernelTexts {
  std::string llvm_ir, assembly;
};
Result<KernelTexts> KernelTextsOf(const LoadedModel& model, const CompilerOptions& options = {},
                                  std::stop_token stop = {},
                                  const std::vector<InsertedPass>& passes = {});

}  // namespace relayvm
