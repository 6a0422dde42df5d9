// Builtins: the few kernels that are not tensor expressions but C++ (sort, top-k, cumsum, argwhere,
// unique, scatter, NMS ...). They are part of the runtime library; programs name them, and the VM
// resolves the names when it loads a program.
//
// They have the kernel ABI. args->buffers: inputs, outputs, then one int64[1] buffer a count that
// the kernel fills. args->scalars: for each input, then each output (counts excluded): dtype, rank,
// dims...; then the call's parameters (BuiltinCall::params). They check data (indices) and return
// an error code; they never write out of bounds. Tested by builtin_test.cc.
#pragma once

#include <span>
#include <string_view>

#include "bytecode/kernel_abi.h"

namespace relayvm {

struct Builtin {
  std::string_view name;  // "cumsum", "topk"
  RelayvmKernelFn fn;     // parallel range 0..1
  // What a call must pass: tensors (inputs and outputs together), counts, parameters (proposal
  // takes more).
  int num_tensors = 0, num_counts = 0, num_params = 0;
  int num_inputs = 0;  // of the tensors; the others are written
  // The first output may be the first input's memory: only what changes is written then.
  bool in_place = false;
  // What their dtypes and dims must be (signature.h); empty for kernels of hosts.
  std::string_view signature;
  // Recipes of constants may name it (bytecode/program.h): it takes time in proportion to its
  // tensors, and the same inputs give the same bits. One output, no counts.
  bool makes_constants = false;
};

// All of them, ordered by name.
std::span<const Builtin> Builtins();
// Null when there is none of that name.
const Builtin* FindBuiltin(std::string_view name);

}  // namespace relayvm
