#include "kernels/codegen/contraction/conv_cases.h"
#include "kernels/codegen/contraction/plan.h"

namespace relayvm {
namespace {

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
    add({{7, 8}, 4, 12, 4, {3, 3}, {1, 1}, {1, 1}, {1, 1}});  // multipliers
    for (int64_t stride : {1, 2}) {
      for (int64_t outputs : {2, 4, 8, 16}) {
        add({{13, 14}, 2, 2 * outputs, 2, {5, 5}, {stride, stride}, {2, 2}, {1, 1}});
        add({{19, 28}, 1, outputs, 1, {5, 5}, {stride, stride}, {2, 2}, {1, 1}});
      }
    }
    Conv of_doubles{{7, 6}, 4, 4, 4, {3, 3}, {1, 1}, {1, 1}, {1, 1}};
    of_doubles.in = of_doubles.out = DType::kFloat64;
    AddTo(cases, of_doubles);
    cases.Check();
  }
}

std::shared_ptr<const codegen::ContractionDetail> PlanOf(const Conv& c, const char* cpu) {
  SymbolValues symbols;
  return codegen::PlanContraction(SpecOf(c, symbols), {MachineNamed(cpu)}).value().detail;
}

TEST_CASE("direct convolutions read blocks of output channels by their rows") {
  const auto plan =
      PlanOf({{14, 14}, 8, 16, 1, {5, 5}, {1, 1}, {2, 2}, {1, 1}, false, "OIHW8o"}, "x86-64-v4");
  CHECK(plan->form == codegen::ContractionForm::kDirect);
  CHECK(plan->a.buffer != nullptr);
  CHECK(plan->a_k_stride == 8);
}

TEST_CASE("lines are copied to planes where few outputs read them") {
  const auto has_planes = [](const char* cpu, int64_t groups, int64_t outputs, int64_t width) {
    return PlanOf({{24, width}, groups, outputs * groups, groups, {5, 5}, {1, 1}, {2, 2}, {1, 1}},
                  cpu)
        ->has_planes;
  };
  CHECK(has_planes("x86-64-v4", 8, 1, 28));
  CHECK(has_planes("x86-64-v4", 8, 4, 14));
  CHECK_FALSE(has_planes("x86-64-v4", 8, 4, 28));
  CHECK_FALSE(has_planes("x86-64-v4", 2, 8, 14));
  CHECK(has_planes("x86-64-v3", 8, 1, 14));
  CHECK_FALSE(has_planes("x86-64-v3", 8, 2, 14));
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
        if (around == Around::kBiasReluResidual) continue;
        Conv bytes = c;  // that are widened, or computed, as they are loaded
        bytes.in = around == Around::kNothing ? DType::kInt8 : DType::kUInt8;
        bytes.out = DType::kInt32;
        AddTo(cases, bytes);
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

}  // namespace
}  // namespace relayvm
