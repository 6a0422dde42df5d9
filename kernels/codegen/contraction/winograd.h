// Convolutions of nn.contrib_conv2d_winograd (kernels/op/winograd.h) in one kernel.
//
// A block is a few panels of tiles, of one image or several. For each block the windows of all
// channels are transformed into scratch, a panel for each of the products of a tile; those are
// multiplied by tile kernels (tile.h), and sums are transformed back into the outputs with whatever
// follows. So what is transformed stays in the second cache, and weights are read once a block.
//
//   windows  [product][panel][channel][tile of the panel]
//   sums     [product][panel][output channel of the unit][tile of the panel]
//
// Vectors run along the tiles, so tiles of a line are taken apart by columns when they are loaded,
// and put together when results are stored. A unit of the parallel range is (block, group of output
// channels), groups fastest: threads that share a block transform it each, once. Sums are made in
// the same order for all results.
//
// Far tiles: a result is a sum over its whole tile's window, so a value that is far from all others
// (a mask's -1e9, an infinity) costs results that do not read it their last digits. What is usual
// in an image is told from a sample of it; tiles with a value of 2^kFarOctaves times that, or one
// that is not finite, are summed directly, by weights that are transformed back. A tile's results
// depend on its image alone, not on what is computed with it.
//
// Weights of nn.conv2d that are no constants are transformed by the kernel, those of a unit at a
// time, where that still pays and ContractionTarget::exact does not forbid it.
//
// A group qualifies as one with a direct convolution does; data must be memory, and so must weights
// that are transformed already. Thread-safe
// but for the emitter. Tested by winograd_test.cc.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "kernels/codegen/contraction/contraction.h"
#include "kernels/op/problem.h"

namespace relayvm::codegen {

// See above.
inline constexpr int64_t kFarOctaves = 8;

// nullopt: the generic loops serve it.
std::optional<ContractionPlan> PlanWinograd(const KernelSpec& spec,
                                            const ContractionTarget& target);

// As EmitContraction.
void EmitWinograd(const WinogradDetail& detail, Emitter& emitter, Builder& builder,
                  llvm::Value* begin, llvm::Value* end, llvm::Value* scratch);

// --- Choice ---

// A convolution 3 x 3, of stride 1, neither dilated nor in groups. Extents are those of its result;
// what is not known is taken for large.
struct WinogradShape {
  int64_t in_channels = 0, out_channels = 0;
  std::optional<int64_t> images, height, width;
};

// How a convolution's weights are best transformed for the machine. tile 0: not at all.
struct WinogradForm {
  int64_t tile = 0;              // of nn.contrib_conv2d_winograd
  int64_t rows = 0, blocks = 0;  // P, B
  // Instructions with vectors: of products, or what their weights' bytes take; of transforms.
  double products = 0, transforms = 0;
};
WinogradForm PreferredWinograd(const Machine& machine, const WinogradShape& shape);
// What that is of a convolution of float32; nullopt: it is none of those, whatever its layouts.
std::optional<WinogradShape> WinogradShapeOf(const ConvProblem& conv);

}  // namespace relayvm::codegen
