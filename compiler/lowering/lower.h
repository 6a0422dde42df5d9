// From a lowered module to a program: bytecode, kernels, constants, signatures.
//
// Before: typed A-normal form without FunctionExpr (LambdaLift), polymorphic functions allowed.
// After: a Program that VerifyProgram accepts. Equal input gives equal bytes. Tested by
// lower_test.cc.
#pragma once

#include <vector>

#include "bytecode/base/status.h"
#include "bytecode/program.h"
#include "compiler/ir/ir.h"
#include "compiler/lowering/module_lowering.h"
#include "kernels/codegen/kernel_compiler.h"

namespace relayvm::lower {

struct LoweredProgram {
  Program program;
  std::string llvm_ir, assembly;  // when KernelOptions asked for them
  KernelTimes kernel_times;
};

// The module's entry function becomes the program's export; it checks the bounds when it is called.
// The program keeps the module's arena alive.
Result<LoweredProgram> LowerModule(const ir::Module& module, const KernelOptions& options,
                                   const LowerOptions& lower = {});

// The kernels of such a program, without compiling them: one for each call, but for those that
// options.schedules names. They do not need the module.
Result<std::vector<KernelSpec>> KernelsOf(const ir::Module& module, const KernelOptions& options);

}  // namespace relayvm::lower
