// Pools over variations of their attributes, against plain loops.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "vm/engines/dnnl/dnnl_testing.h"

namespace relayvm::onednn_testing {
namespace {

struct PoolCase {
  const char* what;
  bool is_max;
  std::string layout;
  Dims size;  // of the spatial axes
  Dims window, strides, dilation, before, after;
  bool counts_padding = false, is_ceil = false;
};

Dims Or(const Dims& d, size_t n, int64_t fill) { return d.empty() ? Dims(n, fill) : d; }

int64_t OutExtent(const PoolCase& c, size_t s, int64_t in) {
  const size_t n = c.window.size();
  const int64_t stride = Or(c.strides, n, 1)[s];
  int64_t room = in + Or(c.before, n, 0)[s] + Or(c.after, n, 0)[s] -
                 ((c.window[s] - 1) * Or(c.dilation, n, 1)[s] + 1);
  if (c.is_ceil) room += stride - 1;
  return room / stride + 1;
}

// x: N C spatial.
Tensor Pooled(const PoolCase& c, const Tensor& x) {
  const size_t n = c.window.size();
  Dims out = {x.dims[0], x.dims[1]};
  for (size_t s = 0; s < n; ++s) out.push_back(OutExtent(c, s, x.dims[s + 2]));
  Tensor y{out, {}};
  const int64_t area = Count({x.dims.begin() + 2, x.dims.end()});
  const int64_t results = Count({out.begin() + 2, out.end()});
  for (int64_t image = 0; image < out[0] * out[1]; ++image) {
    for (int64_t r = 0; r < results; ++r) {
      double sum = 0, max = -std::numeric_limits<double>::infinity();
      int64_t inside = 0;
      const int64_t taps = Count(c.window);
      for (int64_t tap = 0; tap < taps; ++tap) {
        int64_t offset = 0, rest_r = r, rest_t = tap, scale = 1;
        bool is_inside = true;
        for (size_t s = n; s-- > 0;) {
          const int64_t p = rest_r % out[s + 2], k = rest_t % c.window[s];
          rest_r /= out[s + 2];
          rest_t /= c.window[s];
          const int64_t at =
              p * Or(c.strides, n, 1)[s] + k * Or(c.dilation, n, 1)[s] - Or(c.before, n, 0)[s];
          is_inside = is_inside && at >= 0 && at < x.dims[s + 2];
          offset += at * scale;
          scale *= x.dims[s + 2];
        }
        if (!is_inside) continue;
        const double v = x.data[static_cast<size_t>(image * area + offset)];
        sum += v;
        max = std::max(max, v);
        ++inside;
      }
      const int64_t count = c.counts_padding ? taps : std::max<int64_t>(inside, 1);
      y.data.push_back(static_cast<float>(c.is_max ? max : sum / static_cast<double>(count)));
    }
  }
  return y;
}

Net::Attributes AttributesOf(const PoolCase& c) {
  const size_t n = c.window.size();
  Dims padding = Or(c.before, n, 0);
  const Dims after = Or(c.after, n, 0);
  padding.insert(padding.end(), after.begin(), after.end());
  Net::Attributes a = {{"pool_size", Texts(c.window)},
                       {"strides", Texts(Or(c.strides, n, 1))},
                       {"dilation", Texts(Or(c.dilation, n, 1))},
                       {"padding", Texts(padding)},
                       {"layout", {c.layout}},
                       {"out_layout", {""}},
                       {"ceil_mode", {c.is_ceil ? "1" : "0"}}};
  if (!c.is_max) a["count_include_pad"] = {c.counts_padding ? "1" : "0"};
  return a;
}

TEST_CASE("pools of 1, 2 and 3 axes equal plain loops") {
  if (Provider() == nullptr) return;
  const PoolCase kCases[] = {
      {"max", true, "NCHW", {8, 9}, {2, 2}, {2, 2}, {}, {}, {}},
      {"max, padded", true, "NCHW", {8, 9}, {3, 3}, {2, 2}, {}, {1, 1}, {1, 1}},
      {"max, padded behind", true, "NCHW", {8, 9}, {3, 2}, {1, 2}, {}, {0, 0}, {2, 1}},
      {"max, dilated", true, "NCHW", {9, 10}, {3, 2}, {2, 1}, {2, 3}, {}, {}},
      {"max, up", true, "NCHW", {8, 10}, {3, 3}, {2, 2}, {}, {}, {}, false, true},
      {"max, up, padded", true, "NHWC", {8, 10}, {3, 3}, {2, 3}, {}, {1, 0}, {0, 1}, false, false},
      {"max, channels last", true, "NHWC", {8, 9}, {3, 3}, {2, 2}, {}, {1, 1}, {1, 1}},
      {"average", false, "NCHW", {8, 9}, {2, 3}, {2, 1}, {}, {}, {}},
      {"average, padded", false, "NCHW", {8, 9}, {3, 3}, {2, 2}, {}, {1, 1}, {1, 1}},
      {"average, padding counts", false, "NCHW", {8, 9}, {3, 3}, {2, 2}, {}, {1, 0}, {1, 2}, true},
      {"average, dilated", false, "NCHW", {9, 10}, {3, 2}, {2, 1}, {2, 3}, {}, {}},
      {"average, dilated, padding counts",
       false,
       "NCHW",
       {9, 10},
       {3, 2},
       {2, 1},
       {2, 3},
       {1, 2},
       {1, 1},
       true},
      {"average, up", false, "NCHW", {8, 10}, {3, 3}, {2, 2}, {}, {}, {}, false, true},
      {"average, channels last", false, "NHWC", {8, 9}, {3, 3}, {1, 1}, {}, {1, 1}, {1, 1}},
      {"max, one axis", true, "NCW", {17}, {3}, {2}, {}, {1}, {1}},
      {"average, one axis", false, "NWC", {17}, {3}, {2}, {}, {1}, {1}, true},
      {"max, three axes", true, "NCDHW", {5, 6, 7}, {2, 3, 2}, {1, 2, 2}, {}, {0, 1, 0}, {1, 1, 0}},
      {"average, three axes",
       false,
       "NDHWC",
       {5, 6, 7},
       {2, 3, 2},
       {1, 2, 2},
       {},
       {0, 1, 0},
       {1, 1, 0}},
  };
  for (const PoolCase& c : kCases) {
    CAPTURE(std::string(c.what));
    const size_t n = c.window.size();
    const std::string letters = "NC" + std::string(std::string_view("DHW").substr(3 - n));
    std::vector<int> order;
    Shape in, out;
    for (const char l : c.layout) {
      const size_t at = letters.find(l);
      order.push_back(static_cast<int>(at));
      in.push_back(at == 0   ? Dim("n")
                   : at == 1 ? Dim(16)
                   : at == 2 ? Dim("h")
                             : Dim(c.size[at - 2]));
      out.push_back(at == 0   ? Dim("n")
                    : at == 1 ? Dim(16)
                    : at == 2 ? Dim("oh")
                              : Dim(OutExtent(c, at - 2, c.size[at - 2])));
    }
    Net net;
    const int x = net.Input(in);
    const std::string op = fmt::format("nn.{}_pool{}d", c.is_max ? "max" : "avg", n);
    net.Head(net.Kernel(op, {x}, out, AttributesOf(c), {"abs", "negative"}));
    const TestRegion region(net);
    for (const int64_t more : {0, 3, 1}) {
      Dims dims = {2 + more, 16};
      dims.insert(dims.end(), c.size.begin(), c.size.end());
      dims[2] += more;
      const Tensor data = Random(dims, 3);
      const Tensor y = Map(Pooled(c, data), [](float v) { return -std::abs(v); });
      Dims symbols;
      for (const std::string& s : net.symbols()) {
        symbols.push_back(s == "n" ? dims[0] : s == "h" ? dims[2] : y.dims[2]);
      }
      CheckClose(region.Run(symbols, {Transpose(data, order)})[0], Transpose(y, order));
    }
  }
}

TEST_CASE("global pools, alone and after a convolution") {
  if (Provider() == nullptr) return;
  for (const bool is_max : {false, true}) {
    for (const std::string layout : {"NCHW", "NHWC"}) {
      const bool is_last = layout == "NHWC";
      const Tensor x = Random({2, 32, 5, 6}, 1);
      const PoolCase c{"", is_max, layout, {5, 6}, {5, 6}, {}, {}, {}, {}};
      const std::vector<int> order = is_last ? std::vector{0, 2, 3, 1} : std::vector{0, 1, 2, 3};
      const Tensor y = Transpose(Pooled(c, x), order);
      const std::string op = is_max ? "nn.global_max_pool2d" : "nn.global_avg_pool2d";
      Net net;
      const int i = net.Input(is_last ? Shape{2, "h", "w", 32} : Shape{2, 32, "h", "w"});
      net.Head(net.Kernel(op, {i}, ShapeOf(y.dims), {{"layout", {layout}}}));
      CheckClose(RunOnce(net, {5, 6}, {Transpose(x, order)})[0], y);
    }
  }
  Net net;
  const int i = net.Input({1, 16, 7, 7}), w = net.Const(Random({32, 16, 3, 3}, 1));
  const int conv = net.Kernel("nn.conv2d", {i, w}, {1, 32, 5, 5});
  net.Head(net.Kernel("nn.global_avg_pool2d", {conv}, {1, 32, 1, 1}));
  net.Head(conv);
  const std::vector<Tensor> y = RunOnce(net, {}, {Random({1, 16, 7, 7}, 2)});
  CheckClose(y[0], Pooled({"", false, "NCHW", {5, 5}, {5, 5}, {}, {}, {}, {}}, y[1]));
}

TEST_CASE("windows that may hold nothing, or that Relay counts otherwise, are refused") {
  if (Provider() == nullptr) return;
  const auto refusal = [](const PoolCase& c) {
    Net net;
    const int x = net.Input({1, 4, "h", "w"});
    net.Head(net.Kernel(c.is_max ? "nn.max_pool2d" : "nn.avg_pool2d", {x}, {1, 4, "oh", "ow"},
                        AttributesOf(c)));
    return Refusal(net);
  };
  CHECK(refusal({"", true, "NCHW", {}, {2, 2}, {}, {}, {2, 0}, {0, 0}}) ==
        "1: dnnl.nn.max_pool2d: a window may hold nothing but padding");
  CHECK(refusal({"", true, "NCHW", {}, {2, 2}, {}, {2, 2}, {1, 0}, {0, 0}}) ==
        "1: dnnl.nn.max_pool2d: a window may hold nothing but padding");
  CHECK(refusal({"", true, "NCHW", {}, {2, 2}, {3, 3}, {}, {}, {}, false, true}) ==
        "1: dnnl.nn.max_pool2d: a window may hold nothing but padding");
  CHECK(refusal({"", false, "NCHW", {}, {3, 3}, {2, 2}, {}, {}, {}, true, true}) ==
        "1: dnnl.nn.avg_pool2d: ceil_mode with count_include_pad");
  CHECK(refusal({"", true, "NCHW8c", {}, {2, 2}, {}, {}, {}, {}}) ==
        "1: dnnl.nn.max_pool2d: layout is \"NCHW8c\", expected the axes NCHW in some order");
}

}  // namespace
}  // namespace relayvm::onednn_testing
