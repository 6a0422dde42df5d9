// The provider as a whole: regions of several nodes, sizes in turn and at once, plans that are
// given up, and JSON, constants and libraries that are not what they should be.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <atomic>
#include <cstdlib>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "vm/engines/dnnl/dnnl_testing.h"

namespace relayvm::onednn_testing {
namespace {

float Relu(float v) { return std::max(v, 0.0F); }

// Two convolutions of 16 channels with the sum of both and of the input, which is an output too.
struct Residual {
  Net net;
  Tensor w1 = Random({16, 16, 3, 3}, 1), w2 = Random({16, 16, 3, 3}, 2), b = Random({16}, 3);

  Residual() {
    const Shape shape = {"n", 16, "h", "w"};
    const Net::Attributes same = {{"padding", {"1", "1"}}};
    const int x = net.Input(shape), k1 = net.Const(w1), k2 = net.Const(w2), bias = net.Const(b);
    const int first = net.Kernel("nn.conv2d", {x, k1, bias}, shape, same, {"bias input=2", "relu"});
    const int second = net.Kernel("nn.conv2d", {first, k2, bias, first}, shape, same,
                                  {"bias input=2", "sum input=3", "relu"});
    const int third =
        net.Kernel("nn.conv2d", {second, k1, x}, shape, same, {"sum input=2", "tanh"});
    net.Head(net.Kernel("add", {third, second}, shape));
    net.Head(second);
  }

  // The same by regions of one operator each, whose results are checked elsewhere.
  static Tensor Conv(const Tensor& x, const Tensor& w) {
    Net one;
    const int i = one.Input(ShapeOf(x.dims)), k = one.Const(w);
    one.Head(one.Kernel("nn.conv2d", {i, k}, ShapeOf(x.dims), {{"padding", {"1", "1"}}}));
    return RunOnce(one, {}, {x})[0];
  }
  std::vector<Tensor> Expected(const Tensor& x) const {
    const Tensor bias = AlongAxis(b, 0, 3);
    const Tensor first = Map(Broadcast2(Conv(x, w1), AlongAxis(b, 1, 4), std::plus<>()), Relu);
    Tensor second = Broadcast2(Conv(first, w2), AlongAxis(b, 1, 4), std::plus<>());
    second = Map(Broadcast2(second, first, std::plus<>()), Relu);
    const Tensor third =
        Map(Broadcast2(Conv(second, w1), x, std::plus<>()), [](float v) { return std::tanh(v); });
    return {Broadcast2(third, second, std::plus<>()), second};
  }
};

TEST_CASE("a chain with sums in place, and results that are used again, at several sizes") {
  if (Provider() == nullptr) return;
  const Residual residual;
  const TestRegion region(residual.net);
  for (const Dims& size :
       {Dims{1, 8, 9}, Dims{2, 5, 5}, Dims{1, 8, 9}, Dims{3, 1, 20}, Dims{0, 4, 4}}) {
    const Tensor x = Map(Random({size[0], 16, size[1], size[2]}, 9), [](float v) { return v / 4; });
    const std::vector<Tensor> y = region.Run(size, {x});
    const std::vector<Tensor> expected = residual.Expected(x);
    CheckClose(y[0], expected[0], 1e-3);
    CheckClose(y[1], expected[1], 1e-3);
  }
}

TEST_CASE("inputs and constants that are outputs are copied, and a value that is two") {
  if (Provider() == nullptr) return;
  Net net;
  const int x = net.Input({"n", 3}), c = net.Const({{2}, {5, 6}});
  const int y = net.Kernel("abs", {x}, {"n", 3});
  for (const int head : {y, x, c, y}) net.Head(head);
  const TestRegion region(net);
  const Tensor data = {{2, 3}, {-1, 2, -3, 4, -5, 6}};
  const std::vector<Tensor> out = region.Run({2}, {data});
  CheckClose(out[0], Map(data, [](float v) { return std::abs(v); }));
  CheckClose(out[1], data);
  CheckClose(out[2], {{2}, {5, 6}});
  CheckClose(out[3], out[0]);
}

TEST_CASE("several threads run one region at several sizes, more than there are plans") {
  if (Provider() == nullptr) return;
  Net net;
  const Tensor w = Random({8, 16}, 1);
  const int x = net.Input({"n", 16}), k = net.Const(w);
  net.Head(net.Kernel("nn.dense", {x, k}, {"n", 8}, {}, {"relu"}));
  const TestRegion region(net);
  std::vector<Tensor> inputs, expected;
  for (int64_t n = 0; n < 100; ++n) {
    inputs.push_back(Random({n, 16}, static_cast<uint32_t>(n)));
    Tensor y{{n, 8}, {}};
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j < 8; ++j) {
        float sum = 0;
        for (int64_t d = 0; d < 16; ++d) {
          sum += inputs.back().data[static_cast<size_t>(i * 16 + d)] *
                 w.data[static_cast<size_t>(j * 16 + d)];
        }
        y.data.push_back(Relu(sum));
      }
    }
    expected.push_back(std::move(y));
  }
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937 random(t);
      for (int k2 = 0; k2 < 150; ++k2) {
        const size_t n = random() % inputs.size();
        int32_t status = 0;
        const std::vector<Tensor> y =
            region.Run({static_cast<int64_t>(n)}, {inputs[n]}, 1 + t % 2, &status);
        bool same = status == 0 && y[0].dims == expected[n].dims;
        for (size_t i = 0; same && i < y[0].data.size(); ++i) {
          same = std::abs(y[0].data[i] - expected[n].data[i]) < 1e-4;
        }
        wrong += same ? 0 : 1;
      }
    });
  }
  for (std::thread& t : threads) t.join();
  CHECK(wrong == 0);
}

