// The runtime of native programs (relayc --executor aot): what their object files hold for it, and
// the way into them. Objects, heap, border and messages are the VM's.
//
// A program is a descriptor in its object file, of plain data and addresses;
// compiler/aot/descriptor.cc writes what is declared here. Calls of one program from several
// threads run side by side. Tested by tests/aot.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bytecode/kernel_abi.h"
#include "bytecode/program.h"
#include "vm/api/c_api.h"

namespace relayvm {
struct EngineLibrary;  // vm/run/executable.h
}

namespace relayvm::vm {

struct NativeRegions;  // native_program.h
struct Object;

// What native code reads of its run; AotRun, behind it, is the runtime's own.
struct AotContext {
  const char* stack_limit;  // a frame below it is one too many
  const RelayvmKernelEnv* kernel_env;
  const RelayvmKernelFn* builtins;  // by kernel: those of the runtime
  int64_t fuel;                     // loops and calls to go before relayvm_aot_poll
  uint64_t traces;  // not 0: kernel.1 calls relayvm_aot_trace_kernel, not the kernel itself
};

// With a heap: 0, with a result that the caller owns; else the run has a failure. Arguments are
// moved in.
using AotFunction = int32_t (*)(AotContext* context, Object* const* args, Object** result);
// Without: the elements of the arguments' tensors, then of the results', depth first through
// tuples.
using AotStaticFunction = int32_t (*)(void* const* tensors, void* workspace);

// --- The descriptor's parts. All numbers have 64 bits; texts end with a zero. ---

template <typename T>
struct NativeArray {
  const T* data;
  uint64_t size;
  const T* begin() const { return data; }
  const T* end() const { return data + size; }
};
struct NativeType {  // ValueType
  uint64_t kind, dtype, index;
  NativeArray<int64_t> dims;
  NativeArray<const char*> dim_names;
  NativeArray<NativeArray<SizeStep>> dim_formulas;  // none, or one a dim
  NativeArray<NativeType> args;
};
struct NativeConstructor {
  const char* name;
  NativeArray<NativeType> fields;
};
struct NativeAdt {
  const char* name;
  uint64_t num_type_params;
  NativeArray<NativeConstructor> constructors;
};
struct NativeFunction {
  const char* name;
  NativeArray<SourceLocation> locations;
};
struct NativeKernel {
  const char* name;
  uint64_t is_builtin;  // of the runtime, found by its name
};
// A constant that the runtime makes when the program is first used, as its recipe says
// (RecipeInfo).
struct NativeRecipeInput {
  uint64_t dtype;
  NativeArray<int64_t> dims;
  NativeArray<std::byte> data;
  const void* hash;  // ContentHash of the data
};
struct NativeMade {
  const char* name;
  uint64_t dtype;
  NativeArray<int64_t> dims;
  const char* builtin;
  NativeArray<int64_t> params;
  NativeArray<NativeRecipeInput> inputs;
  const void** place;  // where code finds the address of its elements
};
// A constant of a region.
struct NativeRegionConstant {
  uint64_t dtype;
  NativeArray<int64_t> dims;
  NativeArray<std::byte> data;  // at null: made by the runtime
  const void* const* place;     // of such a one: NativeMade::place; else null
};
// A region that another engine runs (RegionInfo).
struct NativeRegion {
  static constexpr uint64_t kNoKernel = UINT64_MAX;

  const char* name;
  const char* engine;
  NativeArray<char> json;
  NativeArray<NativeRegionConstant> constants;  // of the JSON's, in their order
  uint64_t num_symbols;
  uint64_t kernel;  // that calls it, of the descriptor's: no builtin there; or kNoKernel
  uint64_t num_inputs, num_outputs;
};
struct NativeExport {
  const char* name;
  uint64_t num_type_params;
  NativeArray<const char*> param_names;
  NativeArray<NativeType> params;
  NativeArray<NativeType> result;  // one
  NativeArray<const char*> output_names;
  const void* entry;         // an AotFunction, or an AotStaticFunction
  uint64_t workspace_bytes;  // of a static function
};

}  // namespace relayvm::vm

extern "C" {
struct RelayvmAotProgram {
  static constexpr uint64_t kVersion = 4;

  uint64_t version;
  const char* cpu_features;  // what the code needs of the machine (KernelImage::cpu_features)
  relayvm::vm::NativeArray<relayvm::vm::NativeExport> exports;
  relayvm::vm::NativeArray<relayvm::vm::NativeAdt> adts;
  relayvm::vm::NativeArray<relayvm::vm::NativeFunction> functions;
  relayvm::vm::NativeArray<relayvm::vm::NativeKernel> kernels;
  relayvm::vm::NativeArray<const char*> messages;
  relayvm::vm::NativeArray<const char*> source_files;
  // Null with a heap; else the texts of the codes that the functions give.
  const char* (*message)(int32_t error);
  // Null where no kernel is the runtime's, so that a linker leaves those out.
  RelayvmKernelFn (*find_builtin)(const char* name);
  void* state;  // null until the first call
  relayvm::vm::NativeArray<relayvm::vm::NativeMade> made;
  // Null where there are none, as above. Gives the constants of a program their data, and a Status.
  void (*make_constants)(relayvm::Program* program, relayvm::Status* status);
  void* made_state;  // null while nobody uses them
  relayvm::vm::NativeArray<relayvm::vm::NativeRegion> regions;
  // Null where there are none, as above. Makes the regions of a program (NativeProgram::Make).
  void (*make_regions)(const relayvm::Program* program,
                       const std::vector<relayvm::EngineLibrary>* engines,
                       relayvm::vm::NativeRegions* regions, relayvm::Status* status);
};

// Limits of a run, as the headers of native programs declare them: relayvm_aot_options. 0: none.
struct RelayvmAotOptions {
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t memory_limit;  // bytes of the run's values
  uint64_t stack_bytes;   // which bounds recursion; 0: 256 MiB
  int64_t timeout_ns;
  const volatile uint32_t* cancel;  // where not null: a run ends soon after it is not 0
  const relayvm_runtime*
      runtime;  // whose threads and memory the run takes; null: one of the program's own
  // Of the first run, which loads the program: the libraries of engines that its regions are for.
  // Null, and for engines that are not among them: those that come with relayvm (OpenEngine).
  const relayvm_engines* engines;
};

// Runs an export; `options` may be null. NULL, and *result; else what failed, as the functions of
// vm/api/c_api.h.
relayvm_status* relayvm_aot_run(RelayvmAotProgram* program, uint32_t function,
                                const RelayvmAotOptions* options, relayvm_value* const* inputs,
                                size_t num_inputs, relayvm_value** result);
// RelayvmAotProgram::find_builtin.
RelayvmKernelFn relayvm_aot_find_builtin(const char* name);
// RelayvmAotProgram::make_constants.
void relayvm_aot_make_constants(relayvm::Program* program, relayvm::Status* status);
// RelayvmAotProgram::make_regions.
void relayvm_aot_make_regions(const relayvm::Program* program,
                              const std::vector<relayvm::EngineLibrary>* engines,
                              relayvm::vm::NativeRegions* regions, relayvm::Status* status);
}
