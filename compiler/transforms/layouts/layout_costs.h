// What layouts cost: estimates in nanoseconds on one core, for choose_layouts.h, from shares that
// convolutions reach of 110 GFLOP/s (AVX-512, 2 cores of an AMD EPYC; their ratios are what
// counts).
#pragma once

#include <string>

#include "compiler/ir/ir.h"
#include "kernels/codegen/machine.h"
#include "kernels/op/problem.h"

namespace relayvm::ir {

// Whom own choices are made for.
struct LayoutCosts {
  Machine machine;     // that kernels are for
  bool exact = false;  // without Winograd's transforms
};

// Bytes; an extent that is not known counts as 56, but the first dim as 1.
double NominalBytes(const TensorType& t);
double TransformCost(double bytes);
// A convolution with its channels first or last, however the program has them.
double ConvCost(const ConvProblem& conv, bool channels_first, const LayoutCosts& costs);

}  // namespace relayvm::ir
