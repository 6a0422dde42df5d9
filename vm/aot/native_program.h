// NativeProgram: a program that relayc --executor aot made native code of, as the runtime sees it.
//
// Its object file has a descriptor, RelayvmAotProgram: plain data, and the functions' addresses.
// Nothing is read or verified at run time; names and types are copied into a Program's tables when
// the program is first used. A program without a heap (compiler/aot/static_plan.h) runs in a
// workspace; any other in a heap and on a native stack of its own (aot_runtime.cc). Constants with
// recipes are made when it is first used, as loading an executable does (vm/kernels/recipes.h); so
// are regions, on the engines that the program was compiled for (vm/engines/regions.h).
// Runs take the memory of a Runtime; without one of the host's, what the latest run used is kept
// for the next one as it is. Thread-safe: calls of one program run side by side, also in a child of
// fork(). The sink of a Runtime sees runs, and the kernels of programs with a heap. Tested by
// tests/aot.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "bytecode/base/status.h"
#include "bytecode/kernel_abi.h"
#include "bytecode/program.h"
#include "vm/aot/aot_runtime.h"
#include "vm/api/relayvm.h"
#include "vm/border/signature_dims.h"
#include "vm/border/value.h"

namespace relayvm::vm {

struct NativeOptions {
  // Whose threads and memory the run takes, and which counts it; its limit of memory is the run's
  // too. Null: one of the program's own, of one thread.
  std::shared_ptr<Runtime> runtime;
  static constexpr size_t kStackBytes = size_t{256} << 20;
  size_t memory_limit = SIZE_MAX;    // as InvocationOptions'; a workspace counts whole
  size_t stack_bytes = kStackBytes;  // of the native stack, which bounds recursion
  // Of programs with a heap: what has none runs to its end, and kUnsupported says so.
  std::chrono::nanoseconds timeout{0};      // 0: none
  const volatile uint32_t* stop = nullptr;  // the run ends soon after it is not 0
};

class LinkedRegions;  // vm/engines/regions.h

struct NativeRegions {
  std::shared_ptr<const LinkedRegions> linked;  // of the program's tables; null: it has none
  RelayvmKernelFn run = nullptr;                // the kernel of each
};

class NativeProgram {
 public:
  // The program of a descriptor. `owner` is kept for as long as this, or a result, needs the code
  // and its data. `engines`: libraries of those that its regions are for; of others than these,
  // what comes with relayvm. kUnsupported where the machine lacks what the code was compiled for,
  // or an engine, which it names.
  static Result<std::shared_ptr<NativeProgram>> Make(
      RelayvmAotProgram* descriptor, std::shared_ptr<const void> owner,
      const std::vector<EngineLibrary>& engines = {});
  // The same, made by the first call, for a program that lives as long as the process.
  static Result<NativeProgram*> Of(RelayvmAotProgram* descriptor,
                                   const std::vector<EngineLibrary>& engines = {});
  NativeProgram(const NativeProgram&) = delete;
  NativeProgram& operator=(const NativeProgram&) = delete;
  ~NativeProgram();

  // What its tables say: types, names, places. It has no code, kernels or constants.
  const Program& program() const { return tables_->program(); }
  bool has_heap() const { return descriptor_.message == nullptr; }
  // Of the export at `index`. kInvalidArgument for inputs of other types than it takes;
  // kResourceExhausted, kDeadlineExceeded and kCancelled at the limits. `stats`: of the
  // run, or null.
  Result<Value> Run(uint32_t index, std::span<const Value> inputs, const NativeOptions& options,
                    InvocationStats* stats);

 private:
  NativeProgram(const RelayvmAotProgram& descriptor, std::shared_ptr<const void> owner);
  static Result<std::shared_ptr<NativeProgram>> MakeOf(RelayvmAotProgram* descriptor,
                                                       std::shared_ptr<const void> owner,
                                                       const std::vector<EngineLibrary>& engines);
  // Finds the kernels that are not compiled, and makes the regions.
  Status Link(const std::vector<EngineLibrary>& engines);
  Result<Value> RunExport(uint32_t index, std::span<const Value> inputs,
                          const NativeOptions& options, InvocationStats* stats);
  Result<Value> RunStatic(Workspace& workspace, const NativeExport& function,
                          const ExportInfo& info, std::span<const Value> inputs,
                          const NativeOptions& options, InvocationStats* stats);
  // In aot_runtime.cc.
  Result<Value> RunWithHeap(Workspace& workspace, const NativeExport& function,
                            std::span<const Value> inputs, const NativeOptions& options,
                            const TracedRun& traced, InvocationStats* stats);
  std::unique_ptr<Workspace> Acquire(const NativeOptions& options);
  void Release(const NativeOptions& options, std::unique_ptr<Workspace> workspace, int64_t now);

  const RelayvmAotProgram& descriptor_;
  const std::shared_ptr<const void> owner_;
  const std::shared_ptr<const Executable> tables_;  // what traces keep
  std::vector<SignatureDims> dims_;                 // by export
  std::vector<RelayvmKernelFn> builtins_;           // by kernel; null: compiled
  NativeRegions regions_;                           // of what owner_ and tables_ have
  // Without a host's runtime: under ProcessMutex(), so that a child of fork() may have them.
  std::shared_ptr<Runtime> own_runtime_;
  std::unique_ptr<Workspace> latest_;  // of the latest run, as it has left it
};

}  // namespace relayvm::vm
