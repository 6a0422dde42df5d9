// Panels of weights in words of four (integer.h) for machines without an instruction for such
// words, but with one that multiplies uint8 by int8 and adds two neighbours as int16, saturated
// (Instructions::has_byte_pairs). Constant panels have an order of their steps beside them
// (op/step_order.h), which tiles go by. Of others (groups, layouts of one or three axes) the steps
// of k are sorted by whether it is exact, each time:
//
//   plain   every two neighbours sum up to -128 to 128. Times 255 that is within int16.
//   wide    others: the weights' magnitudes, unsigned, times data with a sign, which is x - 128 or,
//           where the weight is negative, 127 - x: x with some bits the other way round (a mask).
//           Two products are -2 * 128 * 128 at least, which is the lowest int16.
//
//   panel   [panel int32: how many steps are plain][panel int32: what each column's sum begins with]
//           [int32 of each step: which word of a row of A][int32 until a whole vector]
//           [words, plain steps from the first row on, wide ones from the last two rows back:
//            magnitudes, masks]
//
// A wide product is x * w less 128 w, or 127 w where w is negative: sums begin with as much. Steps
// are plain or wide for all columns of the panel. Tested by integer_test.cc.
#pragma once

#include <vector>

#include "kernels/codegen/contraction/pack.h"

namespace relayvm::codegen {

// Whether the panels of a product are sorted: those of weights that are words in memory.
bool SortsSteps(const ContractionDetail& d);
// The most elements of such a panel.
Dim SortedPanelElements(const ContractionDetail& d, const Dim& steps);

// words_at(k, v): vector v of the words of step k, of `extent`.
void EmitSortedPanel(ContractionContext& c, llvm::Value* extent, llvm::Value* destination,
                     llvm::function_ref<llvm::Value*(llvm::Value* k, unsigned v)> words_at);

// The sums, row by row, with the products of a sorted panel of `k` steps added.
// row_at(k, row): the address of word k of a row of A.
std::vector<llvm::Value*> EmitSortedSteps(
    Builder& b, const TileConfig& config, llvm::Value* panel, llvm::Value* k,
    const std::vector<llvm::Value*>& sums,
    llvm::function_ref<llvm::Value*(llvm::Value* k, unsigned row)> row_at);

// Reads the order of the steps from the operator, where the machine takes it.
void TakeStepOrder(const KernelSpec& spec, ContractionDetail& d);
// A panel of kOrderedColumns columns and its row of d.step_order. A tile of it is one vector wide.
struct OrderedPanel {
  llvm::Value *weights, *order;
};
// As EmitSortedSteps. Whatever the order holds, only the panel and the rows are read.
std::vector<llvm::Value*> EmitOrderedSteps(
    Builder& b, const TileConfig& config, const OrderedPanel& panel, llvm::Value* k,
    const std::vector<llvm::Value*>& sums,
    llvm::function_ref<llvm::Value*(llvm::Value* k, unsigned row)> row_at);

}  // namespace relayvm::codegen
