// What real networks are made of leaves no kernel that only moves elements: joins, slices, reshapes
// and transpositions are computed with what makes or reads them, or are no work at all. The oracle
// of the random programs computes on vectors of floats as they are made; networks are compared with
// what -O0 makes of them, which does without the passes that are tested.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <random>
#include <regex>
#include <string>
#include <vector>

#include "compiler/driver.h"
#include "compiler/end_to_end/testing.h"
#include "vm/api/relayvm.h"

namespace relayvm {
namespace {

using Sizes = std::vector<int64_t>;

struct Tensor {
  Sizes dims;
  std::vector<float> data;
};

int64_t Product(const Sizes& dims) {
  int64_t n = 1;
  for (int64_t d : dims) n *= d;
  return n;
}

Tensor Run(const Compiled& compiled, const std::vector<Tensor>& inputs) {
  auto executable = Executable::FromProgram(compiled.program);
  REQUIRE_MESSAGE(executable.ok(), executable.status().ToString());
  auto runtime = Runtime::Create();
  auto invocation = Invocation::Create(*runtime, *executable);
  REQUIRE(invocation.ok());
  std::vector<Value> args;
  for (const Tensor& t : inputs)
    args.push_back(*Value::CopyTensor(DType::kFloat32, t.dims, t.data.data()));
  auto y = (*invocation)->Run("main", args);
  REQUIRE_MESSAGE(y.ok(), y.status().ToString());
  const auto* data = static_cast<const float*>(y->data());
  return {{y->dims().begin(), y->dims().end()}, {data, data + y->num_elements()}};
}

Tensor Numbers(const Sizes& dims, std::mt19937& random) {
  Tensor t{dims, {}};
  for (int64_t i = 0; i < Product(dims); ++i)
    t.data.push_back(static_cast<float>(static_cast<int>(random() % 64)) - 32);
  return t;
}

// --- Random programs ---

// Calls fn with each index of a tensor, row-major.
template <typename Fn>
void ForEachIndex(const Sizes& dims, Fn fn) {
  Sizes index(dims.size(), 0);
  for (int64_t i = 0; i < Product(dims); ++i) {
    fn(index);
    for (size_t d = dims.size(); d-- > 0 && ++index[d] == dims[d];) index[d] = 0;
  }
}
int64_t Flat(const Sizes& dims, const Sizes& index) {
  int64_t flat = 0;
  for (size_t d = 0; d < dims.size(); ++d) flat = flat * dims[d] + index[d];
  return flat;
}

// A program that joins, moves and computes on tensors of three dims, with its result.
class Joins {
 public:
  explicit Joins(uint32_t seed) : random_(seed) {
    const Sizes dims = {Pick({1, 1, 2, 3}), Pick({1, 4, 5, 80}), Pick({1, 3, 16, 33, 100})};
    for (int i = 0; i < 2; ++i) {
      inputs.push_back(Numbers(dims, random_));
      tensors_.push_back({fmt::format("%x{}", i), inputs.back()});
    }
    for (int i = 0; i < 7; ++i) Step();
    result = tensors_.back().value;
    for (const bool is_open : {false, true}) {
      const std::string shape = is_open ? "(?, ?, ?)" : fmt::format("({})", fmt::join(dims, ", "));
      texts.push_back(fmt::format(
          "def @main(%x0: Tensor[{}, float32], %x1: Tensor[{}, float32]) {{\n{}  {}\n}}\n", shape,
          shape, body_, tensors_.back().name));
    }
  }

  std::vector<Tensor> inputs;
  Tensor result;
  std::vector<std::string> texts;  // of known and of open shapes

 private:
  struct Named {
    std::string name;
    Tensor value;
  };

  int64_t Pick(const Sizes& choices) { return choices[random_() % choices.size()]; }

  void Let(const std::string& call, Tensor value) {
    const std::string name = fmt::format("%t{}", count_++);
    body_ += fmt::format("  let {} = {};\n", name, call);
    tensors_.push_back({name, std::move(value)});
  }

