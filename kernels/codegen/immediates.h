// Immediates that a kernel can take as scalars, so that one kernel serves many constants.
//
//   multiply(x, 0.1f), multiply(x, 0.2f) ...  =>  multiply(x, s), s by value
//
// An immediate that decides an index, or whether one is in range, stays in the code. Thread-safe.
// Tested by immediates_test.cc.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "kernels/codegen/kernel_compiler.h"

namespace relayvm::codegen {

struct Immediate {
  te::Expr node;
  int64_t bits = 0;      // as a canonical 64-bit scalar
  bool helpful = false;  // the code is faster for knowing it: a divisor, a shift, an exponent
};

// The immediates of the spec's computations that may be scalars, by node.
class Immediates {
 public:
  explicit Immediates(const KernelSpec& spec);
  // Null when the node's value is part of the code.
  const Immediate* Find(const te::ExprNode& e) const;

 private:
  class Finder;
  std::unordered_map<const te::ExprNode*, Immediate> found_;
};

// The spec with these immediates as further inputs, by value and of rank 0, behind its own.
KernelSpec WithScalars(KernelSpec spec, const std::vector<te::Expr>& immediates);

}  // namespace relayvm::codegen
