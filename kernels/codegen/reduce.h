// How each kind of reduction accumulates: identity, one step, and combining partial results.
//
// Sums and products of float16 are rounded to float16 at every step, in the order of the axes, as
// te::Evaluate does: what such a program computes depends on it. Others may be made in any order.
// Internal to the emitter. Tested by loops_test.cc and half_test.cc.
#pragma once

#include <vector>

#include "kernels/codegen/graph.h"
#include "kernels/codegen/ops.h"

namespace relayvm::codegen {

// The state is one value, or for arg reductions two: the best element and its position (i64, -1
// before the first).
using ReduceState = std::vector<llvm::Value*>;

class Reducer {
 public:
  // `n` is a kReduce node.
  Reducer(const Node* n, Ops& ops, Builder& b);

  bool is_arg() const { return is_arg_; }
  // Whether partial results may not be combined, since every step rounds.
  static bool IsOrdered(const Node* n);
  size_t width() const { return is_arg_ ? 2 : 1; }
  // lanes 0: scalars.
  ReduceState Identity(unsigned lanes);
  // `position` only for arg reductions, else null. Lanes off in `mask` (may be null) keep their
  // state.
  ReduceState Step(const ReduceState& state, llvm::Value* x, llvm::Value* position,
                   llvm::Value* mask);
  ReduceState Combine(const ReduceState& a, const ReduceState& b);
  // Across the lanes of a vector state.
  ReduceState Horizontal(ReduceState state);
  // The value of the reduction.
  llvm::Value* Finish(const ReduceState& state);

 private:
  llvm::Value* Merge(llvm::Value* a, llvm::Value* x);

  const Node* n_;
  Ops& ops_;
  Builder& b_;
  DType dtype_;  // of the elements
  bool is_arg_;
};

}  // namespace relayvm::codegen
