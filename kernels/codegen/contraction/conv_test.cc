#include <algorithm>
#include <optional>

#include "kernels/codegen/contraction/contraction.h"
#include "kernels/codegen/contraction/harness.h"

namespace relayvm {
namespace {

using te::Expr;
using te::Tensor;

enum class Around { kNothing, kBiasReluResidual, kPrologue, kWidthOnly };

struct Conv {
  std::vector<int64_t> input;
  int64_t in_channels = 1, out_channels = 1, groups = 1;
  std::vector<int64_t> kernel, stride, padding, dilation;
  bool channels_last = false;
  std::string kernel_layout;  // empty: the usual one
  DType in = DType::kFloat32, out = DType::kFloat32;
  int64_t batch = 1;
  Around around = Around::kNothing;
  bool symbolic = false;
  std::optional<DType> weight;  // none: as `in`
};

AttrList List(const std::vector<int64_t>& values) { return AttrList(values.begin(), values.end()); }

// `sizes`: further extents of a symbolic convolution's input that its kernel is checked with.
void AddTo(ContractionCases& cases, const Conv& c,
           const std::vector<std::vector<int64_t>>& sizes = {}) {
  const size_t spatial = c.input.size();
  const std::string letters = std::string("DHW").substr(3 - spatial);
  const std::string layout = c.channels_last ? "N" + letters + "C" : "NC" + letters;
  std::string kernel_layout = c.kernel_layout;
  if (kernel_layout.empty()) kernel_layout = c.channels_last ? letters + "IO" : "OI" + letters;

  SymbolValues symbols;
  auto extent = [&](uint32_t id, int64_t value) -> Dim {
    if (!c.symbolic) return value;
    symbols[id] = value;
    return Dim::Symbol(id, "s" + std::to_string(id));
  };
  const Dim batch = extent(1, c.batch);
  std::vector<Dim> in_space, out_space;
  for (size_t s = 0; s < spatial; ++s) {
    in_space.push_back(extent(static_cast<uint32_t>(2 + s), c.input[s]));
    const int64_t window = (c.kernel[s] - 1) * c.dilation[s] + 1;
    out_space.push_back(Dim::FloorDiv(in_space[s] + (2 * c.padding[s] - window), c.stride[s]) + 1);
  }
  auto shape = [&](const std::vector<Dim>& space, int64_t channels) {
    std::vector<Dim> result = {batch};
    if (!c.channels_last) result.push_back(channels);
    result.insert(result.end(), space.begin(), space.end());
    if (c.channels_last) result.push_back(channels);
    return result;
  };
  std::vector<Dim> kernel_shape;
  // OI...8o
  const size_t digits = kernel_layout.find_first_of("0123456789");
  const int64_t packed = digits == std::string::npos ? 1 : std::stoll(kernel_layout.substr(digits));
  for (char letter : kernel_layout) {
    if (letter >= '0' && letter <= '9') continue;
    if (letter == 'o') {
      kernel_shape.push_back(packed);
    } else if (letter == 'O') {
      kernel_shape.push_back(c.out_channels / packed);
    } else if (letter == 'I') {
      kernel_shape.push_back(c.in_channels / c.groups);
    } else {
      kernel_shape.push_back(c.kernel[letters.find(letter)]);
    }
  }
  Attrs attrs;
  attrs.Set("strides", List(c.stride));
  attrs.Set("padding", List(c.padding));
  attrs.Set("dilation", List(c.dilation));
  attrs.Set("groups", c.groups);
  attrs.Set("data_layout", layout);
  attrs.Set("kernel_layout", kernel_layout);
  attrs.Set("out_dtype", std::string(DTypeName(c.out)));
  std::vector<Tensor> in = {Input(shape(in_space, c.in_channels), 0, c.in),
                            Input(kernel_shape, 1, c.weight.value_or(c.in))};
  const std::vector<Dim> out_shape = shape(out_space, c.out_channels);
  const Tensor data = c.around == Around::kPrologue ? Relu(in[0]) : in[0];
  Tensor t = Apply(fmt::format("nn.conv{}d", spatial), attrs, {data, in[1]}, out_shape, c.out);
  if (c.around == Around::kBiasReluResidual) {
    in.push_back(Input({c.out_channels}, 2, c.out));
    in.push_back(Input(out_shape, 3, c.out));
    t = AddTensor(Relu(AddBias(t, in[2], c.channels_last ? spatial + 1 : 1)), in[3]);
  } else if (c.around == Around::kWidthOnly) {
    // Varies along the width alone, so that pixels cannot be one axis.
    in.push_back(Input({out_space.back()}, 2, c.out));
    t = AddBias(t, in[2], c.channels_last ? spatial : spatial + 1);
  }
  const std::string name =
      fmt::format("conv_{}_{}_{}x{}_k{}_s{}_p{}_d{}_g{}_{}_{}_{}{}", layout, kernel_layout,
                  c.in_channels, c.out_channels, c.kernel.back(), c.stride.back(), c.padding.back(),
                  c.dilation.back(), c.groups, DTypeName(c.weight.value_or(c.in)), DTypeName(c.out),
                  static_cast<int>(c.around), c.symbolic ? "_symbolic" : "");
  std::vector<SymbolValues> values = {symbols};
  for (const std::vector<int64_t>& size : sizes) {
    for (size_t i = 0; i < size.size(); ++i) symbols[static_cast<uint32_t>(2 + i)] = size[i];
    values.push_back(symbols);
  }
  cases.Add(Spec(name, in, {t}), values);
}

// Each form, in both layouts, with what may stand around it, static and symbolic in turn.
void AddEverywhere(ContractionCases& cases, Conv c) {
  bool symbolic = false;
  for (bool last : {false, true}) {
    for (Around around :
         {Around::kNothing, Around::kBiasReluResidual, Around::kPrologue, Around::kWidthOnly}) {
      c.channels_last = last;
      c.around = around;
      c.symbolic = symbolic = !symbolic;
      c.batch = around == Around::kNothing ? 1 : 2;
      AddTo(cases, c);
    }
  }
}

TEST_CASE("convolutions as products of matrices") {
  ContractionCases cases;
  AddEverywhere(cases, {{9, 11}, 5, 14, 1, {3, 3}, {1, 1}, {1, 1}, {1, 1}});
  AddEverywhere(cases, {{20, 23}, 3, 13, 1, {3, 5}, {2, 2}, {1, 2}, {1, 1}});
  AddEverywhere(cases, {{13, 13}, 8, 24, 2, {3, 3}, {1, 1}, {2, 2}, {2, 2}});  // groups, dilation
  AddEverywhere(cases, {{7, 7}, 16, 33, 1, {1, 1}, {1, 1}, {0, 0}, {1, 1}});
  AddEverywhere(cases, {{8, 17}, 17, 9, 1, {1, 1}, {3, 3}, {0, 0}, {1, 1}});
  AddEverywhere(cases, {{40}, 6, 8, 1, {3}, {1}, {1}, {1}});
  // Whole vectors of a line, of which neighbouring taps share what they load.
  AddEverywhere(cases, {{9, 75}, 3, 13, 1, {3, 3}, {2, 2}, {1, 1}, {1, 1}});
  AddEverywhere(cases, {{4, 80}, 2, 9, 1, {2, 4}, {1, 2}, {0, 1}, {1, 1}});
  AddEverywhere(cases, {{5, 80}, 2, 9, 1, {3, 3}, {1, 2}, {1, 2}, {1, 2}});
  AddEverywhere(cases, {{120}, 3, 9, 1, {7}, {2}, {3}, {1}});
  AddEverywhere(cases, {{5, 6, 7}, 3, 6, 1, {3, 2, 3}, {1, 2, 1}, {1, 0, 1}, {1, 1, 1}});
  cases.Check();
}

// Images share vectors, and a vector's lanes are near each other or far apart in memory.
TEST_CASE("many images of few pixels") {
  for (const char* cpu : {"native", "x86-64-v2", "x86-64-v3"}) {
    if (!Runs(cpu)) continue;
    CAPTURE(cpu);
    ContractionCases cases(cpu);
    auto add = [&](Conv c) {
      for (bool last : {false, true}) {
        for (int64_t batch : {1, 7, 37}) {
          for (Around around : {Around::kBiasReluResidual, Around::kWidthOnly}) {
            c.channels_last = last;
            c.batch = batch;
            c.around = around;
            c.symbolic = !c.symbolic;
            AddTo(cases, c);
          }
        }
      }
    };
    add({{1, 1}, 5, 14, 1, {3, 3}, {1, 1}, {1, 1}, {1, 1}});
    add({{2, 3}, 6, 20, 2, {3, 3}, {1, 1}, {1, 1}, {1, 1}});
    add({{5, 5}, 5, 14, 1, {3, 2}, {2, 1}, {1, 0}, {1, 2}});
    add({{4}, 7, 19, 1, {3}, {2}, {1}, {1}});
    add({{40}, 1, 19, 1, {16}, {8}, {0}, {1}});
    add({{2, 1, 3}, 3, 9, 1, {2, 1, 3}, {1, 1, 1}, {1, 0, 1}, {1, 1, 1}});
    cases.Check();
  }
}

TEST_CASE("more channels than a panel in the cache has room for") {
  for (const char* cpu : {"native", "x86-64-v2", "x86-64-v3"}) {
    if (!Runs(cpu)) continue;
    CAPTURE(cpu);
    ContractionCases cases(cpu);
    for (bool packed : {false, true}) {
      Conv c{{3, 5}, 931, 24, 1, {3, 3}, {1, 1}, {1, 1}, {1, 1}};
      c.batch = 5;
      if (packed) c.kernel_layout = "OIHW8o";
      AddTo(cases, c);
      c.around = Around::kPrologue;
      AddTo(cases, c);
    }
    cases.Check();
  }
}

TEST_CASE("convolutions with few channels a group") {
  ContractionCases cases;
  for (int64_t s : {1, 2, 3}) {
    AddEverywhere(cases, {{9, 37}, 6, 6, 6, {3, 3}, {s, s}, {1, 1}, {1, 1}});
    AddEverywhere(cases, {{9, 21}, 16, 8, 4, {3, 3}, {s, s}, {1, 1}, {1, 1}});
  }
  AddEverywhere(cases, {{9, 21}, 8, 16, 8, {3, 3}, {1, 1}, {1, 1}, {1, 1}});  // a multiplier
  AddEverywhere(cases, {{6, 9}, 5, 3, 1, {3, 3}, {1, 1}, {1, 1}, {1, 1}});
  AddEverywhere(cases, {{50}, 6, 6, 6, {9}, {2}, {4}, {1}});
  // Several blocks of lines, lines that share inputs at a distance, windows larger than the input.
  AddEverywhere(cases, {{37, 100}, 3, 3, 3, {5, 3}, {1, 1}, {2, 1}, {2, 1}});
  AddEverywhere(cases, {{35, 90}, 4, 8, 4, {3, 3}, {2, 1}, {1, 1}, {1, 2}});
  AddEverywhere(cases, {{18, 70}, 6, 4, 2, {4, 5}, {3, 2}, {0, 2}, {1, 1}});
  AddEverywhere(cases, {{2, 3}, 4, 4, 4, {5, 5}, {1, 1}, {2, 2}, {1, 1}});
  AddEverywhere(cases, {{5, 6, 20}, 4, 4, 4, {3, 2, 3}, {1, 1, 2}, {1, 0, 1}, {1, 1, 1}});
  Conv wide{{5, 7}, 140, 140, 140, {3, 3}, {1, 1}, {1, 1}, {1, 1}, true, "HWOI"};
  AddTo(cases, wide);
  cases.Check();
}

// Kernels of float16 beside pixels of float32: of few rows and of many, of pixels that are read
// where they are, in blocks of channels, in groups; packed as tiles read them; and what reads them
// one by one.
TEST_CASE("convolutions with weights of float16") {
  for (const std::string& cpu : Targets()) {
    CAPTURE(cpu);
    ContractionCases cases(cpu);
    const Conv of_halves = {.weight = DType::kFloat16};
    const auto add = [&](std::vector<int64_t> input, int64_t ins, int64_t outs, int64_t taps,
                         int64_t stride, int64_t groups, bool symbolic) {
      Conv c = of_halves;
      c.input = std::move(input);
      const size_t spatial = c.input.size();
      c.in_channels = ins;
      c.out_channels = outs;
      c.groups = groups;
      c.kernel.assign(spatial, taps);
      c.stride.assign(spatial, stride);
      c.padding.assign(spatial, taps / 2);
      c.dilation.assign(spatial, 1);
      c.symbolic = symbolic;
      c.batch = symbolic ? 2 : 1;
      c.around = symbolic ? Around::kBiasReluResidual : Around::kNothing;
      AddTo(cases, c);
      const std::string letters = std::string("DHW").substr(3 - spatial);
      if (outs / groups % 8 == 0) {
        c.kernel_layout = "OI" + letters + "8o";
        AddTo(cases, c);
      }
      c.channels_last = true;
      c.kernel_layout = outs % 8 == 0 && groups == 1 ? "O" + letters + "I8o" : "";
      AddTo(cases, c);
    };
    for (const bool symbolic : {false, true}) {
      add({9, 11}, 21, 13, 3, 1, 1, symbolic);
      add({9, 11}, 20, 64, 1, 1, 1, symbolic);
      add({9, 11}, 37, 70, 1, 1, 1, symbolic);
      add({5, 5}, 600, 30, 3, 2, 1, symbolic);
      add({8, 8}, 12, 40, 5, 1, 2, symbolic);
      add({19}, 17, 24, 3, 1, 1, symbolic);
      add({4, 5, 6}, 8, 12, 3, 1, 1, symbolic);
      add({8, 8}, 6, 6, 3, 1, 6, symbolic);
      add({3, 3}, 16, 24, 3, 3, 1, symbolic);
    }
    cases.Check();
  }
}

// Those that read weights one by one: images of a few vectors, short lines, planes, lines that
// share what they load, sums in loops; channels last, in blocks of pixels and without.
TEST_CASE("convolutions with few channels a group and weights of float16") {
  for (const std::string& cpu : Targets()) {
    CAPTURE(cpu);
    ContractionCases cases(cpu);
    for (Conv c : std::vector<Conv>{
             {{4, 4}, 9, 9, 9, {3, 3}, {1, 1}, {1, 1}, {1, 1}},
             {{37, 8}, 5, 5, 5, {3, 3}, {1, 1}, {1, 1}, {1, 1}},
             {{12, 10}, 6, 6, 6, {5, 5}, {1, 1}, {2, 2}, {1, 1}},
             {{20, 14}, 4, 12, 4, {3, 3}, {2, 2}, {1, 1}, {1, 1}},
             {{9, 40}, 7, 7, 7, {1, 1}, {1, 1}, {0, 0}, {1, 1}},
             {{9, 70}, 5, 5, 5, {3, 3}, {1, 1}, {1, 1}, {1, 1}},
             {{11, 30}, 4, 4, 4, {7, 7}, {2, 2}, {3, 3}, {1, 1}},
             {{50}, 6, 6, 6, {31}, {1}, {15}, {1}},
             {{9, 20}, 48, 8, 2, {3, 3}, {1, 1}, {1, 1}, {1, 1}},  // more numbers than are unrolled
             {{10, 9}, 20, 20, 20, {8, 7}, {1, 1}, {3, 3}, {1, 1}},
             {{3, 4, 20}, 4, 4, 4, {2, 3, 3}, {1, 1, 1}, {0, 1, 1}, {1, 1, 1}}}) {
      c.weight = DType::kFloat16;
      for (const bool last : {false, true}) {
        c.channels_last = last;
        for (Around around : {Around::kNothing, Around::kBiasReluResidual}) {
          c.around = around;
          c.symbolic = !c.symbolic;
          c.batch = 2;
          AddTo(cases, c);
        }
        c.symbolic = !c.symbolic;
      }
    }
    cases.Check();
  }
}

TEST_CASE("depthwise convolutions of small planes") {
  for (const char* cpu : {"native", "x86-64-v2", "x86-64-v3"}) {
    if (!Runs(cpu)) continue;
    CAPTURE(cpu);
    ContractionCases cases(cpu);
    auto add = [&](Conv c) {
      for (Around around : {Around::kNothing, Around::kBiasReluResidual, Around::kWidthOnly}) {
        c.around = around;
        c.batch = around == Around::kNothing ? 1 : 3;
        c.symbolic = around == Around::kWidthOnly;
        AddTo(cases, c);
      }
    };
    add({{7, 7}, 9, 9, 9, {3, 3}, {1, 1}, {1, 1}, {1, 1}});
    add({{37, 8}, 5, 5, 5, {3, 3}, {1, 1}, {1, 1}, {1, 1}});  // blocks of lines
    add({{33, 15}, 5, 5, 5, {3, 3}, {2, 2}, {1, 1}, {1, 1}});
    add({{14, 14}, 6, 6, 6, {5, 5}, {1, 1}, {2, 2}, {1, 1}});
    add({{15, 20}, 6, 6, 6, {5, 5}, {2, 2}, {2, 2}, {1, 1}});
    add({{5, 16}, 4, 4, 4, {2, 3}, {1, 2}, {0, 1}, {1, 1}});
    add({{9, 7}, 4, 4, 4, {1, 3}, {2, 1}, {0, 1}, {1, 2}});
    add({{12, 14}, 4, 4, 4, {3, 3}, {2, 2}, {2, 3}, {2, 3}});  // strides and dilations
    add({{1, 1}, 4, 4, 4, {3, 3}, {1, 1}, {1, 1}, {1, 1}});
    add({{2, 3}, 4, 4, 4, {5, 4}, {2, 2}, {4, 5}, {1, 1}});
    add({{7, 8}, 4, 12, 4, {3, 3}, {1, 1}, {1, 1}, {1, 1}});  // a multiplier
    Conv of_doubles{{7, 6}, 4, 4, 4, {3, 3}, {1, 1}, {1, 1}, {1, 1}};
    of_doubles.in = of_doubles.out = DType::kFloat64;
    AddTo(cases, of_doubles);
    cases.Check();
  }
}

// Blocks of pixels at every border, of odd sizes, with channels that fill vectors or do not.
TEST_CASE("depthwise convolutions, channels last") {
  for (const char* cpu : {"native", "x86-64-v2", "x86-64-v3"}) {
    if (!Runs(cpu)) continue;
    CAPTURE(cpu);
    ContractionCases cases(cpu);
    auto add = [&](Conv c) {
      c.channels_last = true;
      for (Around around : {Around::kNothing, Around::kBiasReluResidual, Around::kPrologue}) {
        c.around = around;
        c.batch = around == Around::kNothing ? 1 : 3;
        c.symbolic = !c.symbolic;
        AddTo(cases, c);
      }
    };
    for (int64_t channels : {3, 16, 37}) {
      add({{7, 7}, channels, channels, channels, {3, 3}, {1, 1}, {1, 1}, {1, 1}});
      add({{9, 14}, channels, channels, channels, {3, 3}, {2, 2}, {1, 1}, {1, 1}});
      add({{1, 1}, channels, channels, channels, {3, 3}, {1, 1}, {1, 1}, {1, 1}});
      add({{8, 13}, channels, channels, channels, {5, 5}, {2, 1}, {2, 2}, {1, 1}});
    }
    add({{12, 11}, 20, 20, 20, {3, 2}, {1, 3}, {2, 0}, {2, 3}});  // strides and dilations
    add({{2, 3}, 20, 20, 20, {5, 4}, {2, 2}, {4, 5}, {1, 1}});
    add({{10, 9}, 20, 20, 20, {8, 7}, {1, 1}, {3, 3}, {1, 1}});  // too many taps for a block
    add({{23}, 20, 20, 20, {3}, {1}, {1}, {1}});
    for (const DType dtype : {DType::kFloat64, DType::kInt32, DType::kFloat16}) {
      Conv other{{7, 6}, 20, 20, 20, {3, 3}, {2, 1}, {1, 1}, {1, 1}, true};
      other.in = other.out = dtype;
      AddTo(cases, other);
    }
    add({{3, 4, 5}, 20, 20, 20, {2, 3, 3}, {1, 1, 1}, {0, 1, 1}, {1, 1, 1}});
    cases.Check();
  }
}

// Vectors of several lines, of one, and of a part of one; borders that lie outside in one or in all
// lanes; images of fewer elements than a vector.
TEST_CASE("depthwise convolutions of images of every small width") {
  for (const char* cpu : {"native", "x86-64-v3"}) {
    if (!Runs(cpu)) continue;
    CAPTURE(cpu);
    ContractionCases cases(cpu);
    for (int64_t width = 1; width <= 34; ++width) {
      const int64_t height = 1 + width * 7 % 17, stride = width > 17 ? 2 : 1 + width % 2;
      const int64_t kernel = width % 3 == 0 ? 5 : 3;
      Conv c{{height, width},          3,     3, 3, {kernel, kernel}, {stride, stride},
             {kernel / 2, kernel / 2}, {1, 1}};
      c.around = width % 4 == 0 ? Around::kBiasReluResidual : Around::kNothing;
      c.batch = 2;
      AddTo(cases, c);
    }
    cases.Check();
  }
}

// One kernel for images of which some are a line of a few vectors and others are taken line by
// line.
TEST_CASE("depthwise convolutions of planes of any size") {
  for (const char* cpu : {"native", "x86-64-v3"}) {
    if (!Runs(cpu)) continue;
    CAPTURE(cpu);
    ContractionCases cases(cpu);
    for (Around around : {Around::kNothing, Around::kBiasReluResidual, Around::kWidthOnly}) {
      auto add = [&](std::vector<int64_t> kernel, std::vector<int64_t> stride,
                     std::vector<int64_t> padding, std::vector<int64_t> dilation,
                     int64_t multiplier = 1) {
        Conv c{{7, 7},
               3,
               3 * multiplier,
               3,
               std::move(kernel),
               std::move(stride),
               std::move(padding),
               std::move(dilation)};
        c.around = around;
        c.batch = 2;
        AddTo(cases, c);
        c.symbolic = true;
        AddTo(cases, c,
              {{3, 9}, {1, 1}, {5, 10}, {5, 11}, {17, 6}, {40, 9}, {103, 10}, {33, 70}, {6, 1}});
        c.symbolic = false;
        for (const std::vector<int64_t>& size :
             std::vector<std::vector<int64_t>>{{1, 1}, {2, 3}, {33, 10}, {103, 10}, {18, 37}}) {
          c.input = size;
          AddTo(cases, c);
        }
      };
      add({3, 3}, {1, 1}, {1, 1}, {1, 1});
      add({3, 3}, {1, 1}, {1, 1}, {1, 1}, 2);
      add({3, 3}, {1, 1}, {2, 2}, {2, 2});
      add({1, 5}, {1, 1}, {0, 2}, {1, 1});
      add({5, 1}, {1, 1}, {2, 0}, {1, 1});
      add({2, 3}, {1, 1}, {1, 1}, {1, 1});  // a line more than the input has
      // Neighbouring taps of lines that are strided share what they load.
      add({3, 3}, {2, 2}, {1, 1}, {1, 1});
      add({3, 4}, {1, 2}, {1, 3}, {1, 1});
      add({5, 5}, {2, 2}, {4, 4}, {2, 2});
      add({3, 3}, {2, 2}, {3, 3}, {3, 3});
      add({3, 3}, {3, 3}, {1, 1}, {1, 1});
    }
    cases.Check();
  }
}

TEST_CASE("one window for an image") {
  ContractionCases cases;
  AddEverywhere(cases, {{1, 1}, 37, 45, 1, {1, 1}, {1, 1}, {0, 0}, {1, 1}});
  for (bool last : {false, true}) {
    for (int64_t batch : {1, 5}) {
      AddTo(cases, {{5, 4},
                    7,
                    20,
                    1,
                    {5, 4},
                    {1, 1},
                    {0, 0},
                    {1, 1},
                    last,
                    "",
                    DType::kFloat32,
                    DType::kFloat32,
                    batch,
                    Around::kBiasReluResidual});
      AddTo(cases, {{3, 3},
                    7,
                    20,
                    1,
                    {3, 3},
                    {1, 1},
                    {0, 0},
                    {1, 1},
                    last,
                    "OHWI",
                    DType::kFloat32,
                    DType::kFloat32,
                    batch});
    }
  }
  cases.Check();
}

TEST_CASE("kernel layouts and element types") {
  ContractionCases cases;
  for (bool last : {false, true}) {
    for (const char* layout : {"OIHW", "HWIO", "OHWI", "HWOI"}) {
      AddTo(cases, {{6, 9}, 5, 14, 1, {3, 3}, {1, 1}, {1, 1}, {1, 1}, last, layout});
    }
    const std::vector<std::pair<DType, DType>> types = {{DType::kInt8, DType::kInt32},
                                                        {DType::kUInt8, DType::kInt32},
                                                        {DType::kFloat64, DType::kFloat64},
                                                        {DType::kFloat16, DType::kFloat16},
                                                        {DType::kBFloat16, DType::kFloat32}};
    for (auto [in, out] : types) {
      for (int64_t s : {1, 2}) {
        AddTo(cases, {{9, 11}, 5, 14, 1, {3, 3}, {s, s}, {1, 1}, {1, 1}, last, "", in, out});
        AddTo(cases, {{9, 11}, 5, 5, 5, {3, 3}, {s, s}, {1, 1}, {1, 1}, last, "", in, out});
      }
    }
  }
  cases.Check();
}

TEST_CASE("kernels in blocks of output channels") {
  for (const char* cpu : {"native", "x86-64-v2"}) {
    CAPTURE(cpu);
    ContractionCases cases(cpu);
    for (Around around : {Around::kNothing, Around::kBiasReluResidual, Around::kPrologue}) {
      Conv c{{9, 11}, 5, 24, 1, {3, 3}, {1, 1}, {1, 1}, {1, 1}, false, "OIHW8o"};
      c.around = around;
      c.batch = 2;
      AddTo(cases, c);
      c.symbolic = true;
      AddTo(cases, c);
      c.groups = 3;
      c.in_channels = 6;
      AddTo(cases, c);
      c.kernel = {1, 1};
      c.padding = {0, 0};
      AddTo(cases, c);
      c.groups = 1;
      // Images that begin where panels do and others, whole panels and none.
      AddTo(cases, c, {{8, 12}, {1, 31}, {40, 30}, {1, 1}});
      c.symbolic = false;
      c.input = {7, 7};
      AddTo(cases, c);
      AddTo(cases, {{1, 1}, 12, 16, 1, {1, 1}, {1, 1}, {0, 0}, {1, 1}, false, "OIHW8o"});
      AddTo(cases, {{30}, 3, 8, 1, {5}, {2}, {2}, {1}, false, "OIW8o"});
      // Several outputs of few groups, whose weights are not read as rows.
      AddTo(cases, {{9, 9}, 16, 16, 8, {3, 3}, {1, 1}, {1, 1}, {1, 1}, false, "OIHW8o"});
      c = {{9, 11}, 5,      16,    1,        {3, 3},       {2, 2},
           {1, 1},  {1, 1}, false, "OIHW8o", DType::kInt8, DType::kInt32};
      AddTo(cases, c);
      c.in = c.out = DType::kFloat16;
      AddTo(cases, c);
    }
    cases.Check();
  }
}

TEST_CASE("kernels in panels of output channels, channels last") {
  for (const char* cpu : {"native", "x86-64-v2"}) {
    CAPTURE(cpu);
    ContractionCases cases(cpu);
    for (const char* layout : {"OHWI8o", "OHWI32o"}) {
      for (Around around : {Around::kNothing, Around::kBiasReluResidual, Around::kPrologue}) {
        Conv c{{9, 11}, 5, 64, 1, {3, 3}, {2, 2}, {1, 1}, {1, 1}, true, layout};
        c.around = around;
        c.batch = 2;
        AddTo(cases, c);
        c.symbolic = true;
        AddTo(cases, c, {{8, 12}, {1, 31}, {40, 30}, {1, 1}});
        c.kernel = {1, 1};
        c.padding = {0, 0};
        AddTo(cases, c);
        c.symbolic = false;
        c.kernel = {2, 3};
        c.dilation = {2, 1};
        c.padding = {2, 0};
        AddTo(cases, c);
        // One window for an image; more channels than a panel in the cache has room for.
        AddTo(cases, {{3, 3}, 12, 32, 1, {3, 3}, {1, 1}, {0, 0}, {1, 1}, true, layout});
      }
      AddTo(cases, {{6, 6}, 700, 32, 1, {3, 3}, {2, 2}, {1, 1}, {1, 1}, true, layout});
    }
    AddTo(cases, {{30}, 3, 8, 1, {5}, {2}, {2}, {1}, true, "OWI8o"});
    AddTo(cases, {{9, 9}, 16, 16, 2, {3, 3}, {1, 1}, {1, 1}, {1, 1}, true, "OHWI8o"});
    for (const auto& [in, out] :
         {std::pair(DType::kInt8, DType::kInt32), std::pair(DType::kFloat16, DType::kFloat16)}) {
      AddTo(cases, {{9, 11}, 5, 16, 1, {3, 3}, {2, 2}, {1, 1}, {1, 1}, true, "OHWI8o", in, out});
    }
    cases.Check();
  }
}

TEST_CASE("convolutions on every target") {
  for (const char* cpu : {"x86-64-v2", "x86-64-v3"}) {
    if (!Runs(cpu)) continue;
    CAPTURE(cpu);
    ContractionCases cases(cpu);
    for (bool last : {false, true}) {
      for (int64_t s : {1, 2}) {
        AddTo(cases, {{9, 11}, 5, 14, 1, {3, 3}, {s, s}, {1, 1}, {1, 1}, last});
        AddTo(cases, {{9, 19}, 6, 6, 6, {3, 3}, {s, s}, {1, 1}, {1, 1}, last});
      }
      for (Around around : {Around::kNothing, Around::kBiasReluResidual, Around::kPrologue}) {
        for (int64_t groups : {1, 2, 6}) {
          AddTo(cases, {{9, 19},
                        6,
                        groups == 1 ? 14 : 6,
                        groups,
                        {3, 3},
                        {1, 1},
                        {1, 1},
                        {1, 1},
                        last,
                        "",
                        DType::kFloat16,
                        DType::kFloat16,
                        2,
                        around});
        }
      }
    }
    cases.Check();
  }
}

// Pixels are the rows, or the columns, of tiles.
TEST_CASE("convolutions of every small number of pixels and channels, on every level") {
  for (const char* cpu : {"x86-64-v2", "x86-64-v3", "x86-64-v4"}) {
    if (!Runs(cpu)) continue;
    CAPTURE(cpu);
    ContractionCases cases(cpu);
    std::vector<std::vector<int64_t>> sizes;
    for (int64_t w = 1; w <= 50; ++w) sizes.push_back({1, w});
    for (bool last : {false, true}) {
      for (int64_t window : {1, 3}) {
        for (int64_t groups : {1, 6}) {
          Conv c{{1, 1},
                 6,
                 groups == 1 ? 14 : 6,
                 groups,
                 {window, window},
                 {1, 1},
                 {window / 2, window / 2},
                 {1, 1},
                 last};
          c.symbolic = true;
          AddTo(cases, c, sizes);
        }
        for (int64_t channels : {1, 4, 5, 6, 8, 9, 10, 11, 12, 13, 16, 17, 24, 25}) {
          AddTo(cases, {{3, 11},
                        3,
                        channels,
                        1,
                        {window, window},
                        {1, 1},
                        {window / 2, window / 2},
                        {1, 1},
                        last});
        }
      }
    }
    cases.Check();
  }
}

TEST_CASE("an output of another layout than the data is left to loops") {
  Attrs attrs;
  attrs.Set("padding", List({1, 1}));
  const Tensor data = Input({1, 6, 6, 6}, 0), kernel = Input({6, 6, 3, 3}, 1);
  Tensor t = Apply("nn.conv2d", attrs, {data, kernel}, {1, 6, 6, 6}, DType::kFloat32);
  CHECK(IsContraction(Spec("same", {data, kernel}, {t})));
  attrs.Set("out_layout", std::string("NHWC"));
  t = Apply("nn.conv2d", attrs, {data, kernel}, {1, 6, 6, 6}, DType::kFloat32);
  CHECK_FALSE(IsContraction(Spec("other", {data, kernel}, {t})));
}

}  // namespace
}  // namespace relayvm
