#include "kernels/codegen/contraction/conv_cases.h"

namespace relayvm {
namespace {

using te::Tensor;

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
    // Rows in two parts, which pack each block of channels for themselves.
    AddTo(cases, {{1, 3}, 931, 140, 1, {3, 3}, {1, 1}, {1, 1}, {1, 1}});
    cases.Check();
  }
}

// Two threads have equal shares of an image of three panels, and of one.
TEST_CASE("images of few panels are cut along their rows") {
  const codegen::ContractionTarget target{MachineNamed("x86-64-v3")};
  for (const int64_t extent : {4, 7}) {
    CAPTURE(extent);
    Conv c{{extent, extent}, 512, 2048, 1, {1, 1}, {1, 1}, {0, 0}, {1, 1}};
    SymbolValues symbols;
    const auto plan = codegen::PlanContraction(SpecOf(c, symbols), target);
    REQUIRE(plan.has_value());
    REQUIRE(plan->grain.is_const());
    REQUIRE(plan->parallel_extent.is_const());
    CHECK(plan->grain.value() * 8 <= plan->parallel_extent.value());
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
