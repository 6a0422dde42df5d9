// A call of a kernel, as whoever makes it hands it to a KernelRunner (kernel_runner.h).
#pragma once

#include <cstdint>

#include "bytecode/kernel_abi.h"

namespace relayvm::vm {

struct KernelCode {
  RelayvmKernelFn fn;
  // It asks by itself whether to go on: compiled kernels and builtins do, a host's kernels may not.
  bool polls;
  bool is_batched = false;  // calls may run together (KernelInfo::batched)
};

struct KernelCall {
  uint32_t index;  // of the kernel, in its program
  const KernelCode* kernel;
  RelayvmKernelArgs args;  // the runner gives it scratch
  int64_t units, grain, scratch_bytes;
};

}  // namespace relayvm::vm
