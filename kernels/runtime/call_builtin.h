// Calls builtins outside of runs: those that make constants (Builtin::makes_constants), for the compiler
// and when programs are loaded. Thread-safe. Tested by winograd_kernel_test.cc.
#pragma once

#include <cstdint>
#include <span>

#include "bytecode/base/dtype.h"
#include "kernels/runtime/builtin.h"

namespace relayvm {

struct BuiltinTensor {
  DType dtype;
  std::span<const int64_t> dims;
  void* data;  // of an input: only read
};

// `tensors`: the inputs, then the output. Gives what the builtin does: 0, or an error where they are not
// what its signature says. Nothing stops it. Throws std::bad_alloc.
// REQUIRES: builtin.makes_constants, and as many tensors and parameters as it takes.
int32_t CallBuiltin(const Builtin& builtin, std::span<const BuiltinTensor> tensors,
                    std::span<const int64_t> params);

}  // namespace relayvm
