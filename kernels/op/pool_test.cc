#include <algorithm>
#include <limits>

#include "kernels/op/testing.h"

namespace relayvm::op_testing {
namespace {

HostTensor Line() { return F32({1, 1, 6}, {1, -2, 3, 4, -5, 6}); }

TEST_CASE("nn.max_pool1d: stride, dilation, padding, ceil_mode") {
  CheckOp("nn.max_pool1d", {{"pool_size", 2}, {"strides", 2}}, {Line()},
          {F32({1, 1, 3}, {1, 4, 6})});
  CheckOp("nn.max_pool1d", {{"pool_size", 2}, {"dilation", 3}}, {Line()},
          {F32({1, 1, 3}, {4, -2, 6})});
  CheckOp("nn.max_pool1d", {{"pool_size", 3}, {"padding", List({1, 0})}}, {Line()},
          {F32({1, 1, 5}, {1, 3, 4, 4, 6})});
  CheckOp("nn.max_pool1d", {{"pool_size", 2}, {"strides", 4}, {"ceil_mode", true}}, {Line()},
          {F32({1, 1, 2}, {1, 6})});
  // A window of nothing but padding.
  CheckOp("nn.max_pool1d", {{"pool_size", 1}, {"padding", List({1, 0})}}, {F32({1, 1, 1}, {-3})},
          {F32({1, 1, 2}, {std::numeric_limits<float>::lowest(), -3})});
  CheckOp("nn.max_pool1d", {{"pool_size", 2}, {"dilation", 3}, {"padding", List({1, 2})}},
          {F32({1, 1, 1}, {-HUGE_VAL})}, {F32({1, 1, 1}, {std::numeric_limits<float>::lowest()})});
}

TEST_CASE("nn.avg_pool1d counts what lies inside, or the padding too") {
  const HostTensor x = F32({1, 1, 3}, {2, 4, 6});
  CheckOp("nn.avg_pool1d", {{"pool_size", 2}, {"padding", 1}}, {x}, {F32({1, 1, 4}, {2, 3, 5, 6})});
  CheckOp("nn.avg_pool1d", {{"pool_size", 2}, {"padding", 1}, {"count_include_pad", true}}, {x},
          {F32({1, 1, 4}, {1, 3, 5, 3})});
  // A window that leaves even the padded input: only what it covers counts.
  CheckOp("nn.avg_pool1d",
          {{"pool_size", 2}, {"strides", 2}, {"ceil_mode", true}, {"count_include_pad", true}}, {x},
          {F32({1, 1, 2}, {3, 6})});
  CheckOp("nn.avg_pool1d", {{"pool_size", 2}, {"strides", 2}, {"ceil_mode", true}}, {x},
          {F32({1, 1, 2}, {3, 6})});
  CheckOp("nn.avg_pool1d", {{"pool_size", 2}, {"dilation", 2}, {"padding", 1}}, {x},
          {F32({1, 1, 3}, {4, 4, 4})});
  CheckOp("nn.avg_pool1d", {{"pool_size", 2}}, {I32({1, 1, 2}, {-1, -2})}, {I32({1, 1, 1}, {-1})});
}

TEST_CASE("pools of two and three axes in several layouts") {
  CheckOp("nn.max_pool2d", {{"pool_size", List({2, 2})}, {"layout", "NHWC"}},
          {F32({1, 2, 3, 2}, Iota(12))}, {F32({1, 1, 2, 2}, {8, 9, 10, 11})});
  CheckOp("nn.avg_pool2d", {{"pool_size", List({2, 1})}, {"padding", List({0, 0, 1, 0})}},
          {F32({1, 1, 2, 2}, {1, 2, 3, 4})}, {F32({1, 1, 2, 2}, {2, 3, 3, 4})});
  CheckOp("nn.max_pool2d", {{"pool_size", 2}, {"layout", "NCHW2c"}},
          {F32({1, 1, 2, 2, 2}, Iota(8))}, {F32({1, 1, 1, 1, 2}, {6, 7})});
  CheckOp("nn.avg_pool3d", {{"pool_size", 2}}, {F32({1, 1, 2, 2, 2}, Iota(8))},
          {F32({1, 1, 1, 1, 1}, {3.5})});
  CheckOp("nn.global_avg_pool2d", {}, {F32({1, 2, 1, 3}, Iota(6))}, {F32({1, 2, 1, 1}, {1, 4})});
  CheckOp("nn.global_max_pool2d", {{"layout", "NHWC"}}, {F32({1, 1, 3, 2}, Iota(6))},
          {F32({1, 1, 1, 2}, {4, 5})});
}

TEST_CASE("the maxima of large windows, along lines and then across them") {
  // Of numbers that grow along rows and columns, the largest is the last one inside.
  constexpr int64_t kHeight = 6, kWidth = 7, kWindow = 5;
  const std::vector<double> data = Iota(kHeight * kWidth, -20);
  for (const int64_t stride : {1, 2}) {
    for (const int64_t pad : {0, 2, 4}) {
      const int64_t rows = (kHeight + 2 * pad - kWindow) / stride + 1;
      const int64_t columns = (kWidth + 2 * pad - kWindow) / stride + 1;
      std::vector<double> expected;
      for (int64_t y = 0; y < rows; ++y) {
        for (int64_t x = 0; x < columns; ++x) {
          const int64_t last_y = std::min(y * stride - pad + kWindow - 1, kHeight - 1);
          const int64_t last_x = std::min(x * stride - pad + kWindow - 1, kWidth - 1);
          expected.push_back(data[static_cast<size_t>(last_y * kWidth + last_x)]);
        }
      }
      const AttrMap attrs = {{"pool_size", kWindow}, {"strides", stride}, {"padding", pad}};
      CheckOp("nn.max_pool2d", attrs, {F32({1, 1, kHeight, kWidth}, data)},
              {F32({1, 1, rows, columns}, expected)});
    }
  }
}

TEST_CASE("pools with a split spatial axis, and with a layout of the result") {
  // (1, 1, 2, 3) with two channels: channel c at position w holds 10 c + w.
  const HostTensor blocked = F32({1, 2, 3, 2}, {0, 1, 2, 3, 4, 5, 10, 11, 12, 13, 14, 15});
  const AttrMap attrs = {{"pool_size", 2}, {"strides", 2}, {"layout", "NCW2w"}};
  AttrMap plain_out = attrs;
  plain_out["out_layout"] = "NWC";
  CheckOp("nn.max_pool1d", plain_out, {blocked}, {F32({1, 3, 2}, {1, 11, 3, 13, 5, 15})});
  AttrMap split_out = {{"pool_size", 1}, {"layout", "NWC"}, {"out_layout", "NCW3w"}};
  CheckOp("nn.avg_pool1d", split_out, {F32({1, 3, 2}, {1, 11, 3, 13, 5, 15})},
          {F32({1, 2, 1, 3}, {1, 3, 5, 11, 13, 15})});
  CheckOp("nn.adaptive_avg_pool1d",
          {{"output_size", List({3})}, {"layout", "NCW2w"}, {"out_layout", "NCW"}}, {blocked},
          {F32({1, 2, 3}, {0.5, 2.5, 4.5, 10.5, 12.5, 14.5})});
  CheckOp("nn.global_max_pool2d", {{"layout", "NHWC"}, {"out_layout", "NCHW"}},
          {F32({1, 1, 3, 2}, Iota(6))}, {F32({1, 2, 1, 1}, {4, 5})});
}

TEST_CASE("adaptive pools divide as PyTorch does") {
  const HostTensor x = F32({1, 1, 5}, {1, 2, 3, 4, 5});
  // Bins 0..2, 1..4, 3..5.
  CheckOp("nn.adaptive_avg_pool1d", {{"output_size", List({3})}}, {x},
          {F32({1, 1, 3}, {1.5, 3, 4.5})});
  CheckOp("nn.adaptive_max_pool1d", {{"output_size", List({3})}}, {x}, {F32({1, 1, 3}, {2, 4, 5})});
  CheckOp("nn.adaptive_avg_pool1d", {{"output_size", AttrValue()}}, {x}, {x});
  CheckOp("nn.adaptive_avg_pool1d", {{"output_size", List({7})}}, {x},
          {F32({1, 1, 7}, {1, 1.5, 2.5, 3, 3.5, 4.5, 5})});
  CheckOp("nn.adaptive_max_pool2d", {{"output_size", List({1, 2})}}, {F32({1, 1, 2, 4}, Iota(8))},
          {F32({1, 1, 1, 2}, {5, 7})});
  CheckOp("nn.adaptive_avg_pool2d", {{"output_size", List({1, 2})}}, {F32({1, 1, 2, 4}, Iota(8))},
          {F32({1, 1, 1, 2}, {2.5, 4.5})});
  CheckOp("nn.adaptive_max_pool3d", {{"output_size", List({1, 2, 1})}},
          {F32({1, 1, 2, 2, 2}, Iota(8))}, {F32({1, 1, 1, 2, 1}, {5, 7})});
  CheckOp("nn.max_pool3d", {{"pool_size", List({2, 1, 2})}}, {F32({1, 1, 2, 2, 2}, Iota(8))},
          {F32({1, 1, 1, 2, 1}, {5, 7})});
  CheckOp("nn.adaptive_avg_pool3d", {{"output_size", List({1})}, {"layout", "NDHWC"}},
          {F32({1, 2, 1, 2, 1}, Iota(4))}, {F32({1, 1, 1, 1, 1}, {1.5})});
}

TEST_CASE("the maximum of infinities is infinite") {
  const double inf = HUGE_VAL;
  const std::vector<double> nine(9, -inf);
  for (DType dtype : {DType::kFloat16, DType::kBFloat16, DType::kFloat32, DType::kFloat64}) {
    const HostTensor x = Host(dtype, {1, 1, 3, 3}, nine);
    const HostTensor four = Host(dtype, {1, 1, 2, 2}, {-inf, -inf, -inf, -inf});
    CheckOp("nn.adaptive_max_pool2d", {{"output_size", List({2, 2})}}, {x}, {four});
    CheckOp("nn.global_max_pool2d", {}, {x}, {Host(dtype, {1, 1, 1, 1}, {-inf})});
    CheckOp("nn.max_pool2d",
            {{"pool_size", List({2, 2})}, {"strides", List({2, 2})}, {"ceil_mode", true}}, {x},
            {four});
    CheckOp(
        "nn.max_pool2d",
        {{"pool_size", List({2, 2})}, {"strides", List({2, 2})}, {"padding", List({1, 1, 0, 0})}},
        {x}, {four});
  }
}

TEST_CASE("averages of integers neither wrap nor divide by a count that does") {
  const std::vector<double> ones(256, 1), most(256, -128);
  const HostTensor mean = Host(DType::kInt8, {1, 1, 1, 1}, {-128});
  const HostTensor x = Host(DType::kInt8, {1, 1, 16, 16}, most);
  CheckOp("nn.avg_pool2d", {{"pool_size", List({16, 16})}}, {x}, {mean});
  CheckOp("nn.avg_pool2d", {{"pool_size", List({17, 17})}, {"padding", List({1, 1, 0, 0})}}, {x},
          {mean});
  CheckOp("nn.global_avg_pool2d", {}, {x}, {mean});
  CheckOp("nn.adaptive_avg_pool2d", {{"output_size", List({1, 1})}}, {x}, {mean});
  CheckOp("nn.global_avg_pool2d", {}, {Host(DType::kUInt8, {1, 1, 16, 16}, ones)},
          {Host(DType::kUInt8, {1, 1, 1, 1}, {1})});
}

TEST_CASE("gradients of pools") {
  const HostTensor x = F32({1, 1, 1, 4}, {1, 7, 7, 2}), grad = F32({1, 1, 1, 3}, {10, 20, 30});
  const AttrMap attrs = {{"pool_size", List({1, 2})}};
  CheckOp("nn.max_pool2d_grad", attrs, {grad, x}, {F32({1, 1, 1, 4}, {0, 30, 30, 0})});
  CheckOp("nn.avg_pool2d_grad", attrs, {grad, x}, {F32({1, 1, 1, 4}, {5, 15, 25, 15})});
}

TEST_CASE("pools that are refused") {
  CheckFails("nn.max_pool1d", {}, {Line()}, "pool_size");
  CheckFails("nn.max_pool1d", {{"pool_size", 9}}, {Line()}, "expected at least");
  CheckFails("nn.max_pool1d", {{"pool_size", 2}, {"layout", "NC"}}, {Line()}, "layout is NC");
  CheckFails("nn.max_pool1d", {{"pool_size", 2}, {"out_layout", "NC"}}, {Line()}, "out_layout");
  CheckFails("nn.max_pool1d", {{"pool_size", 2}, {"out_layout", "NCW3w"}}, {Line()},
             "a multiple of its factor");
  CheckFails("nn.adaptive_avg_pool1d", {{"output_size", List({0})}}, {Line()}, "output_size");
}

}  // namespace
}  // namespace relayvm::op_testing
