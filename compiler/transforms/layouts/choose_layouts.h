// Which operators compute in another layout than the program wrote, and which tensors are kept in
// another one where loops, branches and calls carry them: solved over the whole graph of values.
//
// Each group of tensors that meet in operators has two orders of dims to choose from, such as NCHW
// and NHWC. An operator is in one of them, and what it reads from the other is transformed; a
// transpose that the program wrote costs nothing where its argument and its result are kept alike.
// So the cheapest choice is a minimum cut (min_cut.h) of
//
//   transforms     by the bytes that they write; once for all readers; those of constants are free
//   convolutions   nn.conv2d: the cycles of its kernel on the machine, as it is planned for the
//                  layout (kernels/codegen/contraction/estimate.h)
//   loops          all that a function does 16 times
//
// An operator that the user names has no choice, and operators with kernels that nobody names have
// none, but for nn.conv2d of float32 and of bytes. Without a named one, choices are kept where they
// save a twentieth. Tested by compiler/end_to_end/layouts_test.cc.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <unordered_map>

#include "compiler/ir/ir.h"
#include "compiler/transforms/layouts/layout_rules.h"
#include "compiler/transforms/views/reorder_values.h"
#include "kernels/codegen/contraction/estimate.h"

namespace relayvm::ir {

struct LayoutChoice {
  std::string data;    // "NHWC"
  std::string kernel;  // "HWIO"; "default": what goes with `data`
};
using LayoutChoices = std::map<std::string, LayoutChoice>;  // by the operator's name

struct LayoutPlan {
  // What a call's data and results are computed in, by the Var::id of its result; the rest is as
  // written.
  std::unordered_map<uint32_t, Order> calls;
  // Of `flow`.
  ValueOrders carried;
};

// uint8 data and int8 weights summed in int32: what IntegerProducts makes of a quantised one.
bool MultipliesBytes(const ConvProblem& conv);

// `target`: of operators that nobody names; without it they are as written. Before: typed.
LayoutPlan ChooseLayouts(const Module& m, ValueFlow& flow, const LayoutChoices& named,
                         const codegen::ContractionTarget* target);

}  // namespace relayvm::ir
