// The kernels' side of Winograd's minimal filtering (kernels/op/winograd.h tells of all of it): each 3 x 3
// kernel k becomes G k G^T, (tile + 2)^2 numbers. Builtins do that for the weights of a convolution, for the
// compiler or when a program is loaded: the same bits.
//
// Stateless. Tested by winograd_kernel_test.cc.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace relayvm {

constexpr bool IsWinogradTile(int64_t tile) { return tile == 2 || tile == 4; }
// The rows of a transformed kernel, of the window of data that a tile reads.
constexpr int64_t WinogradWindow(int64_t tile) { return tile + 2; }

// The finite points of interpolation: tile + 1. REQUIRES, here and below: IsWinogradTile(tile).
std::span<const double> WinogradPoints(int64_t tile);
// Element (i, j) of G, window x 3.
double WinogradOfKernel(int64_t tile, int64_t i, int64_t j);

// The builtin for a tile.
constexpr std::string_view WinogradWeightsBuiltin(int64_t tile) {
  return tile == 2 ? "winograd_weights_2" : "winograd_weights_4";
}

}  // namespace relayvm
