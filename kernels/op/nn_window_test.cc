#include "kernels/op/testing.h"

namespace relayvm::op_testing {
namespace {

TEST_CASE(
    "nn.deformable_conv2d without offsets is a convolution; with them it samples between pixels") {
  const HostTensor x = F32({1, 1, 3, 3}, Iota(9)), k = F32({1, 1, 2, 2}, {1, 10, 100, 1000});
  const std::vector<double> regular = {4310, 5421, 7643, 8754};
  const AttrMap attrs = {{"channels", 1}, {"kernel_size", List({2, 2})}};
  CheckOp("nn.deformable_conv2d", attrs, {x, F32({1, 8, 2, 2}, std::vector<double>(32, 0)), k},
          {F32({1, 1, 2, 2}, regular)}, {.static_args = {1}});
  // Every tap half a pixel to the right: the last column has no right neighbour.
  std::vector<double> shift(32, 0);
  for (size_t tap = 0; tap < 4; ++tap) {
    for (size_t i = 0; i < 4; ++i) shift[(tap * 2 + 1) * 4 + i] = 0.5;
  }
  CheckOp("nn.deformable_conv2d", attrs, {x, F32({1, 8, 2, 2}, shift), k},
          {F32({1, 1, 2, 2}, {0.5 + 15 + 350 + 4500, 1.5 + 10 + 450 + 2500, 3.5 + 45 + 650 + 7500,
                              4.5 + 25 + 750 + 4000})},
          {.static_args = {1}});
  // Beyond the map there is nothing.
  CheckOp("nn.deformable_conv2d", attrs, {x, F32({1, 8, 2, 2}, std::vector<double>(32, 50)), k},
          {F32({1, 1, 2, 2}, {0, 0, 0, 0})}, {.static_args = {1}});
  CheckFails("nn.deformable_conv2d", attrs, {x, F32({1, 4, 2, 2}, std::vector<double>(16, 0)), k},
             "offset");
}

TEST_CASE("nn.correlation compares patches at displacements") {
  const HostTensor a = F32({1, 1, 1, 3}, {1, 2, 3}), b = F32({1, 1, 1, 3}, {10, 20, 30});
  // One row of padding lets the displacements -1, 0, 1 exist in both directions.
  const AttrMap attrs = {{"padding", List({1, 1})}};
  CheckOp("nn.correlation", attrs, {a, b},
          {F32({1, 9, 1, 3}, {0,  0,  0,  0, 0, 0, 0, 0, 0, 0, 20, 60, 10, 40,
                              90, 20, 60, 0, 0, 0, 0, 0, 0, 0, 0,  0,  0})});
  CheckOp("nn.correlation", {{"max_displacement", 0}, {"is_multiply", false}}, {a, b},
          {F32({1, 1, 1, 3}, {9, 18, 27})});
  CheckFails("nn.correlation", {{"layout", "NHWC"}}, {a, b}, "layout");
}

}  // namespace
}  // namespace relayvm::op_testing
