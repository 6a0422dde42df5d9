// What winograd_kernel.h tells of, without a runtime: the builtins are made of it, and what native
// code that runs without one has of them (compiler/aot/freestanding). Tested by
// winograd_kernel_test.cc.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "kernels/runtime/call_args.h"
#include "kernels/runtime/winograd_kernel.h"

namespace relayvm {

// Output channels whose kernels are transformed side by side.
constexpr int64_t kWinogradLanes = 8;
using WinogradLanes = std::array<double, kWinogradLanes>;

// G k G^T of `count` of kWinogradLanes kernels: product i goes to out + i * of_product.
inline void TransformWinogradLanes(const double* g, int64_t window, const WinogradLanes (&taps)[9],
                                   int64_t count, float* out, int64_t of_product) {
  for (int64_t i = 0; i < window; ++i) {
    WinogradLanes line[3];
    for (int64_t j = 0; j < 3; ++j) {
      for (int64_t l = 0; l < kWinogradLanes; ++l) {
        const auto at = static_cast<size_t>(l);
        double sum = 0;
        for (int64_t k = 0; k < 3; ++k) sum += g[i * 3 + k] * taps[k * 3 + j][at];
        line[j][at] = sum;
      }
    }
    for (int64_t j = 0; j < window; ++j) {
      float values[kWinogradLanes];
      for (int64_t l = 0; l < kWinogradLanes; ++l) {
        const auto at = static_cast<size_t>(l);
        double sum = 0;
        for (int64_t k = 0; k < 3; ++k) sum += line[k][at] * g[j * 3 + k];
        values[l] = static_cast<float>(sum);
      }
      float* to = out + (i * window + j) * of_product;
      if (count == kWinogradLanes) {
        std::memcpy(to, values, sizeof values);
      } else {
        std::copy_n(values, count, to);
      }
    }
  }
}

// The builtin: `work(n)` says that n more units of work are to be done. False where the tensors are
// not its.
template <typename Work>
bool TransformWinogradWeights(const TensorView& w, const TensorView& out, const Work& work) {
  const int64_t window = out.dims[1] == 36 ? 6 : 4, blocks = out.dims[2], rows = out.dims[4];
  if (blocks == 0 || rows == 0 || rows > INT64_MAX / blocks) return false;
  const int64_t outputs = w.dims[0], inputs = w.dims[1], of_group = blocks * rows;
  if (out.dims[0] != outputs / of_group + (outputs % of_group != 0 ? 1 : 0)) return false;
  if (inputs == 0) return true;
  const int64_t tile = window - 2, products = window * window;
  double g[18];
  for (int64_t at = 0; at < window * 3; ++at) g[at] = WinogradOfKernel(tile, at / 3, at % 3);
  const auto load = [&](int64_t at) {
    return w.dtype == DType::kFloat32 ? static_cast<double>(w.as<const float>()[at])
                                      : LoadAs<double>(w, at);
  };
  const int64_t of_product = blocks * inputs * rows;
  for (int64_t block = 0; block < out.dims[0] * blocks; ++block) {
    float* start =
        out.as<float>() + block / blocks * products * of_product + block % blocks * inputs * rows;
    for (int64_t c = 0; c < inputs; ++c) {
      for (int64_t row = 0; row < rows; row += kWinogradLanes) {
        work(products * kWinogradLanes / 2);
        const int64_t first = block * rows + row;
        const int64_t count = std::min(kWinogradLanes, rows - row);
        WinogradLanes taps[9] = {};
        for (int64_t l = 0; l < std::min(count, outputs - first); ++l) {
          const int64_t kernel = ((first + l) * inputs + c) * 9;
          for (int64_t k = 0; k < 9; ++k) taps[k][static_cast<size_t>(l)] = load(kernel + k);
        }
        TransformWinogradLanes(g, window, taps, count, start + c * rows + row, of_product);
      }
    }
  }
  return true;
}

}  // namespace relayvm
