// Calls builtins outside of runs: those that make constants (Builtin::makes_constants), for the
// compiler and when programs are loaded. Thread-safe. Tested by winograd_kernel_test.cc.
#pragma once

#include <cassert>
#include <cstdint>
#include <span>
#include <vector>

#include "bytecode/base/dtype.h"
#include "bytecode/kernel_abi.h"
#include "kernels/runtime/builtin.h"

namespace relayvm {

struct BuiltinTensor {
  DType dtype;
  std::span<const int64_t> dims;
  void* data;  // of an input: only read
};

// `tensors`: the inputs, then the output. Gives what the builtin does: 0, or an error where they
// are not what its signature says. Nothing stops it. Throws std::bad_alloc.
// REQUIRES: builtin.makes_constants, and as many tensors and parameters as it takes.
inline int32_t CallBuiltin(const Builtin& builtin, std::span<const BuiltinTensor> tensors,
                           std::span<const int64_t> params) {
  assert(builtin.makes_constants && std::ssize(tensors) == builtin.num_tensors &&
         std::ssize(params) == builtin.num_params);
  std::vector<void*> buffers;
  std::vector<int64_t> scalars;
  for (const BuiltinTensor& t : tensors) {
    buffers.push_back(t.data);
    scalars.push_back(static_cast<int64_t>(t.dtype));
    scalars.push_back(std::ssize(t.dims));
    scalars.insert(scalars.end(), t.dims.begin(), t.dims.end());
  }
  scalars.insert(scalars.end(), params.begin(), params.end());
  const RelayvmKernelEnv env{.struct_size = sizeof(RelayvmKernelEnv), .num_threads = 1};
  const RelayvmKernelArgs args{buffers.data(), scalars.data(), nullptr};
  return builtin.fn(&env, &args, 0, 1);
}

}  // namespace relayvm
