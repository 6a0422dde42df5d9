#include "kernels/op/problem.h"
#include "kernels/op/testing.h"

namespace relayvm::op_testing {
namespace {

std::vector<double> Mixed(int64_t n, int64_t seed = 3) {
  std::vector<double> v;
  for (int64_t i = 0; i < n; ++i) v.push_back(static_cast<double>((i * 7 + seed) % 11) - 5);
  return v;
}

// A two-dimensional convolution by plain loops: data NCHW, kernel OIHW with I = C / groups.
struct Conv2d {
  int64_t n = 1, c = 2, h = 5, w = 4, o = 4, kh = 3, kw = 2;
  int64_t stride[2] = {1, 1}, before[2] = {0, 0}, after[2] = {0, 0}, dilation[2] = {1, 1},
          groups = 1;

  int64_t oh() const {
    return (h + before[0] + after[0] - (kh - 1) * dilation[0] - 1) / stride[0] + 1;
  }
  int64_t ow() const {
    return (w + before[1] + after[1] - (kw - 1) * dilation[1] - 1) / stride[1] + 1;
  }
  int64_t ic() const { return c / groups; }
  std::vector<double> data() const { return Mixed(n * c * h * w); }
  std::vector<double> kernel() const { return Mixed(o * ic() * kh * kw, 5); }

