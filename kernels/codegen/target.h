// The machine that kernels are compiled for, and the way from an LLVM module to an object file.
// Thread-safe. Tested through kernel_compiler_test.cc.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bytecode/base/status.h"
#include "kernels/codegen/kernel_compiler.h"

namespace llvm {
class Function;
class LLVMContext;
class Module;
class TargetMachine;
}  // namespace llvm

namespace relayvm::codegen {

struct Target {
  std::string level;     // "x86-64-v4": what the machine must have
  std::string features;  // LLVM's list for it: "+avx,+avx2,..."
  std::string tune;      // the processor whose timing guides scheduling
  int opt_level = 3;
};

// "native" becomes the highest level that this machine has.
Result<Target> ResolveTarget(const KernelOptions& options);

std::unique_ptr<llvm::TargetMachine> MakeTargetMachine(const Target& target);
// Triple and data layout; target attributes of a function.
void PrepareModule(llvm::Module& module, const llvm::TargetMachine& machine);
void PrepareFunction(llvm::Function& function, const Target& target);

// Optimises and translates. Object code, and assembly when asked for. In GuardLlvm (llvm_guard.h).
// Where a stop is asked for, Optimise fails with kCancelled, and so does EmitObject; it finishes
// the function that it is at.
Status Optimise(llvm::Module& module, llvm::TargetMachine& machine, int opt_level,
                const std::stop_token& stop = {});
Result<std::vector<char>> EmitObject(llvm::Module& module, llvm::TargetMachine& machine,
                                     const std::stop_token& stop = {});
Result<std::string> EmitAssembly(const llvm::Module& module, llvm::TargetMachine& machine);

}  // namespace relayvm::codegen
