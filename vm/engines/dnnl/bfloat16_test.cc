// bfloat16 against float32 of the same inputs: results are within 1/64 of their size and of 1,
// which is two units of the last of bfloat16's 8 bits, and what sums of a hundred of them lose.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "vm/engines/dnnl/dnnl_testing.h"

namespace relayvm::onednn_testing {
namespace {

Tensor Rounded(const Tensor& t) { return Buffer(t, DType::kBFloat16).value(); }

struct Operator {
  const char* op;
  Dims x;
  std::vector<Dims> constants;
  Dims y;
  Net::Attributes attributes;
  std::vector<std::string> steps;
};

Net NetOf(const Operator& o, DType dtype) {
  Net net;
  std::vector<From> inputs = {net.Input(ShapeOf(o.x), dtype)};
  for (const Dims& dims : o.constants) {
    // Variances are among them.
    const Tensor value = Map(Random(dims, static_cast<uint32_t>(inputs.size())),
                             [](float v) { return v * v + 0.25F; });
    inputs.push_back(net.Const(Rounded(value), dtype));
  }
  net.Head(net.Kernel(o.op, inputs, ShapeOf(o.y), o.attributes, o.steps, dtype));
  return net;
}

TEST_CASE("bfloat16: operators and what comes after them") {
  if (Provider() == nullptr) return;
  const Dims image = {2, 16, 6, 7};
  const Operator kOperators[] = {
      {"nn.conv2d", image, {{32, 16, 3, 3}, {32}}, {2, 32, 4, 5}, {}, {"bias input=2", "tanh"}},
      {"nn.conv2d",
       image,
       {{16, 1, 3, 3}, {16}},
       {2, 16, 4, 5},
       {{"groups", {"16"}}},
       {"bias input=2"}},
      {"nn.conv2d_transpose", image, {{16, 8, 3, 3}}, {2, 8, 8, 9}, {}, {"relu"}},
      {"nn.dense", {5, 64}, {{32, 64}, {32}}, {5, 32}, {}, {"bias input=2", "gelu"}},
      {"nn.batch_matmul", {3, 5, 64}, {{3, 32, 64}}, {3, 5, 32}, {}, {}},
      {"add", image, {{16, 1, 1}}, image, {}, {"sigmoid", "multiply input=1"}},
      {"tanh", image, {}, image, {}, {}},
      {"nn.softmax", {4, 50}, {}, {4, 50}, {}, {}},
      {"nn.layer_norm", {4, 50}, {{50}, {50}}, {4, 50}, {}, {}},
      {"nn.batch_norm", image, {{16}, {16}, {16}, {16}}, image, {}, {}},
      {"nn.max_pool2d", image, {}, {2, 16, 3, 3}, {{"pool_size", {"2"}}, {"strides", {"2"}}}, {}},
      {"nn.avg_pool2d", image, {}, {2, 16, 5, 6}, {{"pool_size", {"2"}}}, {}},
      {"mean", image, {}, {2, 16}, {{"axis", {"2", "3"}}}, {}},
      {"image.resize2d", image, {}, {2, 16, 12, 14}, {}, {}},
  };
  for (const Operator& o : kOperators) {
    CAPTURE(std::string(o.op));
    const Net net = NetOf(o, DType::kBFloat16);
    int32_t status = 0;
    std::string message;
    {
      const TestRegion region(net, &status, &message);
    }
    if (status == RELAYVM_REGION_UNSUPPORTED && message.ends_with("bfloat16 needs AVX-512")) {
      MESSAGE("skipped: ", message);
      return;
    }
    const Tensor x = Rounded(Random(o.x, 9));
    CheckClose(RunOnce(net, {}, {x})[0], RunOnce(NetOf(o, DType::kFloat32), {}, {x})[0], 1.0 / 64);
  }
}

TEST_CASE("bfloat16: sums of nothing") {
  if (Provider() == nullptr) return;
  Net net;
  const int x = net.Input({3, "k"}, DType::kBFloat16), w = net.Input({1, "k"}, DType::kBFloat16);
  const int one = net.Const({{1}, {1}}, DType::kBFloat16);
  net.Head(net.Kernel("nn.dense", {x, w, one}, {3, 1}, {}, {"bias input=2"}, DType::kBFloat16));
  int32_t status = 0;
  const TestRegion region(net, &status);
  if (status == RELAYVM_REGION_UNSUPPORTED) return;
  CheckClose(region.Run({0}, {{{3, 0}, {}}, {{1, 0}, {}}})[0], {{3, 1}, {1, 1, 1}}, 0);
}

}  // namespace
}  // namespace relayvm::onednn_testing