  void Step() {
    // The newest most often, so that the result depends on what was done.
    const Named from = random_() % 3 == 0 ? tensors_[random_() % tensors_.size()] : tensors_.back();
    const size_t rank = from.value.dims.size();
    switch (random_() % 5) {
      case 0: {
        Tensor out = from.value;
        for (float& v : out.data) v = -v;
        return Let(fmt::format("negative({})", from.name), std::move(out));
      }
      case 1: {
        Tensor out = from.value;
        for (float& v : out.data) v = v + v;
        return Let(fmt::format("add({0}, {0})", from.name), std::move(out));
      }
      case 2: {
        Sizes order = {0, 1, 2};
        std::shuffle(order.begin(), order.end(), random_);
        Tensor out;
        for (int64_t axis : order) out.dims.push_back(from.value.dims[static_cast<size_t>(axis)]);
        ForEachIndex(out.dims, [&](const Sizes& index) {
          Sizes at(rank);
          for (size_t d = 0; d < rank; ++d) at[static_cast<size_t>(order[d])] = index[d];
          out.data.push_back(from.value.data[static_cast<size_t>(Flat(from.value.dims, at))]);
        });
        return Let(fmt::format("transpose({}, axes=[{}])", from.name, fmt::join(order, ", ")),
                   std::move(out));
      }
      default:
        return Join(from);
    }
  }

  // With tensors of the same dims but along the axis, often with itself negated.
  void Join(const Named& from) {
    const auto axis = static_cast<size_t>(random_() % from.value.dims.size());
    std::vector<Named> parts = {from};
    for (const Named& t : tensors_) {
      if (parts.size() > 3 || random_() % 2 == 0) continue;
      Sizes dims = t.value.dims;
      dims[axis] = from.value.dims[axis];
      if (dims == from.value.dims) parts.push_back(t);
    }
    if (Product(from.value.dims) * static_cast<int64_t>(parts.size()) > 200000) return;
    if (parts.size() == 1 || random_() % 2 == 0) {
      Tensor out = from.value;
      for (float& v : out.data) v = std::abs(v);
      Let(fmt::format("abs({})", from.name), std::move(out));
      parts.push_back(tensors_.back());
    }
    std::shuffle(parts.begin(), parts.end(), random_);
    Tensor out{parts[0].value.dims, {}};
    out.dims[axis] = 0;
    std::vector<std::string> names;
    for (const Named& p : parts) {
      out.dims[axis] += p.value.dims[axis];
      names.push_back(p.name);
    }
    ForEachIndex(out.dims, [&](Sizes index) {
      for (const Named& p : parts) {
        if (index[axis] < p.value.dims[axis]) {
          out.data.push_back(p.value.data[static_cast<size_t>(Flat(p.value.dims, index))]);
          return;
        }
        index[axis] -= p.value.dims[axis];
      }
    });
    Let(fmt::format("concatenate(({}), axis={})", fmt::join(names, ", "), axis), std::move(out));
  }

  std::mt19937 random_;
  int count_ = 0;
  std::string body_;
  std::vector<Named> tensors_;
};

TEST_CASE("random programs that join, move and compute give what they state") {
  for (uint32_t seed = 0; seed < 60; ++seed) {
    const Joins program(seed);
    for (const std::string& text : program.texts) {
      CAPTURE(seed);
      CAPTURE(text);
      const Tensor y = Run(Compile(text), program.inputs);
      CHECK(y.dims == program.result.dims);
      CHECK(y.data == program.result.data);
    }
  }
}

// --- Networks ---

// Bodies of programs, with weights that are constants.
class Net {
 public:
  explicit Net(const std::string& parameter) : parameter_(parameter) {}

