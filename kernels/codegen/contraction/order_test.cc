// All elements of a product are summed in one order: equal rows of the data and equal columns of
// the weights give equal bits, and so do the images of a batch, whatever their number.
#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/codegen/contraction/contraction.h"
#include "kernels/codegen/contraction/harness.h"

namespace relayvm {
namespace {

using te::Tensor;

constexpr const char* kLevels[] = {"x86-64-v2", "x86-64-v3", "native"};

// Elements that differ along `axis` alone.
HostTensor VaryAlong(std::vector<int64_t> shape, const std::vector<size_t>& axes, uint32_t seed) {
  HostTensor t = RandomTensor(DType::kFloat32, shape, seed);
  auto* values = reinterpret_cast<float*>(t.data.Mutable().data());
  for (int64_t i = t.size(); i-- > 0;) {
    // The element whose other coordinates are 0.
    int64_t rest = i, stride = 1, source = 0;
    for (size_t dim = shape.size(); dim-- > 0;) {
      if (std::count(axes.begin(), axes.end(), dim)) source += rest % shape[dim] * stride;
      rest /= shape[dim];
      stride *= shape[dim];
    }
    values[i] = values[source];
  }
  return t;
}

// The number of elements that differ from the first, by their bits.
int64_t Differences(const HostTensor& t) {
  int64_t count = 0;
  for (int64_t i = 1; i < t.size(); ++i) {
    count += std::memcmp(t.data.data(), t.data.data() + i * 4, 4) != 0;
  }
  return count;
}

struct Product {
  size_t kernel;
  SymbolValues symbols;
  std::vector<int64_t> a, b;  // shapes
  size_t a_k, b_k;            // the axes that are summed over
};

TEST_CASE("equal rows and columns of a product give equal bits") {
  // Around the numbers of rows and columns where other kernels serve.
  const std::vector<int64_t> rows = {1, 2, 3, 4, 5, 7, 11, 13, 14, 25};
  const std::vector<int64_t> columns = {1, 2, 3, 4, 5, 7, 9, 15, 17, 19, 33, 47, 1029};
  for (const char* level : kLevels) {
    if (!Runs(level)) continue;
    CAPTURE(level);
    KernelHarness harness({.machine = MachineNamed(level)});
    std::vector<Product> products;
    for (int layout = 0; layout < 4; ++layout) {
      const bool ta = layout & 1, tb = layout & 2;
      auto add = [&](const Dim& m, const Dim& k, const Dim& n) {
        Attrs attrs;
        attrs.Set("transpose_a", ta);
        attrs.Set("transpose_b", tb);
        const std::vector<Tensor> in = {
            Input(ta ? std::vector<Dim>{k, m} : std::vector<Dim>{m, k}, 0),
            Input(tb ? std::vector<Dim>{n, k} : std::vector<Dim>{k, n}, 1)};
        return harness.Add(
            Spec("product", in, {Apply("nn.matmul", attrs, in, {m, n}, DType::kFloat32)}));
      };
      auto use = [&](size_t kernel, SymbolValues symbols, int64_t m, int64_t k, int64_t n) {
        products.push_back({kernel, std::move(symbols),
                            ta ? std::vector<int64_t>{k, m} : std::vector<int64_t>{m, k},
                            tb ? std::vector<int64_t>{n, k} : std::vector<int64_t>{k, n},
                            ta ? 0U : 1U, tb ? 1U : 0U});
      };
      const size_t any = add(Dim::Symbol(1, "m"), Dim::Symbol(2, "k"), Dim::Symbol(3, "n"));
      for (int64_t m : rows) {
        for (int64_t n : columns) {
          for (int64_t k : {7, 67, 533}) use(any, {{1, m}, {2, k}, {3, n}}, m, k, n);
        }
      }
      for (int64_t m : {1, 3, 13}) {
        for (int64_t n : {3, 5, 19, 1029}) {
          for (int64_t k : {131, 397}) use(add(m, k, n), {}, m, k, n);
        }
      }
    }
    harness.Finish();
    for (const Product& p : products) {
      const HostTensor out = harness.Run(
          p.kernel, {VaryAlong(p.a, {p.a_k}, 1), VaryAlong(p.b, {p.b_k}, 2)}, p.symbols)[0];
      INFO(out.shape[0], " rows, ", out.shape[1], " columns, k ", p.a[p.a_k], ", transposed ",
           p.a_k == 0, " ", p.b_k == 1);
      CHECK(Differences(out) == 0);
    }
  }
}

TEST_CASE("equal channels, pixels and images of a convolution give equal bits") {
  struct Channels {
    int64_t in, out, groups;
  };
  const Dim batch = Dim::Symbol(1, "n");
  for (const char* level : kLevels) {
    if (!Runs(level)) continue;
    CAPTURE(level);
    KernelHarness harness({.machine = MachineNamed(level)});
    struct Case {
      size_t kernel;
      bool last;
      Channels channels;
      int64_t window, height, width;
    };
    std::vector<Case> cases;
    for (bool last : {false, true}) {
      for (auto [window, height, width] :
           {std::array{1, 9, 21}, {3, 9, 21}, {1, 1, 2}, {3, 3, 4}, {3, 5, 5}, {3, 6, 8}}) {
        for (Channels c : {Channels{5, 1, 1},
                           {5, 3, 1},
                           {19, 13, 1},
                           {37, 26, 1},
                           {6, 26, 2},
                           {18, 10, 2},
                           {35, 35, 35},
                           {300, 33, 1}}) {
          Attrs attrs;
          attrs.Set("groups", c.groups);
          attrs.Set("data_layout", std::string(last ? "NHWC" : "NCHW"));
          attrs.Set("kernel_layout", std::string(last ? "HWIO" : "OIHW"));
          const Dim in = c.in / c.groups, h = height - window + 1, w = width - window + 1;
          const std::vector<Tensor> inputs = {
              Input(last ? std::vector<Dim>{batch, height, width, c.in}
                         : std::vector<Dim>{batch, c.in, height, width},
                    0),
              Input(last ? std::vector<Dim>{window, window, in, c.out}
                         : std::vector<Dim>{c.out, in, window, window},
                    1)};
          const std::vector<Dim> out =
              last ? std::vector<Dim>{batch, h, w, c.out} : std::vector<Dim>{batch, c.out, h, w};
          const Tensor conv = Apply("nn.conv2d", attrs, inputs, out, DType::kFloat32);
          cases.push_back(
              {harness.Add(Spec("conv", inputs, {conv})), last, c, window, height, width});
        }
      }
    }
    harness.Finish();
    for (const Case& c : cases) {
      const int64_t in = c.channels.in, each = in / c.channels.groups, k = c.window;
      INFO((c.last ? "NHWC " : "NCHW "), in, " to ", c.channels.out, " channels, ",
           c.channels.groups, " groups, ", c.height, " x ", c.width, ", window ", k);
      // Data is the same at every pixel and, so that groups are equal, at every group's first and
      // only kind of channel; weights are the same for every output channel.
      std::vector<std::string> first;
      for (int64_t n : {1, 2, 3, 11, 37}) {
        const bool grouped = c.channels.groups > 1;
        const HostTensor data =
            c.last ? VaryAlong({n, c.height, c.width, in},
                               grouped ? std::vector<size_t>{} : std::vector<size_t>{3}, 1)
                   : VaryAlong({n, in, c.height, c.width},
                               grouped ? std::vector<size_t>{} : std::vector<size_t>{1}, 1);
        const HostTensor weight = c.last ? VaryAlong({k, k, each, c.channels.out}, {0, 1, 2}, 2)
                                         : VaryAlong({c.channels.out, each, k, k}, {1, 2, 3}, 2);
        // In small pieces too, which is how threads share them.
        for (uint32_t piece : {0U, 1U}) {
          const HostTensor out = harness.Run(c.kernel, {data, weight}, {{1, n}}, piece)[0];
          CHECK(Differences(out) == 0);
          first.emplace_back(reinterpret_cast<const char*>(out.data.data()), 4);
          CHECK(first.back() == first.front());
        }
      }
    }
  }
}

}  // namespace
}  // namespace relayvm