TEST_CASE("a plan that is held outlives its place among the last ones") {
  if (Provider() == nullptr) return;
  Net net;
  const int x = net.Input({"n"});
  net.Head(net.Kernel("nn.relu", {x}, {"n"}));
  const TestRegion region(net);
  RelayvmRegionError error = {};
  const int64_t two = 2;
  RelayvmPlan* plan = nullptr;
  uint64_t scratch = 0;
  REQUIRE(Provider()->prepare(region.get(), &two, 1, 1, &plan, &scratch, &error) == 0);
  for (int64_t n = 3; n < 200; ++n) region.Run({n}, {Random({n}, 1)});
  const Buffer in({{2}, {-1, 2}}, DType::kFloat32), out({{2}, {7, 7}}, DType::kFloat32);
  const RelayvmRegionTensor from = in.tensor(), to = out.tensor();
  const RelayvmRegionEnv env = {sizeof(env), 1,
                                [](const RelayvmRegionEnv*) -> int32_t { return 0; }};
  CHECK(Provider()->run(region.get(), plan, &env, &from, 1, &to, 1, nullptr, &error) == 0);
  CHECK(out.value().data == std::vector<float>{0, 2});
  Provider()->release(region.get(), plan);
}

TEST_CASE("a run stops between primitives where it is told to") {
  if (Provider() == nullptr) return;
  Net net;
  const int x = net.Input({4});
  net.Head(net.Kernel("exp", {net.Kernel("nn.relu", {x}, {4})}, {4}));
  const TestRegion region(net);
  RelayvmRegionError error = {};
  RelayvmPlan* plan = nullptr;
  uint64_t scratch = 0;
  REQUIRE(Provider()->prepare(region.get(), nullptr, 0, 1, &plan, &scratch, &error) == 0);
  const Buffer in({{4}, {1, 2, 3, 4}}, DType::kFloat32), out({{4}, {7, 7, 7, 7}}, DType::kFloat32);
  const Buffer memory(Tensor{{64}, std::vector<float>(64)}, DType::kFloat32);
  REQUIRE(scratch <= 256);
  const RelayvmRegionTensor from = in.tensor(), to = out.tensor();
  const RelayvmRegionEnv env = {sizeof(env), 1,
                                [](const RelayvmRegionEnv*) -> int32_t { return 1; }};
  CHECK(Provider()->run(region.get(), plan, &env, &from, 1, &to, 1, memory.tensor().data, &error) ==
        RELAYVM_REGION_STOPPED);
  CHECK(out.value().data == std::vector<float>{7, 7, 7, 7});
  Provider()->release(region.get(), plan);
}

// --- What is not as it should be ---

TEST_CASE("sizes and tensors that do not fit are told") {
  if (Provider() == nullptr) return;
  Net net;
  const int x = net.Input({"n", "m"});
  net.Head(net.Kernel("nn.relu", {x}, {"n", "m"}));
  const TestRegion region(net);
  const auto refusal = [&](const Dims& dims) {
    int32_t status = 0;
    std::string message;
    region.Run(dims, {}, 1, &status, &message);
    return fmt::format("{}: {}", status, message);
  };
  CHECK(refusal({1}) == "2: 1 dims for 2 symbols");
  CHECK(refusal({1, -3}) == "2: m is -3");
  CHECK(refusal({int64_t{1} << 40, int64_t{1} << 40}) ==
        "2: i0: a tensor of more than 70368744177664 bytes");
  CHECK(refusal({0, INT64_MAX}) == "2: i0: a tensor of more than 70368744177664 bytes");
  CHECK(refusal({2, 3}) == "2: the tensors of a run are not of the plan's types");
}

