#include "kernels/runtime/winograd_kernel.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "kernels/runtime/testing.h"

namespace relayvm::builtin_testing {
namespace {

// G k G^T of the kernel that `taps` starts with, by the definition.
float Product(int64_t tile, int64_t i, int64_t j, const float* taps) {
  long double sum = 0;
  for (int64_t tap = 0; tap < 9; ++tap) {
    sum += static_cast<long double>(WinogradOfKernel(tile, i, tap / 3)) *
           static_cast<long double>(WinogradOfKernel(tile, j, tap % 3)) * taps[tap];
  }
  return static_cast<float>(sum);
}

TEST_CASE("winograd_weights: each product of each kernel, in groups, blocks and rows") {
  struct Row {
    int64_t outputs, inputs, blocks, rows;
  };
  const Row table[] = {{1, 1, 1, 1}, {5, 3, 2, 2},   {16, 4, 1, 16}, {37, 5, 2, 8},
                       {3, 2, 1, 7}, {64, 1, 3, 16}, {20, 6, 1, 6},  {9, 2, 1, 64}};
  for (const Row& row : table) {
    for (int64_t tile : {2, 4}) {
      CAPTURE(row.outputs);
      CAPTURE(tile);
      std::vector<float> w(static_cast<size_t>(row.outputs * row.inputs * 9));
      for (size_t i = 0; i < w.size(); ++i)
        w[i] = static_cast<float>(static_cast<int>(i * 37 % 101) - 50) / 8;
      const int64_t window = WinogradWindow(tile), of_group = row.blocks * row.rows;
      const int64_t groups = (row.outputs + of_group - 1) / of_group;
      const Array out = Empty<float>({groups, window * window, row.blocks, row.inputs, row.rows});
      const std::string name(WinogradWeightsBuiltin(tile));
      const std::vector<int64_t> dims = {row.outputs, row.inputs, 3, 3};
      const CallResult r = Call(name, {Make<float>(dims, w)}, {out}, {});
      REQUIRE(r.error == 0);
      const std::vector<float> got = r.outputs[0].as<float>();
      for (size_t n = 0; n < got.size(); ++n) {
        const auto at = static_cast<int64_t>(n);
        const int64_t c = at / row.rows % row.inputs, block = at / row.rows / row.inputs;
        const int64_t product = block / row.blocks % (window * window);
        const int64_t o =
            (block / row.blocks / (window * window) * row.blocks + block % row.blocks) * row.rows +
            at % row.rows;
        const float want = o < row.outputs
                               ? Product(tile, product / window, product % window,
                                         &w[static_cast<size_t>((o * row.inputs + c) * 9)])
                               : 0;
        REQUIRE(got[n] == doctest::Approx(want).epsilon(1e-6));
      }
      // These numbers are float16's too, and give the same bits.
      std::vector<Float16> halves;
      for (float value : w) halves.emplace_back(value);
      const CallResult of_halves = Call(name, {Make<Float16>(dims, halves)}, {out}, {});
      REQUIRE(of_halves.error == 0);
      CHECK(of_halves.outputs[0].data == r.outputs[0].data);
    }
  }
}

TEST_CASE("winograd_weights: what is infinite or no number stays so, and reaches no other kernel") {
  std::vector<float> w(2 * 9, 1);
  w[4] = std::numeric_limits<float>::infinity();
  const CallResult r = Call("winograd_weights_4", {Make<float>({2, 1, 3, 3}, w)},
                            {Empty<float>({1, 36, 1, 1, 2})}, {});
  REQUIRE(r.error == 0);
  const std::vector<float> got = r.outputs[0].as<float>();
  CHECK(!std::isfinite(got[2 * 7]));
  for (size_t i = 1; i < got.size(); i += 2) CHECK(std::isfinite(got[i]));
}

TEST_CASE("winograd_weights: shapes that are not the kernel's are refused") {
  const Array w = Empty<float>({20, 2, 3, 3});
  CHECK(Call("winograd_weights_2", {w}, {Empty<float>({2, 16, 1, 2, 16})}, {}).error == 0);
  for (const std::vector<int64_t>& dims : {std::vector<int64_t>{1, 16, 1, 2, 16},
                                           {3, 16, 1, 2, 16},
                                           {2, 36, 1, 2, 16},
                                           {2, 16, 1, 3, 16},
                                           {2, 16, 0, 2, 16},
                                           {2, 16, 1, 2, 0},
                                           {2, 16, 2, 2, 16}}) {
    CHECK(Call("winograd_weights_2", {w}, {Empty<float>(dims)}, {}).error ==
          RELAYVM_KERNEL_INVALID_ARGUMENT);
  }
  CHECK(Call("winograd_weights_2", {Empty<float>({20, 2, 3, 4})}, {Empty<float>({2, 16, 1, 2, 16})},
             {})
            .error == RELAYVM_KERNEL_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace relayvm::builtin_testing
