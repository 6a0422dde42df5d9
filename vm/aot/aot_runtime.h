// The runtime of native programs (relayc --executor aot) that need a heap: what their functions call,
// and the way into them. Objects, heap, border and messages are the VM's.
//
// A program is a descriptor in its object file: its tables and constants as the bytes of a .vmx file,
// and native functions, which run on a native stack of their own. Calls of one program from several
// threads run side by side. Tested by tests/aot.
#pragma once

#include <cstddef>
#include <cstdint>

#include "bytecode/kernel_abi.h"
#include "vm/c_api.h"

namespace relayvm::vm {

struct KernelCode;
struct Object;
struct Tensor;

// What native code reads of its run; AotRun, behind it, is the runtime's own.
struct AotContext {
  const char* stack_limit;  // a frame below it is one too many
  Tensor* const* constants;
  const RelayvmKernelEnv* kernel_env;
  const KernelCode* kernels;
};

// What a function fails for without the runtime's help: a trap, a guard, a check, a size.
enum class AotFailure : uint32_t { kTrap, kGuard, kCheck, kDim };

// 0, with a result that the caller owns; else the run has a failure. Arguments are moved in.
using AotFunction = int32_t (*)(AotContext* context, Object* const* args, Object** result);

}  // namespace relayvm::vm

extern "C" {
// In the object file; `state` is null until the first call.
struct RelayvmAotProgram {
  const uint8_t* file;  // 64-byte aligned
  uint64_t file_bytes;
  const relayvm::vm::AotFunction* functions;  // by export
  void* state;
};

// Runs an export. NULL, and *result; else what failed, as the functions of vm/c_api.h.
relayvm_status* relayvm_aot_run(RelayvmAotProgram* program, uint32_t function,
                                relayvm_value* const* inputs, size_t num_inputs,
                                relayvm_value** result);
}
