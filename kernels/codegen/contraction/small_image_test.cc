// Convolutions of images that are small against their windows or against vectors: taps that are
// left out, a few pixels in all, columns that are turned, axes that are dropped.
#include "kernels/codegen/contraction/conv_cases.h"

namespace relayvm {
namespace {

void AddPackedToo(ContractionCases& cases, Conv c, const std::vector<std::vector<int64_t>>& sizes) {
  c.symbolic = true;
  const std::string letters = std::string("DHW").substr(3 - c.input.size());
  for (Around around : {Around::kNothing, Around::kBiasReluResidual, Around::kWidthOnly}) {
    c.around = around;
    c.batch = around == Around::kNothing ? 1 : 2;
    c.kernel_layout.clear();
    AddTo(cases, c, sizes);
    if (c.out_channels / c.groups % 8 != 0) continue;
    c.kernel_layout = "OI" + letters + "8o";
    AddTo(cases, c, sizes);
  }
}

TEST_CASE("lines smaller than their windows, and of few pixels") {
  for (const char* cpu : {"native", "x86-64-v2", "x86-64-v3"}) {
    if (!Runs(cpu)) continue;
    CAPTURE(cpu);
    ContractionCases cases(cpu);
    const std::vector<std::vector<int64_t>> sizes = {{1}, {2}, {3}, {4}, {5}, {7}, {19}};
    AddPackedToo(cases, {{40}, 6, 24, 1, {5}, {1}, {2}, {1}}, sizes);
    AddPackedToo(cases, {{40}, 5, 14, 1, {7}, {1}, {9}, {3}}, sizes);
    AddPackedToo(cases, {{40}, 12, 32, 2, {4}, {2}, {3}, {2}}, sizes);
    AddPackedToo(cases, {{40}, 9, 16, 1, {15}, {1}, {14}, {2}}, sizes);
    AddPackedToo(cases, {{40}, 70, 29, 1, {1}, {1}, {0}, {1}}, sizes);
    AddPackedToo(cases, {{40}, 33, 8, 1, {3}, {2}, {1}, {1}}, sizes);
    cases.Check();
  }
}

TEST_CASE("images smaller than their windows") {
  for (const char* cpu : {"native", "x86-64-v2", "x86-64-v3"}) {
    if (!Runs(cpu)) continue;
    CAPTURE(cpu);
    ContractionCases cases(cpu);
    const std::vector<std::vector<int64_t>> sizes = {{40, 1}, {1, 40}, {2, 3}, {7, 2}, {21, 3}};
    AddPackedToo(cases, {{9, 9}, 6, 24, 1, {5, 5}, {1, 1}, {2, 2}, {1, 1}}, sizes);
    AddPackedToo(cases, {{9, 9}, 3, 40, 1, {5, 3}, {1, 2}, {4, 3}, {2, 3}}, sizes);
    Conv fixed{{33, 1}, 6, 24, 1, {5, 5}, {1, 1}, {2, 2}, {1, 1}};
    AddTo(cases, fixed);
    fixed.kernel_layout = "OIHW8o";
    AddTo(cases, fixed);
    cases.Check();
  }
}

// Few outputs: nothing is packed.
TEST_CASE("images of one column") {
  for (const char* cpu : {"native", "x86-64-v2", "x86-64-v3"}) {
    if (!Runs(cpu)) continue;
    CAPTURE(cpu);
    ContractionCases cases(cpu);
    const std::vector<std::vector<int64_t>> sizes = {{133, 1}, {1, 1}, {1, 70}, {37, 3}, {2, 1}};
    AddPackedToo(cases, {{9, 9}, 6, 1, 1, {5, 5}, {1, 1}, {2, 2}, {1, 1}}, sizes);
    AddPackedToo(cases, {{9, 9}, 4, 14, 1, {3, 3}, {2, 2}, {1, 1}, {1, 1}}, sizes);
    AddPackedToo(cases, {{9, 9}, 6, 12, 6, {3, 3}, {1, 1}, {2, 2}, {2, 2}}, sizes);
    AddPackedToo(cases, {{9, 9}, 2, 3, 1, {3, 2}, {1, 1}, {1, 1}, {1, 1}}, sizes);
    cases.Check();
  }
}

TEST_CASE("an axis of one pixel and one tap is none") {
  for (const char* cpu : {"native", "x86-64-v2", "x86-64-v3"}) {
    if (!Runs(cpu)) continue;
    CAPTURE(cpu);
    ContractionCases cases(cpu);
    for (Around around : {Around::kNothing, Around::kBiasReluResidual, Around::kWidthOnly}) {
      for (int64_t outs : {12, 24}) {
        for (int64_t groups : {1, 12}) {
          Conv c{{25, 1}, 12, outs, groups, {20, 1}, {1, 1}, {0, 0}, {1, 1}};
          c.around = around;
          AddTo(cases, c);
          Conv line{{1, 25}, 12, outs, groups, {1, 5}, {1, 2}, {0, 2}, {1, 1}};
          line.around = around;
          line.batch = 3;
          AddTo(cases, line);
        }
      }
    }
    cases.Check();
  }
}

}  // namespace
}  // namespace relayvm
