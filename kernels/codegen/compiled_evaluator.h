// Computes tensor expressions in this process by kernels: what te::Evaluate gives, for work that
// would take it long. A kernel is compiled once for all calls of one structure. Not thread-safe.
// Tested by compiled_evaluator_test.cc.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "bytecode/base/host_tensor.h"
#include "kernels/codegen/kernel_compiler.h"

namespace relayvm {

class CompiledEvaluator {
 public:
  explicit CompiledEvaluator(KernelOptions options);
  ~CompiledEvaluator();

  // The outputs of `spec`. Fails when this machine is not the target's, for shapes with symbols,
  // for more scratch memory than `max_scratch_bytes`, and for data that the kernel does not take.
  // REQUIRES: inputs[i] has the dtype and shape of spec.inputs[i].
  Result<std::vector<HostTensor>> Run(const KernelSpec& spec,
                                      std::span<const HostTensor* const> inputs,
                                      int64_t max_scratch_bytes);

  struct Kernel;  // compiled and in memory

 private:
  Result<const Kernel*> KernelOf(const KernelSpec& spec);
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace relayvm
