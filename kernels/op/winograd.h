// Convolutions by Winograd's minimal filtering: a tile of tile x tile results of a 3 x 3 kernel
// takes (tile + 2)^2 products in place of 9 tile^2.
//
//   result = A^T ((G kernel G^T) * (B^T data B)) A       summed over the input channels in the middle
//
// Lavin, Gray: "Fast Algorithms for Convolutional Neural Networks" (2015); the matrices are those
// of Toom and Cook for some points of interpolation and infinity. Of tile 2 the points are 0, 1,
// -1; of tile 4 they are 0, +-sqrt(1/2), +-sqrt(2), which lose less than half of what 0, +-1, +-2
// do.
//
// Error: with eps = 2^-24, and m the sum over the channels of (sum of |kernel|) * (largest |data|
// of the tile's (tile + 2)^2 elements), results are within WinogradError(tile) * eps * m of the
// exact ones. On random data the error is 0.8 (tile 2) and 2.4 (tile 4) times a direct sum's. By
// this definition an infinity or NaN makes NaN of all results of its tile, and what is far from all
// other data costs them digits; kernels sum such tiles directly (codegen/contraction/winograd.h).
//
//   nn.contrib_conv2d_winograd(data, weight; tile_size, channels, padding)
//     data (N, C, H, W) and weight (ceil(channels / (B * P)), (tile + 2)^2, B, C, P), float32:
//     G kernel G^T of output channel o at [o / P / B][:][o / P % B][:][o % P], row-major, the padding
//     arbitrary; stride 1
//
// Stateless. Tested by winograd_test.cc and kernels/codegen/contraction/winograd_test.cc.
#pragma once

#include <cstdint>

#include "kernels/runtime/winograd_kernel.h"

namespace relayvm {

// See above.
constexpr double WinogradError(int64_t tile) { return tile == 2 ? 4 : 16; }

// Elements (i, j) of the matrices but G, which winograd_kernel.h has. REQUIRES:
// IsWinogradTile(tile).
double WinogradOfData(int64_t tile, int64_t i, int64_t j);    // B^T, window x window
double WinogradOfResult(int64_t tile, int64_t i, int64_t j);  // A^T, tile x window

}  // namespace relayvm
