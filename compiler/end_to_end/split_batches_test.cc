// Layers of many images that run for some at a time: the same bits, less memory, and no kernel that
// only copies but for the program's own input.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "compiler/driver.h"
#include "compiler/end_to_end/testing.h"
#include "vm/api/relayvm.h"

namespace relayvm {
namespace {

constexpr int64_t kImages = 4;

Compiled CompileFor(const std::string& text, const char* images) {
  CompileOptions options;
  options.pipeline.verify = true;
  options.pipeline.options["sub-batch"] = {images};
  auto compiled = CompileModule(ir::Parsed(text), options);
  REQUIRE_MESSAGE(compiled.ok(), compiled.status().ToString());
  return *std::move(compiled);
}

std::vector<float> Run(const Compiled& compiled, const std::vector<int64_t>& dims) {
  auto executable = Executable::FromProgram(compiled.program);
  REQUIRE_MESSAGE(executable.ok(), executable.status().ToString());
  auto runtime = Runtime::Create();
  auto invocation = Invocation::Create(*runtime, *executable);
  REQUIRE(invocation.ok());
  int64_t elements = 1;
  for (const int64_t d : dims) elements *= d;
  std::vector<float> x(static_cast<size_t>(elements));
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 7919 % 1009) / 1009 - 0.4F;
  auto y = (*invocation)->Run("main", {*Value::CopyTensor(DType::kFloat32, dims, x.data())});
  REQUIRE_MESSAGE(y.ok(), y.status().ToString());
  const auto* data = static_cast<const float*>(y->data());
  return {data, data + y->num_elements()};
}

size_t CallsOf(const Compiled& compiled, const std::string& operator_name) {
  const auto& kernels = compiled.program.kernels;
  return static_cast<size_t>(std::ranges::count_if(
      kernels, [&](const auto& k) { return k.name.find(operator_name) != std::string::npos; }));
}

uint64_t ArenaOf(const Compiled& compiled) {
  uint64_t bytes = 0;
  for (const auto& f : compiled.program.functions) bytes = std::max<uint64_t>(bytes, f.arena_bytes);
  return bytes;
}

// Weights are made of sizes, so that they are constants.
std::string Weight(const std::string& shape) {
  return fmt::format(
      "subtract(full(0.3f, shape={0}, dtype=\"float32\"), full(0.01f, shape={0}, "
      "dtype=\"float32\"))",
      shape);
}

std::string Network(const std::string& layers, int64_t size = 16) {
  return fmt::format("def @main(%x: Tensor[({}, 3, {}, {}), float32]) {{\n{}\n}}\n", kImages, size,
                     size, layers);
}

TEST_CASE("a chain of layers, split, has the same bits and needs less memory") {
  // Smaller kernels of all parts would run at a time, and need their memory together.
  constexpr int64_t kSize = 64;
  const std::string text = Network(
      "  let %a = nn.relu(nn.conv2d(%x, " + Weight("[16, 3, 3, 3]") +
          ", padding=[1, 1], channels=16, kernel_size=[3, 3]));\n"
          "  let %b = nn.max_pool2d(%a, pool_size=[3, 3], strides=[1, 1], padding=[1, 1]);\n"
          "  let %c = nn.conv2d(%b, " +
          Weight("[16, 16, 1, 1]") +
          ", channels=16, kernel_size=[1, 1]);\n"
          "  let %d = concatenate((add(%c, %a), sigmoid(%b)), axis=1);\n"
          "  let %e = mean(tanh(%d), axis=[2, 3]);\n"
          "  nn.dense(%e, " +
          Weight("[10, 32]") + ", units=10)",
      kSize);
  const std::vector<int64_t> dims{kImages, 3, kSize, kSize};
  const Compiled whole = CompileFor(text, "4");
  const std::vector<float> expected = Run(whole, dims);
  for (const char* images : {"1", "2"}) {
    CAPTURE(images);
    const Compiled split = CompileFor(text, images);
    CHECK(Run(split, dims) == expected);
    CHECK(ArenaOf(split) < ArenaOf(whole));
    CHECK(CallsOf(split, "split") == 0);
  }
}

TEST_CASE("what mixes images, or sums by how many there are, is left whole") {
  for (const char* layers : {
           "softmax(transpose(reshape(%x, newshape=[4, 768]), axes=[1, 0]))",
           "cumsum(reshape(%x, newshape=[4, 768]), axis=0)",
           "subtract(%x, mean(%x, axis=[0], keepdims=True))",
           "reverse(exp(%x), axis=0)",
       }) {
    CAPTURE(layers);
    std::string body = layers;
    if (body.starts_with("softmax")) body = "nn." + body;
    const std::vector<int64_t> dims{kImages, 3, 16, 16};
    const std::vector<float> whole = Run(CompileFor(Network(body), "4"), dims);
    CHECK(Run(CompileFor(Network(body), "1"), dims) == whole);
    CHECK(Run(CompileFor(Network(body), "2"), dims) == whole);
  }
}

TEST_CASE("small batches are left as they are where nobody asks for parts") {
  const std::string text = Network("  sigmoid(tanh(%x))");
  CHECK(CompileFor(text, "0").program.kernels.size() == 1);
}

}  // namespace
}  // namespace relayvm
