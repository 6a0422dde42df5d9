#include "compiler/transforms/products/pack_weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "compiler/transforms/products/testing.h"
#include "kernels/codegen/contraction/contraction.h"
#include "kernels/op/weight_forms.h"
#include "kernels/op/winograd.h"
#include "kernels/runtime/half.h"

namespace relayvm::ir {
namespace {

TEST_CASE("a constant weight is packed in panels, padded with zeros") {
  Module m = Typed(
      "def @main(%x: Tensor[(2, 3), float32]) { nn.dense(%x, ones(shape=[5, 3], "
      "dtype=\"float32\"), units=5) }");
  // Make the weight a constant with known numbers.
  HostTensor w;
  w.dtype = DType::kFloat32;
  w.shape = {5, 3};
  w.data = SharedBytes::Zeros(15 * sizeof(float));
  for (int i = 0; i < 15; ++i) {
    auto v = static_cast<float>(i + 1);
    std::memcpy(w.data.Mutable().data() + static_cast<size_t>(i) * sizeof(float), &v, sizeof v);
  }
  const Constant* constant = MakeConstant(m, w);
  const Function& main = *m.functions.at("main");
  Block body = *main.body;
  OpCall dense = *body.bindings.back().value->As<OpCall>();
  dense.args[1] = constant;
  body.bindings = {{body.bindings.back().var, MakeExpr(m, dense, Span{})}};
  Function f = main;
  f.body = m.arena->New<Block>(body);
  m.functions["main"] = m.arena->New<Function>(f);

  Module packed = PackWeights(m, MachineNamed("x86-64-v3"));
  REQUIRE(Outline(packed) == "nn.contrib_dense_pack");
  const auto& call = *packed.functions.at("main")->body->bindings[0].value->As<OpCall>();
  const HostTensor& p = std::get<const Constant*>(call.args[1])->value;
  REQUIRE(p.shape.size() == 3);
  int64_t width = p.shape[2];
  CHECK(p.shape[0] == (5 + width - 1) / width);
  CHECK(p.shape[1] == 3);
  for (int64_t n = 0; n < p.shape[0] * width; ++n) {
    for (int64_t k = 0; k < 3; ++k) {
      float v = 0;
      auto at = static_cast<size_t>(((n / width) * 3 + k) * width + n % width);
      std::memcpy(&v, p.data.data() + at * sizeof(float), sizeof v);
      CHECK(v == (n < 5 ? static_cast<float>(n * 3 + k + 1) : 0.0F));
    }
  }
  CHECK(TypeToString(Retyped(packed).functions.at("main")->result_type) ==
        "Tensor[(2, 5), float32]");
}

// @main(x) = nn.dense(x, weight) with a constant weight (n, k).
Module DenseBy(const HostTensor& w) {
  const int64_t n = w.shape[0], k = w.shape[1];
  Module m = Typed(
      fmt::format("def @main(%x: Tensor[(?, {1}), float32]) {{ nn.dense(%x, ones(shape=[{0}, {1}], "
                  "dtype=\"float32\"), units={0}) }}",
                  n, k));
  const Function& main = *m.functions.at("main");
  Block body = *main.body;
  OpCall dense = *body.bindings.back().value->As<OpCall>();
  dense.args[1] = MakeConstant(m, w);
  body.bindings = {{body.bindings.back().var, MakeExpr(m, dense, Span{})}};
  Function f = main;
  f.body = m.arena->New<Block>(body);
  m.functions["main"] = m.arena->New<Function>(f);
  return m;
}

// A float32 weight (n, k) of these bits, again and again.
HostTensor WeightOf(int64_t n, int64_t k, const std::vector<uint32_t>& bits) {
  HostTensor w{DType::kFloat32, {n, k}, SharedBytes::Zeros(static_cast<size_t>(n * k) * 4)};
  auto* values = reinterpret_cast<uint32_t*>(w.data.Mutable().data());
  for (size_t i = 0; i < static_cast<size_t>(n * k); ++i) values[i] = bits[i % bits.size()];
  return w;
}

TEST_CASE("a weight in pairs of bfloat16 is rounded to nearest even") {
  // float32 and the bfloat16 that it becomes.
  const std::vector<std::pair<uint32_t, uint16_t>> table = {
      {0x00000000, 0x0000}, {0x80000000, 0x8000},  // zeros
      {0x3f800000, 0x3f80}, {0x3f808000, 0x3f80},  // 1; a tie, to even below
      {0x3f818000, 0x3f82}, {0x3f808001, 0x3f81},  // a tie, to even above; just above a tie
      {0x3f807fff, 0x3f80}, {0xbf818000, 0xbf82},  // just below a tie; a negative tie
      {0x00000001, 0x0000}, {0x00008000, 0x0000},  // denormals: to 0, a tie to 0
      {0x00018000, 0x0002}, {0x807fffff, 0x8080},  // to a denormal; to the least normal
      {0x7f7fffff, 0x7f80}, {0xff7f8000, 0xff80},  // the largest and a tie go to infinity
      {0x7f7f7fff, 0x7f7f}, {0x7f800000, 0x7f80},  // the largest that does not; infinity
      {0xff800000, 0xff80}, {0x7fc00000, 0x7fc0},  // NaN stays one, also where its bits
      {0x7f800001, 0x7fc0}, {0xffc12345, 0xffc1},  // are in the part that goes
  };
  std::vector<uint32_t> bits;
  for (const auto& [from, to] : table) bits.push_back(from);
  for (const auto& [n, k] : std::vector<std::pair<int64_t, int64_t>>{{1, 1}, {5, 4}, {70, 33}}) {
    for (const char* cpu : {"x86-64-v2", "x86-64-v3", "x86-64-v4"}) {
      const Module packed =
          PackWeights(DenseBy(WeightOf(n, k, bits)), MachineNamed(cpu), FindWeightForm("bf16"));
      const OpCall& call = OnlyCall(packed);
      CHECK(call.op->name == "nn.contrib_dense_pack");
      CHECK(call.attrs.Int("in_units") == k);
      const HostTensor& p = std::get<const Constant*>(call.args[1])->value;
      REQUIRE(p.dtype == DType::kBFloat16);
      REQUIRE(p.shape.size() == 4);
      const int64_t width = p.shape[2];
      REQUIRE(p.shape == std::vector<int64_t>{(n + width - 1) / width, (k + 1) / 2, width, 2});
      CHECK(p.data.size() == static_cast<size_t>(p.size()) * 2);
      const SharedBytes loaded = p.data.Loaded();
      const auto* got = reinterpret_cast<const uint16_t*>(loaded.data());
      for (int64_t at = 0; at < p.size(); ++at) {
        const int64_t i = at / 2 / width % p.shape[1] * 2 + at % 2;
        const int64_t j = at / 2 / width / p.shape[1] * width + at / 2 % width;
        const auto number = static_cast<size_t>(j * k + i);
        CHECK(got[at] == (i < k && j < n ? table[number % table.size()].second : 0));
      }
      CHECK(TypeToString(Retyped(packed).functions.at("main")->result_type) ==
            TypeToString(Typed(fmt::format("def @main(%x: Tensor[(?, {1}), float32]) {{ "
                                           "nn.dense(%x, ones(shape=[{0}, {1}], "
                                           "dtype=\"float32\"), units={0}) }}",
                                           n, k))
                             .functions.at("main")
                             ->result_type));
    }
  }
}

TEST_CASE("weights whose numbers float16 holds are packed as such, where machines widen it") {
  const auto bits_of = [](float f) { return std::bit_cast<uint32_t>(f); };
  const std::vector<uint32_t> halves = {
      bits_of(1), bits_of(-2.5F), bits_of(0x1p-24F),        bits_of(65504),
      0x80000000, 0x7f800000,     bits_of(1.0F / 1024 + 1), bits_of(-0x1p-14F),
      0};
  struct Case {
    int64_t n, k;
    const char* cpu;
    uint32_t last;
    DType dtype;
  };
  for (const Case& c : {Case{70, 64, "x86-64-v3", bits_of(3), DType::kFloat16},
                        {70, 64, "x86-64-v4", bits_of(3), DType::kFloat16},
                        {70, 64, "x86-64-v2", bits_of(3), DType::kFloat32},
                        {7, 64, "x86-64-v3", bits_of(3), DType::kFloat32},  // too few to matter
                        {70, 64, "x86-64-v3", bits_of(0.1F), DType::kFloat32},
                        {70, 64, "x86-64-v3", bits_of(65520), DType::kFloat32},
                        {70, 64, "x86-64-v3", bits_of(0x1p-25F), DType::kFloat32},
                        {70, 64, "x86-64-v3", 0x7fc00000, DType::kFloat32}}) {
    CAPTURE(c.last);
    HostTensor w = WeightOf(c.n, c.k, halves);
    const auto at = static_cast<size_t>(c.n * c.k - 1) * 4;
    std::memcpy(w.data.Mutable().data() + at, &c.last, 4);
    const Module packed = PackWeights(DenseBy(w), MachineNamed(c.cpu));
    const HostTensor& p = std::get<const Constant*>(OnlyCall(packed).args[1])->value;
    REQUIRE(p.dtype == c.dtype);
    const int64_t width = p.shape[2];
    REQUIRE(p.shape == std::vector<int64_t>{(c.n + width - 1) / width, c.k, width});
    CHECK(p.data.size() == static_cast<size_t>(p.size() * DTypeBytes(c.dtype)));
    CHECK(TypeToString(Retyped(packed).functions.at("main")->result_type) ==
          fmt::format("Tensor[(x.0, {}), float32]", c.n));
    if (c.dtype != DType::kFloat16) continue;
    const SharedBytes loaded = p.data.Loaded();
    const auto* got = reinterpret_cast<const uint16_t*>(loaded.data());
    const auto* given = reinterpret_cast<const float*>(w.data.data());
    for (int64_t i = 0; i < p.size(); ++i) {
      const int64_t k = i / width % c.k, n = i / width / c.k * width + i % width;
      const float value = n < c.n ? given[n * c.k + k] : 0;
      CHECK(bits_of(HalfToFloat(got[i])) == bits_of(value));
    }
  }
}

TEST_CASE("constant weights of a batch of products are packed, as float16 where that holds them") {
  struct Case {
    int64_t batch;
    const char* cpu;
    float scale;
    bool transposed;
    DType dtype;
  };
  for (const Case& c : {Case{3, "x86-64-v3", 0.5F, false, DType::kFloat16},
                        {3, "x86-64-v3", 0.5F, true, DType::kFloat16},
                        {3, "x86-64-v3", 0.1F, true, DType::kFloat32},
                        {3, "x86-64-v2", 0.5F, false, DType::kFloat32},
                        {1, "x86-64-v4", 0.5F, true, DType::kFloat32}}) {  // too few to matter
    CAPTURE(c.batch);
    constexpr int64_t kDepth = 40, kUnits = 50;
    HostTensor w{DType::kFloat32, {c.batch, kDepth, kUnits}, {}};
    if (c.transposed) std::swap(w.shape[1], w.shape[2]);
    w.data = SharedBytes::Zeros(static_cast<size_t>(w.size()) * sizeof(float));
    auto* numbers = reinterpret_cast<float*>(w.data.Mutable().data());
    for (int64_t i = 0; i < w.size(); ++i) numbers[i] = static_cast<float>(i % 2000) * c.scale;
    const Module m = WithWeight(
        fmt::format("def @main(%x: Tensor[({}, ?, 40), float32]) {{ nn.batch_matmul(%x, "
                    "ones(shape=[{}, {}, {}], dtype=\"float32\"), transpose_b={}) }}",
                    c.batch, c.batch, w.shape[1], w.shape[2], c.transposed ? "True" : "False"),
        w);
    const Module packed = PackWeights(m, MachineNamed(c.cpu));
    CHECK(TypeToString(Retyped(packed).functions.at("main")->result_type) ==
          TypeToString(m.functions.at("main")->result_type));
    const HostTensor& p = std::get<const Constant*>(OnlyCall(packed).args[1])->value;
    REQUIRE(p.dtype == c.dtype);
    const int64_t width = p.shape.back(), panels = (kUnits + width - 1) / width;
    // One matrix for all is that of more rows.
    REQUIRE(p.shape == (c.batch == 1 ? std::vector{panels, kDepth, width}
                                     : std::vector{c.batch, panels, kDepth, width}));
    const SharedBytes loaded = p.data.Loaded();
    for (int64_t i = 0; i < p.size(); ++i) {
      const int64_t column = i / width / kDepth % panels * width + i % width;
      if (column >= kUnits) continue;
      const int64_t k = i / width % kDepth,
                    matrix = i / (panels * kDepth * width) * kDepth * kUnits;
      const float got = c.dtype == DType::kFloat16
                            ? HalfToFloat(reinterpret_cast<const uint16_t*>(loaded.data())[i])
                            : reinterpret_cast<const float*>(loaded.data())[i];
      CHECK(got == numbers[matrix + (c.transposed ? column * kDepth + k : k * kUnits + column)]);
    }
  }
  // Forms in blocks are for one matrix.
  const HostTensor w = [] {
    HostTensor t{DType::kFloat32, {2, 32, 16}, {}};
    t.data = SharedBytes::Zeros(static_cast<size_t>(t.size()) * sizeof(float));
    return t;
  }();
  const Module m = WithWeight(
      "def @main(%x: Tensor[(2, 5, 32), float32]) { nn.batch_matmul(%x, ones(shape=[2, 32, 16], "
      "dtype=\"float32\"), transpose_b=False) }",
      w);
  CHECK(OnlyCall(PackWeights(m, MachineNamed("x86-64-v3"), FindWeightForm("q4"))).args.size() == 2);
}

// A float32 weight (n, k) of these numbers, again and again.
HostTensor WeightOfFloats(int64_t n, int64_t k, const std::vector<float>& numbers) {
  std::vector<uint32_t> bits;
  for (float f : numbers) bits.push_back(std::bit_cast<uint32_t>(f));
  return WeightOf(n, k, bits);
}

// What the arguments of an nn.contrib_dense_blocks stand for, as (n, k).
std::vector<float> Decoded(const OpCall& call, int64_t n, int64_t k) {
  const HostTensor& w = std::get<const Constant*>(call.args[1])->value;
  const HostTensor& s = std::get<const Constant*>(call.args[2])->value;
  const SharedBytes words = w.data.Loaded(), scales = s.data.Loaded();
  const bool is_int8 = w.dtype == DType::kInt8, has_zeros = call.args.size() > 3;
  const SharedBytes zeros =
      std::get<const Constant*>(call.args[has_zeros ? 3 : 2])->value.data.Loaded();
  const int64_t width = w.shape[3], blocks = w.shape[1], words_in_block = w.shape[2];
  const int64_t size = words_in_block * (is_int8 ? 1 : 8);
  std::vector<float> out;
  for (int64_t j = 0; j < n; ++j) {
    for (int64_t i = 0; i < k; ++i) {
      const int64_t block = j / width * blocks + i / size;
      int integer = 0;
      if (is_int8) {
        const std::byte byte = words.data()[(block * size + i % size) * width + j % width];
        integer = int{static_cast<int8_t>(byte)};  // NOLINT(bugprone-signed-char-misuse): a number
      } else {
        uint32_t word = 0;
        const int64_t row = block * words_in_block + i % size / 8;
        std::memcpy(&word, words.data() + (row * width + j % width) * 4, 4);
        integer = static_cast<int>(word >> (i % 8 * 4) & 15);
      }
      float scale = 0, zero = is_int8 ? 0 : 8;
      const int64_t at = (block * width + j % width) * 4;
      std::memcpy(&scale, scales.data() + at, 4);
      if (has_zeros) std::memcpy(&zero, zeros.data() + at, 4);
      out.push_back((static_cast<float>(integer) - zero) * scale);
    }
  }
  return out;
}

TEST_CASE("weights become what is asked for, and the call says so") {
  std::vector<float> numbers;
  for (int i = 0; i < 997; ++i) numbers.push_back(std::sin(static_cast<float>(i) * 1.7F) * 3);
  for (const WeightForm& form : WeightForms()) {
    if (form.option.empty()) continue;
    const HostTensor w = WeightOfFloats(70, 100, numbers);
    const Module packed = PackWeights(DenseBy(w), MachineNamed("x86-64-v3"), &form);
    const OpCall& call = OnlyCall(packed);
    const auto same = [&](size_t at, const HostTensor& want) {
      const HostTensor& got = std::get<const Constant*>(call.args[at])->value;
      return got.dtype == want.dtype && got.shape == want.shape && got.data == want.data;
    };
    const Machine machine = MachineNamed("x86-64-v3");
    const bool is_float = form.given == DType::kFloat32 && form.block == 0 && !form.in_words();
    const int64_t width = is_float ? codegen::PreferredPanelWidthOf(machine, 70)
                                   : codegen::PreferredPanelWidth(machine);
    CHECK(same(1, PackWeight(form, w, true, width)));
    REQUIRE(call.args.size() == (form.block != 0 ? 3 : 2));
    if (form.block != 0) {
      CHECK(same(2, PackWeightScales(form, w, true, width)));
      CHECK(call.attrs.String("form") == form.name);
    }
    CHECK(TypeToString(Retyped(packed).functions.at("main")->result_type) ==
          TypeToString(DenseBy(w).functions.at("main")->result_type));
  }
}

TEST_CASE("blocks of a model's own integers stay exactly as they are") {
  struct Case {
    int64_t bits, n, k, block;
    bool has_zeros;
  };
  for (const Case& c : std::vector<Case>{{4, 3, 32, 16, false},
                                         {4, 70, 100, 32, true},
                                         {4, 5, 300, 256, true},
                                         {8, 33, 40, 32, false},
                                         {8, 9, 130, 64, true}}) {
    const int64_t blocks = (c.k + c.block - 1) / c.block, bytes = c.block * c.bits / 8;
    HostTensor w{DType::kUInt8, {c.n, blocks, bytes}, {}},
        scale{DType::kFloat32, {c.n, blocks}, {}};
    w.data = SharedBytes::Zeros(static_cast<size_t>(w.size()));
    scale.data = SharedBytes::Zeros(static_cast<size_t>(scale.size()) * 4);
    HostTensor zero = scale;
    zero.data = SharedBytes::Zeros(static_cast<size_t>(scale.size()) * 4);
    for (int64_t i = 0; i < w.size(); ++i) {
      w.data.Mutable()[static_cast<size_t>(i)] = static_cast<std::byte>(i * 37 + i / 11);
    }
    auto* scales = reinterpret_cast<float*>(scale.data.Mutable().data());
    auto* zeros = reinterpret_cast<float*>(zero.data.Mutable().data());
    for (int64_t i = 0; i < scale.size(); ++i) {
      scales[i] = 0.25F + static_cast<float>(i % 7);
      zeros[i] = static_cast<float>(i * 5 % (1 << c.bits));
    }
    Module m = Typed(fmt::format(
        "def @main(%x: Tensor[(?, {1}), float32]) {{ nn.contrib_dense_nbits(%x, zeros(shape=[{0}, "
        "{2}, {3}], dtype=\"uint8\"), zeros(shape=[{0}, {2}], dtype=\"float32\"), bits={4}, "
        "in_units={1}) }}",
        c.n, c.k, blocks, bytes, c.bits));
    const Type type = m.functions.at("main")->result_type;
    const Function& main = *m.functions.at("main");
    Block body = *main.body;
    OpCall call = *body.bindings.back().value->As<OpCall>();
    call.args[1] = MakeConstant(m, w);
    call.args[2] = MakeConstant(m, scale);
    if (c.has_zeros) call.args.emplace_back(MakeConstant(m, zero));
    body.bindings = {{body.bindings.back().var, MakeExpr(m, call, Span{})}};
    Function f = main;
    f.body = m.arena->New<Block>(body);
    m.functions["main"] = m.arena->New<Function>(f);
    for (const char* cpu : {"x86-64-v2", "x86-64-v4"}) {
      const Module packed = PackWeights(m, MachineNamed(cpu));
      REQUIRE(OnlyCall(packed).op->name == "nn.contrib_dense_blocks");
      CHECK(TypeToString(Retyped(packed).functions.at("main")->result_type) == TypeToString(type));
      const std::vector<float> got = Decoded(OnlyCall(packed), c.n, c.k);
      for (int64_t j = 0; j < c.n; ++j) {
        for (int64_t i = 0; i < c.k; ++i) {
          const int64_t block = j * blocks + i / c.block, in_block = i % c.block;
          const auto byte = static_cast<unsigned>(
              w.data.data()[block * bytes + (c.bits == 8 ? in_block : in_block / 2)]);
          const unsigned integer = c.bits == 8 ? byte : byte >> (in_block % 2 * 4) & 15;
          const float z = c.has_zeros ? zeros[block] : static_cast<float>(1 << (c.bits - 1));
          CHECK(got[static_cast<size_t>(j * c.k + i)] ==
                (static_cast<float>(integer) - z) * scales[block]);
        }
      }
    }
  }
}

TEST_CASE("a weight that is an argument stays as it is") {
  Module m = Typed(
      "def @main(%x: Tensor[(2, 3), float32], %w: Tensor[(5, 3), float32]) { nn.dense(%x, %w, "
      "units=5) }");
  CHECK(Outline(PackWeights(m, MachineNamed("x86-64-v3"))) == "nn.dense");
}

}  // namespace
}  // namespace relayvm::ir
