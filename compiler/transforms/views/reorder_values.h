// Keeps tensors in another order of their axes, everywhere at once: in loops that carry them,
// tuples, branches and calls, as value_flow.h joins them. Where one is used as the program has it,
// and where it is made so, it is turned (a reshape where nothing but dims of 1 moves). Tested by
// compiler/transforms/loops/append_outermost_test.cc and compiler/end_to_end/layouts_test.cc.
#pragma once

#include <functional>
#include <unordered_map>
#include <vector>

#include "compiler/ir/ir.h"
#include "compiler/transforms/loops/value_flow.h"

namespace relayvm::ir {

// The axes of a tensor as the program has it, in the order in which it is kept.
using Axes = std::vector<size_t>;
// By the representative of a leaf, which is free (ValueFlow::IsFree) and a tensor of that rank.
using ValueOrders = std::unordered_map<uint32_t, Axes>;

// The operator that turns tensors. They do the same; layout transforms are counted as such.
enum class Turning : uint8_t { kTranspose, kLayoutTransform };

// What is kept, for those who rewrite a binding of it.
class KeptValues {
 public:
  virtual ~KeptValues() = default;
  // Null where the tensor stays as it is.
  virtual const Axes* OrderOf(const Var* tensor) = 0;
  // The variable that keeps the value in its order; itself where nothing moved.
  virtual const Var* Image(const Var* var) = 0;
  // The value as the program has it.
  virtual Atom Original(const Atom& a, std::vector<Binding>& out) = 0;
  // A tensor with its axes in that order.
  virtual Atom Turn(const Atom& tensor, const Axes& axes, std::vector<Binding>& out) = 0;
};

// Rewrites a binding that can be done in the orders that its operands are kept in: true where `out`
// binds the image of its variable. Others are done as the program has them.
using RewriteKept =
    std::function<bool(const Binding& binding, KeptValues& kept, std::vector<Binding>& out)>;

// Before: typed. After: typed.
Module ReorderValues(const Module& m, ValueFlow& flow, const ValueOrders& orders, Turning turning,
                     const RewriteKept& rewrite);

}  // namespace relayvm::ir
