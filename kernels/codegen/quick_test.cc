// KernelOptions::quick: kernels of little code compute what others do.
#include <doctest/doctest.h>

#include "kernels/codegen/contraction/conv_cases.h"
#include "kernels/codegen/kernel_harness.h"

namespace relayvm {
namespace {

using te::AxisValue;
using te::Expr;
using te::Load;
using te::ReduceKind;
using te::Tensor;
using Indices = std::vector<Expr>;

const Dim kM = Dim::Symbol(1, "m"), kN = Dim::Symbol(2, "n"), kK = Dim::Symbol(3, "k");

KernelOptions Quick(std::string_view target) {
  KernelOptions options;
  options.machine = MachineNamed(target);
  options.opt_level = 0;
  options.quick = true;
  return options;
}

Tensor MakeInput(std::vector<Dim> shape, int index, DType dtype = DType::kFloat32) {
  return te::Placeholder("in", std::move(shape), dtype, index);
}

KernelSpec MakeSpec(std::string name, std::vector<Tensor> inputs, std::vector<Tensor> outputs) {
  KernelSpec spec;
  spec.name = std::move(name);
  spec.inputs = std::move(inputs);
  spec.outputs = std::move(outputs);
  return spec;
}

// a @ b, b as (k, n) or as (n, k).
KernelSpec Product(bool transposed, DType dtype = DType::kFloat32) {
  Tensor a = MakeInput({kM, kK}, 0, dtype);
  Tensor b = MakeInput(transposed ? std::vector<Dim>{kN, kK} : std::vector<Dim>{kK, kN}, 1, dtype);
  Tensor product = te::Compute("product", {kM, kN}, [&](const Indices& i) {
    te::Axis axis = te::MakeAxis("k", kK);
    Expr k = AxisValue(axis);
    Expr right = transposed ? Load(b, {i[1], k}) : Load(b, {k, i[1]});
    return te::Reduce(ReduceKind::kSum, Load(a, {i[0], k}) * right, {axis}, dtype);
  });
  return MakeSpec(transposed ? "nt" : "nn", {a, b}, {product});
}

TEST_CASE("quick: products along either factor's rows, with rests of each extent") {
  for (const char* target : {"x86-64-v2", "x86-64-v3", "x86-64-v4"}) {
    if (!Runs(target)) continue;
    CAPTURE(target);
    KernelHarness harness(Quick(target));
    std::vector<size_t> kernels;
    for (DType dtype : {DType::kFloat32, DType::kInt32, DType::kFloat16}) {
      for (bool transposed : {false, true})
        kernels.push_back(harness.Add(Product(transposed, dtype)));
    }
    harness.Finish();
    for (int64_t m : {1, 5, 8}) {
      for (int64_t n : {1, 16, 19}) {
        for (int64_t k : {0, 1, 35}) {
          for (size_t kernel : kernels) harness.Check(kernel, {{1, m}, {2, n}, {3, k}}, 1e-4);
        }
      }
    }
  }
}

TEST_CASE("quick: convolutions") {
  const Conv cases[] = {
      {.input = {9, 21},
       .in_channels = 3,
       .out_channels = 6,
       .kernel = {3, 3},
       .stride = {1, 1},
       .padding = {1, 1},
       .dilation = {1, 1}},
      {.input = {11, 37},
       .in_channels = 2,
       .out_channels = 5,
       .kernel = {3, 3},
       .stride = {2, 2},
       .padding = {1, 1},
       .dilation = {1, 1},
       .symbolic = true},
      {.input = {7, 18},
       .in_channels = 6,
       .out_channels = 6,
       .groups = 6,
       .kernel = {3, 3},
       .stride = {1, 1},
       .padding = {1, 1},
       .dilation = {1, 1}},
      {.input = {7, 5},
       .in_channels = 4,
       .out_channels = 18,
       .kernel = {1, 3},
       .stride = {1, 1},
       .padding = {0, 1},
       .dilation = {1, 2},
       .channels_last = true},
      // What the result may overwrite is read once; what an image is made of is computed once.
      {.input = {6, 21},
       .in_channels = 3,
       .out_channels = 5,
       .kernel = {3, 3},
       .stride = {1, 1},
       .padding = {1, 1},
       .dilation = {1, 1},
       .around = Around::kBiasReluResidual},
      {.input = {6, 13},
       .in_channels = 2,
       .out_channels = 4,
       .kernel = {3, 3},
       .stride = {1, 1},
       .padding = {1, 1},
       .dilation = {1, 1},
       .around = Around::kPrologue,
       .symbolic = true},
      // More padding than a copy is made of.
      {.input = {5, 6},
       .in_channels = 2,
       .out_channels = 3,
       .kernel = {3, 3},
       .stride = {5000, 1},
       .padding = {5000, 1},
       .dilation = {1, 1}},
      {.input = {40},
       .in_channels = 4,
       .out_channels = 3,
       .kernel = {5},
       .stride = {1},
       .padding = {2},
       .dilation = {1}},
  };
  for (const char* target : {"x86-64-v2", "x86-64-v3", "x86-64-v4"}) {
    if (!Runs(target)) continue;
    CAPTURE(target);
    KernelHarness harness(Quick(target));
    std::vector<SymbolValues> symbols;
    for (const Conv& c : cases) {
      symbols.emplace_back();
      harness.Add(SpecOf(c, symbols.back()));
    }
    harness.Finish();
    for (size_t k = 0; k < symbols.size(); ++k) harness.Check(k, symbols[k], 1e-4);
  }
}

TEST_CASE("quick: a padded image is kept in memory, once for a unit; depthwise, by channel") {
  for (const bool is_depthwise : {false, true}) {
    const int64_t channels = is_depthwise ? 16 : 1;
    const Conv conv = {.input = {30, 60},
                       .in_channels = 16,
                       .out_channels = 16,
                       .groups = channels,
                       .kernel = {3, 3},
                       .stride = {1, 1},
                       .padding = {1, 1},
                       .dilation = {1, 1}};
    SymbolValues symbols;
    const KernelSpec spec = SpecOf(conv, symbols);
    KernelCompiler compiler(Quick("x86-64-v3"));
    auto added = compiler.Add(spec);
    REQUIRE(added.ok());
    CHECK(added->interface.parallel_extent == Dim(channels));
    const int64_t bytes = 16 / channels * (30 + 2) * (60 + 2) * int64_t{sizeof(float)};
    CHECK(added->interface.scratch_bytes == Dim((bytes + 63) / 64 * 64));
  }
}

TEST_CASE("quick: no image is copied with more padding than windows have") {
  const int64_t far = 2'000'000;
  const Conv conv = {.input = {4, 4},
                     .in_channels = 2,
                     .out_channels = 2,
                     .kernel = {3, 3},
                     .stride = {far, far},
                     .padding = {far, far},
                     .dilation = {1, 1}};
  SymbolValues symbols;
  KernelCompiler compiler(Quick("x86-64-v3"));
  auto added = compiler.Add(SpecOf(conv, symbols));
  REQUIRE(added.ok());
  CHECK(added->interface.scratch_bytes == Dim(0));
}

// Softmax of rows, an addition, a transposition, a join and pairs of neighbours.
std::vector<KernelSpec> Loops() {
  Tensor x = MakeInput({kM, kN}, 0), y = MakeInput({kM, kN}, 1);
  auto reduce = [&](ReduceKind kind, const Tensor& t) {
    return te::Compute("reduced", {kM, Dim(1)}, [&](const Indices& i) {
      te::Axis axis = te::MakeAxis("n", kN);
      return te::Reduce(kind, Load(t, {i[0], AxisValue(axis)}), {axis}, DType::kFloat32);
    });
  };
  Tensor top = reduce(ReduceKind::kMax, x);
  Tensor powers = te::Compute("powers", {kM, kN}, [&](const Indices& i) {
    return te::Unary(te::UnaryOp::kExp, Load(x, i) - Load(top, {i[0], te::IntImm(0)}));
  });
  Tensor sum = reduce(ReduceKind::kSum, powers);
  Tensor softmax = te::Compute("softmax", {kM, kN}, [&](const Indices& i) {
    return te::Binary(te::BinaryOp::kDivide, Load(powers, i), Load(sum, {i[0], te::IntImm(0)}));
  });
  Tensor add =
      te::Compute("add", {kM, kN}, [&](const Indices& i) { return Load(x, i) + Load(y, i); });
  Tensor transpose =
      te::Compute("transpose", {kN, kM}, [&](const Indices& i) { return Load(x, {i[1], i[0]}); });
  Tensor join = te::Compute("join", {kM, kN + kN}, [&](const Indices& i) {
    Expr n = te::DimValue(kN);
    return te::Select(i[1] < n, Load(x, {i[0], i[1]}), Load(y, {i[0], i[1] - n}));
  });
  Tensor pairs = te::Compute("pairs", {kM, kN, Dim(2)}, [&](const Indices& i) {
    return te::Select(i[2] < te::IntImm(1), Load(x, {i[0], i[1]}), Load(y, {i[0], i[1]}));
  });
  return {MakeSpec("softmax", {x}, {softmax}), MakeSpec("add", {x, y}, {add}),
          MakeSpec("transpose", {x}, {transpose}), MakeSpec("join", {x, y}, {join}),
          MakeSpec("pairs", {x, y}, {pairs})};
}

TEST_CASE("quick: rows with reductions, elements, joins and a copy across axes") {
  KernelHarness harness(Quick("native"));
  const std::vector<KernelSpec> specs = Loops();
  for (const KernelSpec& spec : specs) harness.Add(spec);
  harness.Finish();
  for (int64_t m : {0, 1, 7}) {
    for (int64_t n : {0, 1, 33, 700}) {
      for (size_t k = 0; k < specs.size(); ++k) harness.Check(k, {{1, m}, {2, n}, {3, 1}}, 1e-4);
    }
  }
}

// Beside what takes long they keep the units that they were planned with.
TEST_CASE("quick: loops that are next to nothing of a program's time") {
  for (const char* target : {"x86-64-v2", "x86-64-v3", "x86-64-v4"}) {
    if (!Runs(target)) continue;
    CAPTURE(target);
    KernelOptions options = Quick(target);
    options.opt_level = 3;
    options.quick = false;
    options.by_share = options.time_kernels = true;
    KernelHarness harness(options);
    const std::vector<KernelSpec> specs = Loops();
    for (const KernelSpec& spec : specs) harness.Add(spec);
    Tensor large = MakeInput({Dim(int64_t{1} << 40)}, 0);
    harness.Add(
        MakeSpec("large", {large}, {te::Compute("twice", large->shape, [&](const Indices& i) {
                   return Load(large, i) + Load(large, i);
                 })}));
    harness.Finish();
    size_t quick = 0;
    for (const KernelTime& k : harness.image().times.kernels) quick += k.opt_level == 0 ? 1 : 0;
    CHECK(quick == specs.size());
    for (int64_t m : {0, 1, 7}) {
      for (int64_t n : {0, 1, 33, 700}) {
        for (size_t k = 0; k < specs.size(); ++k) harness.Check(k, {{1, m}, {2, n}, {3, 1}}, 1e-4);
      }
    }
  }
}

// What the level is for: a product in less code than its tiles of packed pixels take, without masks
// too.
TEST_CASE("quick: a convolution is less than two fifths of the code of the best one") {
  const Conv conv = {.input = {56, 56},
                     .in_channels = 64,
                     .out_channels = 64,
                     .kernel = {3, 3},
                     .stride = {2, 2},
                     .padding = {1, 1},
                     .dilation = {1, 1}};
  size_t lines[2] = {0, 0};
  for (bool quick : {false, true}) {
    KernelOptions options = Quick("x86-64-v3");
    options.quick = quick;
    options.time_kernels = true;
    KernelCompiler compiler(options);
    SymbolValues symbols;
    REQUIRE(compiler.Add(SpecOf(conv, symbols)).ok());
    auto image = compiler.Finish();
    REQUIRE_MESSAGE(image.ok(), image.status().ToString());
    for (const KernelTime& t : image->times.kernels) lines[quick ? 1 : 0] += t.lines;
  }
  CHECK_MESSAGE(lines[1] * 5 < lines[0] * 2, lines[1], " lines against ", lines[0]);
}

}  // namespace
}  // namespace relayvm
