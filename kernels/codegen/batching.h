// A kernel that runs many calls of another one at once, where they share weights: the rows of all
// calls are those of one product, and weights are read once.
//
//   x (1, K) x w (N, K)'  + r (1, N)    =>    x (b, 1, K) x w (N, K)'  + r (b, 1, N)
//
//   x (m, K) x w (N, K)'  + r (m, N)    =>    x (b, K) x w (N, K)'  + r (b, N), b the calls' m added
//
// Every call gets the bits that the other kernel gives it (KernelSpec::order). Only products with
// large weights of constant size have such a kernel, and few rows or an open number of them: those
// that the reading of weights bounds.
// Thread-safe. Tested by batching_test.cc.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "bytecode/base/dim.h"
#include "kernels/codegen/contraction/contraction.h"
#include "kernels/codegen/kernel_compiler.h"

namespace relayvm::codegen {

struct BatchedKernel {
  KernelSpec spec;           // over the symbols of the other one, and b
  std::vector<bool> shared;  // one an input: it is the same for all calls. So are those by value.
  // What a call adds to b, over the symbols of the other one, which may differ where `spec` does
  // not have them; nullopt: 1, and none may.
  std::optional<Dim> rows;
  SumOrder order_of_one;  // the other kernel's, which it is to be compiled with
};

// Null where there is none. `b` is a symbol that the spec does not have. What is shared follows
// from the spec alone: weights, and what has fewer dims than the product, such as a bias.
std::unique_ptr<BatchedKernel> BatchKernel(const KernelSpec& spec, const Dim& b,
                                           const ContractionTarget& target);

}  // namespace relayvm::codegen
