#include "kernels/codegen/contraction/conv_cases.h"
#include "kernels/codegen/contraction/plan.h"

namespace relayvm {
namespace {

std::shared_ptr<const codegen::ContractionDetail> PlanOf(const Conv& c, const char* cpu) {
  SymbolValues symbols;
  return codegen::PlanContraction(SpecOf(c, symbols), {MachineNamed(cpu)}).value().detail;
}

bool HasPlaneTiles(const Conv& c, const char* cpu) { return PlanOf(c, cpu)->has_plane_tiles; }

// Lines that end in every part of a tile, images of less than one, blocks of lines that are cut.
const std::vector<std::vector<int64_t>> kSizes = {{1, 1},  {1, 40}, {40, 1}, {2, 3},
                                                  {8, 16}, {9, 47}, {17, 50}};

// Of open extents as it is, of constant ones in blocks.
void AddBoth(ContractionCases& cases, Conv c) {
  c.batch = 2;
  c.symbolic = true;
  AddTo(cases, c, kSizes);
  c.symbolic = false;
  if (c.out_channels / c.groups % 8 == 0) c.kernel_layout = "OIHW8o";
  AddTo(cases, c);
}

TEST_CASE("tiles of planes: windows, channels, borders") {
  for (const char* cpu : {"native", "x86-64-v3"}) {
    if (!Runs(cpu)) continue;
    CAPTURE(cpu);
    ContractionCases cases(cpu);
    for (Conv c : std::vector<Conv>{{{19, 40}, 6, 48, 2, {3, 5}, {1, 1}, {1, 2}, {1, 1}},
                                    {{18, 64}, 2, 20, 1, {1, 7}, {1, 1}, {0, 3}, {1, 1}},
                                    {{30, 25}, 2, 30, 1, {7, 1}, {1, 1}, {3, 0}, {1, 1}},
                                    {{25, 50}, 2, 18, 1, {3, 3}, {1, 1}, {4, 4}, {4, 4}},
                                    {{16, 40}, 1, 40, 1, {9, 11}, {1, 1}, {4, 5}, {1, 1}},
                                    {{24, 50}, 3, 6, 1, {7, 7}, {1, 1}, {3, 3}, {1, 1}},
                                    {{20, 60}, 4, 32, 1, {5, 5}, {1, 1}, {4, 4}, {1, 1}}}) {
      c.around = Around::kBiasReluResidual;
      AddBoth(cases, c);
    }
    AddTo(cases, {{20, 60}, 4, 32, 1, {5, 5}, {1, 1}, {0, 0}, {1, 1}});
    cases.Check();
  }
}

TEST_CASE("tiles of planes: what may be around them") {
  for (const char* cpu : {"native", "x86-64-v2", "x86-64-v3"}) {
    if (!Runs(cpu)) continue;
    CAPTURE(cpu);
    ContractionCases cases(cpu);
    for (const Around around : {Around::kNothing, Around::kPrologue, Around::kWidthOnly}) {
      Conv c{{20, 33}, 3, 24, 1, {5, 5}, {1, 1}, {2, 2}, {1, 1}};
      c.around = around;
      AddBoth(cases, c);
    }
    cases.Check();
  }
}

TEST_CASE("tiles of planes: pixels of a stride are planes of their own") {
  for (const char* cpu : {"native", "x86-64-v3"}) {
    if (!Runs(cpu)) continue;
    CAPTURE(cpu);
    const bool has_fma = MachineNamed(cpu).fma;
    ContractionCases cases(cpu);
    for (Conv c : std::vector<Conv>{{{41, 80}, 3, 32, 1, {5, 5}, {2, 2}, {2, 2}, {1, 1}},
                                    {{20, 122}, 2, 24, 1, {7, 7}, {1, 3}, {3, 2}, {1, 1}},
                                    {{52, 40}, 8, 48, 2, {7, 3}, {3, 1}, {2, 1}, {1, 1}},
                                    {{21, 125}, 3, 24, 1, {5, 5}, {1, 2}, {2, 5}, {1, 3}},
                                    {{70, 90}, 2, 24, 1, {7, 7}, {4, 4}, {1, 3}, {1, 1}},
                                    {{33, 65}, 4, 24, 1, {5, 9}, {2, 2}, {1, 4}, {1, 1}}}) {
      CHECK(HasPlaneTiles(c, cpu) == has_fma);
      c.around = Around::kBiasReluResidual;
      AddBoth(cases, c);
    }
    cases.Check();
  }
}

// Lines that end in the first, the second and the last unit.
TEST_CASE("tiles of planes: lines that are longer than what is copied at once") {
  for (const char* cpu : {"x86-64-v3", "x86-64-v4"}) {
    if (!Runs(cpu)) continue;
    CAPTURE(cpu);
    ContractionCases cases(cpu);
    Conv c{{9, 120}, 60, 24, 1, {3, 3}, {1, 1}, {8, 1}, {8, 1}};
    c.around = Around::kWidthOnly;
    for (const bool symbolic : {false, true}) {
      c.symbolic = symbolic;
      const auto plan = PlanOf(c, cpu);
      REQUIRE(plan->has_plane_tiles);
      CHECK(plan->plane_columns < 100);
      AddTo(cases, c,
            symbolic ? std::vector<std::vector<int64_t>>{{9, 40}, {1, 81}, {1, 1}}
                     : std::vector<std::vector<int64_t>>{});
    }
    cases.Check();
  }
}

TEST_CASE("tiles of planes: long units ask whether to go on, short ones do not") {
  if (!Runs("x86-64-v3")) return;
  for (const int64_t width : {40, 900}) {
    CAPTURE(width);
    const Conv c{{8, width}, 3, 24, 1, {5, 5}, {1, 1}, {2, 2}, {1, 1}};
    REQUIRE(HasPlaneTiles(c, "x86-64-v3"));
    SymbolValues symbols;
    KernelHarness harness({.machine = MachineNamed("x86-64-v3")});
    const size_t k = harness.Add(SpecOf(c, symbols));
    harness.Finish();
    REQUIRE(harness.interface(k).parallel_extent.is_const(1));
    GuardedBuffer data(static_cast<size_t>(3 * 8 * width) * 4), kernel(size_t{24 * 3 * 25} * 4),
        output(static_cast<size_t>(24 * 8 * width) * 4),
        scratch(static_cast<size_t>(harness.interface(k).scratch_bytes.value()));
    std::vector<void*> buffers = {data.data(), kernel.data(), output.data()};
    const RelayvmKernelArgs args{buffers.data(), nullptr, scratch.data()};
    CountingEnv counting(INT64_MAX);
    CHECK(harness.function(k)(&counting, &args, 0, 1) == 0);
    CHECK((counting.polls > 0) == (width == 900));
    if (width < 900) continue;
    CountingEnv stopping(1);
    CHECK(harness.function(k)(&stopping, &args, 0, 1) == CountingEnv::kStopped);
    CHECK(stopping.polls == 1);
  }
}

TEST_CASE("tiles of planes: images of open extents may leave out taps, where two pixels would") {
  Conv c{{20, 33}, 3, 24, 1, {5, 5}, {1, 1}, {2, 2}, {1, 1}};
  for (const bool symbolic : {false, true}) {
    c.symbolic = symbolic;
    const auto plan = PlanOf(c, "x86-64-v3");
    REQUIRE(plan->has_plane_tiles);
    CHECK(plan->cuts_taps == symbolic);
  }
}

TEST_CASE("tiles of planes: where panels would be copies for few channels") {
  const auto of = [](int64_t ins, int64_t outs, int64_t window, int64_t extent) {
    const int64_t pad = window / 2;
    return Conv{{extent, extent}, ins, outs, 1, {window, window}, {1, 1}, {pad, pad}, {1, 1}};
  };
  for (const char* cpu : {"x86-64-v3", "x86-64-v4"}) {
    CAPTURE(cpu);
    CHECK(HasPlaneTiles(of(16, 32, 5, 130), cpu));
    CHECK(HasPlaneTiles(of(32, 64, 5, 130), cpu));
    CHECK(HasPlaneTiles(of(3, 20, 7, 60), cpu));
    // Lines that are longer than what the cache has room for.
    CHECK(HasPlaneTiles(of(64, 64, 5, 1024), cpu));
    // Lines that are short against what is between them, and channels that share the copies.
    CHECK_FALSE(HasPlaneTiles(of(64, 256, 5, 14), cpu));
    // Planes of which the cache has no room for a vector.
    CHECK_FALSE(HasPlaneTiles(of(1024, 24, 5, 200), cpu));
    CHECK_FALSE(HasPlaneTiles(of(16, 32, 1, 130), cpu));
    Conv strided = of(16, 32, 5, 130);
    strided.stride = {2, 1};
    CHECK(HasPlaneTiles(strided, cpu));
    strided.stride = {2, 2};
    CHECK(HasPlaneTiles(strided, cpu));
    // A plane for each pixel of a stride, where few taps read them.
    strided.kernel = {3, 3};
    CHECK_FALSE(HasPlaneTiles(strided, cpu));
    strided.kernel = {9, 9};
    strided.stride = {1, 8};
    CHECK_FALSE(HasPlaneTiles(strided, cpu));
    strided.stride = {2, 1};
    strided.dilation = {2, 1};
    CHECK_FALSE(HasPlaneTiles(strided, cpu));
  }
  CHECK(HasPlaneTiles(of(8, 16, 5, 14), "x86-64-v3"));
  CHECK_FALSE(HasPlaneTiles(of(16, 32, 5, 130), "x86-64-v2"));  // no FMA
}

}  // namespace
}  // namespace relayvm
