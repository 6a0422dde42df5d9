// Products of 8-bit integers less their zero points, of all signs, against plain loops in int64
// whose sums are taken modulo 2^32: MatMulInteger, ConvInteger and batches, with weights that are
// constant or made when the program runs.
#include <doctest/doctest.h>

#include <random>

#include "compiler/import/onnx/value_cases.h"
#include "compiler/import/onnx/testing.h"

namespace relayvm {
namespace {

using namespace import::testing;  // NOLINT(google-build-using-namespace): a test's words

constexpr int kU8 = 2, kI8 = 3;

struct Numbers {
  int type;
  std::vector<int64_t> dims, values;

  DType dtype() const { return type == kU8 ? DType::kUInt8 : DType::kInt8; }
  int64_t lowest() const { return type == kU8 ? 0 : -128; }
};

// Of the whole range; of `extreme` ones, its two ends alone.
Numbers Random(int type, std::vector<int64_t> dims, unsigned seed, bool extreme = false) {
  Numbers n{type, std::move(dims), {}};
  std::mt19937 generator(seed);
  int64_t size = 1;
  for (int64_t d : n.dims) size *= d;
  for (int64_t i = 0; i < size; ++i) {
    const auto r = static_cast<int64_t>(generator() % 256);
    n.values.push_back(n.lowest() + (extreme ? r % 8 / 7 * 255 : r));
  }
  return n;
}

std::string Initializer(const char* name, const Numbers& n) {
  std::string text = fmt::format("initializer {{ name: '{}' data_type: {} ", name, n.type);
  for (int64_t d : n.dims) text += fmt::format("dims: {} ", d);
  return text + fmt::format("int32_data: [{}] }} ", fmt::join(n.values, ", "));
}

Result<Value> TensorOf(const Numbers& n) {
  const std::vector<uint8_t> bytes(n.values.begin(), n.values.end());
  return Value::CopyTensor(n.dtype(), n.dims, bytes.data());
}

struct Case {
  Numbers x, w, x_zero, w_zero;
  bool constant = true;  // the weights are
};

// The result of the node `op`(x, w, xz, wz).
std::vector<int32_t> Run(const Case& c, const std::string& op, const std::string& attributes) {
  const auto open = [](const Numbers& n, const char* letter) {
    std::vector<std::string> dims;
    for (size_t i = 0; i < n.dims.size(); ++i) dims.push_back(letter + std::to_string(i));
    return dims;
  };
  std::vector<std::string> x_dims = open(c.x, "x");
  // Convolutions know their channels.
  if (op == "ConvInteger") x_dims[1] = std::to_string(c.x.dims[1]);
  std::string graph = Initializer("xz", c.x_zero) + Initializer("wz", c.w_zero) +
                      Node(op.c_str(), "x w xz wz", "y", attributes) +
                      Tensor("input", "x", x_dims, c.x.type);
  graph += c.constant ? Initializer("w", c.w) : Tensor("input", "w", open(c.w, "w"), c.w.type);
  const auto invocation = Runnable(ImportText(GraphModel(graph + "output { name: 'y' } ")));
  std::vector<Value> inputs = {*TensorOf(c.x)};
  if (!c.constant) inputs.push_back(*TensorOf(c.w));
  auto y = invocation->Run("main", inputs);
  REQUIRE_MESSAGE(y.ok(), y.status().ToString());
  REQUIRE(y->dtype() == DType::kInt32);
  const auto* data = static_cast<const int32_t*>(y->data());
  return {data, data + y->num_elements()};
}

int32_t Wrapped(int64_t sum) { return static_cast<int32_t>(static_cast<uint32_t>(sum)); }

struct Signs {
  int x, w;
};
constexpr Signs kSigns[] = {{kU8, kI8}, {kU8, kU8}, {kI8, kI8}, {kI8, kU8}};

// Zero points: of both 0, at the ends of the range, within it, one for each output channel.
Numbers ZeroOf(int type, int which, int64_t channels, unsigned seed) {
  Numbers zero{type, {}, {0}};
  if (which == 1) zero.values = {zero.lowest()};
  if (which == 2) zero.values = {zero.lowest() + 255};
  if (which == 3) zero.values = {type == kU8 ? 128 : -3};
  if (which == 4) return Random(type, {channels}, seed);
  return zero;
}

TEST_CASE("products of bytes: every pair of signs, zero points at the ends, any depth") {
  unsigned seed = 0;
  for (const Signs& signs : kSigns) {
    for (int which = 0; which < 5; ++which) {
      for (const int64_t depth : {0, 1, 3, 4, 66, 259}) {
        const int64_t rows = 1 + seed % 14, columns = depth == 66 ? 40 : 5;
        ++seed;
        Case c{Random(signs.x, {rows, depth}, seed, seed % 3 == 0),
               Random(signs.w, {depth, columns}, seed + 1000, seed % 3 == 0),
               ZeroOf(signs.x, which % 4, 1, seed), ZeroOf(signs.w, which, columns, seed),
               seed % 2 == 0};
        CAPTURE(signs.x);
        CAPTURE(signs.w);
        CAPTURE(which);
        CAPTURE(depth);
        std::vector<int32_t> expected;
        for (int64_t i = 0; i < rows; ++i) {
          for (int64_t j = 0; j < columns; ++j) {
            int64_t sum = 0;
            for (int64_t k = 0; k < depth; ++k) {
              const size_t zero = c.w_zero.values.size() == 1 ? 0 : static_cast<size_t>(j);
              sum += (c.x.values[static_cast<size_t>(i * depth + k)] - c.x_zero.values[0]) *
                     (c.w.values[static_cast<size_t>(k * columns + j)] - c.w_zero.values[zero]);
            }
            expected.push_back(Wrapped(sum));
          }
        }
        CHECK(Run(c, "MatMulInteger", "") == expected);
      }
    }
  }
}

TEST_CASE("sums beyond int32 wrap") {
  const int64_t depth = 70000;
  for (const Signs& signs : kSigns) {
    Case c{Random(signs.x, {1, depth}, 1), Random(signs.w, {depth, 1}, 2), ZeroOf(signs.x, 1, 1, 0),
           ZeroOf(signs.w, 1, 1, 0), signs.x == kU8};
    // 255 * 255 * 70000 is more than 2^32.
    std::fill(c.x.values.begin(), c.x.values.end(), c.x.lowest() + 255);
    std::fill(c.w.values.begin(), c.w.values.end(), c.w.lowest() + 255);
    CHECK(Run(c, "MatMulInteger", "") == std::vector<int32_t>{Wrapped(255 * 255 * depth)});
  }
}

TEST_CASE("batches of products of bytes") {
  unsigned seed = 50;
  for (const Signs& signs : kSigns) {
    for (int which = 0; which < 4; ++which) {
      const int64_t batch = 3, rows = 4, depth = 37, columns = 18;
      ++seed;
      Case c{Random(signs.x, {batch, rows, depth}, seed),
             Random(signs.w, {batch, depth, columns}, seed + 1000), ZeroOf(signs.x, which, 1, 0),
             ZeroOf(signs.w, which, 1, 0), which % 2 == 0};
      std::vector<int32_t> expected;
      for (int64_t i = 0; i < batch * rows; ++i) {
        for (int64_t j = 0; j < columns; ++j) {
          int64_t sum = 0;
          for (int64_t k = 0; k < depth; ++k) {
            const int64_t row = i / rows * depth + k;
            sum += (c.x.values[static_cast<size_t>(i * depth + k)] - c.x_zero.values[0]) *
                   (c.w.values[static_cast<size_t>(row * columns + j)] - c.w_zero.values[0]);
          }
          expected.push_back(Wrapped(sum));
        }
      }
      CHECK(Run(c, "MatMulInteger", "") == expected);
    }
  }
}

struct Conv {
  int64_t channels, outputs, groups, kernel, stride, padding;
};

TEST_CASE("convolutions of bytes: padding is the zero point, in groups, any channels") {
  unsigned seed = 200;
  const std::vector<Conv> convs = {{3, 8, 1, 3, 1, 1},  {3, 5, 1, 7, 2, 3},  {16, 16, 1, 1, 1, 0},
                                   {8, 16, 2, 3, 2, 1}, {6, 12, 2, 3, 1, 1}, {8, 8, 8, 3, 1, 1},
                                   {5, 9, 1, 2, 3, 0},  {4, 6, 1, 5, 1, 2},  {8, 24, 1, 1, 2, 0}};
  for (const Signs& signs : kSigns) {
    for (const Conv& conv : convs) {
      ++seed;
      const int which = static_cast<int>(seed % 5);
      const int64_t height = 9, width = 11 + seed % 13, of_group = conv.channels / conv.groups;
      const Case c{Random(signs.x, {2, conv.channels, height, width}, seed),
                   Random(signs.w, {conv.outputs, of_group, conv.kernel, conv.kernel}, seed + 1000),
                   ZeroOf(signs.x, which % 4, 1, 0), ZeroOf(signs.w, which, conv.outputs, seed)};
      CAPTURE(signs.x);
      CAPTURE(signs.w);
      CAPTURE(which);
      CAPTURE(conv.channels);
      CAPTURE(conv.kernel);
      const int64_t taps = conv.kernel * conv.kernel;
      const auto extent = [&](int64_t in) {
        return (in + 2 * conv.padding - conv.kernel) / conv.stride + 1;
      };
      std::vector<int32_t> expected;
      for (int64_t n = 0; n < 2; ++n) {
        for (int64_t o = 0; o < conv.outputs; ++o) {
          const int64_t group = o / (conv.outputs / conv.groups);
          const int64_t zero = c.w_zero.values[c.w_zero.values.size() == 1 ? 0 : o];
          for (int64_t at = 0; at < extent(height) * extent(width); ++at) {
            int64_t sum = 0;
            for (int64_t k = 0; k < of_group * taps; ++k) {
              const int64_t y =
                  at / extent(width) * conv.stride + k % taps / conv.kernel - conv.padding;
              const int64_t x = at % extent(width) * conv.stride + k % conv.kernel - conv.padding;
              if (y < 0 || x < 0 || y >= height || x >= width) continue;
              const int64_t channel = n * conv.channels + group * of_group + k / taps;
              sum += (c.x.values[static_cast<size_t>((channel * height + y) * width + x)] -
                      c.x_zero.values[0]) *
                     (c.w.values[static_cast<size_t>(o * of_group * taps + k)] - zero);
            }
            expected.push_back(Wrapped(sum));
          }
        }
      }
      const auto ints = [](const char* name, std::vector<int64_t> v) {
        return fmt::format("attribute {{ name: '{}' type: INTS ints: [{}] }} ", name,
                           fmt::join(v, ", "));
      };
      const int64_t p = conv.padding, s = conv.stride;
      CHECK(Run(c, "ConvInteger",
                ints("pads", {p, p, p, p}) + ints("strides", {s, s}) + Int("group", conv.groups)) ==
            expected);
    }
  }
}

TEST_CASE("groups that do not fit are an error of the node, whatever they multiply to") {
  const Numbers w = Random(kI8, {8, 4, 3, 3}, 1);
  for (const int64_t groups :
       {int64_t{0}, int64_t{-1}, int64_t{2}, int64_t{3}, int64_t{1} << 62, INT64_MAX, INT64_MIN}) {
    CAPTURE(groups);
    const std::string graph = Node("ConvInteger", "x w", "y", Int("group", groups)) +
                              Initializer("w", w) +
                              Tensor("input", "x", {"1", "4", "8", "8"}, kU8) +
                              Tensor("output", "y", {"a", "b", "c", "d"}, 6);
    const auto module = ImportText(GraphModel(graph));
    REQUIRE_FALSE(module.ok());
    CHECK(module.status().message().find("'y' (ConvInteger)") != std::string::npos);
  }
}

}  // namespace
}  // namespace relayvm
