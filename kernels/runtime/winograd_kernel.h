// The kernels' side of Winograd's minimal filtering (kernels/op/winograd.h tells of all of it):
// each 3 x 3 kernel k becomes G k G^T, (tile + 2)^2 numbers. Builtins do that for the weights of a
// convolution, for the compiler or when a program is loaded: the same bits.
//
// Stateless. Tested by winograd_kernel_test.cc.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <string_view>

namespace relayvm {

constexpr bool IsWinogradTile(int64_t tile) { return tile == 2 || tile == 4; }
// The rows of a transformed kernel, of the window of data that a tile reads.
constexpr int64_t WinogradWindow(int64_t tile) { return tile + 2; }

// The finite points of interpolation: tile + 1. REQUIRES, here and below: IsWinogradTile(tile).
inline std::span<const double> WinogradPoints(int64_t tile) {
  static constexpr double kOf2[] = {0, 1, -1};
  static const double low = std::sqrt(0.5), high = std::sqrt(2.0);
  static const double of_4[] = {0, low, -low, high, -high};
  return tile == 2 ? std::span<const double>(kOf2) : of_4;
}
// Element (i, j) of G, window x 3: products and quotients only, each rounded as IEEE 754 says, so
// that all machines give the same bits.
inline double WinogradOfKernel(int64_t tile, int64_t i, int64_t j) {
  const std::span<const double> points = WinogradPoints(tile);
  if (i == std::ssize(points)) return j == 2 ? 1 : 0;
  const double point = points[static_cast<size_t>(i)];
  double product = 1;
  for (double other : points) {
    if (other != point) product *= point - other;
  }
  double power = 1;
  for (int64_t k = 0; k < j; ++k) power *= point;
  return power / product;
}

// The builtin for a tile.
constexpr std::string_view WinogradWeightsBuiltin(int64_t tile) {
  return tile == 2 ? "winograd_weights_2" : "winograd_weights_4";
}

}  // namespace relayvm