  std::vector<double> Result() const {
    const std::vector<double> x = data(), k = kernel();
    std::vector<double> out;
    for (int64_t b = 0; b < n; ++b) {
      for (int64_t f = 0; f < o; ++f) {
        for (int64_t y = 0; y < oh(); ++y) {
          for (int64_t z = 0; z < ow(); ++z) {
            double sum = 0;
            for (int64_t i = 0; i < ic(); ++i) {
              for (int64_t p = 0; p < kh; ++p) {
                for (int64_t q = 0; q < kw; ++q) {
                  const int64_t yy = y * stride[0] + p * dilation[0] - before[0];
                  const int64_t zz = z * stride[1] + q * dilation[1] - before[1];
                  if (yy < 0 || yy >= h || zz < 0 || zz >= w) continue;
                  const int64_t channel = f / (o / groups) * ic() + i;
                  sum += x[((b * c + channel) * h + yy) * w + zz] *
                         k[((f * ic() + i) * kh + p) * kw + q];
                }
              }
            }
            out.push_back(sum);
          }
        }
      }
    }
    return out;
  }
  AttrMap Attributes() const {
    return {{"strides", List({stride[0], stride[1]})},
            {"padding", List({before[0], before[1], after[0], after[1]})},
            {"dilation", List({dilation[0], dilation[1]})},
            {"groups", groups},
            {"channels", o},
            {"kernel_size", List({kh, kw})}};
  }
};

// The gradient by the kernel, where the result's is `grad`.
std::vector<double> KernelGradient(const Conv2d& c, const std::vector<double>& grad) {
  const std::vector<double> x = c.data();
  std::vector<double> out;
  for (int64_t f = 0; f < c.o; ++f) {
    for (int64_t i = 0; i < c.ic(); ++i) {
      for (int64_t p = 0; p < c.kh; ++p) {
        for (int64_t q = 0; q < c.kw; ++q) {
          double sum = 0;
          for (int64_t g = 0; g < c.n * c.oh() * c.ow(); ++g) {
            const int64_t b = g / (c.oh() * c.ow()), y = g / c.ow() % c.oh(), z = g % c.ow();
            const int64_t yy = y * c.stride[0] + p * c.dilation[0] - c.before[0];
            const int64_t zz = z * c.stride[1] + q * c.dilation[1] - c.before[1];
            if (yy < 0 || yy >= c.h || zz < 0 || zz >= c.w) continue;
            const int64_t channel = f / (c.o / c.groups) * c.ic() + i;
            sum += x[((b * c.c + channel) * c.h + yy) * c.w + zz] *
                   grad[((b * c.o + f) * c.oh() + y) * c.ow() + z];
          }
          out.push_back(sum);
        }
      }
    }
  }
  return out;
}

// The values of a tensor of shape `dims` in the order of axes `order`.
std::vector<double> Permute(const std::vector<double>& v, const std::vector<int64_t>& dims,
                            const std::vector<int>& order) {
  std::vector<double> out;
  std::vector<int64_t> index(dims.size(), 0);
  for (size_t n = 0; n < v.size(); ++n) {
    std::vector<int64_t> at(dims.size());
    for (size_t d = 0; d < order.size(); ++d) at[order[d]] = index[d];
    int64_t flat = 0;
    for (size_t d = 0; d < dims.size(); ++d) flat = flat * dims[d] + at[d];
    out.push_back(v[static_cast<size_t>(flat)]);
    for (size_t d = order.size(); d-- > 0;) {
      if (++index[d] < dims[order[d]]) break;
      index[d] = 0;
    }
  }
  return out;
}

// Two blocks of two channels in, one of two out, or two channels each on its own.
TEST_CASE("convolutions that take blocked layouts only") {
  const AttrMap blocked = {{"data_layout", "NCHW2c"},
                           {"kernel_layout", "OIHW2i2o"},
                           {"out_layout", "NCHW2c"},
                           {"kernel_size", List({1, 1})}};
  CheckOp("nn.contrib_conv2d_NCHWc", blocked,
          {F32({1, 2, 1, 1, 2}, {1, 2, 3, 4}), F32({1, 2, 1, 1, 2, 2}, {1, 0, 0, 1, 1, 1, 0, 2})},
          {F32({1, 1, 1, 1, 2}, {4, 13})}, {.static_args = {1}});
  // Blocks of the kernel that its layout does not say are those of its shape.
  AttrMap unsaid = blocked;
  unsaid["kernel_layout"] = "OIHW";
  CheckOp("nn.contrib_conv2d_NCHWc", unsaid,
          {F32({1, 2, 1, 1, 2}, {1, 2, 3, 4}), F32({1, 2, 1, 1, 2, 2}, {1, 0, 0, 1, 1, 1, 0, 2})},
          {F32({1, 1, 1, 1, 2}, {4, 13})}, {.static_args = {1}});
  AttrMap depthwise = blocked;
  depthwise["kernel_layout"] = "OIHW1i2o";
  depthwise["groups"] = 4;
  CheckOp("nn.contrib_depthwise_conv2d_NCHWc", depthwise,
          {F32({1, 2, 1, 1, 2}, {1, 2, 3, 4}), F32({2, 1, 1, 1, 1, 2}, {10, 20, 30, 40})},
          {F32({1, 2, 1, 1, 2}, {10, 40, 90, 160})}, {.symbolic = false});
}

TEST_CASE("nn.conv2d against plain loops") {
  const Conv2d cases[] = {
      {},
      {.n = 2, .stride = {2, 1}},
      {.before = {1, 0}, .after = {2, 1}},
      {.h = 7, .stride = {2, 2}, .before = {1, 1}, .after = {1, 1}, .dilation = {2, 2}},
      {.c = 4, .groups = 2},
      {.c = 4, .o = 4, .before = {1, 1}, .after = {1, 1}, .groups = 4},
      {.o = 1, .kh = 1, .kw = 1},
  };
  for (const Conv2d& c : cases) {
    CheckOp("nn.conv2d", c.Attributes(),
            {F32({c.n, c.c, c.h, c.w}, c.data()), F32({c.o, c.ic(), c.kh, c.kw}, c.kernel())},
            {F32({c.n, c.o, c.oh(), c.ow()}, c.Result())});
  }
}

TEST_CASE("nn.conv2d in other layouts") {
  const Conv2d c{.n = 2, .c = 4, .before = {1, 1}, .after = {0, 1}};
  AttrMap attrs = c.Attributes();
  const std::vector<int64_t> data = {c.n, c.c, c.h, c.w}, kernel = {c.o, c.c, c.kh, c.kw};
  const std::vector<int64_t> out = {c.n, c.o, c.oh(), c.ow()};
  attrs["data_layout"] = "NHWC";
  attrs["kernel_layout"] = "HWIO";
  CheckOp("nn.conv2d", attrs,
          {F32({c.n, c.h, c.w, c.c}, Permute(c.data(), data, {0, 2, 3, 1})),
           F32({c.kh, c.kw, c.c, c.o}, Permute(c.kernel(), kernel, {2, 3, 1, 0}))},
          {F32({c.n, c.oh(), c.ow(), c.o}, Permute(c.Result(), out, {0, 2, 3, 1}))});
  attrs["out_layout"] = "NCHW";
  CheckOp("nn.conv2d", attrs,
          {F32({c.n, c.h, c.w, c.c}, Permute(c.data(), data, {0, 2, 3, 1})),
           F32({c.kh, c.kw, c.c, c.o}, Permute(c.kernel(), kernel, {2, 3, 1, 0}))},
          {F32(out, c.Result())});
  // Channels in blocks of two: N C H W c is (n, c / 2, h, w, 2).
  attrs["data_layout"] = "NCHW2c";
  attrs["kernel_layout"] = "OIHW2i2o";
  attrs["out_layout"] = "NCHW2c";
  CheckOp("nn.conv2d", attrs,
          {F32({c.n, 2, c.h, c.w, 2}, Permute(c.data(), {c.n, 2, 2, c.h, c.w}, {0, 1, 3, 4, 2})),
           F32({2, 2, c.kh, c.kw, 2, 2},
               Permute(c.kernel(), {2, 2, 2, 2, c.kh, c.kw}, {0, 2, 4, 5, 3, 1}))},
          {F32({c.n, 2, c.oh(), c.ow(), 2},
               Permute(c.Result(), {c.n, 2, 2, c.oh(), c.ow()}, {0, 1, 3, 4, 2}))},
          {.static_args = {0, 1}});
}

TEST_CASE("a depthwise convolution with a multiplier, kernel HWOI") {
  // Two channels, each making two: the same numbers as groups = 2 with a kernel of (4, 1, 2, 2).
  const Conv2d c{.c = 2, .h = 3, .w = 3, .o = 4, .kh = 2, .kw = 2, .groups = 2};
  AttrMap attrs = c.Attributes();
  attrs["data_layout"] = "NHWC";
  attrs["kernel_layout"] = "HWOI";
  CheckOp("nn.conv2d", attrs,
          {F32({1, 3, 3, 2}, Permute(c.data(), {1, 2, 3, 3}, {0, 2, 3, 1})),
           F32({2, 2, 2, 2}, Permute(c.kernel(), {2, 2, 2, 2}, {2, 3, 0, 1}))},
          {F32({1, 2, 2, 4}, Permute(c.Result(), {1, 4, 2, 2}, {0, 2, 3, 1}))},
          {.static_args = {0, 1}});
}

TEST_CASE("nn.conv1d and nn.conv3d") {
  CheckOp("nn.conv1d", {{"padding", List({1})}, {"dilation", List({2})}},
          {F32({1, 1, 5}, {1, 2, 3, 4, 5}), F32({1, 1, 2}, {1, 10})},
          {F32({1, 1, 5}, {20, 31, 42, 53, 4})});
  CheckOp("nn.conv3d", {{"strides", 2}, {"data_layout", "NDHWC"}, {"kernel_layout", "DHWIO"}},
          {F32({1, 3, 3, 3, 1}, Iota(27)), F32({1, 1, 2, 1, 1}, {1, 100})},
          {F32({1, 2, 2, 1, 1}, {100, 706, 1918, 2524})});
  CheckOp("nn.conv1d", {{"out_dtype", "int32"}},
          {Host(DType::kInt8, {1, 1, 2}, {100, 100}), Host(DType::kInt8, {1, 1, 2}, {100, 100})},
          {I32({1, 1, 1}, {20000})});
}

TEST_CASE("where no window fits the result is empty") {
  CheckOp("nn.conv1d", {{"padding", List({1})}}, {F32({1, 1, 0}, {}), F32({2, 1, 3}, Mixed(6))},
          {F32({1, 2, 0}, {})});
  CheckOp("nn.conv1d", {}, {F32({1, 1, 2}, {1, 2}), F32({2, 1, 3}, Mixed(6))},
          {F32({1, 2, 0}, {})});
  CheckFails("nn.conv1d", {}, {F32({1, 1, 1}, {1}), F32({2, 1, 3}, Mixed(6))},
             "the output's extent");
}

TEST_CASE("convolutions that are refused") {
  const HostTensor x = F32({1, 2, 5, 4}, Mixed(40)), k = F32({4, 2, 3, 2}, Mixed(48));
  CheckFails("nn.conv2d", {}, {x, F32({4, 3, 3, 2}, Mixed(72))}, "2 and 3 differ");
  CheckFails("nn.conv2d", {{"padding", List({1, 2, 3})}}, {x, k}, "padding has 3 values");
  CheckFails("nn.conv2d", {{"strides", 0}}, {x, k}, "strides holds 0");
  CheckFails("nn.conv2d", {{"groups", 0}}, {x, k}, "groups is 0");
  CheckFails("nn.conv2d", {{"data_layout", "NCWW"}}, {x, k}, "stands twice");
  CheckFails("nn.conv2d", {{"data_layout", "NCH"}}, {x, k}, "NCHW");
  CheckFails("nn.conv2d", {{"channels", 5}}, {x, k}, "channels");
  CheckFails("nn.conv2d", {{"kernel_size", List({3, 3})}}, {x, k}, "kernel_size");
  CheckFails("nn.conv2d", {{"dilation", 3}}, {x, k}, "expected at least");
  CheckFails("nn.conv2d", {}, {F32({1, 2, 5}, Mixed(10)), k}, "rank 3");
}

TEST_CASE("a convolution says what it is to the scheduler") {
  const OpDef* op = OpTable::Get().Find("nn.conv2d");
  Attrs given;
  given.Set("padding", List({1, 2}));
  given.Set("strides", List({2, 1}));
  const Attrs attrs = *CompleteAttrs(*op, given);
  const te::Tensor inputs[] = {te::Placeholder("x", {1, 2, 5, 4}, DType::kFloat32, 0),
                               te::Placeholder("w", {4, 2, 3, 2}, DType::kFloat32, 1)};
  const TensorType out{{1, 4, 3, 7}, DType::kFloat32};
  const te::Tensor t = op->compute({attrs, inputs, std::span(&out, 1)})[0];
  CHECK((t->hint == te::ScheduleHint::kConv));
  REQUIRE((t->conv != nullptr));
  CHECK(t->conv->strides == std::vector<int64_t>{2, 1});
  CHECK(t->conv->padding.before == std::vector<int64_t>{1, 2});
  CHECK(t->conv->kernel.ToString() == "OIHW");
}

// Scatters each input element over the output: the transposed convolution's other definition. NCHW,
// IOHW.
std::vector<double> Transposed(const std::vector<double>& x, const std::vector<double>& k,
                               int64_t c, int64_t h, int64_t w, int64_t groups, int64_t per_group,
                               int64_t size, int64_t stride, int64_t pad, int64_t dilation,
                               int64_t oh, int64_t ow) {
  std::vector<double> out(static_cast<size_t>(groups * per_group * oh * ow), 0);
  for (int64_t i = 0; i < c; ++i) {
    for (int64_t y = 0; y < h; ++y) {
      for (int64_t z = 0; z < w; ++z) {
        for (int64_t o = 0; o < per_group; ++o) {
          for (int64_t p = 0; p < size; ++p) {
            for (int64_t q = 0; q < size; ++q) {
              const int64_t yy = y * stride + p * dilation - pad,
                            zz = z * stride + q * dilation - pad;
              if (yy < 0 || yy >= oh || zz < 0 || zz >= ow) continue;
              const int64_t f = i / (c / groups) * per_group + o;
              out[(f * oh + yy) * ow + zz] +=
                  x[(i * h + y) * w + z] * k[((i * per_group + o) * size + p) * size + q];
            }
          }
        }
      }
    }
  }
  return out;
}

TEST_CASE("nn.conv2d_transpose against a scatter") {
  struct Case {
    int64_t groups, stride, pad, dilation, output_padding;
  };
  for (const Case& c :
       {Case{1, 1, 0, 1, 0}, Case{1, 2, 1, 1, 1}, Case{2, 3, 0, 1, 0}, Case{1, 2, 1, 2, 0}}) {
    const std::vector<double> x = Mixed(2 * 3 * 4), k = Mixed(2 * 2 * 9, 5);
    const int64_t oh = 2 * c.stride + 2 * c.dilation + 1 - 2 * c.pad + c.output_padding;
    const int64_t ow = 3 * c.stride + 2 * c.dilation + 1 - 2 * c.pad + c.output_padding;
    CheckOp("nn.conv2d_transpose",
            {{"strides", c.stride},
             {"padding", c.pad},
             {"dilation", c.dilation},
             {"groups", c.groups},
             {"output_padding", c.output_padding}},
            {F32({1, 2, 3, 4}, x), F32({2, 2, 3, 3}, k)},
            {F32({1, 2 * c.groups, oh, ow},
                 Transposed(x, k, 2, 3, 4, c.groups, 2, 3, c.stride, c.pad, c.dilation, oh, ow))});
  }
}

TEST_CASE("nn.conv1d_transpose and nn.conv3d_transpose") {
  CheckOp("nn.conv1d_transpose", {{"strides", List({2})}, {"output_padding", List({1, 1})}},
          {F32({1, 1, 2}, {1, 10}), F32({1, 1, 3}, {1, 2, 3})},
          {F32({1, 1, 6}, {1, 2, 13, 20, 30, 0})});
  CheckOp("nn.conv3d_transpose", {{"data_layout", "NDHWC"}, {"kernel_layout", "DHWIO"}},
          {F32({1, 1, 1, 2, 1}, {1, 10}), F32({1, 2, 1, 1, 1}, {1, 2})},
          {F32({1, 1, 2, 2, 1}, {1, 10, 2, 20})});
  CheckFails("nn.conv1d_transpose", {}, {F32({1, 1, 2}, {1, 10}), F32({2, 1, 1}, {1, 2})},
             "1 and 2 differ");
}

TEST_CASE("nn.conv2d_backward_weight, with everything that a convolution has") {
  Conv2d c;
  c.n = 2, c.c = 4, c.groups = 2, c.stride[0] = 2, c.dilation[1] = 2;
  c.before[0] = 1, c.after[0] = 2, c.before[1] = 1;
  AttrMap attrs = c.Attributes();
  attrs["kernel_layout"] = "NCHW";
  attrs["out_layout"] = "OIHW";
  const std::vector<double> grad = Mixed(c.n * c.o * c.oh() * c.ow(), 1);
  CheckOp("nn.conv2d_backward_weight", attrs,
          {F32({c.n, c.o, c.oh(), c.ow()}, grad), F32({c.n, c.c, c.h, c.w}, c.data())},
          {F32({c.o, c.ic(), c.kh, c.kw}, KernelGradient(c, grad))});
  CheckFails(
      "nn.conv2d_backward_weight", attrs,
      {F32({c.n, c.o, 1, c.ow()}, Mixed(c.n * c.o * c.ow())), F32({c.n, c.c, c.h, c.w}, c.data())},
      "the gradient and the convolution's result");
}

}  // namespace
}  // namespace relayvm::op_testing
