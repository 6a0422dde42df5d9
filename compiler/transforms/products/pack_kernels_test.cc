// What becomes of constant kernels of convolutions.
#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "compiler/transforms/products/pack_weights.h"
#include "compiler/transforms/products/testing.h"
#include "kernels/op/winograd.h"
#include "kernels/runtime/half.h"

namespace relayvm::ir {
namespace {

// The only convolution of `text`, with its kernel made a constant: the numbers from 1 on.
Module WithConstantKernel(const std::string& text, std::vector<int64_t> shape, float scale = 1) {
  HostTensor w;
  w.dtype = DType::kFloat32;
  w.shape = std::move(shape);
  w.data = SharedBytes::Zeros(static_cast<size_t>(w.size()) * sizeof(float));
  auto* values = reinterpret_cast<float*>(w.data.Mutable().data());
  for (int64_t i = 0; i < w.size(); ++i)
    values[i] = static_cast<float>(scale == 1 ? i + 1 : i % 2048) * scale;
  return WithWeight(text, w);
}

void CheckSameType(const Module& packed, const Module& m) {
  CHECK(TypeToString(Retyped(packed).functions.at("main")->result_type) ==
        TypeToString(m.functions.at("main")->result_type));
}

// The kernel layout that it gets without transforms, for a target whose tiles read blocks of 8
// channels; checks its numbers and that its type stays.
std::string KernelLayout(const std::string& text, const std::vector<int64_t>& shape) {
  const Module m = WithConstantKernel(text, shape);
  const Module packed = PackWeights(m, MachineNamed("x86-64-v4"), nullptr, /*exact=*/true);
  const OpCall& call = OnlyCall(packed);
  const HostTensor& p = std::get<const Constant*>(call.args[1])->value;
  if (p.shape.size() > shape.size()) {
    const int64_t block = p.shape.back(), k = p.size() / shape[0];
    const auto* got = reinterpret_cast<const float*>(p.data.data());
    for (int64_t i = 0; i < p.size(); ++i) {
      const int64_t o = i / k;
      CHECK(got[(o / block * k + i % k) * block + o % block] == static_cast<float>(i + 1));
    }
  }
  CheckSameType(packed, m);
  return call.attrs.String("kernel_layout");
}

std::string ConvText(const std::string& x, const std::string& w, const std::string& attrs) {
  return "def @main(%x: Tensor[" + x + ", float32]) { nn.conv2d(%x, ones(shape=" + w +
         ", dtype=\"float32\")" + attrs + ") }";
}

TEST_CASE("kernels of convolutions get blocks of output channels where tiles read them") {
  const auto conv = ConvText;
  CHECK(KernelLayout(conv("(1, 3, 9, 9)", "[16, 3, 3, 3]", ", padding=[1, 1]"), {16, 3, 3, 3}) ==
        "OIHW8o");
  CHECK(KernelLayout(conv("(1, 4, ?, ?)", "[32, 2, 1, 1]", ", groups=2"), {32, 2, 1, 1}) ==
        "OIHW8o");
  CHECK(KernelLayout(conv("(1, 400, 9, 9)", "[8, 400, 3, 3]", ""), {8, 400, 3, 3}) == "OIHW8o");
  // Not a multiple; depthwise; one window for an image; channels last.
  CHECK(KernelLayout(conv("(1, 3, 9, 9)", "[12, 3, 3, 3]", ""), {12, 3, 3, 3}) == "OIHW");
  CHECK(KernelLayout(conv("(1, 8, 9, 9)", "[8, 1, 3, 3]", ", groups=8"), {8, 1, 3, 3}) == "OIHW");
  CHECK(KernelLayout(conv("(4, 8, 1, 1)", "[8, 8, 1, 1]", ""), {8, 8, 1, 1}) == "OIHW");
  CHECK(KernelLayout(
            conv("(1, 9, 9, 3)", "[3, 3, 3, 8]", ", data_layout=\"NHWC\", kernel_layout=\"HWIO\""),
            {3, 3, 3, 8}) == "HWIO");
}

TEST_CASE(
    "kernels whose numbers float16 holds stay such where tiles widen rows or panels of them") {
  // Whether it is float16 then: of the numbers from 1 on, or up to 2,047, over and over, times
  // `scale`.
  const auto is_half = [](const std::string& text, const std::vector<int64_t>& shape,
                          const std::string& cpu, float scale) {
    const Module m = WithConstantKernel(text, shape, scale);
    const Module packed = PackWeights(m, MachineNamed(cpu), nullptr, /*exact=*/true);
    CheckSameType(packed, m);
    const HostTensor& p = std::get<const Constant*>(OnlyCall(packed).args[1])->value;
    if (p.dtype != DType::kFloat16) return false;
    const std::string& layout = OnlyCall(packed).attrs.String("kernel_layout");
    const int64_t outs = shape.back(), block = p.shape.back(), depth = p.size() / outs;
    const auto place = [&](int64_t i) {
      if (layout.starts_with("OHWI"))
        return (i % outs / block * depth + i / outs) * block + i % block;
      if (layout != "OIHW8o") return i;
      const int64_t ins = p.size() / shape[0], o = i / ins;
      return (o / block * ins + i % ins) * block + o % block;
    };
    const SharedBytes loaded = p.data.Loaded();
    const auto* got = reinterpret_cast<const uint16_t*>(loaded.data());
    for (int64_t i = 0; i < p.size(); ++i)
      CHECK(HalfToFloat(got[place(i)]) == static_cast<float>(i % 2048) * scale);
    return true;
  };
  const std::string v3 = "x86-64-v3";
  const auto check = [&](const std::string& x, const std::string& w, const std::string& attrs,
                         const std::vector<int64_t>& shape, const std::string& cpu,
                         float scale) { return is_half(ConvText(x, w, attrs), shape, cpu, scale); };
  const std::vector<int64_t> few = {32, 64, 1, 1}, many = {64, 64, 1, 1};
  const std::string x = "(1, 64, 9, 9)", w = "[64, 64, 1, 1]";
  CHECK(check(x, w, "", many, v3, 0.5F));
  CHECK(check("(1, 64, ?, ?)", w, ", strides=[2, 2]", many, v3, 0.5F));
  CHECK(check("(1, 128, 9, 9)", w, ", groups=2", many, v3, 0.5F));
  CHECK_FALSE(check(x, w, "", many, v3, 1));  // 2,049
  CHECK_FALSE(check(x, w, "", many, v3, 0.1F));
  CHECK_FALSE(check(x, "[32, 64, 1, 1]", "", few, v3, 0.5F));
  CHECK_FALSE(check(x, w, "", many, "x86-64-v2", 0.5F));  // nothing widens
  CHECK(check(x, w, "", many, "x86-64-v4", 0.5F));        // blocks of 8 rows
  const std::string last = ", data_layout=\"NHWC\", kernel_layout=\"HWIO\"";
  for (const char* cpu : {"x86-64-v3", "x86-64-v4"})
    CHECK(check("(1, 9, 9, 8)", "[3, 3, 8, 64]", last, {3, 3, 8, 64}, cpu, 0.5F));
  CHECK_FALSE(check("(1, 64, 1, 1)", w, "", many, v3, 0.5F));  // a product of whole images
  // Depthwise: channels first, of enough pixels to be worth it.
  const std::string groups = ", groups=512, padding=[1, 1]", of_512 = "[512, 1, 3, 3]";
  const std::vector<int64_t> depthwise = {512, 1, 3, 3}, depthwise_last = {3, 3, 512, 1};
  CHECK(check("(1, 512, 9, 9)", of_512, groups, depthwise, v3, 0.5F));
  CHECK(check("(1, 512, ?, 9)", of_512, groups, depthwise, v3, 0.5F));
  CHECK_FALSE(check("(1, 512, 8, 8)", of_512, groups, depthwise, v3, 0.5F));
  CHECK_FALSE(check("(1, 512, 9, 9)", of_512, groups, depthwise, "x86-64-v2", 0.5F));
  CHECK(check("(1, 2, 2, 512)", "[3, 3, 512, 1]",
              groups + ", data_layout=\"NHWC\", kernel_layout=\"HWOI\"", depthwise_last, v3, 0.5F));
}

TEST_CASE("kernels of convolutions, channels last, get panels of output channels") {
  const std::string last = ", data_layout=\"NHWC\", kernel_layout=\"HWIO\"";
  const auto packed = [&](const std::string& x, const std::vector<int64_t>& w,
                          const std::string& attrs) {
    const Module m =
        WithConstantKernel(ConvText(x, fmt::format("[{}]", fmt::join(w, ", ")), last + attrs), w);
    Module result = PackWeights(m, MachineNamed("x86-64-v4"), nullptr);
    CheckSameType(result, m);
    return result;
  };
  const Module m = packed("(?, ?, 9, 5)", {3, 2, 5, 64}, ", strides=[2, 1]");
  const OpCall& call = OnlyCall(m);
  CHECK(call.attrs.String("kernel_layout") == "OHWI32o");
  const HostTensor& p = std::get<const Constant*>(call.args[1])->value;
  REQUIRE(p.shape == std::vector<int64_t>{2, 3, 2, 5, 32});
  const auto* got = reinterpret_cast<const float*>(p.data.data());
  for (int64_t k = 0; k < 30; ++k) {
    for (int64_t n = 0; n < 64; ++n)
      CHECK(got[(n / 32 * 30 + k) * 32 + n % 32] == static_cast<float>(k * 64 + n + 1));
  }
  // Not a multiple; groups; one window for an image.
  const auto layout = [](const Module& module) {
    return OnlyCall(module).attrs.String("kernel_layout");
  };
  CHECK(layout(packed("(1, 9, 9, 5)", {3, 3, 5, 40}, "")) == "HWIO");
  CHECK(layout(packed("(1, 9, 9, 64)", {3, 3, 1, 64}, ", groups=64")) == "HWIO");
  CHECK(layout(packed("(1, 9, 9, 64)", {3, 3, 32, 64}, ", groups=2")) == "HWIO");
  CHECK(layout(packed("(4, 3, 3, 5)", {3, 3, 5, 32}, "")) == "HWIO");
}

TEST_CASE("windows of one pixel, channels last, are products of matrices") {
  const std::string last = ", data_layout=\"NHWC\", kernel_layout=\"HWIO\"";
  const auto packed = [&](const WeightForm* format, const std::string& x, std::vector<int64_t> w,
                          const std::string& attrs) {
    const Module m =
        WithConstantKernel(ConvText(x, fmt::format("[{}]", fmt::join(w, ", ")), last + attrs), w);
    Module result = PackWeights(m, MachineNamed("x86-64-v4"), format);
    CheckSameType(result, m);
    return result;
  };
  const WeightForm* const plain = nullptr;
  for (const WeightForm* format : {plain, FindWeightForm("q8"), FindWeightForm("q4")}) {
    const Module m = packed(format, "(?, ?, 9, 3)", {1, 1, 3, 40}, "");
    const OpCall& call = OnlyCall(m);
    REQUIRE(call.op->name == "nn.contrib_dense_pack");
    const HostTensor& p = std::get<const Constant*>(call.args[1])->value;
    const auto* got = reinterpret_cast<const float*>(p.data.data());
    const int64_t width = p.shape[2];
    REQUIRE(p.shape == std::vector<int64_t>{(40 + width - 1) / width, 3, width});
    for (int64_t k = 0; k < 3; ++k) {
      for (int64_t n = 0; n < p.shape[0] * width; ++n) {
        const auto expected = static_cast<float>(n < 40 ? k * 40 + n + 1 : 0);
        CHECK(got[(n / width * 3 + k) * width + n % width] == expected);
      }
    }
  }
  const Module pairs = packed(FindWeightForm("bf16"), "(1, 9, 9, 3)", {1, 1, 3, 8}, "");
  CHECK(OnlyCall(pairs).op->name == "nn.contrib_dense_pack");
  CHECK(std::get<const Constant*>(OnlyCall(pairs).args[1])->value.dtype == DType::kBFloat16);
  // A stride; a border; groups; a larger window.
  CHECK(Outline(packed(plain, "(1, 9, 9, 3)", {1, 1, 3, 8}, ", strides=[1, 2]")) == "nn.conv2d");
  CHECK(Outline(packed(plain, "(1, 9, 9, 3)", {1, 1, 3, 8}, ", padding=[0, 1]")) == "nn.conv2d");
  CHECK(Outline(packed(plain, "(1, 9, 9, 4)", {1, 1, 2, 8}, ", groups=2")) == "nn.conv2d");
  CHECK(Outline(packed(plain, "(1, 9, 9, 3)", {1, 2, 3, 8}, "")) == "nn.conv2d");
}

TEST_CASE("3 x 3 kernels are transformed where that is faster") {
  struct Row {
    std::string data, kernel, attrs;
    std::vector<int64_t> shape;
    int64_t tile;
  };
  const std::vector<Row> table = {
      {"(1, 20, 56, 56)", "[12, 20, 3, 3]", ", padding=[1, 1]", {12, 20, 3, 3}, 4},
      {"(?, 20, ?, ?)", "[12, 20, 3, 3]", ", padding=[0, 1, 2, 3]", {12, 20, 3, 3}, 4},
      {"(1, 64, 6, 6)", "[64, 64, 3, 3]", ", padding=[1, 1]", {64, 64, 3, 3}, 2},
      // Strides, dilation, groups, other windows and layouts.
      {"(1, 20, 56, 56)", "[12, 20, 3, 3]", ", strides=[2, 1]", {12, 20, 3, 3}, 0},
      {"(1, 20, 56, 56)", "[12, 20, 3, 3]", ", dilation=[1, 2]", {12, 20, 3, 3}, 0},
      {"(1, 20, 56, 56)", "[12, 10, 3, 3]", ", groups=2", {12, 10, 3, 3}, 0},
      {"(1, 20, 56, 56)", "[12, 20, 3, 1]", "", {12, 20, 3, 1}, 0},
      {"(1, 20, 56, 56)", "[12, 20, 5, 5]", "", {12, 20, 5, 5}, 0},
      {"(1, 56, 56, 20)",
       "[3, 3, 20, 12]",
       ", data_layout=\"NHWC\", kernel_layout=\"HWIO\"",
       {3, 3, 20, 12},
       0},
      // Nothing to gain.
      {"(1, 20, 3, 3)", "[12, 20, 3, 3]", "", {12, 20, 3, 3}, 0},
  };
  for (const Row& row : table) {
    INFO(row.data, " ", row.kernel, row.attrs);
    const Module m = WithConstantKernel(ConvText(row.data, row.kernel, row.attrs), row.shape);
    for (const char* cpu : {"x86-64-v2", "x86-64-v3", "x86-64-v4"}) {
      INFO("cpu ", cpu);
      CHECK(OnlyCall(PackWeights(m, MachineNamed(cpu), nullptr, true)).op->name == "nn.conv2d");
      const Module packed = PackWeights(m, MachineNamed(cpu));
      CheckSameType(packed, m);
      const OpCall& call = OnlyCall(packed);
      const bool is_transformed = row.tile != 0 && cpu != std::string("x86-64-v2");
      REQUIRE(call.op->name == (is_transformed ? "nn.contrib_conv2d_winograd" : "nn.conv2d"));
      if (!is_transformed) continue;
      CHECK(call.attrs.Int("tile_size") == row.tile);
      // Each product's weight is a sum over the taps.
      const HostTensor& p = std::get<const Constant*>(call.args[1])->value;
      REQUIRE(p.shape.size() == 5);
      const int64_t window = row.tile + 2, channels = row.shape[1];
      const int64_t blocks = p.shape[2], rows = p.shape[4];
      REQUIRE(p.shape == std::vector<int64_t>{(row.shape[0] + blocks * rows - 1) / (blocks * rows),
                                              window * window, blocks, channels, rows});
      const SharedBytes loaded = p.data.Loaded();
      const auto* got = reinterpret_cast<const float*>(loaded.data());
      for (int64_t at = 0; at < p.size(); ++at) {
        const int64_t c = at / rows % channels, block = at / rows / channels % blocks;
        const int64_t product = at / rows / channels / blocks % (window * window);
        const int64_t group = at / rows / channels / blocks / (window * window);
        const int64_t o = (group * blocks + block) * rows + at % rows;
        double want = 0;
        for (int64_t tap = 0; tap < 9 && o < row.shape[0]; ++tap) {
          want += WinogradOfKernel(row.tile, product / window, tap / 3) *
                  WinogradOfKernel(row.tile, product % window, tap % 3) *
                  static_cast<double>((o * channels + c) * 9 + tap + 1);
        }
        CHECK(got[at] == doctest::Approx(want).epsilon(1e-6));
      }
    }
  }
}

}  // namespace
}  // namespace relayvm::ir
