// Functions of elements and of two tensors against their formulas.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "vm/engines/dnnl/dnnl_testing.h"

namespace relayvm::onednn_testing {
namespace {

float Sigmoid(float x) { return 1 / (1 + std::exp(-x)); }

struct Function {
  const char* op;  // "": no operator
  const char* step;
  Net::Attributes attributes;
  std::function<float(float)> f;
  bool is_positive = false;
};

const std::vector<Function>& Functions() {
  static const std::vector<Function> functions = {
      {"nn.relu", "relu", {}, [](float x) { return std::max(x, 0.0F); }},
      {"nn.leaky_relu",
       "leaky_relu alpha=0.25",
       {{"alpha", {"0.25"}}},
       [](float x) { return x < 0 ? x * 0.25F : x; }},
      {"tanh", "tanh", {}, [](float x) { return std::tanh(x); }},
      {"sigmoid", "sigmoid", {}, Sigmoid},
      {"clip",
       "clip min=-0.5 max=1.25",
       {{"a_min", {"-0.5"}}, {"a_max", {"1.25"}}},
       [](float x) { return std::clamp(x, -0.5F, 1.25F); }},
      {"exp", "exp", {}, [](float x) { return std::exp(x); }},
      {"log", "log", {}, [](float x) { return std::log(x); }, true},
      {"sqrt", "sqrt", {}, [](float x) { return std::sqrt(x); }, true},
      {"rsqrt", "rsqrt", {}, [](float x) { return 1 / std::sqrt(x); }, true},
      {"abs", "abs", {}, [](float x) { return std::abs(x); }},
      {"negative", "negative", {}, [](float x) { return -x; }},
      {"", "square", {}, [](float x) { return x * x; }},
      {"round_even", "round_even", {}, [](float x) { return std::nearbyint(x); }},
      {"", "gelu", {}, [](float x) { return 0.5F * x * (1 + std::erf(x / std::sqrt(2.0F))); }},
      {"",
       "gelu_tanh",
       {},
       [](float x) {
         return 0.5F * x * (1 + std::tanh(0.7978845608F * (x + 0.044715F * x * x * x)));
       }},
      {"", "swish", {}, [](float x) { return x * Sigmoid(x); }},
      {"", "swish alpha=1.702", {}, [](float x) { return x * Sigmoid(1.702F * x); }},
      {"", "hardswish", {}, [](float x) { return x * std::clamp(x + 3, 0.0F, 6.0F) / 6; }},
      {"", "hardsigmoid", {}, [](float x) { return std::clamp(x / 6 + 0.5F, 0.0F, 1.0F); }},
      {"", "mish", {}, [](float x) { return x * std::tanh(std::log1p(std::exp(x))); }},
      {"", "elu", {}, [](float x) { return x < 0 ? std::expm1(x) : x; }},
      {"", "elu alpha=0.5", {}, [](float x) { return x < 0 ? 0.5F * std::expm1(x) : x; }},
  };
  return functions;
}

Tensor Samples(bool is_positive) {
  Tensor x = Random({2, 3, 5, 7}, 3);
  return Map(x, [&](float v) { return is_positive ? std::abs(v) * 4 + 0.1F : v * 4; });
}

TEST_CASE("functions: as operators, and as steps after a sum") {
  if (Provider() == nullptr) return;
  for (const Function& f : Functions()) {
    CAPTURE(std::string(f.step));
    const Tensor x = Samples(f.is_positive), y = Map(Samples(true), [](float v) { return v / 8; });
    if (*f.op != 0) {
      Net net;
      const int i = net.Input({"n", 3, "h", 7});
      net.Head(net.Kernel(f.op, {i}, {"n", 3, "h", 7}, f.attributes));
      const TestRegion region(net);
      CheckClose(region.Run({2, 5}, {x})[0], Map(x, f.f));
      CheckClose(region.Run({0, 5}, {{{0, 3, 5, 7}, {}}})[0], {{0, 3, 5, 7}, {}});
    }
    Net net;
    const int a = net.Input({2, 3, 5, 7}), b = net.Input({2, 3, 5, 7});
    net.Head(net.Kernel("add", {a, b}, {2, 3, 5, 7}, {}, {f.step, "relu"}));
    const Tensor expected =
        Map(Map(Broadcast2(x, y, std::plus<>()), f.f), [](float v) { return std::max(v, 0.0F); });
    CheckClose(RunOnce(net, {}, {x, y})[0], expected);
  }
}

TEST_CASE("the number of a function may be an operand, where it is a constant") {
  if (Provider() == nullptr) return;
  const Tensor x = Samples(false), half = {{}, {0.5F}}, less = {{}, {-0.5F}};
  const auto run = [&](const std::string& step, const Tensor& number) {
    Net net;
    const int a = net.Input({"n", 3, 5, 7}), b = net.Const(number);
    net.Head(net.Kernel("abs", {net.Kernel("negative", {a, b}, {"n", 3, 5, 7}, {}, {step})},
                        {"n", 3, 5, 7}));
    return net;
  };
  const auto elu = [](float v) { return std::abs(v > 0 ? 0.5F * std::expm1(-v) : -v); };
  CheckClose(RunOnce(run("elu input=1", half), {2}, {x})[0], Map(x, elu));
  CheckClose(RunOnce(run("elu_of_negated input=1", less), {2}, {x})[0], Map(x, elu));
  CheckClose(RunOnce(run("swish input=1", half), {2}, {x})[0],
             Map(x, [](float v) { return std::abs(v * Sigmoid(-0.5F * v)); }));
  CHECK(Refusal(run("elu input=1", {{1}, {0.5F}})) ==
        "1: dnnl.negative: the step elu has an operand that is no constant number of float32");
  CHECK(Refusal(run("relu input=1", half)) == "2: dnnl.negative: the step relu takes no input");
}

TEST_CASE("functions are steps of convolutions, products and sums, in their order") {
  if (Provider() == nullptr) return;
  // The identity of 3 channels, and of 7 columns.
  Tensor one = {{3, 3, 1, 1}, std::vector<float>(9, 0)}, eye = {{7, 7}, std::vector<float>(49, 0)};
  for (size_t i = 0; i < 3; ++i) one.data[i * 4] = 1;
  for (size_t i = 0; i < 7; ++i) eye.data[i * 8] = 1;
  const Tensor zero = {{1}, {0}};
  for (const Function& f : Functions()) {
    for (const Function& g : Functions()) {
      const std::vector<std::string> steps = {f.step, g.step};
      CAPTURE(steps[0] + ", " + steps[1]);
      const Tensor x = Samples(f.is_positive || g.is_positive);
      const Tensor y = Map(Map(x, f.f), g.f);
      // Logarithms and roots of what may be below 0, and what rounding decides.
      if ((g.is_positive && !f.is_positive) || steps[1] == "round_even") continue;
      if (std::any_of(y.data.begin(), y.data.end(), [](float v) { return !std::isfinite(v); }))
        continue;
      Net conv, dense, sum;
      const int c = conv.Input(ShapeOf(x.dims)), w = conv.Const(one);
      conv.Head(conv.Kernel("nn.conv2d", {c, w}, ShapeOf(x.dims), {}, steps));
      CheckClose(RunOnce(conv, {}, {x})[0], y, 1e-3);
      const int d = dense.Input(ShapeOf(x.dims)), e = dense.Const(eye);
      dense.Head(dense.Kernel("nn.dense", {d, e}, ShapeOf(x.dims), {}, steps));
      CheckClose(RunOnce(dense, {}, {x})[0], y, 1e-3);
      const int s = sum.Input(ShapeOf(x.dims)), z = sum.Const(zero);
      sum.Head(sum.Kernel("add", {s, z}, ShapeOf(x.dims), {}, steps));
      CheckClose(RunOnce(sum, {}, {x})[0], y, 1e-3);
    }
  }
}

TEST_CASE("functions of two tensors, broadcast either way") {
  if (Provider() == nullptr) return;
  const std::vector<std::pair<const char*, std::function<float(float, float)>>> kFunctions = {
      {"add", std::plus<>()},
      {"subtract", std::minus<>()},
      {"multiply", std::multiplies<>()},
      {"divide", std::divides<>()},
      {"maximum", [](float a, float b) { return std::max(a, b); }},
      {"minimum", [](float a, float b) { return std::min(a, b); }}};
  const std::pair<Dims, Dims> kShapes[] = {{{2, 3, 4}, {2, 3, 4}},
                                           {{2, 3, 4}, {3, 1}},
                                           {{2, 3, 4}, {}},
                                           {{2, 3, 4}, {4}},
                                           {{4}, {2, 3, 4}},
                                           {{2, 1, 4}, {3, 1}},
                                           {{}, {2, 3}},
                                           {{}, {}},
                                           {{1, 3, 1, 5}, {2, 1, 4, 1}},
                                           {{2, 3, 4, 5}, {2, 1, 4, 5}}};
  for (const auto& [op, f] : kFunctions) {
    CAPTURE(std::string(op));
    for (const auto& [left, right] : kShapes) {
      CAPTURE(fmt::format("{} and {} axes", left.size(), right.size()));
      const Tensor a = Random(left, 1), b = Map(Random(right, 2), [](float v) { return v + 2; });
      const Tensor y = Broadcast2(a, b, f);
      Net net;
      const int x = net.Input(ShapeOf(left)), z = net.Const(b);
      net.Head(net.Kernel(op, {x, z}, ShapeOf(y.dims)));
      CheckClose(RunOnce(net, {}, {a})[0], y);
      // As a step after a convolution of one pixel; the result is of rank 4 then.
      if (y.dims.size() != 4 || left != y.dims) continue;
      const int64_t channels = left[1];
      Tensor one = {{channels, 1, 1, 1}, std::vector<float>(static_cast<size_t>(channels), 1)};
      Net conv;
      const int c = conv.Input(ShapeOf(left)), w = conv.Const(one), o = conv.Input(ShapeOf(right));
      conv.Head(conv.Kernel("nn.conv2d", {c, w, o}, ShapeOf(left),
                            {{"groups", {std::to_string(channels)}}},
                            {fmt::format("{} input=2", op)}));
      CheckClose(RunOnce(conv, {}, {a, b})[0], y);
    }
  }
}

// oneDNN blocks channels by how many a group has: 4, 8, 16, or not at all.
TEST_CASE("functions of two tensors in the layouts that convolutions leave") {
  if (Provider() == nullptr) return;
  const std::vector<std::pair<const char*, std::function<float(float, float)>>> kFunctions = {
      {"subtract", std::minus<>()},
      {"multiply", std::multiplies<>()},
      {"maximum", [](float a, float b) { return std::max(a, b); }}};
  const Dims kGroups[] = {{8, 2},  {4, 1}, {12, 3}, {16, 2}, {32, 2},
                          {16, 1}, {8, 8}, {6, 2},  {24, 2}, {20, 5}};
  const std::vector<std::string> kSteps[] = {{}, {"relu"}, {"tanh", "relu"}, {"sum input=2"}};
  for (const Dims& g : kGroups) {
    const int64_t channels = g[0], in_group = g[0] / g[1];
    CAPTURE(fmt::format("{} channels in {} groups", channels, g[1]));
    // Kernels of the identity.
    Tensor one = {{channels, in_group, 3, 3}, {}};
    one.data.assign(static_cast<size_t>(Count(one.dims)), 0);
    for (int64_t c = 0; c < channels; ++c)
      one.data[static_cast<size_t>((c * in_group + c % in_group) * 9 + 4)] = 1;
    const Dims dims = {2, channels, 9, 7};
    const Tensor x = Random(dims, 1), z = Random(dims, 3);
    for (const Dims& other : {dims, Dims{1, channels, 1, 1}, Dims{2, 1, 9, 7}, Dims{7}}) {
      const Tensor y = Random(other, 2);
      for (const auto& [op, f] : kFunctions) {
        for (const std::vector<std::string>& steps : kSteps) {
          CAPTURE(fmt::format("{}, {} steps, {} elements", op, steps.size(), Count(other)));
          Net net;
          const int i = net.Input(ShapeOf(dims)), k = net.Const(one);
          const int v =
              net.Kernel("nn.conv2d", {i, k}, ShapeOf(dims),
                         {{"groups", {std::to_string(g[1])}}, {"padding", {"1", "1", "1", "1"}}});
          std::vector<From> inputs = {v, net.Input(ShapeOf(other))};
          const bool sums = !steps.empty() && steps[0].starts_with("sum");
          if (sums) inputs.push_back(net.Input(ShapeOf(dims)));
          net.Head(net.Kernel(op, inputs, ShapeOf(dims), {}, steps));
          net.Head(v);
          std::vector<Tensor> given = {x, y};
          if (sums) given.push_back(z);
          const std::vector<Tensor> found = RunOnce(net, {}, given);
          Tensor expected = Broadcast2(x, y, f);
          for (const std::string& step : steps) {
            if (step == "tanh") expected = Map(expected, [](float a) { return std::tanh(a); });
            if (step == "relu") expected = Map(expected, [](float a) { return std::max(a, 0.0F); });
          }
          if (sums) expected = Broadcast2(expected, z, std::plus<>());
          CheckClose(found[0], expected);
          CheckClose(found[1], x);
        }
      }
    }
  }
}

TEST_CASE("nn.bias_add along any axis") {
  if (Provider() == nullptr) return;
  for (const int axis : {0, 1, -1}) {
    const Dims dims = {3, 4, 5};
    const int at = axis < 0 ? axis + 3 : axis;
    const Tensor x = Random(dims, 1), b = Random({dims[static_cast<size_t>(at)]}, 2);
    Net net;
    const int i = net.Input(ShapeOf(dims)), k = net.Const(b);
    net.Head(net.Kernel("nn.bias_add", {i, k}, ShapeOf(dims), {{"axis", {std::to_string(axis)}}}));
    CheckClose(RunOnce(net, {}, {x})[0], Broadcast2(x, AlongAxis(b, at, 3), std::plus<>()));
  }
}

TEST_CASE("what oneDNN means otherwise is refused") {
  if (Provider() == nullptr) return;
  const auto refusal = [](const char* op, const Net::Attributes& attributes, const char* step,
                          DType dtype = DType::kFloat32) {
    Net net;
    const int x = net.Input({2, 3}, dtype);
    net.Head(net.Kernel(op, {x}, {2, 3}, attributes,
                        *step == 0 ? std::vector<std::string>{} : std::vector<std::string>{step},
                        dtype));
    return Refusal(net);
  };
  CHECK(refusal("round", {}, "") ==
        "1: dnnl.round: oneDNN rounds halves to even, Relay's round away from zero");
  CHECK(refusal("abs", {}, "round") ==
        "1: dnnl.abs: oneDNN rounds halves to even, Relay's round away from zero");
  CHECK(refusal("erf", {}, "") == "1: dnnl.erf: this engine does not run the operator erf");
  CHECK(refusal("abs", {}, "cube") == "1: dnnl.abs: this engine has no step \"cube\"");
  CHECK(refusal("clip", {}, "") == "2: dnnl.clip: no a_min");
  CHECK(refusal("abs", {}, "clip min=0") == "2: dnnl.abs: the step clip has no max");
  CHECK(refusal("abs", {}, "", DType::kInt64) ==
        "1: dnnl.abs: a result of int64, expected float32 or bfloat16");
}

}  // namespace
}  // namespace relayvm::onednn_testing
