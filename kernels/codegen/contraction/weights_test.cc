// Products whose packed weights are no float32, against loops in double over the numbers that the
// weights stand for. A sum of K products is within (K + 4) * 2^-24 of the sum of their magnitudes.
#include <limits>

#include "kernels/codegen/contraction/amx_emulator.h"
#include "kernels/codegen/contraction/contraction.h"
#include "kernels/codegen/contraction/harness.h"
#include "kernels/op/weight_forms.h"
#include "kernels/runtime/half.h"
#include "kernels/te/evaluate.h"

namespace relayvm {
namespace {

using te::Tensor;

const Dim kRows = Dim::Symbol(1, "m");

// LLVM's optimisation takes most of the time, and once is enough.
KernelOptions OptionsFor(const std::string& cpu) {
  return {.machine = MachineNamed(cpu), .opt_level = cpu == "native" ? 3 : 0};
}

struct Size {
  Dim rows;
  int64_t depth, units, width;
};

// A weight in some packed form: what the kernel is given, and the numbers that it stands for, by
// (k, unit).
struct Weight {
  std::vector<HostTensor> packed;
  std::vector<double> values;
};

float* Floats(HostTensor& t) { return reinterpret_cast<float*>(t.data.Mutable().data()); }
const float* Floats(const HostTensor& t) { return reinterpret_cast<const float*>(t.data.data()); }

Weight Pairs(const Size& s, uint32_t seed) {
  const int64_t panels = (s.units + s.width - 1) / s.width;
  Weight w{{MakeTensor(DType::kBFloat16, {panels, (s.depth + 1) / 2, s.width, 2})}, {}};
  const HostTensor random = RandomTensor(DType::kFloat32, {s.depth, s.units}, seed);
  auto* words = reinterpret_cast<uint16_t*>(w.packed[0].data.Mutable().data());
  for (int64_t k = 0; k < s.depth; ++k) {
    for (int64_t n = 0; n < s.units; ++n) {
      const uint16_t bits = FloatToBFloat(Floats(random)[k * s.units + n]);
      const int64_t word = (n / s.width * ((s.depth + 1) / 2) + k / 2) * s.width + n % s.width;
      words[word * 2 + k % 2] = bits;
      w.values.push_back(BFloatToFloat(bits));
    }
  }
  return w;
}

// relu(x . w + bias)
KernelSpec PairsSpec(const Size& s) {
  const int64_t panels = (s.units + s.width - 1) / s.width;
  const Tensor data = Input({s.rows, s.depth}, 0);
  const Tensor weight = Input({panels, (s.depth + 1) / 2, s.width, 2}, 1, DType::kBFloat16);
  const Tensor bias = Input({s.units}, 2);
  Attrs attrs;
  attrs.Set("units", s.units);
  attrs.Set("in_units", s.depth);
  const Tensor product =
      Apply("nn.contrib_dense_pack", attrs, {data, weight}, {s.rows, s.units}, DType::kFloat32);
  return Spec(fmt::format("pairs_{}x{}x{}_{}", s.rows.ToString(), s.depth, s.units, s.width),
              {data, weight, bias}, {AddBias(product, bias, 1)});
}

Weight Halves(const Size& s, uint32_t seed) {
  const int64_t panels = (s.units + s.width - 1) / s.width;
  Weight w{{MakeTensor(DType::kFloat16, {panels, s.depth, s.width})}, {}};
  const HostTensor random = RandomTensor(DType::kFloat32, {s.depth, s.units}, seed);
  auto* halves = reinterpret_cast<uint16_t*>(w.packed[0].data.Mutable().data());
  for (int64_t k = 0; k < s.depth; ++k) {
    for (int64_t n = 0; n < s.units; ++n) {
      // Denormal ones, too.
      const float value = Floats(random)[k * s.units + n] * (n % 3 == 2 ? 0x1p-18F : 1);
      const uint16_t bits = FloatToHalf(value);
      halves[(n / s.width * s.depth + k) * s.width + n % s.width] = bits;
      w.values.push_back(HalfToFloat(bits));
    }
  }
  return w;
}

// relu(x . w + bias)
KernelSpec HalvesSpec(const Size& s) {
  const int64_t panels = (s.units + s.width - 1) / s.width;
  const Tensor data = Input({s.rows, s.depth}, 0);
  const Tensor weight = Input({panels, s.depth, s.width}, 1, DType::kFloat16);
  const Tensor bias = Input({s.units}, 2);
  Attrs attrs;
  attrs.Set("units", s.units);
  const Tensor product =
      Apply("nn.contrib_dense_pack", attrs, {data, weight}, {s.rows, s.units}, DType::kFloat32);
  return Spec(fmt::format("halves_{}x{}x{}_{}", s.rows.ToString(), s.depth, s.units, s.width),
              {data, weight, bias}, {AddBias(product, bias, 1)});
}

// A form in blocks of some size.
struct Blocks {
  const WeightForm* form;
  int64_t size;
  bool has_zero_points;
};

// Random numbers of that form; what no column or k has is arbitrary. They are read as the table
// says, which kernels/op/weight_forms_test.cc compares with what is said of their bits.
Weight InBlocks(const Size& s, const Blocks& blocks, uint32_t seed) {
  const WeightForm& form = *blocks.form;
  const int64_t panels = (s.units + s.width - 1) / s.width;
  const int64_t count = (s.depth + blocks.size - 1) / blocks.size;
  Weight w{{RandomTensor(DType::kFloat32, {panels, count, s.width}, seed + 1)}, {}};
  if (blocks.has_zero_points) {
    w.packed.push_back(RandomTensor(DType::kFloat32, {panels, count, s.width}, seed + 2));
    for (int64_t i = 0; i < w.packed[1].size(); ++i) {
      Floats(w.packed[1])[i] = std::round(Floats(w.packed[1])[i] * 3);
    }
  }
  // Blocks of any size are bits of random numbers, a column's blocks one after the other.
  WeightForm of_size = form;
  of_size.block = blocks.size;
  const HostTensor random =
      RandomTensor(DType::kFloat32, {count * blocks.size, panels * s.width}, seed);
  HostTensor numbers = PackWeight(of_size, random, /*transposed=*/false, s.width);
  numbers.data = numbers.data.Loaded();
  w.packed.insert(w.packed.begin(), numbers);
  const Tensor words = te::Placeholder(
      "words", std::vector<Dim>(numbers.shape.begin(), numbers.shape.end()), numbers.dtype, 0);
  const Tensor all =
      te::Compute("numbers", {s.depth, s.units}, [&](const std::vector<te::Expr>& i) {
        const auto quotient = [](const te::Expr& x, int64_t y) {
          return te::Binary(te::BinaryOp::kFloorDivide, x, te::IntImm(y));
        };
        const auto rest = [](const te::Expr& x, int64_t y) {
          return te::Binary(te::BinaryOp::kFloorMod, x, te::IntImm(y));
        };
        return NumberOf(
            form, rest(i[0], blocks.size),
            [&](const te::Expr& row) {
              return te::Load(words, {quotient(i[1], s.width), quotient(i[0], blocks.size), row,
                                      rest(i[1], s.width)});
            },
            blocks.has_zero_points ? te::FloatImm(0, DType::kFloat32) : nullptr);
      });
  const HostTensor* const inputs[] = {&w.packed[0]};
  const HostTensor values =
      te::Evaluate(all, inputs, [](uint32_t) { return std::nullopt; }).value();
  for (int64_t k = 0; k < s.depth; ++k) {
    for (int64_t n = 0; n < s.units; ++n) {
      const int64_t of_block = (n / s.width * count + k / blocks.size) * s.width + n % s.width;
      const double zero = blocks.has_zero_points ? Floats(w.packed[2])[of_block] : 0;
      w.values.push_back((Floats(values)[k * s.units + n] - zero) * Floats(w.packed[1])[of_block]);
    }
  }
  return w;
}

// relu(x . w + bias)
KernelSpec BlocksSpec(const Size& s, const Blocks& blocks) {
  const Weight w = InBlocks(s, blocks, 1);
  std::vector<Tensor> inputs = {Input({s.rows, s.depth}, 0)};
  for (const HostTensor& t : w.packed) {
    inputs.push_back(Input(std::vector<Dim>(t.shape.begin(), t.shape.end()),
                           static_cast<int>(inputs.size()), t.dtype));
  }
  Attrs attrs;
  attrs.Set("units", s.units);
  attrs.Set("in_units", s.depth);
  attrs.Set("form", std::string(blocks.form->name));
  const Tensor product =
      Apply("nn.contrib_dense_blocks", attrs, inputs, {s.rows, s.units}, DType::kFloat32);
  inputs.push_back(Input({s.units}, static_cast<int>(inputs.size())));
  return Spec(
      fmt::format("blocks_{}_{}{}_{}x{}x{}_{}", blocks.form->name, blocks.size,
                  blocks.has_zero_points ? "z" : "", s.rows.ToString(), s.depth, s.units, s.width),
      inputs, {AddBias(product, inputs.back(), 1)});
}

// Runs the kernel for so many rows, whole and unit by unit, and compares.
void Check(KernelHarness& harness, size_t kernel, const Size& s, const Weight& weight, int64_t rows,
           bool rounds_data) {
  HostTensor data = RandomTensor(DType::kFloat32, {rows, s.depth}, 7);
  const HostTensor bias = RandomTensor(DType::kFloat32, {s.units}, 8);
  std::vector<HostTensor> inputs = {data};
  inputs.insert(inputs.end(), weight.packed.begin(), weight.packed.end());
  inputs.push_back(bias);
  const SymbolValues symbols = {{1, rows}};
  const HostTensor got = harness.Run(kernel, inputs, symbols)[0];
  const HostTensor in_units = harness.Run(kernel, inputs, symbols, 1)[0];
  CHECK(std::equal(got.data.data(), got.data.data() + got.data.size(), in_units.data.data()));
  int failures = 0;
  for (int64_t i = 0; i < rows && failures < 3; ++i) {
    for (int64_t n = 0; n < s.units && failures < 3; ++n) {
      double sum = Floats(bias)[n], magnitude = std::abs(sum);
      for (int64_t k = 0; k < s.depth; ++k) {
        const float x = Floats(data)[i * s.depth + k];
        const double product = (rounds_data ? BFloatToFloat(FloatToBFloat(x)) : x) *
                               weight.values[static_cast<size_t>(k * s.units + n)];
        sum += product;
        magnitude += std::abs(product);
      }
      const double error = std::abs(Floats(got)[i * s.units + n] - sum);
      if (error <= static_cast<double>(s.depth + 4) * 0x1p-24 * magnitude) continue;
      ++failures;
      CHECK_MESSAGE(false, fmt::format("{}x{}x{} at {}, {}: {} instead of {}", rows, s.depth,
                                       s.units, i, n, Floats(got)[i * s.units + n], sum));
    }
  }
}

std::vector<Size> Sizes(int64_t width) {
  std::vector<Size> sizes;
  for (int64_t k : {0, 1, 2, 33, 511, 1100}) {
    sizes.push_back({kRows, k, width + 5, width});
  }
  for (int64_t n : {1, 7, 17, 64}) sizes.push_back({kRows, 70, n, width});
  for (int64_t m : {1, 3, 9, 25}) sizes.push_back({m, 75, 2 * width + 9, width});
  for (int64_t other : {4, 48}) sizes.push_back({kRows, 129, 50, other});
  return sizes;
}

std::vector<int64_t> RowsOf(const Size& s, const std::string& cpu) {
  if (s.rows.is_const()) return {s.rows.value()};
  // Where AMX begins, with any number of tiles.
  if (cpu == "sapphirerapids") return {0, 1, 8, 9, 16, 17, 32, 33, 49, 70};
  return {0, 1, 2, 7, 8, 9, 12, 13, 30};
}

TEST_CASE("weights in pairs of bfloat16, on every target") {
  const amx::Emulator emulator;
  for (const std::string& cpu : TargetsWithAmx()) {
    CAPTURE(cpu);
    KernelHarness harness(OptionsFor(cpu));
    const std::vector<Size> sizes = Sizes(codegen::PreferredPanelWidth(MachineNamed(cpu)));
    std::vector<size_t> kernels;
    for (const Size& s : sizes) {
      REQUIRE(IsContraction(PairsSpec(s), cpu));
      kernels.push_back(harness.Add(PairsSpec(s)));
    }
    harness.Finish();
    for (size_t i = 0; i < sizes.size(); ++i) {
      const Weight weight = Pairs(sizes[i], static_cast<uint32_t>(i) + 1);
      for (int64_t rows : RowsOf(sizes[i], cpu)) {
        Check(harness, kernels[i], sizes[i], weight, rows, /*rounds_data=*/true);
      }
    }
  }
}

TEST_CASE("weights of float16, on every target") {
  for (const std::string& cpu : Targets()) {
    CAPTURE(cpu);
    KernelHarness harness(OptionsFor(cpu));
    const std::vector<Size> sizes = Sizes(codegen::PreferredPanelWidth(MachineNamed(cpu)));
    std::vector<size_t> kernels;
    for (const Size& s : sizes) {
      REQUIRE(IsContraction(HalvesSpec(s), cpu));
      kernels.push_back(harness.Add(HalvesSpec(s)));
    }
    harness.Finish();
    CHECK(harness.image().cpu_features.find(',') == std::string::npos);
    for (size_t i = 0; i < sizes.size(); ++i) {
      const Weight weight = Halves(sizes[i], static_cast<uint32_t>(i) + 1);
      for (int64_t rows : RowsOf(sizes[i], cpu)) {
        Check(harness, kernels[i], sizes[i], weight, rows, /*rounds_data=*/false);
      }
    }
  }
}

TEST_CASE("weights in blocks of every form, on every target") {
  for (const std::string& cpu : Targets()) {
    CAPTURE(cpu);
    KernelHarness harness(OptionsFor(cpu));
    struct Case {
      Size size;
      Blocks blocks;
      size_t kernel;
    };
    std::vector<Case> cases;
    auto add = [&](const Size& s, const Blocks& blocks) {
      const KernelSpec spec = BlocksSpec(s, blocks);
      REQUIRE_MESSAGE(IsContraction(spec, cpu), spec.name);
      cases.push_back({s, blocks, harness.Add(spec)});
    };
    const int64_t width = codegen::PreferredPanelWidth(MachineNamed(cpu));
    for (const WeightForm& form : WeightForms()) {
      if (form.block == 0) continue;
      const bool has_zeros = form.decode == nullptr;
      for (const Size& s : Sizes(width)) add(s, {&form, 32, has_zeros && s.depth % 2 == 1});
      for (int64_t block : {16, 64, 128, 256}) {
        for (int zeros = 0; zeros <= (has_zeros ? 1 : 0); ++zeros)
          add({kRows, 600, width + 3, width}, {&form, block, zeros == 1});
      }
    }
    harness.Finish();
    CHECK(harness.image().cpu_features.find(',') == std::string::npos);
    for (size_t i = 0; i < cases.size(); ++i) {
      const Case& c = cases[i];
      const Weight weight = InBlocks(c.size, c.blocks, static_cast<uint32_t>(i) * 10 + 1);
      for (int64_t rows : RowsOf(c.size, cpu)) {
        CAPTURE(c.blocks.form->name);
        Check(harness, c.kernel, c.size, weight, rows, /*rounds_data=*/false);
      }
    }
  }
}

TEST_CASE("blocks that tiles cannot begin with are left to plain loops") {
  const WeightForm* form = FindWeightForm("q8");
  for (int64_t block : {8, 24, 1024}) {
    const Size s{kRows, 70, 9, 16};
    CHECK(IsContraction(BlocksSpec(s, {form, block, false})) == (block == 8));
    if (block == 8) continue;
    KernelHarness harness;
    const size_t kernel = harness.Add(BlocksSpec(s, {form, block, true}));
    harness.Finish();
    Check(harness, kernel, s, InBlocks(s, {form, block, true}, 5), 3, /*rounds_data=*/false);
  }
}

TEST_CASE("an image asks for the features of pairs only where its kernels multiply them") {
  const CpuFeatures machine = CpuFeatures::OfThisMachine();
  const bool has = machine.Missing("x86-64-v4,avx512bf16").empty();
  const bool has_amx = machine.Missing("amx-bf16").empty();
  auto features = [](const Size& s, const std::string& cpu) {
    KernelHarness harness({.machine = MachineNamed(cpu)});
    harness.Add(PairsSpec(s));
    harness.Finish();
    return harness.image().cpu_features;
  };
  CHECK(features({100, 64, 64, 32}, "x86-64-v4") == "x86-64-v4");
  if (!has) return;
  CHECK(features({8, 64, 64, 32}, "native") == "x86-64-v4,avx512bf16");
  // Many rows by AMX, and few by AVX-512, where there is AMX.
  CHECK(features({kRows, 64, 64, 32}, "native") ==
        (has_amx ? "x86-64-v4,amx-bf16,amx-tile,avx512bf16" : "x86-64-v4,avx512bf16"));
}

TEST_CASE("what is no number or has no end comes through pairs; the padding adds nothing") {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  const amx::Emulator emulator;
  for (const std::string& cpu : TargetsWithAmx()) {
    const Size s{kRows, 3, 2, codegen::PreferredPanelWidth(MachineNamed(cpu))};
    KernelHarness harness({.machine = MachineNamed(cpu)});
    const size_t kernel = harness.Add(PairsSpec(s));
    harness.Finish();
    Weight weight = Pairs(s, 1);
    auto* words = reinterpret_cast<uint16_t*>(weight.packed[0].data.Mutable().data());
    for (int64_t k = 0; k < 4; ++k) {
      for (int64_t n = 0; n < 2; ++n) words[(k / 2 * s.width + n) * 2 + k % 2] = FloatToBFloat(1);
    }
    words[2 + 1] = FloatToBFloat(0);                      // k = 1 of column 1
    words[s.width * 2 + 1] = words[s.width * 2 + 3] = 0;  // the padding
    for (int64_t rows : {1, 20}) {
      HostTensor data = MakeTensor(DType::kFloat32, {rows, 3});
      auto set = [&](float a, float b, float c) {
        for (int64_t i = 0; i < rows; ++i) {
          Floats(data)[i * 3] = a, Floats(data)[i * 3 + 1] = b, Floats(data)[i * 3 + 2] = c;
        }
      };
      const HostTensor bias = MakeTensor(DType::kFloat32, {2});
      auto run = [&] {
        return harness.Run(kernel, {data, weight.packed[0], bias}, {{1, rows}})[0];
      };
      set(1, 2, kInfinity);
      HostTensor out = run();
      CHECK(Floats(out)[0] == kInfinity);
      CHECK(Floats(out)[1] == kInfinity);
      set(1, kInfinity, 3);
      out = run();
      CHECK(Floats(out)[0] == kInfinity);
      CHECK(std::isnan(Floats(out)[1]));  // inf * 0
      set(1, 1, kNan);
      CHECK(std::isnan(Floats(run())[0]));
      set(3.4e38F, 0, 0);  // rounds to inf
      CHECK(Floats(run())[0] == kInfinity);
      set(1 + 0x1p-8F, 0, 1 + 0x1p-7F + 0x1p-8F);  // ties go to even: 1 and 1 + 2^-6
      CHECK(Floats(run())[0] == 2 + 0x1p-6F);
    }
  }
}

}  // namespace
}  // namespace relayvm
