#include <cmath>

#include "kernels/op/testing.h"

namespace relayvm::op_testing {
namespace {

HostTensor I8(std::vector<int64_t> shape, const std::vector<double>& v) {
  return Host(DType::kInt8, std::move(shape), v);
}
HostTensor U8(std::vector<int64_t> shape, const std::vector<double>& v) {
  return Host(DType::kUInt8, std::move(shape), v);
}
HostTensor Scale(double v) { return F32({}, {v}); }
HostTensor Zero(double v) { return I32({}, {v}); }

TEST_CASE("qnn.quantize rounds halves away from zero and saturates") {
  CheckOp("qnn.quantize", {{"out_dtype", "int8"}},
          {F32({5}, {0.25, -0.25, 0.3, 100, -100}), Scale(0.5), Zero(1)},
          {I8({5}, {2, 0, 2, 127, -128})});
  CheckOp("qnn.quantize", {{"out_dtype", "uint8"}, {"axis", 0}},
          {F32({2, 2}, {1, 2, 3, 4}), F32({2}, {1, 0.5}), I32({2}, {0, 10})},
          {U8({2, 2}, {1, 2, 16, 18})}, {.static_args = {1, 2}});
  CheckFails("qnn.quantize", {{"out_dtype", "int8"}},
             {F32({2}, {1, 2}), F32({3}, {1, 1, 1}), Zero(0)}, "output_scale");
}

TEST_CASE("qnn.dequantize") {
  CheckOp("qnn.dequantize", {}, {U8({2}, {0, 255}), Scale(0.5), Zero(128)},
          {F32({2}, {-64, 63.5})});
  CheckOp("qnn.dequantize", {{"axis", 1}}, {I8({1, 2}, {10, 10}), F32({2}, {1, 2}), Zero(0)},
          {F32({1, 2}, {10, 20})}, {.static_args = {1}});
}

TEST_CASE("simulated quantisation keeps the dtype; a code chooses the integers") {
  const HostTensor x = F32({5}, {0.25, -0.25, 0.3, 1000, -1000});
  const auto code = [](double v) { return I32({}, {v}); };
  const auto quantize = [&](double v, const std::vector<double>& out) {
    CheckOp("qnn.simulated_quantize", {}, {x, code(v), Scale(0.5), Zero(1)}, {F32({5}, out)});
  };
  quantize(0, {0.25, -0.25, 0.3, 1000, -1000});
  quantize(1, {2, 0, 2, 127, -128});
  quantize(2, {2, 0, 2, 255, 0});
  quantize(3, {2, 0, 2, 2001, -1999});
  CheckOp("qnn.simulated_quantize", {{"axis", 0}},
          {F32({2, 2}, {1, 2, 3, 4}), code(1), F32({2}, {1, 0.5}), I32({2}, {0, 10})},
          {F32({2, 2}, {1, 2, 16, 18})}, {.static_args = {2, 3}});
  CheckOp("qnn.simulated_dequantize", {{"out_dtype", "float32"}},
          {F32({2}, {0, 255}), code(2), Scale(0.5), Zero(128)}, {F32({2}, {-64, 63.5})});
  CheckOp("qnn.simulated_dequantize", {}, {F32({2}, {0, 255}), code(0), Scale(0.5), Zero(128)},
          {F32({2}, {0, 255})});
  CheckFails("qnn.simulated_quantize", {}, {x, code(1), F32({3}, {1, 1, 1}), Zero(0)}, "scale");
  CheckFails("qnn.simulated_quantize", {}, {I32({1}, {1}), code(1), Scale(1), Zero(0)}, "float");
}

// A ratio of scales as TVM rounds it: half up or half away from zero, in 31-bit fixed point.
TEST_CASE("qnn.requantize: rounding, scale up and down, per channel") {
  const auto attrs = [](const char* rounding) {
    return AttrMap{{"out_dtype", "int8"}, {"rounding", rounding}};
  };
  const HostTensor x = I32({6}, {1, -1, 3, -3, 4, 600});
  CheckOp("qnn.requantize", attrs("None"), {x, Scale(1), Zero(0), Scale(2), Zero(0)},
          {I8({6}, {1, 0, 2, -1, 2, 127})});
  CheckOp("qnn.requantize", attrs("TONEAREST"), {x, Scale(1), Zero(0), Scale(2), Zero(0)},
          {I8({6}, {1, -1, 2, -2, 2, 127})});
  CheckOp("qnn.requantize", attrs("UPWARD"), {x, Scale(3), Zero(1), Scale(1), Zero(-5)},
          {I8({6}, {-5, -11, 1, -17, 4, 127})});
  AttrMap real = attrs("UPWARD");
  real["compute_dtype"] = "float32";
  CheckOp("qnn.requantize", real, {x, Scale(1), Zero(0), Scale(2), Zero(0)},
          {I8({6}, {1, 0, 2, -1, 2, 127})});
  AttrMap channels = attrs("UPWARD");
  channels["axis"] = 1;
  CheckOp("qnn.requantize", channels,
          {I32({1, 2}, {8, 8}), F32({2}, {0.5, 0.25}), Zero(0), Scale(1), Zero(0)},
          {I8({1, 2}, {4, 2})}, {.static_args = {1}});
  CheckFails("qnn.requantize", attrs("DOWN"), {x, Scale(1), Zero(0), Scale(2), Zero(0)},
             "rounding");
}

TEST_CASE("qnn.requantize is within one rounding of the exact value for many ratios") {
  for (double ratio : {0.0003, 0.17, 0.5, 0.99999, 1.0, 1.7, 33.3}) {
    const HostTensor x = I32({4}, {-100000, -77, 77, 100000});
    const auto result = RunOp("qnn.requantize", {{"out_dtype", "int32"}},
                              {x, Scale(ratio), Zero(0), Scale(1), Zero(0)}, false);
    REQUIRE(result.ok());
    const std::vector<double> got = Values((*result)[0]), from = Values(x);
    for (size_t i = 0; i < 4; ++i) {
      const double exact = from[i] * static_cast<double>(static_cast<float>(ratio));
      CHECK(std::abs(got[i] - exact) <= 0.5 + std::abs(exact) * 1e-9);
    }
  }
}

TEST_CASE("what int32 does not hold on the way saturates at the end") {
  const auto requantize = [](const HostTensor& x, double from, double zero, double to,
                             const char* out_dtype, const HostTensor& expected) {
    for (const char* rounding : {"UPWARD", "TONEAREST"}) {
      CheckOp("qnn.requantize", {{"out_dtype", out_dtype}, {"rounding", rounding}},
              {x, Scale(from), Zero(zero), Scale(to), Zero(0)}, {expected});
    }
  };
  const HostTensor x = I32({5}, {1000000, -1000000, 5, 3, -3});
  const HostTensor ends = I8({5}, {127, -128, 127, 127, -128});
  const double low = INT32_MIN, high = INT32_MAX;
  requantize(x, 4096, 0, 1, "int8", ends);
  requantize(x, 4096, 0, 1, "int32", I32({5}, {high, low, 20480, 12288, -12288}));
  requantize(x, 1, 0, 1e-30, "int8", ends);
  requantize(x, 1, 0, 1e-30, "int32", I32({5}, {high, low, high, high, low}));
  requantize(x, 1e8, 0, 1, "int32", I32({5}, {high, low, 5e8, 3e8, -3e8}));
  // A ratio that is infinite, and a negative one.
  requantize(I32({3}, {7, 0, -1}), 1, 0, 0, "int8", I8({3}, {127, 0, -128}));
  requantize(x, -1, 0, 1, "int32", I32({5}, {-1000000, 1000000, -5, -3, 3}));
  // 33 bits less a zero point, with the smallest ratios that leave something.
  requantize(I32({2}, {high, low}), 1, -1, 1, "int32", I32({2}, {high, -high}));
  requantize(I32({2}, {high, low}), 1, low, 0x1p31, "int32", I32({2}, {2, 0}));
  requantize(I32({2}, {high, low}), 1, high, 0x1p32, "int32", I32({2}, {0, -1}));
  requantize(I32({2}, {high, low}), 1, 0, 0x1p40, "int32", I32({2}, {0, 0}));

  const HostTensor q = I8({3}, {4, 100, -100});
  CheckOp("qnn.add", {}, {q, q, Scale(0x1p25), Zero(0), Scale(0x1p25), Zero(0), Scale(1), Zero(0)},
          {I8({3}, {127, 127, -128})});
  CheckOp("qnn.mul", {}, {q, q, Scale(0x1p25), Zero(0), Scale(0x1p25), Zero(0), Scale(1), Zero(0)},
          {I8({3}, {127, 127, 127})});
  const HostTensor wide = Host(DType::kInt16, {1}, {-32768});
  CheckOp("qnn.mul", {},
          {wide, wide, Scale(1), Zero(32767), Scale(1), Zero(32767), Scale(0x1p22), Zero(0)},
          {Host(DType::kInt16, {1}, {1024})});
  CheckOp("qnn.concatenate", {{"axis", 0}},
          {Arg::Tuple({q, q}), Arg::Tuple({Scale(0x1p25), Scale(1)}),
           Arg::Tuple({Zero(0), Zero(0)}), Scale(1), Zero(0)},
          {I8({6}, {127, 127, -128, 4, 100, -100})}, {.static_args = {1, 2}});
  CheckOp("qnn.leaky_relu", {{"alpha", -0.5}},
          {I8({2}, {-8, 8}), Scale(1), Zero(0), Scale(1), Zero(0)}, {I8({2}, {4, 8})});
  CheckOp("qnn.dequantize", {}, {I32({2}, {high, low}), Scale(1), Zero(-1)},
          {F32({2}, {0x1p31, -0x1p31})});
  CheckOp("qnn.dequantize", {}, {I8({1}, {-128}), Scale(1), Zero(high)}, {F32({1}, {-0x1p31})});
}

TEST_CASE("qnn.add, qnn.subtract and qnn.mul") {
  // Reals: a = 0.5 * (q - 2), b = 0.25 * q; the result has scale 0.5 and zero point 1.
  const std::vector<Arg> args = {U8({2}, {4, 200}), U8({2}, {8, 255}), Scale(0.5), Zero(2),
                                 Scale(0.25),       Zero(0),           Scale(0.5), Zero(1)};
  CheckOp("qnn.add", {}, args, {U8({2}, {7, 255})});      // 1 + 2 = 3, 99 + 63.75
  CheckOp("qnn.subtract", {}, args, {U8({2}, {0, 71})});  // 1 - 2 = -1 clipped from -1, 99 - 63.75
  CheckOp("qnn.mul", {}, args, {U8({2}, {5, 255})});      // 1 * 2 = 2
  // Broadcasting, and a scale for each channel.
  CheckOp("qnn.add", {{"lhs_axis", 1}},
          {I8({1, 2}, {10, 10}), I8({2, 1}, {0, 4}), F32({2}, {1, 2}), Zero(0), Scale(1), Zero(0),
           Scale(1), Zero(0)},
          {I8({2, 2}, {10, 20, 14, 24})}, {.static_args = {0, 1, 2}});
}

TEST_CASE("qnn.concatenate brings all to one scale") {
  CheckOp("qnn.concatenate", {{"axis", 0}},
          {Arg::Tuple({U8({1}, {10}), U8({2}, {10, 20})}), Arg::Tuple({Scale(1), Scale(0.5)}),
           Arg::Tuple({Zero(0), Zero(2)}), Scale(1), Zero(3)},
          {U8({3}, {13, 7, 12})}, {.static_args = {1, 2}});
}

TEST_CASE("qnn functions of one tensor") {
  CheckOp("qnn.leaky_relu", {{"alpha", 0.5}},
          {U8({3}, {0, 9, 20}), Scale(1), Zero(10), Scale(1), Zero(10)}, {U8({3}, {5, 10, 20})});
  CheckOp("qnn.abs", {}, {I8({2}, {-5, 5}), Scale(1), Zero(0), Scale(0.5), Zero(1)},
          {I8({2}, {11, 11})});
  CheckOp("qnn.sqrt", {}, {I8({2}, {16, -1}), Scale(1), Zero(0), Scale(1), Zero(0)},
          {I8({2}, {4, 127})});
  CheckOp("qnn.rsqrt", {}, {U8({2}, {4, 0}), Scale(1), Zero(0), Scale(0.1), Zero(0)},
          {U8({2}, {5, 255})});
  CheckOp("qnn.hardswish", {}, {I8({3}, {-4, 1, 4}), Scale(1), Zero(0), Scale(0.5), Zero(0)},
          {I8({3}, {0, 1, 8})});
  CheckOp("qnn.exp", {}, {I8({2}, {0, 1}), Scale(1), Zero(0), Scale(1), Zero(0)},
          {I8({2}, {1, 3})});
  CheckOp("qnn.log", {}, {I8({2}, {1, 8}), Scale(1), Zero(0), Scale(0.1), Zero(0)},
          {I8({2}, {0, 21})});
  CheckOp("qnn.erf", {}, {I8({2}, {0, 100}), Scale(1), Zero(0), Scale(0.01), Zero(0)},
          {I8({2}, {0, 100})});
  CheckOp("qnn.sigmoid", {}, {I8({2}, {0, 100}), Scale(1), Zero(0), Scale(0.01), Zero(0)},
          {I8({2}, {50, 100})});
  CheckOp("qnn.tanh", {}, {I8({2}, {0, 100}), Scale(1), Zero(0), Scale(0.01), Zero(0)},
          {I8({2}, {0, 100})});
}

TEST_CASE("qnn products subtract zero points first") {
  const HostTensor x = U8({1, 2}, {5, 7}), w = I8({2, 2}, {1, 2, 3, 4});
  // (5 - 1, 7 - 1) times (w - 2)
  CheckOp("qnn.dense", {{"units", 2}}, {x, w, Zero(1), Zero(2), Scale(1), Scale(1)},
          {I32({1, 2}, {-4, 16})}, {.static_args = {1}});
  CheckOp("qnn.dense", {}, {x, w, Zero(1), I32({2}, {0, 3}), Scale(1), F32({2}, {1, 1})},
          {I32({1, 2}, {16, 6})}, {.static_args = {1, 3}});
  CheckOp(
      "qnn.batch_matmul", {{"transpose_b", true}},
      {U8({1, 1, 2}, {5, 7}), I8({1, 2, 2}, {1, 2, 3, 4}), Zero(1), Zero(2), Scale(1), Scale(1)},
      {I32({1, 1, 2}, {-4, 16})});
  // Padding is the real zero, not the integer 0.
  CheckOp(
      "qnn.conv2d", {{"padding", List({0, 1})}, {"channels", 1}, {"kernel_size", List({1, 2})}},
      {U8({1, 1, 1, 2}, {5, 7}), I8({1, 1, 1, 2}, {1, 10}), Zero(3), Zero(0), Scale(1), Scale(1)},
      {I32({1, 1, 1, 3}, {20, 42, 4})});
  // Data less its zero point is (2, 4) between zeros, weights (1, 10).
  CheckOp("qnn.conv1d", {{"padding", List({1})}, {"channels", 1}, {"kernel_size", List({2})}},
          {U8({1, 1, 2}, {5, 7}), I8({1, 1, 2}, {1, 10}), Zero(3), Zero(0), Scale(1), Scale(1)},
          {I32({1, 1, 3}, {20, 42, 4})});
  CheckOp("qnn.conv3d",
          {{"padding", List({0, 0, 1})}, {"channels", 1}, {"kernel_size", List({1, 1, 2})}},
          {U8({1, 1, 1, 1, 2}, {5, 7}), I8({1, 1, 1, 1, 2}, {1, 10}), Zero(3), Zero(0), Scale(1),
           Scale(1)},
          {I32({1, 1, 1, 1, 3}, {20, 42, 4})});
  CheckOp(
      "qnn.conv2d_transpose", {{"channels", 1}, {"kernel_size", List({1, 2})}},
      {U8({1, 1, 1, 2}, {5, 7}), I8({1, 1, 1, 2}, {1, 10}), Zero(3), Zero(0), Scale(1), Scale(1)},
      {I32({1, 1, 1, 3}, {2, 24, 40})});
}

TEST_CASE("qnn.avg_pool2d averages integers; qnn.softmax stays near the real one") {
  CheckOp("qnn.avg_pool2d", {{"pool_size", List({1, 2})}},
          {U8({1, 1, 1, 3}, {10, 13, 20}), Scale(1), Zero(0), Scale(1), Zero(0)},
          {U8({1, 1, 1, 2}, {11, 16})});
  const auto result =
      RunOp("qnn.softmax", {},
            {I8({1, 3}, {0, 16, 32}), Scale(1.0 / 16), Zero(0), Scale(1.0 / 128), Zero(0)}, false);
  REQUIRE(result.ok());
  const std::vector<double> got = Values((*result)[0]);
  const double sum = 1 + std::exp(1) + std::exp(2);
  for (size_t i = 0; i < 3; ++i)
    CHECK(std::abs(got[i] / 128 - std::exp(static_cast<double>(i)) / sum) < 0.03);
}

}  // namespace
}  // namespace relayvm::op_testing
