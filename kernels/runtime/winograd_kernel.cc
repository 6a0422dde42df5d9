#include "kernels/runtime/winograd_kernel.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "kernels/runtime/kernels.h"

namespace relayvm {

std::span<const double> WinogradPoints(int64_t tile) {
  static constexpr double kOf2[] = {0, 1, -1};
  static const double low = std::sqrt(0.5), high = std::sqrt(2.0);
  static const double of_4[] = {0, low, -low, high, -high};
  return tile == 2 ? std::span<const double>(kOf2) : of_4;
}

// Products and quotients only, each rounded as IEEE 754 says: all machines give the same bits.
double WinogradOfKernel(int64_t tile, int64_t i, int64_t j) {
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

namespace {

// Output channels whose kernels are transformed side by side.
constexpr int64_t kWinogradLanes = 8;
using WinogradLanes = std::array<double, kWinogradLanes>;

// The weights of a convolution (kernels.h).
struct WinogradWeightsPlan {
  int64_t outputs, inputs, window, blocks, rows;
};

// G k G^T of `count` of kWinogradLanes kernels: product i goes to out + i * of_product.
void TransformWinogradLanes(const double* g, int64_t window, const WinogradLanes (&taps)[9],
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

void TransformWinogradWeights(const CallArgs& args, const WinogradWeightsPlan& p) {
  const TensorView& w = args[0];
  const int64_t tile = p.window - 2, products = p.window * p.window;
  double g[18];
  for (int64_t at = 0; at < p.window * 3; ++at) g[at] = WinogradOfKernel(tile, at / 3, at % 3);
  const auto load = [&](int64_t at) {
    return w.dtype == DType::kFloat32 ? static_cast<double>(w.as<const float>()[at])
                                      : LoadAs<double>(w, at);
  };
  const int64_t of_product = p.blocks * p.inputs * p.rows;
  for (int64_t block = 0; block < args[1].dims[0] * p.blocks; ++block) {
    float* start = args[1].as<float>() + block / p.blocks * products * of_product +
                   block % p.blocks * p.inputs * p.rows;
    for (int64_t c = 0; c < p.inputs; ++c) {
      for (int64_t row = 0; row < p.rows; row += kWinogradLanes) {
        args.Work(products * kWinogradLanes / 2);
        const int64_t first = block * p.rows + row;
        const int64_t count = std::min(kWinogradLanes, p.rows - row);
        WinogradLanes taps[9] = {};
        for (int64_t l = 0; l < std::min(count, p.outputs - first); ++l) {
          const int64_t kernel = ((first + l) * p.inputs + c) * 9;
          for (int64_t k = 0; k < 9; ++k) taps[k][static_cast<size_t>(l)] = load(kernel + k);
        }
        TransformWinogradLanes(g, p.window, taps, count, start + c * p.rows + row, of_product);
      }
    }
  }
}

}  // namespace

int32_t WinogradWeights(const CallArgs& args) {
  const TensorView &w = args[0], &out = args[1];
  const int64_t window = out.dims[1] == 36 ? 6 : 4, blocks = out.dims[2], rows = out.dims[4];
  if (blocks == 0 || rows == 0 || rows > INT64_MAX / blocks) return RELAYVM_KERNEL_INVALID_ARGUMENT;
  const int64_t of_group = blocks * rows;
  if (out.dims[0] != w.dims[0] / of_group + (w.dims[0] % of_group != 0 ? 1 : 0))
    return RELAYVM_KERNEL_INVALID_ARGUMENT;
  if (w.dims[1] > 0) TransformWinogradWeights(args, {w.dims[0], w.dims[1], window, blocks, rows});
  return RELAYVM_KERNEL_OK;
}

}  // namespace relayvm
