// What EmitWinograd works from. Immutable once made.
#pragma once

#include "kernels/codegen/contraction/plan.h"
#include "kernels/codegen/contraction/winograd.h"

namespace relayvm::codegen {

struct WinogradDetail {
  // Data, epilogue and lanes; of the form kDirect.
  ContractionDetail conv;
  te::Tensor weight;
  // (tap, output channel, input channel): weights that are not transformed yet; each unit
  // transforms those of its group. Null: `weight` is transformed.
  te::Tensor kernel;
  int64_t tile = 0, window = 0;  // window = tile + 2
  int64_t in_channels = 0, out_channels = 0;
  int64_t rows = 0, row_blocks = 0;      // of output channels in a tile of sums; all of those
  int64_t group_blocks = 0, groups = 0;  // of row blocks in a unit; all of those
  int64_t panel = 0, block_panels = 0;   // tiles in a panel, panels in a block
  Dim tiles_y, tiles_x, tiles;           // of an image; of all
  int64_t window_stride = 0, sum_stride = 0,
          weight_stride = 0;  // from product to product, in elements
  // Bytes into scratch. Of each tile of a block whether it is far; a row's weights as they were.
  Dim window_offset, sum_offset, zero_offset, weight_offset, far_offset, row_weight_offset;

  int64_t products() const { return window * window; }
};

// A convolution whose weights are what the program makes them, where transforming them each time is
// faster than a direct sum; `conv` has its contraction and epilogue. nullopt elsewhere.
std::optional<ContractionPlan> PlanWinograd(const KernelSpec& spec, const ContractionDetail& conv,
                                            const Product& product);

}  // namespace relayvm::codegen
