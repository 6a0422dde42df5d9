#include "kernels/codegen/contraction/winograd.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/codegen/contraction/harness.h"
#include "kernels/op/winograd.h"

namespace relayvm {
namespace {

using te::Tensor;

// Levels below x86-64-v3 have no kernels of this form: PreferredWinograd chooses none there, and
// programs for other levels run by loops.
std::vector<std::string> WinogradTargets() {
  std::vector<std::string> targets = Targets();
  std::erase_if(targets,
                [](const std::string& cpu) { return MachineNamed(cpu).vector_bytes < 32; });
  return targets;
}
// What PreferredWinograd gives weights there.
int64_t RowsOf(const std::string& cpu) {
  const int64_t rows = codegen::PreferredWinograd(MachineNamed(cpu), {64, 64, 1, 56, 56}).rows;
  return rows > 0 ? rows : 6;
}

struct Case {
  int64_t tile = 4, images = 1, in_channels = 1, out_channels = 1, height = 3, width = 3;
  std::vector<int64_t> padding = {1, 1, 1, 1};
  int64_t rows = RowsOf("native"), blocks = 2;
  bool symbolic = false;
  bool is_followed = false;  // by bias, relu and a residual

  std::vector<int64_t> weight_shape() const {
    const int64_t of_group = rows * blocks;
    return {(out_channels + of_group - 1) / of_group, (tile + 2) * (tile + 2), blocks, in_channels,
            rows};
  }
};

struct Built {
  KernelSpec spec;
  SymbolValues symbols;
};

Built Build(const Case& c) {
  Built built;
  auto extent = [&](uint32_t id, int64_t value) -> Dim {
    if (!c.symbolic) return value;
    built.symbols[id] = value;
    return Dim::Symbol(id, "s" + std::to_string(id));
  };
  const Dim n = extent(1, c.images), h = extent(2, c.height), w = extent(3, c.width);
  const std::vector<int64_t> weight = c.weight_shape();
  Attrs attrs;
  attrs.Set("tile_size", c.tile);
  attrs.Set("channels", c.out_channels);
  attrs.Set("padding", AttrList(c.padding.begin(), c.padding.end()));
  std::vector<Tensor> in = {Input({n, c.in_channels, h, w}, 0),
                            Input({weight.begin(), weight.end()}, 1)};
  const std::vector<Dim> shape = {n, c.out_channels, h + (c.padding[0] + c.padding[2] - 2),
                                  w + (c.padding[1] + c.padding[3] - 2)};
  Tensor t = Apply("nn.contrib_conv2d_winograd", attrs, in, shape, DType::kFloat32);
  if (c.is_followed) {
    in.push_back(Input({c.out_channels}, 2));
    in.push_back(Input(shape, 3));
    t = AddTensor(Relu(AddBias(t, in[2], 1)), in[3]);
  }
  built.spec = Spec(fmt::format("winograd{}_{}x{}x{}x{}_{}", c.tile, c.images, c.in_channels,
                                c.height, c.width, c.out_channels),
                    in, {t});
  return built;
}

// Extents around those of tiles and vectors, channels around those of rows; each static and
// symbolic, alone and followed, with paddings of all kinds in turn.
std::vector<Case> Cases(int64_t rows) {
  const std::vector<std::vector<int64_t>> paddings = {
      {1, 1, 1, 1}, {0, 0, 0, 0}, {2, 0, 1, 3}, {0, 5, 4, 0}};
  const std::vector<std::pair<int64_t, int64_t>> extents = {
      {3, 3}, {4, 6}, {7, 19}, {14, 14}, {3, 131}};

  std::vector<Case> cases;
  size_t i = 0;
  for (int64_t tile : {2, 4}) {
    for (const auto& [height, width] : extents) {
      for (bool symbolic : {false, true}) {
        Case c;
        c.tile = tile;
        c.height = height;
        c.width = width;
        c.symbolic = symbolic;
        c.is_followed = i % 3 != 0;
        c.padding = paddings[i % paddings.size()];
        c.images = i % 5 == 0 ? 3 : 1;
        c.in_channels = std::vector<int64_t>{1, 3, 8, 5}[i % 4];
        c.out_channels = std::vector<int64_t>{7, 1, 8, 17, 2}[i % 5];
        c.rows = rows;
        c.blocks = static_cast<int64_t>(i % 3) + 1;
        cases.push_back(c);
        ++i;
      }
    }
  }
  return cases;
}

TEST_CASE("convolutions of Winograd's form in kernels of their own") {
  for (const std::string& cpu : WinogradTargets()) {
    INFO("cpu ", cpu);
    ContractionCases cases(cpu);
    for (const Case& c : Cases(RowsOf(cpu))) {
      const Built built = Build(c);
      cases.Add(built.spec, {built.symbols});
    }
    cases.Check();
  }
}

TEST_CASE("blocks of several panels and groups of output channels") {
  for (const std::string& cpu : WinogradTargets()) {
    INFO("cpu ", cpu);
    ContractionCases cases(cpu);
    for (bool symbolic : {false, true}) {
      Case c;
      c.in_channels = 30;
      c.out_channels = 203;
      c.height = 12;
      c.width = 70;
      c.rows = RowsOf(cpu);
      c.symbolic = symbolic;
      const Built built = Build(c);
      cases.Add(built.spec, {built.symbols});
    }
    cases.Check();
  }
}

// --- Weights that are no constants ---

// nn.conv2d by 3 x 3 kernels that are an input, or twice an input.
Built BuildPlain(int64_t channels, int64_t outputs, int64_t extent, bool is_computed,
                 bool symbolic) {
  Built built;
  Dim h = extent, w = extent + 5;
  if (symbolic) {
    h = Dim::Symbol(1, "h");
    w = Dim::Symbol(2, "w");
    built.symbols = {{1, extent}, {2, extent + 5}};
  }
  Attrs attrs;
  attrs.Set("padding", AttrList(2, AttrValue(int64_t{1})));
  const std::vector<Tensor> in = {Input({1, channels, h, w}, 0),
                                  Input({outputs, channels, 3, 3}, 1)};
  const Tensor kernel =
      is_computed ? Map(in[1], [](const te::Expr& x, const auto&) { return x + x; }) : in[1];
  const Tensor conv =
      Apply("nn.conv2d", attrs, {in[0], kernel}, {1, outputs, h, w}, DType::kFloat32);
  built.spec =
      Spec(fmt::format("plain_{}_{}_{}", channels, outputs, is_computed), in, {Relu(conv)});
  return built;
}

TEST_CASE("weights that are inputs or computed are transformed by the kernel") {
  for (const std::string& cpu : WinogradTargets()) {
    INFO("cpu ", cpu);
    ContractionCases cases(cpu, {}, /*exact=*/false);
    codegen::ContractionTarget target{MachineNamed(cpu)};
    for (int64_t outputs : {40, 37, 52}) {
      for (bool symbolic : {false, true}) {
        const Built built = BuildPlain(16, outputs, 24, outputs == 37, symbolic);
        target.exact = true;
        CHECK_FALSE(codegen::PlanContraction(built.spec, target)->winograd);
        target.exact = false;
        CHECK(codegen::PlanContraction(built.spec, target)->winograd);
        cases.Add(built.spec, {built.symbols});
      }
    }
    cases.Check();
  }
}

// --- Error ---

float At(const HostTensor& t, int64_t i) { return static_cast<float>(Element(t, i).f); }

// G kernel G^T of (O, C, 3, 3), as the operator takes it.
HostTensor Transformed(const Case& c, const HostTensor& kernels) {
  const int64_t window = WinogradWindow(c.tile);
  HostTensor weight = MakeTensor(DType::kFloat32, c.weight_shape());
  for (int64_t at = 0; at < weight.size(); ++at) {
    const int64_t k = at / c.rows % c.in_channels;
    const int64_t block = at / c.rows / c.in_channels % c.blocks;
    const int64_t product = at / c.rows / c.in_channels / c.blocks % (window * window);
    const int64_t group = at / c.rows / c.in_channels / c.blocks / (window * window);
    const int64_t o = (group * c.blocks + block) * c.rows + at % c.rows;
    double sum = 0;
    for (int64_t tap = 0; tap < 9 && o < c.out_channels; ++tap) {
      sum += WinogradOfKernel(c.tile, product / window, tap / 3) *
             WinogradOfKernel(c.tile, product % window, tap % 3) *
             At(kernels, (o * c.in_channels + k) * 9 + tap);
    }
    const auto value = static_cast<float>(sum);
    std::memcpy(weight.data.Mutable().data() + at * 4, &value, 4);
  }
  return weight;
}

// What the header of kernels/op/winograd.h states, against direct sums in float64; returns how many
// times the error of direct sums in float32 it is, of root mean squares.
double CheckError(KernelHarness& harness, size_t kernel, const Case& c, uint32_t seed, bool relu) {
  const int64_t window = WinogradWindow(c.tile);
  const HostTensor data = RandomTensor(
      DType::kFloat32, {c.images, c.in_channels, c.height, c.width}, seed, relu ? 0 : -1, 1);
  const HostTensor kernels =
      RandomTensor(DType::kFloat32, {c.out_channels, c.in_channels, 3, 3}, seed + 1, -1, 1);
  const HostTensor weight = Transformed(c, kernels);
  const HostTensor got = harness.Run(kernel, {data, weight}, {})[0];
  const auto height = got.shape[2], width = got.shape[3];
  auto element = [&](int64_t n, int64_t k, int64_t y, int64_t x) -> double {
    if (y < 0 || x < 0 || y >= c.height || x >= c.width) return 0;
    return At(data, ((n * c.in_channels + k) * c.height + y) * c.width + x);
  };
  double squares = 0, direct_squares = 0;
  for (int64_t at = 0; at < got.size(); ++at) {
    const int64_t x = at % width, y = at / width % height;
    const int64_t o = at / width / height % c.out_channels,
                  n = at / width / height / c.out_channels;
    double exact = 0, magnitude = 0;
    float direct = 0;
    for (int64_t k = 0; k < c.in_channels; ++k) {
      double of_kernel = 0, largest = 0;
      for (int64_t tap = 0; tap < 9; ++tap) {
        const double v = element(n, k, y + tap / 3 - c.padding[0], x + tap % 3 - c.padding[1]);
        const double w = At(kernels, (o * c.in_channels + k) * 9 + tap);
        exact += v * w;
        direct = std::fma(static_cast<float>(v), static_cast<float>(w), direct);
        of_kernel += std::abs(w);
      }
      for (int64_t i = 0; i < window * window; ++i) {
        largest = std::max(largest,
                           std::abs(element(n, k, y / c.tile * c.tile + i / window - c.padding[0],
                                            x / c.tile * c.tile + i % window - c.padding[1])));
      }
      magnitude += of_kernel * largest;
    }
    const double error = std::abs(At(got, at) - exact);
    CHECK(error <= WinogradError(c.tile) * std::ldexp(1, -24) * magnitude);
    squares += error * error;
    direct_squares += (direct - exact) * (direct - exact);
  }
  return std::sqrt(squares / direct_squares);
}

TEST_CASE("results are as near to the exact ones as stated") {
  for (int64_t tile : {2, 4}) {
    KernelHarness harness;
    std::vector<Case> cases;
    std::vector<size_t> kernels;
    for (int64_t channels : {1, 16, 256}) {
      Case c;
      c.tile = tile;
      c.in_channels = channels;
      c.out_channels = 9;
      c.height = 13;
      c.width = 22;
      cases.push_back(c);
      kernels.push_back(harness.Add(Build(c).spec));
    }
    harness.Finish();
    for (size_t i = 0; i < cases.size(); ++i) {
      for (bool relu : {false, true}) {
        const double ratio =
            CheckError(harness, kernels[i], cases[i], static_cast<uint32_t>(i), relu);
        INFO("tile ", tile, " channels ", cases[i].in_channels);
        // With one channel, direct sums are short too.
        CHECK(ratio < (tile == 2 ? 2 : 4) * (cases[i].in_channels == 1 ? 2 : 1));
      }
    }
  }
}

// --- Far values ---

// The operator's inputs: two images of ordinary numbers, of which the first has `value` at one
// pixel of one channel, and what follows.
std::vector<HostTensor> InputsWithFar(const Case& c, const HostTensor& weight, float value,
                                      int64_t pixel) {
  std::vector<HostTensor> inputs = {
      RandomTensor(DType::kFloat32, {c.images, c.in_channels, c.height, c.width}, 3), weight};
  const int64_t channel = (c.in_channels - 1) * c.height * c.width;
  std::memcpy(inputs[0].data.Mutable().data() + (channel + pixel) * 4, &value, 4);
  if (c.is_followed) {
    inputs.push_back(RandomTensor(DType::kFloat32, {c.out_channels}, 4));
    inputs.push_back(
        RandomTensor(DType::kFloat32,
                     {c.images, c.out_channels, c.height + c.padding[0] + c.padding[2] - 2,
                      c.width + c.padding[1] + c.padding[3] - 2},
                     5));
  }
  return inputs;
}

// Sums in float64: each result that reads no far value is as near as a direct sum is to what it is
// without one; the others are what arithmetic makes of it.
void CheckFar(const Case& c, const std::vector<HostTensor>& inputs, const HostTensor& kernels,
              const HostTensor& got) {
  const int64_t height = got.shape[2], width = got.shape[3];
  int64_t wrong = 0;
  for (int64_t at = 0; at < got.size(); ++at) {
    const int64_t x = at % width, y = at / width % height;
    const int64_t o = at / width / height % c.out_channels,
                  n = at / width / height / c.out_channels;
    double exact = 0, magnitude = 0;
    for (int64_t k = 0; k < c.in_channels; ++k) {
      for (int64_t tap = 0; tap < 9; ++tap) {
        const int64_t row = y + tap / 3 - c.padding[0], column = x + tap % 3 - c.padding[1];
        if (row < 0 || column < 0 || row >= c.height || column >= c.width) continue;
        const double v =
            At(inputs[0], ((n * c.in_channels + k) * c.height + row) * c.width + column);
        const double w = At(kernels, (o * c.in_channels + k) * 9 + tap);
        exact += v * w;
        magnitude += std::abs(v * w);
      }
    }
    if (c.is_followed) {
      if (std::isnan(exact)) continue;  // nn.relu makes of it what it does anywhere
      exact += At(inputs[2], o);
      exact = std::max(exact, 0.0) + At(inputs[3], at);
      magnitude += std::abs(At(inputs[2], o)) + std::abs(At(inputs[3], at));
    }
    const double found = At(got, at);
    constexpr double kLargest = std::numeric_limits<float>::max();
    const bool is_right =
        std::abs(exact) < kLargest / 2 && magnitude < kLargest / 2
            ? std::abs(found - exact) <= 3e-5 * magnitude + 1e-30
            : !(std::abs(found) < kLargest / 1e6) || found == static_cast<float>(exact);
    if (!is_right && wrong++ == 0) {
      INFO("result ", n, " ", o, " ", y, " ", x);
      CHECK(found == exact);
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("results that do not read a far value are as without it") {
  for (const std::string& cpu : WinogradTargets()) {
    for (const bool is_followed : {false, true}) {
      for (const int64_t tile : {2, 4}) {
        Case c;
        c.tile = tile;
        c.images = 2;
        c.in_channels = 9;
        c.out_channels = 19;
        c.height = 13;
        c.width = 45;
        c.padding =
            is_followed ? std::vector<int64_t>{2, 0, 1, 3} : std::vector<int64_t>{1, 1, 1, 1};
        c.rows = RowsOf(cpu);
        c.symbolic = is_followed;
        c.is_followed = is_followed;
        const Built built = Build(c);
        KernelHarness harness({.machine = MachineNamed(cpu)});
        const size_t kernel = harness.Add(built.spec);
        harness.Finish();
        const HostTensor kernels =
            RandomTensor(DType::kFloat32, {c.out_channels, c.in_channels, 3, 3}, 6);
        const HostTensor weight = Transformed(c, kernels);
        const auto run = [&](const std::vector<HostTensor>& inputs, uint32_t piece) {
          return harness.Run(kernel, inputs, built.symbols, piece)[0];
        };
        const HostTensor usual = run(InputsWithFar(c, weight, 1.0F, 0), 0);
        for (const float value : {1e4F, -1e9F, 3e38F, std::numeric_limits<float>::infinity(),
                                  std::numeric_limits<float>::quiet_NaN()}) {
          for (const int64_t pixel : {int64_t{0}, 6 * c.width + 20, c.height * c.width - 1}) {
            INFO("cpu ", cpu, " followed ", is_followed, " tile ", tile, " value ", value, " at ",
                 pixel);
            const std::vector<HostTensor> inputs = InputsWithFar(c, weight, value, pixel);
            const HostTensor got = run(inputs, 0);
            CheckFar(c, inputs, kernels, got);
            const HostTensor pieces = run(inputs, 1);
            CHECK(std::memcmp(pieces.data.data(), got.data.data(), got.data.size()) == 0);
            const size_t image = got.data.size() / 2;
            CHECK(std::memcmp(usual.data.data() + image, got.data.data() + image, image) == 0);
          }
        }
      }
    }
  }
}

TEST_CASE("threads do not change bits, nor do images beside an image") {
  Case c;
  c.images = 3;
  c.in_channels = 24;
  c.out_channels = 72;
  c.height = 18;
  c.width = 37;
  c.symbolic = true;
  const Built built = Build(c);
  KernelHarness harness;
  const size_t kernel = harness.Add(built.spec);
  harness.Finish();
  HostTensor data = RandomTensor(DType::kFloat32, {3, 24, 18, 37}, 1);
  const HostTensor weight = RandomTensor(DType::kFloat32, c.weight_shape(), 2);
  const size_t image = data.data.size() / 3;
  std::memcpy(data.data.Mutable().data() + 2 * image, data.data.data(), image);
  const HostTensor whole = harness.Run(kernel, {data, weight}, built.symbols)[0];
  for (uint32_t piece : {1U, 2U, 5U}) {
    const HostTensor cut = harness.Run(kernel, {data, weight}, built.symbols, piece)[0];
    CHECK(std::memcmp(cut.data.data(), whole.data.data(), whole.data.size()) == 0);
  }
  const size_t result = whole.data.size() / 3;
  CHECK(std::memcmp(whole.data.data() + 2 * result, whole.data.data(), result) == 0);
}

// --- Choice ---

TEST_CASE("transforms are chosen by channels, extents and the machine") {
  auto tile = [](const char* cpu, int64_t in, int64_t out, std::optional<int64_t> extent) {
    return codegen::PreferredWinograd(MachineNamed(cpu), {in, out, 1, extent, extent}).tile;
  };
  for (const char* cpu : {"x86-64-v3", "x86-64-v4"}) {
    CHECK(tile(cpu, 64, 64, 56) == 4);
    CHECK(tile(cpu, 64, 64, std::nullopt) == 4);
    CHECK(tile(cpu, 16, 64, 55) == 4);
    // Weights that come from memory: 36 products are too much of it.
    CHECK(tile(cpu, 512, 512, 7) != 4);
    // Nothing to save.
    CHECK(tile(cpu, 64, 64, 1) == 0);
    CHECK(tile(cpu, 1, 1, 56) == 0);
  }
  CHECK(tile("x86-64-v2", 64, 64, 56) == 0);
}

// Numbers that no arithmetic on them may leave 64 bits with: those of a stranger's model.
TEST_CASE("sizes of any magnitude are chosen for, and refused where they are no channels") {
  for (const int64_t large : {int64_t{1} << 31, int64_t{1} << 60, INT64_MAX}) {
    CAPTURE(large);
    for (const char* cpu : {"x86-64-v3", "x86-64-v4"}) {
      CHECK(codegen::PreferredWinograd(MachineNamed(cpu), {64, 64, large, large, large}).tile == 4);
      CHECK(codegen::PreferredWinograd(MachineNamed(cpu), {large, 64, 1, 56, 56}).tile == 0);
      CHECK(codegen::PreferredWinograd(MachineNamed(cpu), {64, large, 1, 56, 56}).tile == 0);
    }
    for (const bool inputs : {true, false}) {
      const Dim in = inputs ? Dim(large) : Dim(8), out = inputs ? Dim(8) : Dim(large);
      const te::Tensor data = Input({1, in, 8, 8}, 0), kernel = Input({out, in, 3, 3}, 1);
      Attrs attrs;
      attrs.Set("padding", AttrList{1, 1});
      const te::Tensor conv =
          Apply("nn.conv2d", attrs, {data, kernel}, {1, out, 8, 8}, DType::kFloat32);
      const auto plan = codegen::PlanContraction(Spec("conv", {data, kernel}, {conv}),
                                                 {MachineNamed("x86-64-v3")});
      CHECK((!plan || plan->winograd == nullptr));
    }
  }
}

}  // namespace
}  // namespace relayvm
