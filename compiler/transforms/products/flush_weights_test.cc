#include "compiler/transforms/products/flush_weights.h"

#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "compiler/transforms/products/testing.h"

namespace relayvm::ir {
namespace {

std::vector<float> WeightsAfter(const std::string& text, const std::vector<int64_t>& shape,
                                const std::vector<float>& numbers) {
  HostTensor w{DType::kFloat32, shape, SharedBytes::Zeros(numbers.size() * sizeof(float))};
  std::memcpy(w.data.Mutable().data(), numbers.data(), numbers.size() * sizeof(float));
  const Module flushed = FlushWeights(WithWeight(text, w));
  const HostTensor& after = std::get<const Constant*>(OnlyCall(flushed).args[1])->value;
  CHECK(after.shape == shape);
  std::vector<float> result(numbers.size());
  std::memcpy(result.data(), after.data.data(), numbers.size() * sizeof(float));
  return result;
}

TEST_CASE("denormal weights beside normal ones are zero") {
  const std::string dense =
      "def @main(%x: Tensor[(3, 2), float32]) { nn.dense(%x, ones(shape=[2, 2], "
      "dtype=\"float32\")) }";
  const std::string conv =
      "def @main(%x: Tensor[(1, 1, 8, 8), float32]) { nn.conv2d(%x, ones(shape=[1, 1, 2, 2], "
      "dtype=\"float32\")) }";
  const std::string three =
      "def @main(%x: Tensor[(3, 2), float32]) { nn.dense(%x, ones(shape=[3, 2], "
      "dtype=\"float32\")) }";
  constexpr float kLeast = std::numeric_limits<float>::min(),
                  kDenormal = std::numeric_limits<float>::denorm_min();
  const std::vector<float> numbers = {-1e-39F, 0.5F, -kLeast, kDenormal};
  const std::vector<float> expected = {0, 0.5F, -kLeast, 0};
  CHECK(WeightsAfter(dense, {2, 2}, numbers) == expected);
  CHECK(WeightsAfter(conv, {1, 1, 2, 2}, numbers) == expected);
  // Wherever they stand.
  for (size_t at = 0; at < 6; ++at) {
    std::vector<float> places(6, 1e-20F);
    places[at] = kDenormal;
    places[(at + 3) % 6] = -0.5F;
    CHECK(WeightsAfter(three, {3, 2}, places)[at] == 0);
  }
  // All of them are small.
  const std::vector<float> small = {-1e-39F, 1e-20F, -kLeast, kDenormal};
  CHECK(WeightsAfter(dense, {2, 2}, small) == small);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  CHECK(WeightsAfter(dense, {2, 2}, {nan, 1, 1e-39F, 0})[2] == 0);
}

}  // namespace
}  // namespace relayvm::ir
