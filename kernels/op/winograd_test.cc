#include "kernels/op/winograd.h"

#include <doctest/doctest.h>

#include <cmath>
#include <initializer_list>
#include <vector>

#include "kernels/op/testing.h"

namespace relayvm::op_testing {
namespace {

TEST_CASE("Winograd's transforms give the convolution of a tile") {
  for (int64_t tile : {2, 4}) {
    const int64_t window = WinogradWindow(tile);
    // Both are linear in the data and in the kernel: elements that are 1 stand for all.
    for (int64_t result = 0; result < tile; ++result) {
      for (int64_t d = 0; d < window; ++d) {
        for (int64_t k = 0; k < 3; ++k) {
          double sum = 0;
          for (int64_t i = 0; i < window; ++i) {
            sum += WinogradOfResult(tile, result, i) * WinogradOfKernel(tile, i, k) *
                   WinogradOfData(tile, i, d);
          }
          INFO("tile ", tile, " result ", result, " data ", d, " kernel ", k);
          CHECK(sum == doctest::Approx(d == result + k ? 1 : 0).epsilon(1e-14));
          CHECK(std::abs(sum - std::round(sum)) < 1e-14);
        }
      }
    }
  }
}

TEST_CASE("nn.contrib_conv2d_winograd") {
  // Two images of two channels, 5 x 6, padded by 0 to 2; five channels of results, in two groups of
  // two blocks of two rows.
  const std::vector<int64_t> padding = {1, 0, 2, 1};
  const int64_t in = 2, out = 5, height = 5, width = 6, out_height = 6, out_width = 5;
  auto data = [&](int64_t n, int64_t c, int64_t y, int64_t x) -> double {
    if (y < 0 || x < 0 || y >= height || x >= width) return 0;
    return static_cast<double>((n * 31 + c * 17 + y * 5 + x * 3) % 11 - 5);
  };
  auto kernel = [&](int64_t o, int64_t c, int64_t tap) {
    return static_cast<double>((o * 7 + c * 3 + tap * 5) % 9 - 4);
  };
  std::vector<double> x, want;
  for (int64_t at = 0; at < 2 * in * height * width; ++at) {
    const int64_t plane = at / width / height;
    x.push_back(data(plane / in, plane % in, at / width % height, at % width));
  }
  for (int64_t at = 0; at < 2 * out * out_height * out_width; ++at) {
    const int64_t plane = at / out_width / out_height;
    double sum = 0;
    for (int64_t i = 0; i < in * 9; ++i) {
      const int64_t tap = i % 9;
      sum += kernel(plane % out, i / 9, tap) *
             data(plane / out, i / 9, at / out_width % out_height + tap / 3 - padding[0],
                  at % out_width + tap % 3 - padding[1]);
    }
    want.push_back(sum);
  }
  for (int64_t tile : {2, 4}) {
    const int64_t window = WinogradWindow(tile);
    std::vector<double> weight;
    for (int64_t at = 0; at < 2 * window * window * 2 * in * 2; ++at) {
      const int64_t group = at / 2 / in / 2 / window / window;
      const int64_t o = (group * 2 + at / 2 / in % 2) * 2 + at % 2;
      const int64_t product = at / 2 / in / 2 % (window * window);
      double sum = 0;
      for (int64_t tap = 0; tap < 9 && o < out; ++tap) {
        sum += WinogradOfKernel(tile, product / window, tap / 3) *
               WinogradOfKernel(tile, product % window, tap % 3) * kernel(o, at / 2 % in, tap);
      }
      weight.push_back(o < out ? sum : 1e30);  // arbitrary
    }
    CheckOp("nn.contrib_conv2d_winograd",
            {{"tile_size", tile},
             {"channels", out},
             {"padding", AttrList(padding.begin(), padding.end())}},
            {F32({2, in, height, width}, x), F32({2, window * window, 2, in, 2}, weight)},
            {F32({2, out, out_height, out_width}, want)}, {.static_args = {1}, .tolerance = 1e-5});
  }
}

}  // namespace
}  // namespace relayvm::op_testing