  // Binds the call; gives its name.
  std::string Let(const std::string& call) {
    const std::string name = fmt::format("%v{}", count_++);
    body_ += fmt::format("  let {} = {};\n", name, call);
    return name;
  }
  // Folds to a constant of numbers between -scale and scale.
  std::string Weight(const Sizes& dims, double scale) {
    return Let(
        fmt::format("multiply(reshape(cos(arange({}f, {}f, 1f, dtype=\"float32\")), "
                    "newshape=[{}]), {}f)",
                    count_, Product(dims) + count_, fmt::join(dims, ", "), scale));
  }
  std::string Conv(const std::string& x, int64_t in, int64_t out, int64_t kernel,
                   int64_t stride = 1, int64_t groups = 1) {
    const double scale = 1.5 / std::sqrt(static_cast<double>(in / groups * kernel * kernel));
    const std::string w = Weight({out, in / groups, kernel, kernel}, scale);
    const std::string y =
        Let(fmt::format("nn.conv2d({}, {}, strides=[{}, {}], padding=[{}, {}, {}, {}], groups={}, "
                        "channels={}, kernel_size=[{}, {}])",
                        x, w, stride, stride, kernel / 2, kernel / 2, kernel / 2, kernel / 2,
                        groups, out, kernel, kernel));
    return Let(fmt::format("nn.bias_add({}, {})", y, Weight({out}, 0.1)));
  }
  std::string Silu(const std::string& x) {
    return Let(fmt::format("multiply({}, {})", x, Let(fmt::format("sigmoid({})", x))));
  }
  std::string ConvSilu(const std::string& x, int64_t in, int64_t out, int64_t kernel,
                       int64_t stride = 1, int64_t groups = 1) {
    return Silu(Conv(x, in, out, kernel, stride, groups));
  }
  std::string Join(const std::vector<std::string>& parts, int axis) {
    return Let(fmt::format("concatenate(({}), axis={})", fmt::join(parts, ", "), axis));
  }
  std::string Dense(const std::string& x, int64_t in, int64_t out) {
    return Let(fmt::format("nn.dense({}, {})", x,
                           Weight({out, in}, 1.5 / std::sqrt(static_cast<double>(in)))));
  }
  std::string Text(const std::string& result) const {
    return fmt::format("def @main({}) {{\n{}  {}\n}}\n", parameter_, body_, result);
  }

