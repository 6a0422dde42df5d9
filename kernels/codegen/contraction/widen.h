// The numbers of a panel's words or elements as float32, in registers: what a WeightForm's
// expressions are as vectors. Tested through kernels/codegen/contraction/weights_test.cc.
#pragma once

#include <functional>

#include "kernels/codegen/contraction/ir.h"
#include "kernels/op/weight_forms.h"

namespace relayvm::codegen {

// Step `from` + `at` of a block, or of a panel without blocks. REQUIRES: `from` (i64) is a multiple
// of `align`.
struct WidenedStep {
  llvm::Value* from;
  int64_t align, at;
};

// One of k of `lanes` columns. `load` gives their words of a row (i64, from the block's begin);
// `zeros`, their zero points, null: the form's.
llvm::Value* EmitNumbers(Builder& b, const WeightForm& form, const WidenedStep& step,
                         unsigned lanes, llvm::Value* zeros,
                         const std::function<llvm::Value*(llvm::Value* row)>& load);

}  // namespace relayvm::codegen