TEST_CASE("constants that are not the JSON's are refused") {
  if (Provider() == nullptr) return;
  Net net;
  const int x = net.Input({2, 3}), c = net.Const({{3}, {1, 2, 3}});
  net.Head(net.Kernel("add", {x, c}, {2, 3}));
  const std::string json = net.Json();
  const auto create = [&](const RelayvmRegionTensor* constants, uint32_t count) {
    RelayvmRegion* region = nullptr;
    RelayvmRegionError error = {};
    const int32_t status =
        Provider()->create(json.data(), json.size(), constants, count, &region, &error);
    return fmt::format("{}: {}", status, static_cast<const char*>(error.message));
  };
  CHECK(create(nullptr, 0) == "2: 0 constants, the JSON has 1");
  for (const auto& [dims, dtype] : {std::pair{Dims{4}, DType::kFloat32},
                                    {Dims{3, 1}, DType::kFloat32},
                                    {Dims{3}, DType::kInt32}}) {
    const Buffer wrong(Random(dims, 1), dtype);
    const RelayvmRegionTensor tensor = wrong.tensor();
    CHECK(create(&tensor, 1) == "2: c0: constant 0 is not of this type");
  }
}

TEST_CASE("JSON that is not a region's is refused with what is wrong") {
  if (Provider() == nullptr) return;
  const std::string input =
      R"({"op": "input", "name": "x", "attrs": {"dtype": [["float32"]], "shape": [[[2, 3]]]}})";
  const auto with = [&](const std::string& more, const std::string& heads = "[[0, 0, 0]]") {
    return Refusal(fmt::format(R"({{"nodes": [{}{}], "heads": {}}})", input, more, heads));
  };
  const auto kernel = [&](const std::string& inputs, const std::string& attrs) {
    return with(fmt::format(R"(, {{"op": "kernel", "name": "k", "inputs": {}, "attrs": {{{}}}}})",
                            inputs, attrs),
                "[[1, 0, 0]]");
  };
  const std::string type = R"("dtype": [["float32"]], "shape": [[[2, 3]]])";
  CHECK(Refusal("").starts_with("2: no JSON: "));
  CHECK(Refusal("[1, 2]") == "2: the JSON is no object");
  CHECK(Refusal("{}") == "2: nodes is no list");
  CHECK(Refusal(std::string(100000, '[')) == "2: no JSON: nested more than 32 deep");
  CHECK(with("", "[]") == "2: 0 heads");
  CHECK(with("", "[[1, 0, 0]]") == "2: node 1 is read, where 1 stand before");
  CHECK(with("", "[[0, 1, 0]]") == "2: output 1 of node 0 is read, which has 1");
  CHECK(with("", "[[-1, 0, 0]]") == "2: [-1, 0] is no place");
  CHECK(with("", "[[1e300]]") == "2: a number is not a whole one of 64 bits");
  CHECK(with(R"(, {"op": "kernel"})") == "2: nodes[1]: a node: it has no attrs");
  CHECK(kernel("[[1, 0, 0]]", type) == "2: nodes[1]: node 1 is read, where 1 stand before");
  CHECK(kernel("[[0, 0, 0]]", R"("dtype": [["float31"]], "shape": [[[2]]])") ==
        "2: nodes[1]: a dtype is no name of one");
  CHECK(kernel("[[0, 0, 0]]", R"("dtype": [["float32"]], "shape": [[[-2]]])") ==
        "2: nodes[1]: an extent is -2");
  CHECK(kernel("[[0, 0, 0]]", R"("dtype": [["float32"]], "shape": [[["n"]]])") ==
        "2: nodes[1]: \"n\" is not among the symbols");
  CHECK(kernel("[[0, 0, 0]]", type + R"(, "operator": [["abs"]], "post_ops": [["add input=1"]])") ==
        "2: nodes[1]: \"input=1\": the node has 1 inputs");
  CHECK(kernel("[[0, 0, 0]]", type + R"(, "operator": [["abs"]], "post_ops": [["add"]])") ==
        "2: k: the step add has 0 inputs, expected one");
  CHECK(kernel("[[0, 0, 0], [0, 0, 0]]", type + R"(, "operator": [["abs"]])") ==
        "2: k: input 1 belongs to nothing: abs takes 1");
  CHECK(kernel("[]", type + R"(, "operator": [["nn.conv2d"]])") == "2: k: 0 inputs, expected 2");
  CHECK(kernel("[[0, 0, 0]]",
               R"("dtype": [["float32"]], "shape": [[[2, 4]]], "operator": [["abs"]])") ==
        "2: k: the result has other extents than the operand");
}

