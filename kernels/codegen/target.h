// The way from an LLVM module to an object file. Thread-safe. Tested through
// kernel_compiler_test.cc.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "bytecode/base/status.h"
#include "kernels/codegen/machine.h"
#include "kernels/codegen/object_cache.h"

namespace llvm {
class Function;
class LLVMContext;
class Module;
class TargetMachine;
}  // namespace llvm

namespace relayvm {
struct KernelOptions;
}

namespace relayvm::codegen {

// opt_level as KernelOptions::opt_level.
std::unique_ptr<llvm::TargetMachine> MakeTargetMachine(const Machine& machine, int opt_level);
// Triple and data layout; target attributes of a function, and what it needs beyond the machine's
// level ("amx-tile,amx-bf16").
void PrepareModule(llvm::Module& module, const llvm::TargetMachine& machine);
void PrepareFunction(llvm::Function& function, const Machine& machine,
                     std::string_view features = {});

// What LLVM took for each function, by its name.
struct FunctionTime {
  double milliseconds = 0;
  size_t lines = 0;  // instructions, before they are optimised
};
using FunctionTimes = std::map<std::string, FunctionTime>;

// Optimises and translates. Object code, and assembly when asked for. In GuardLlvm (llvm_guard.h).
// Where a stop is asked for, Optimise fails with kCancelled, and so does EmitObject; it finishes
// the function that it is at.
Status Optimise(llvm::Module& module, llvm::TargetMachine& translator, const Machine& machine,
                int opt_level, const std::stop_token& stop = {}, FunctionTimes* times = nullptr);
Result<std::vector<char>> EmitObject(llvm::Module& module, llvm::TargetMachine& machine,
                                     int opt_level, const std::stop_token& stop = {},
                                     FunctionTimes* times = nullptr);
// Of all that an object is made of: the module, as it is before it is optimised, what else is done
// to it (`rest`), and how it is translated.
ObjectCache::Key KeyOf(std::span<const char> bitcode, std::string_view rest,
                       const KernelOptions& options, int opt_level);
// All of it: from options.cache, where it is there. In GuardLlvm.
Result<std::vector<char>> MakeObject(llvm::Module& module, llvm::TargetMachine& machine,
                                     const KernelOptions& options);
Result<std::string> EmitAssembly(const llvm::Module& module, llvm::TargetMachine& machine,
                                 int opt_level);

}  // namespace relayvm::codegen
