// The view of a contraction's result that changes its rows alone (a product of (batch, sequence, k)
// is computed as one of (batch * sequence, k)) moves behind the elementwise operators that follow,
// so that fusion computes bias, activation and residual with the product, in one pass over memory.
//
//   let %v = reshape(nn.dense(x, w), (b, t, n));      let %s = add(nn.dense(x, w), bias);
//   let %a = add(%v, bias);                      ->   let %r = nn.relu(%s);
//   nn.relu(%a)                                       reshape(%r, (b, t, n))
//
// It moves as far as one value alone is seen from outside: what reads values on the way (a norm
// that fuses with its first operators) finds them as they were.
//
// Before: typed, shapes resolved, final types. After: typed. Tested by sink_views_test.cc.
#pragma once

#include "compiler/ir/ir.h"

namespace relayvm::ir {

Module SinkViews(const Module& m);

}  // namespace relayvm::ir