// Words of the JSON exchanged, lost and doubled; numbers of all sizes.
TEST_CASE("no JSON ends the process") {
  if (Provider() == nullptr) return;
  Net net;
  const int x = net.Input({"n", 4, "h", 6}), w = net.Const(Random({8, 4, 3, 3}, 1));
  const int b = net.Const(Random({8}, 2)), d = net.Const(Random({5, 6}, 3));
  const int c = net.Kernel("nn.conv2d", {x, w, b}, {"n", 8, "h", 6},
                           {{"strides", {"1", "1"}},
                            {"padding", {"1", "1", "1", "1"}},
                            {"dilation", {"1", "1"}},
                            {"groups", {"1"}},
                            {"data_layout", {"NCHW"}},
                            {"kernel_layout", {"OIHW"}}},
                           {"bias input=2", "clip min=0 max=6"});
  const int e = net.Kernel("add", {c, c}, {"n", 8, "h", 6}, {}, {"relu"});
  net.Head(net.Kernel("nn.dense", {e, d}, {"n", 8, "h", 5}, {}, {"tanh"}));
  std::vector<std::string> words;
  for (const char ch : net.Json()) {
    const bool is_word =
        std::isalnum(static_cast<unsigned char>(ch)) != 0 || ch == '_' || ch == '.';
    if (words.empty() || !is_word ||
        std::isalnum(static_cast<unsigned char>(words.back().back())) == 0) {
      words.emplace_back(1, ch);
    } else {
      words.back() += ch;
    }
  }
  std::vector<Buffer> buffers;
  std::vector<RelayvmRegionTensor> constants;
  for (const auto& [value, dtype] : net.constants()) buffers.emplace_back(value, dtype);
  for (const Buffer& buffer : buffers) constants.push_back(buffer.tensor());
  const std::vector<std::string> numbers = {"0",
                                            "-1",
                                            "1",
                                            "2",
                                            "3",
                                            "7",
                                            "2147483647",
                                            "-2147483648",
                                            "9223372036854775807",
                                            "18446744073709551615",
                                            "1e308"};
  std::mt19937 random(1);
  for (int k = 0; k < 4000; ++k) {
    std::vector<std::string> changed = words;
    for (uint32_t changes = 1 + random() % 3; changes > 0; --changes) {
      const size_t at = random() % changed.size();
      switch (random() % 4) {
        case 0:
          changed.erase(changed.begin() + static_cast<int64_t>(at));
          break;
        case 1:
          changed[at] = changed[random() % changed.size()];
          break;
        case 2:
          changed[at] += changed[at];
          break;
        default:
          if (std::isdigit(static_cast<unsigned char>(changed[at][0])) != 0) {
            changed[at] = numbers[random() % numbers.size()];
          }
      }
    }
    std::string json;
    for (const std::string& word : changed) json += word;
    RelayvmRegion* region = nullptr;
    RelayvmRegionError error = {};
    const int32_t status =
        Provider()->create(json.data(), json.size(), constants.data(),
                           static_cast<uint32_t>(constants.size()), &region, &error);
    if (status != RELAYVM_REGION_OK) {
      CHECK(error.message[0] != 0);
      continue;
    }
    for (const int64_t n : {0, 1, 3}) {
      const int64_t dims[] = {n, 5};
      RelayvmPlan* plan = nullptr;
      uint64_t scratch = 0;
      if (Provider()->prepare(region, dims, 2, 1, &plan, &scratch, &error) == RELAYVM_REGION_OK) {
        Provider()->release(region, plan);
      }
    }
    Provider()->destroy(region);
  }
}

TEST_CASE("a library that is not there, or not oneDNN, is told, and later another may do") {
  if (Provider() == nullptr) return;
  const RelayvmRegionProvider* other = CopyOfProvider();
  const char* version = nullptr;
  RelayvmRegionError error = {};
  const auto open_as = [&](const char* path) {
    setenv("RELAYVM_DNNL_LIBRARY", path, 1);
    const int32_t status = other->open(&version, &error);
    unsetenv("RELAYVM_DNNL_LIBRARY");
    return fmt::format("{}: {}", status, static_cast<const char*>(error.message));
  };
  CHECK(
      open_as("/nowhere/libdnnl.so.2").starts_with("1: oneDNN is not here: /nowhere/libdnnl.so.2"));
  CHECK(open_as("libm.so.6") == "1: libm.so.6 is not oneDNN: it has no dnnl_version");
  CHECK(open_as(RELAYVM_DNNL_OLD) == "1: oneDNN 1.7.0 is here (" RELAYVM_DNNL_OLD
                                     "), expected 2.6 or later of 2");
  error = {};
  CHECK(other->open(&version, &error) == RELAYVM_REGION_OK);
  CHECK(std::string(version).starts_with("2."));
}

}  // namespace
}  // namespace relayvm::onednn_testing
