// Convolutions over variations of their attributes, against plain loops.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <numeric>
#include <string>
#include <vector>

#include "vm/engines/dnnl/dnnl_testing.h"

namespace relayvm::onednn_testing {
namespace {

struct Conv {
  const char* what;
  std::string data_layout, kernel_layout;
  int64_t batch, in, out, groups;  // channels; of a multiplier `out` is in times it
  Dims size, window, strides = {}, dilation = {}, before = {}, after = {};
  bool has_multiplier = false;
  Dims output_padding = {};

  int spatial() const { return static_cast<int>(size.size()); }
  std::string letters() const {
    return std::string(std::string_view("DHW").substr(static_cast<size_t>(3 - spatial())));
  }
};

Dims OrOnes(const Dims& d, int n) { return d.empty() ? Dims(static_cast<size_t>(n), 1) : d; }
Dims OrZeros(const Dims& d, int n) { return d.empty() ? Dims(static_cast<size_t>(n), 0) : d; }

// Layout axis i holds letters[order[i]].
std::vector<int> OrderOf(const std::string& layout, const std::string& letters) {
  std::vector<int> order;
  for (const char c : layout) order.push_back(static_cast<int>(letters.find(c)));
  return order;
}

// x: N C spatial; w: O I spatial, of a transposed one O is of one group; all of three spatial axes.
struct Loops {
  int64_t groups;
  Dims strides, dilation, before;
  bool is_transposed, has_multiplier;