 private:
  std::string parameter_;
  int count_ = 0;
  std::string body_;
};

// The block of one level of resolution: a few layers beside a shortcut, joined.
std::string CrossStage(Net& net, const std::string& x, int64_t in, int64_t out, bool adds) {
  const std::string a = net.ConvSilu(x, in, out / 2, 1);
  const std::string b = net.ConvSilu(x, in, out / 2, 1);
  std::string y = net.ConvSilu(a, out / 2, out / 2, 1);
  y = net.ConvSilu(net.ConvSilu(y, out / 2, out / 2, 5, 1, out / 2), out / 2, out / 2, 1);
  if (adds) y = net.Let(fmt::format("add({}, {})", y, a));
  return net.ConvSilu(net.Join({y, b}, 1), out, out, 1);
}

// A detector as yolox: slices at the input, pools of several sizes, levels upsampled and joined,
// and the results of all levels behind each other, a line for each place.
std::string Detector(int64_t size, const std::string& layout_of_slices) {
  Net net(fmt::format("%x: Tensor[(1, 3, {0}, {0}), float32]", size));
  std::string x;
  if (layout_of_slices == "slices") {
    const auto slice = [&](const std::string& of, int first, int axis) {
      return net.Let(
          fmt::format("strided_slice({}, begin=[{}], end=[9223372036854775807], "
                      "strides=[2], axes=[{}])",
                      of, first, axis));
    };
    const std::string even = slice("%x", 0, 2), odd = slice("%x", 1, 2);
    x = net.Join({slice(even, 0, 3), slice(odd, 0, 3), slice(even, 1, 3), slice(odd, 1, 3)}, 1);
  } else {
    x = net.Let("nn.space_to_depth(%x, block_size=2)");
  }
  x = net.ConvSilu(x, 12, 16, 3);
  x = net.ConvSilu(net.ConvSilu(x, 16, 16, 3, 2, 16), 16, 16, 1);
  const std::string fine = CrossStage(net, x, 16, 16, true);
  x = net.ConvSilu(net.ConvSilu(fine, 16, 16, 3, 2, 16), 16, 32, 1);
  std::vector<std::string> pools = {net.ConvSilu(x, 32, 16, 1)};
  for (int n : {5, 9, 13}) {
    pools.push_back(net.Let(fmt::format("nn.max_pool2d({}, pool_size=[{}, {}], padding=[{}, {}])",
                                        pools[0], n, n, n / 2, n / 2)));
  }
  const std::string coarse =
      CrossStage(net, net.ConvSilu(net.Join(pools, 1), 64, 32, 1), 32, 32, false);
  const std::string up = net.Let(
      fmt::format("nn.upsampling({}, scale_h=2f, scale_w=2f)", net.ConvSilu(coarse, 32, 16, 1)));
  const std::string joined = CrossStage(net, net.Join({up, fine}, 1), 32, 16, false);
  std::vector<std::string> levels;
  for (const auto& [level, channels] : {std::pair{joined, 16}, std::pair{coarse, 32}}) {
    const std::string boxes = net.Conv(level, channels, 4, 1);
    const std::string object = net.Let(fmt::format("sigmoid({})", net.Conv(level, channels, 1, 1)));
    const std::string classes =
        net.Let(fmt::format("sigmoid({})", net.Conv(level, channels, 80, 1)));
    levels.push_back(net.Let(
        fmt::format("reshape({}, newshape=[1, 85, -1])", net.Join({boxes, object, classes}, 1))));
  }
  return net.Text(net.Let(fmt::format("transpose({}, axes=[0, 2, 1])", net.Join(levels, 2))));
}

std::string Bottleneck() {
  Net net("%x: Tensor[(1, 64, 14, 14), float32]");
  std::string y = net.Let(fmt::format("nn.relu({})", net.Conv("%x", 64, 16, 1)));
  y = net.Let(fmt::format("nn.relu({})", net.Conv(y, 16, 16, 3, 2)));
  y = net.Conv(y, 16, 64, 1);
  y = net.Let(fmt::format("add({}, {})", y, net.Conv("%x", 64, 64, 1, 2)));
  y = net.Let(fmt::format("nn.global_avg_pool2d(nn.relu({}))", y));
  return net.Text(net.Dense(net.Let(fmt::format("nn.batch_flatten({})", y)), 64, 10));
}

std::string InvertedResidual() {
  Net net("%x: Tensor[(?, 16, ?, ?), float32]");
  std::string y = net.Let(fmt::format("clip({}, a_min=0f, a_max=6f)", net.Conv("%x", 16, 96, 1)));
  y = net.Let(fmt::format("clip({}, a_min=0f, a_max=6f)", net.Conv(y, 96, 96, 3, 1, 96)));
  y = net.Let(fmt::format("add({}, %x)", net.Conv(y, 96, 16, 1)));
  y = net.Let(fmt::format("nn.global_avg_pool2d({})", y));
  return net.Text(net.Dense(net.Let(fmt::format("nn.batch_flatten({})", y)), 16, 10));
}

// A layer of an encoder, as exporters write it.
std::string EncoderLayer(const std::string& length) {
  Net net(fmt::format("%x: Tensor[(1, {}, 64), float32]", length));
  const auto heads = [&](const std::string& x, const std::string& axes) {
    std::string y = net.Let(fmt::format("reshape({}, newshape=[-1, 64])", x));
    y = net.Let(fmt::format("add({}, {})", net.Dense(y, 64, 64), net.Weight({64}, 0.1)));
    y = net.Let(fmt::format("reshape({}, newshape=[1, -1, 4, 16])", y));
    return net.Let(fmt::format("transpose({}, axes=[{}])", y, axes));
  };
  const auto three = [&](const std::string& x, const std::string& shape) {
    return net.Let(fmt::format("reshape({}, newshape=[{}])", x, shape));
  };
  const std::string q = three(heads("%x", "0, 2, 1, 3"), "-3, 0, 0");
  const std::string k = three(heads("%x", "0, 2, 1, 3"), "-3, 0, 0");
  const std::string v = three(heads("%x", "0, 2, 1, 3"), "-3, 0, 0");
  std::string y = net.Let(fmt::format("nn.batch_matmul({}, {}, transpose_b=True)", q, k));
  y = net.Let(fmt::format("nn.softmax(multiply({}, 0.25f))", y));
  y = net.Let(fmt::format("nn.batch_matmul({}, {})", y, v));
  y = net.Let(fmt::format("reshape({}, newshape=[1, 4, -1, 16])", y));
  y = net.Let(fmt::format("transpose({}, axes=[0, 2, 1, 3])", y));
  y = net.Let(fmt::format("reshape({}, newshape=[-1, 64])", y));
  y = net.Let(fmt::format("reshape({}, newshape=[1, -1, 64])", net.Dense(y, 64, 64)));
  y = net.Let(fmt::format("nn.layer_norm(add({}, %x), {}, {})", y, net.Weight({64}, 1),
                          net.Weight({64}, 1)));
  return net.Text(y);
}

// Of operators that compute nothing.
bool OnlyMoves(const std::string& kernel) {
  static const std::regex kMoves(
      "(fused)?(_?(concatenate|copy|expand_dims|nn_pad|nn_space_to_depth|reshape|split|squeeze|"
      "stack|strided_slice|take|transpose|layout_transform))+(_[0-9]+)?");
  return std::regex_match(kernel, kMoves);
}

TEST_CASE("networks leave no kernel that only moves elements") {
  struct Case {
    const char* what;
    std::string text;
    std::vector<Sizes> inputs;
    // The first convolution may be worth it (SpaceToDepthConvolutions).
    bool may_move_blocks = false;
  };
  const Case cases[] = {
      {"a residual block", Bottleneck(), {{1, 64, 14, 14}}},
      {"an inverted residual block", InvertedResidual(), {{1, 16, 14, 14}, {2, 16, 9, 17}}},
      {"a layer of an encoder", EncoderLayer("7"), {{1, 7, 64}}},
      {"a layer of an encoder of any length", EncoderLayer("?"), {{1, 1, 64}, {1, 12, 64}}},
      {"a detector", Detector(104, "slices"), {{1, 3, 104, 104}}, true},
      {"a detector of even sizes", Detector(128, "slices"), {{1, 3, 128, 128}}, true},
      {"a detector that moves space to depth", Detector(104, "depth"), {{1, 3, 104, 104}}, true},
  };
  std::mt19937 random(7);
  for (const Case& c : cases) {
    CAPTURE(std::string(c.what));
    // As written: another layout may be worth kernels that make it.
    const Compiled compiled = Compile(c.text, 3, {"ConvertLayout"});
    for (const auto& kernel : compiled.program.kernels) {
      CAPTURE(kernel.name);
      const bool moves_blocks =
          kernel.name.starts_with("strided_slice") || kernel.name.starts_with("nn_space_to_depth");
      CHECK((!OnlyMoves(kernel.name) || (c.may_move_blocks && moves_blocks)));
    }
    const Compiled plain = Compile(c.text, 0);
    for (const Sizes& dims : c.inputs) {
      Tensor x = Numbers(dims, random);
      for (float& v : x.data) v /= 16;
      const Tensor y = Run(compiled, {x}), expected = Run(plain, {x});
      REQUIRE(y.dims == expected.dims);
      float worst = 0;
      for (size_t i = 0; i < y.data.size(); ++i) {
        const float scale = 1 + std::abs(expected.data[i]);
        worst = std::max(worst, std::abs(y.data[i] - expected.data[i]) / scale);
      }
      CHECK(worst < 2e-4F);
    }
  }
}

// --- Space to depth ---

// Blocks of other sizes and orders, other layouts and windows, in one dim and in three.
TEST_CASE("convolutions of positions moved to channels read the positions") {
  const auto compare = [](const std::string& text, const Sizes& dims, bool converts) {
    CAPTURE(text);
    std::mt19937 random(3);
    const Tensor x = Numbers(dims, random);
    const Compiled compiled = Compile(text);
    std::string names;
    for (const auto& k : compiled.program.kernels) names += k.name + " ";
    CAPTURE(names);
    const bool slices = names.find("strided_slice") != std::string::npos ||
                        names.find("space_to_depth") != std::string::npos;
    CHECK(slices == !converts);
    const Tensor y = Run(compiled, {x}), expected = Run(Compile(text, 0), {x});
    REQUIRE(y.dims == expected.dims);
    for (size_t i = 0; i < y.data.size(); ++i) {
      CHECK(std::abs(y.data[i] - expected.data[i]) <= 1e-3F * (1 + std::abs(expected.data[i])));
      if (std::abs(y.data[i] - expected.data[i]) > 1) break;
    }
  };
  // Windows of k and strides of s over blocks of 2 x 3, in a given order of the blocks.
  const auto blocks = [](const std::vector<std::pair<int, int>>& order, int k, int s, int pad,
                         bool channels_last, int height, const std::string& extra = "") {
    Net net(channels_last ? fmt::format("%x: Tensor[(2, {}, 18, 2), float32]", height)
                          : fmt::format("%x: Tensor[(2, 2, {}, 18), float32]", height));
    std::vector<std::string> parts;
    const int y = channels_last ? 1 : 2;
    for (const auto& [dy, dx] : order) {
      parts.push_back(net.Let(fmt::format(
          "strided_slice(%x, begin=[{}, {}], end=[{}, 18], strides=[2, 3], axes=[{}, {}])", dy, dx,
          height, y, y + 1)));
    }
    const std::string joined = net.Join(parts, channels_last ? 3 : 1);
    const int channels = 2 * static_cast<int>(order.size());
    const std::string w =
        net.Weight(channels_last ? Sizes{k, k, channels, 5} : Sizes{5, channels, k, k}, 0.5);
    return net.Text(net.Let(
        fmt::format("nn.conv2d({}, {}, strides=[{}, 1], padding=[{}, 0, {}, 1], channels=5, "
                    "kernel_size=[{}, {}], data_layout=\"{}\", kernel_layout=\"{}\"{})",
                    joined, w, s, pad, pad, k, k, channels_last ? "NHWC" : "NCHW",
                    channels_last ? "HWIO" : "OIHW", extra)));
  };
  const std::vector<std::pair<int, int>> rows = {{0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 1}, {1, 2}};
  const std::vector<std::pair<int, int>> mixed = {{1, 2}, {0, 1}, {1, 0}, {0, 0}, {1, 1}, {0, 2}};
  for (const auto& order : {rows, mixed}) {
    for (const int k : {1, 2, 3}) {
      compare(blocks(order, k, 1, 0, false, 12), {2, 2, 12, 18}, true);
      compare(blocks(order, k, 2, k / 2, false, 12), {2, 2, 12, 18}, true);
      compare(blocks(order, k, 1, k / 2, true, 12), {2, 12, 18, 2}, true);
    }
  }
  // Parts that are missing, twice there, or cut; windows with holes.
  compare(blocks({rows.begin(), rows.end() - 1}, 3, 1, 1, false, 12), {2, 2, 12, 18}, false);
  compare(blocks({{0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 1}, {1, 1}}, 3, 1, 1, false, 12),
          {2, 2, 12, 18}, false);
  compare(blocks(rows, 2, 1, 1, false, 12, ", dilation=[2, 2]"), {2, 2, 12, 18}, false);
  Net line("%x: Tensor[(1, 3, 40), float32]");
  std::vector<std::string> parts;
  for (const int first : {0, 1, 2, 3}) {
    parts.push_back(line.Let(
        fmt::format("strided_slice(%x, begin=[{}], end=[40], strides=[4], axes=[2])", first)));
  }
  const std::string joined = line.Join(parts, 1);
  compare(line.Text(line.Let(fmt::format("nn.conv1d({}, {}, padding=[2, 2], channels=7, "
                                         "kernel_size=[5])",
                                         joined, line.Weight({7, 12, 5}, 0.5)))),
          {1, 3, 40}, true);
}

}  // namespace
}  // namespace relayvm