  Tensor operator()(const Tensor& x, const Tensor& w, const Dims& out) const {
    Tensor y{out, std::vector<float>(static_cast<size_t>(Count(out)), 0.0F)};
    const auto at = [](const Dims& d, int64_t a, int64_t b, int64_t e, int64_t f, int64_t g) {
      return static_cast<size_t>((((a * d[1] + b) * d[2] + e) * d[3] + f) * d[4] + g);
    };
    const int64_t out_group = out[1] / groups, in_group = x.dims[1] / groups;
    for (int64_t n = 0; n < out[0]; ++n)
      for (int64_t o = 0; o < out[1]; ++o)
        for (int64_t d = 0; d < out[2]; ++d)
          for (int64_t h = 0; h < out[3]; ++h)
            for (int64_t v = 0; v < out[4]; ++v) {
              double sum = 0;
              for (int64_t i = 0; i < in_group; ++i)
                for (int64_t kd = 0; kd < w.dims[2]; ++kd)
                  for (int64_t kh = 0; kh < w.dims[3]; ++kh)
                    for (int64_t kv = 0; kv < w.dims[4]; ++kv) {
                      const Dims k = {kd, kh, kv}, p = {d, h, v};
                      Dims q(3);
                      bool inside = true;
                      for (size_t s = 0; s < 3; ++s) {
                        if (is_transposed) {
                          const int64_t from = p[s] + before[s] - k[s] * dilation[s];
                          inside = inside && from >= 0 && from % strides[s] == 0;
                          q[s] = from / strides[s];
                        } else {
                          q[s] = p[s] * strides[s] + k[s] * dilation[s] - before[s];
                        }
                        inside = inside && q[s] >= 0 && q[s] < x.dims[s + 2];
                      }
                      if (!inside) continue;
                      const int64_t channel = o / out_group * in_group + i;
                      int64_t wo = o, wi = i;
                      if (is_transposed) wo = o % out_group, wi = channel;
                      if (has_multiplier) wo = o / out_group, wi = o % out_group;
                      sum += double{x.data[at(x.dims, n, channel, q[0], q[1], q[2])]} *
                             double{w.data[at(w.dims, wo, wi, kd, kh, kv)]};
                    }
              y.data[at(out, n, o, d, h, v)] = static_cast<float>(sum);
            }
    return y;
  }
};

Dims ToThree(const Dims& d, size_t first, int64_t fill) {
  Dims three(d.begin(), d.begin() + static_cast<int64_t>(first));
  three.resize(first + 3 - (d.size() - first), fill);
  three.insert(three.end(), d.begin() + static_cast<int64_t>(first), d.end());
  return three;
}

struct Case {
  Dims x, w, y;         // N C spatial, O I spatial, N C spatial
  Tensor data, kernel;  // in the layouts
  Tensor result;        // in the data's layout
};

Case Compute(const Conv& c, bool is_transposed, const Dims& size, int64_t batch, uint32_t seed) {
  const int n = c.spatial();
  const Dims strides = OrOnes(c.strides, n), dilation = OrOnes(c.dilation, n);
  const Dims before = OrZeros(c.before, n), after = OrZeros(c.after, n);
  const Dims more = OrZeros(c.output_padding, n);
  Case r;
  r.x = {batch, c.in};
  r.y = {batch, c.out};
  if (is_transposed) {
    r.w = {c.out / c.groups, c.in};
  } else if (c.has_multiplier) {
    r.w = {c.in, c.out / c.in};
  } else {
    r.w = {c.out, c.in / c.groups};
  }
  for (size_t s = 0; s < size.size(); ++s) {
    r.x.push_back(size[s]);
    r.w.push_back(c.window[s]);
    const int64_t range = (c.window[s] - 1) * dilation[s] + 1, pad = before[s] + after[s];
    r.y.push_back(is_transposed ? (size[s] - 1) * strides[s] + range - pad + more[s]
                                : (size[s] + pad - range) / strides[s] + 1);
  }
  const Tensor x = Random(r.x, seed), w = Random(r.w, seed + 1);
  const Loops loops{
      c.groups,      ToThree(strides, 0, 1), ToThree(dilation, 0, 1), ToThree(before, 0, 0),
      is_transposed, c.has_multiplier};
  Tensor y = loops({ToThree(r.x, 2, 1), x.data}, {ToThree(r.w, 2, 1), w.data}, ToThree(r.y, 2, 1));
  y.dims = r.y;
  const std::vector<int> order = OrderOf(c.data_layout, "NC" + c.letters());
  r.data = Transpose(x, order);
  r.kernel = Transpose(w, OrderOf(c.kernel_layout, "OI" + c.letters()));
  r.result = Transpose(y, order);
  return r;
}

Net::Attributes AttributesOf(const Conv& c, bool is_transposed) {
  const int n = c.spatial();
  Dims padding = OrZeros(c.before, n);
  const Dims after = OrZeros(c.after, n);
  padding.insert(padding.end(), after.begin(), after.end());
  Net::Attributes a = {{"strides", Texts(OrOnes(c.strides, n))},
                       {"dilation", Texts(OrOnes(c.dilation, n))},
                       {"padding", Texts(padding)},
                       {"groups", {std::to_string(c.groups)}},
                       {"data_layout", {c.data_layout}},
                       {"kernel_layout", {c.kernel_layout}},
                       {"out_layout", {""}},
                       {"channels", {std::to_string(c.out)}}};
  if (is_transposed) a["output_padding"] = Texts(OrZeros(c.output_padding, n));
  return a;
}

// Of fixed sizes, and with symbols for the batch and the first spatial axis, with two sets of them.
void Check(const Conv& c, bool is_transposed) {
  CAPTURE(std::string(c.what));
  const std::string op =
      fmt::format("nn.conv{}d{}", c.spatial(), is_transposed ? "_transpose" : "");
  const Case fixed = Compute(c, is_transposed, c.size, c.batch, 1);
  const int channel = static_cast<int>(c.data_layout.find('C'));
  const Tensor bias = Random({c.out}, 5);
  const Tensor expected =
      Map(Broadcast2(fixed.result, AlongAxis(bias, channel, c.spatial() + 2), std::plus<>()),
          [](float v) { return std::max(v, 0.0F); });
  for (const bool has_steps : {false, true}) {
    Net net;
    const int x = net.Input(ShapeOf(fixed.data.dims)), w = net.Const(fixed.kernel);
    std::vector<From> inputs = {x, w};
    if (has_steps) inputs.push_back(net.Const(bias));
    net.Head(net.Kernel(
        op, inputs, ShapeOf(fixed.result.dims), AttributesOf(c, is_transposed),
        has_steps ? std::vector<std::string>{"bias input=2", "relu"} : std::vector<std::string>{}));
    CheckClose(RunOnce(net, {}, {fixed.data})[0], has_steps ? expected : fixed.result);
  }
  Net net;
  Shape in = ShapeOf(fixed.data.dims), out = ShapeOf(fixed.result.dims);
  const size_t first = c.data_layout.find(c.letters()[0]);
  in[c.data_layout.find('N')] = out[c.data_layout.find('N')] = Dim("n");
  in[first] = Dim("h");
  out[first] = Dim("oh");
  const int x = net.Input(in), w = net.Const(fixed.kernel);
  net.Head(net.Kernel(op, {x, w}, out, AttributesOf(c, is_transposed)));
  const TestRegion region(net);
  for (const int64_t grows : {3, 0, 3, 1}) {
    Dims size = c.size;
    size[0] += grows;
    Case open = Compute(c, is_transposed, size, c.batch + grows, 1);
    // The kernel is the constant that there is: the same seed and extents make the same values.
    REQUIRE(open.kernel.data == fixed.kernel.data);
    Dims symbols;
    for (const std::string& s : net.symbols()) {
      symbols.push_back(s == "n" ? open.x[0] : s == "h" ? open.x[2] : open.y[2]);
    }
    CheckClose(region.Run(symbols, {open.data}, grows == 3 ? 2 : 1)[0], open.result);
  }
}

TEST_CASE("convolutions of 1, 2 and 3 axes, in all layouts, equal plain loops") {
  if (Provider() == nullptr) return;
  const Conv kCases[] = {
      {"plain", "NCHW", "OIHW", 2, 3, 8, 1, {9, 10}, {3, 3}},
      {"padded", "NCHW", "OIHW", 1, 16, 32, 1, {8, 7}, {3, 3}, {2, 1}, {}, {1, 1}, {1, 1}},
      {"padded more behind",
       "NCHW",
       "OIHW",
       1,
       5,
       7,
       1,
       {8, 7},
       {3, 2},
       {2, 2},
       {},
       {0, 1},
       {2, 0}},
      {"dilated", "NCHW", "OIHW", 1, 4, 4, 1, {12, 11}, {3, 3}, {1, 1}, {2, 3}, {2, 2}, {2, 1}},
      {"groups", "NCHW", "OIHW", 2, 8, 12, 4, {6, 6}, {3, 3}, {}, {}, {1, 1}, {1, 1}},
      {"each channel", "NCHW", "OIHW", 2, 16, 16, 16, {7, 7}, {3, 3}, {}, {}, {1, 1}, {1, 1}},
      {"each channel, several results",
       "NCHW",
       "OIHW",
       1,
       4,
       12,
       4,
       {6, 6},
       {3, 3},
       {},
       {},
       {1, 1},
       {1, 1},
       true},
      {"channels last", "NHWC", "HWIO", 2, 16, 32, 1, {9, 10}, {3, 3}, {}, {}, {1, 1}, {1, 1}},
      {"channels last, three of them", "NHWC", "HWIO", 1, 3, 8, 1, {11, 10}, {5, 5}, {2, 2}},
      {"channels last, groups", "NHWC", "HWIO", 1, 8, 8, 2, {6, 5}, {3, 3}, {}, {}, {1, 1}, {1, 1}},
      {"channels last, each channel",
       "NHWC",
       "HWOI",
       1,
       8,
       16,
       8,
       {6, 5},
       {3, 3},
       {},
       {},
       {1, 1},
       {1, 1},
       true},
      {"batch last", "CHWN", "OHWI", 3, 4, 6, 1, {6, 5}, {3, 3}},
      {"one pixel", "NCHW", "OIHW", 1, 32, 64, 1, {7, 7}, {1, 1}},
      {"window larger than data",
       "NCHW",
       "OIHW",
       1,
       2,
       3,
       1,
       {2, 2},
       {4, 4},
       {},
       {},
       {2, 2},
       {2, 2}},
      {"one axis", "NCW", "OIW", 2, 6, 10, 1, {17}, {4}, {2}, {}, {1}, {2}},
      {"one axis, channels last", "NWC", "WIO", 2, 6, 10, 2, {17}, {3}, {1}, {2}, {2}, {2}},
      {"three axes",
       "NCDHW",
       "OIDHW",
       1,
       4,
       6,
       1,
       {5, 6, 7},
       {3, 2, 3},
       {1, 2, 1},
       {},
       {1, 0, 1},
       {1, 1, 0}},
      {"three axes, channels last",
       "NDHWC",
       "DHWIO",
       1,
       4,
       8,
       2,
       {5, 6, 7},
       {3, 3, 3},
       {},
       {},
       {1, 1, 1},
       {1, 1, 1}},
  };
  for (const Conv& c : kCases) Check(c, false);
}

TEST_CASE("transposed convolutions equal plain loops") {
  if (Provider() == nullptr) return;
  const Conv kCases[] = {
      {"plain", "NCHW", "IOHW", 2, 3, 8, 1, {5, 4}, {3, 3}},
      {"strides", "NCHW", "IOHW", 1, 16, 8, 1, {5, 4}, {3, 3}, {2, 2}, {}, {1, 1}, {1, 1}},
      {"output padding",
       "NCHW",
       "IOHW",
       1,
       16,
       8,
       1,
       {5, 4},
       {3, 3},
       {2, 2},
       {},
       {1, 1},
       {1, 1},
       false,
       {1, 1}},
      {"output padding beyond the padding",
       "NCHW",
       "IOHW",
       1,
       4,
       8,
       1,
       {5, 4},
       {2, 3},
       {2, 3},
       {},
       {0, 0},
       {0, 0},
       false,
       {1, 2}},
      {"padded unevenly", "NCHW", "IOHW", 1, 4, 6, 1, {5, 6}, {4, 3}, {2, 1}, {}, {1, 0}, {0, 2}},
      {"dilated", "NCHW", "IOHW", 1, 4, 6, 1, {5, 6}, {3, 3}, {2, 1}, {2, 2}, {1, 1}, {1, 1}},
      {"groups", "NCHW", "IOHW", 1, 8, 12, 4, {5, 6}, {3, 3}, {2, 2}, {}, {1, 1}, {1, 1}},
      {"each channel", "NCHW", "IOHW", 1, 8, 8, 8, {5, 6}, {4, 4}, {2, 2}, {}, {1, 1}, {1, 1}},
      {"channels last", "NHWC", "HWOI", 1, 8, 16, 1, {5, 6}, {3, 3}, {2, 2}, {}, {1, 1}, {1, 1}},
      {"kernel of other order", "NHWC", "HWIO", 1, 6, 5, 1, {5, 6}, {3, 3}, {1, 2}},
      {"kernel OIHW", "NCHW", "OIHW", 1, 6, 4, 2, {5, 6}, {3, 3}, {1, 2}},
      {"one axis", "NCW", "IOW", 2, 6, 10, 1, {9}, {4}, {2}, {}, {1}, {1}},
      {"three axes",
       "NCDHW",
       "IODHW",
       1,
       4,
       6,
       1,
       {3, 4, 5},
       {3, 2, 3},
       {2, 2, 1},
       {},
       {1, 0, 1},
       {1, 0, 1}},
  };
  for (const Conv& c : kCases) Check(c, true);
}

}  // namespace
}  // namespace relayvm::onednn_testing
