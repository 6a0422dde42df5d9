#include "kernels/codegen/contraction/estimate.h"

#include <doctest/doctest.h>

#include <string>
#include <utility>

#include "kernels/codegen/contraction/plan.h"
#include "kernels/op/conv.h"
#include "kernels/op/op.h"

namespace relayvm {
namespace {

struct Conv {
  int64_t in, out, window, stride, groups;
  Dim extent;
};

// Cycles of the same convolution with its channels first, and last.
struct Cycles {
  double first = 0, last = 0;
};

ConvProblem ProblemOf(const Conv& c, const std::string& data, const std::string& kernel) {
  const OpDef& op = *OpTable::Get().Find("nn.conv2d");
  Attrs given;
  given.Set("strides", AttrList{c.stride, c.stride});
  const int64_t pad = c.window / 2;
  given.Set("padding", AttrList{pad, pad, pad, pad});
  given.Set("groups", c.groups);
  given.Set("data_layout", data);
  given.Set("kernel_layout", kernel);
  const auto shape = [&](const std::string& layout) {
    return Layout::Parse(layout)->Shape([&](char axis) -> Dim {
      switch (axis) {
        case 'N':
          return 1;
        case 'C':
          return c.in;
        case 'O':
          return c.out;
        case 'I':
          return c.in / c.groups;
        default:
          return layout == data ? c.extent : Dim(c.window);
      }
    });
  };
  const auto conv = ConvOf(op, *CompleteAttrs(op, given), {shape(data), DType::kFloat32},
                           {shape(kernel), DType::kFloat32});
  REQUIRE(conv.has_value());
  return *conv;
}

Cycles CyclesOf(const Conv& c, const char* machine, bool exact = false) {
  const auto estimate = [&](const std::string& data, const std::string& kernel) {
    codegen::ContractionTarget target{MachineNamed(machine)};
    target.exact = exact;
    const auto found = codegen::EstimateConv(ProblemOf(c, data, kernel), target);
    REQUIRE(found.has_value());
    CHECK(found->least > 0);
    return found->cycles;
  };
  return {estimate("NCHW", "OIHW"), estimate("NHWC", c.groups > 1 ? "HWOI" : "HWIO")};
}

// The rows and vectors of the tiles of a convolution, channels first.
std::pair<unsigned, unsigned> TileOf(const Conv& c, const char* machine) {
  const ConvProblem problem = ProblemOf(c, "NCHW", "OIHW");
  KernelSpec spec;
  spec.by_value = {false, false};
  spec.inputs = {
      te::Placeholder("data", {1, c.in, c.extent, c.extent}, DType::kFloat32, 0),
      te::Placeholder("kernel", {c.out, c.in / c.groups, c.window, c.window}, DType::kFloat32, 1)};
  spec.outputs = {ConvTensor(problem, spec.inputs[0], spec.inputs[1])};
  const auto plan = codegen::PlanContraction(spec, {MachineNamed(machine)});
  REQUIRE(plan.has_value());
  return {plan->detail->tile_rows, plan->detail->vectors};
}

}  // namespace

TEST_CASE("the cost model knows a convolution by its layout and the machine") {
  for (const char* machine : {"x86-64-v2", "x86-64-v3", "x86-64-v4"}) {
    CAPTURE(machine);
    // Measured: 1.8 to 2.5 times as long.
    const Cycles depthwise = CyclesOf({32, 32, 3, 1, 32, 112}, machine);
    CHECK(depthwise.first > 1.2 * depthwise.last);
    // A product of as many numbers either way: 1.0.
    const Cycles pixels = CyclesOf({64, 256, 1, 1, 1, 56}, machine);
    CHECK(pixels.first == doctest::Approx(pixels.last).epsilon(0.1));
    // Many small images fill no vectors.
    const Cycles small = CyclesOf({232, 232, 1, 1, 1, 7}, machine);
    CHECK(small.first > small.last);
  }
  const Conv window = {64, 64, 3, 1, 1, 56};
  const Cycles v2 = CyclesOf(window, "x86-64-v2"), v3 = CyclesOf(window, "x86-64-v3");
  // Winograd's transforms are channels first, and need registers: 0.44 at v3, 1.05 at v2.
  CHECK(v3.first < 0.6 * v3.last);
  CHECK(v2.first == doctest::Approx(v2.last).epsilon(0.1));
  const Cycles exact = CyclesOf(window, "x86-64-v3", true);
  CHECK(exact.first > 0.9 * exact.last);
  CHECK(v2.last > 3 * v3.last);
}

TEST_CASE("what is not known of a convolution counts as usual sizes, what is no size as nothing") {
  const Dim open = Dim::Symbol(1, "n");
  const Cycles of_any = CyclesOf({32, 32, 3, 1, 32, open}, "x86-64-v3");
  const Cycles of_usual = CyclesOf({32, 32, 3, 1, 32, codegen::kNominalExtent}, "x86-64-v3");
  CHECK(of_any.first == of_usual.first);
  CHECK(of_any.last == of_usual.last);
  const codegen::ContractionTarget target{MachineNamed("x86-64-v3")};
  const OpDef& op = *OpTable::Get().Find("nn.conv2d");
  Attrs given;
  given.Set("strides", AttrList{int64_t{1} << 30, int64_t{1}});
  const auto attrs = CompleteAttrs(op, given);
  REQUIRE_MESSAGE(attrs.ok(), attrs.status().ToString());
  const auto conv =
      ConvOf(op, *attrs, {{1, 1, open, open}, DType::kFloat32}, {{1, 1, 3, 3}, DType::kFloat32});
  REQUIRE(conv.has_value());
  CHECK(!codegen::EstimateConv(*conv, target));
}

TEST_CASE("tiles of packed pixels waste neither rows nor columns, of 16 registers") {
  using Tile = std::pair<unsigned, unsigned>;
  const Tile high{6, 2}, wide{4, 3};
  CHECK(TileOf({32, 16, 1, 1, 1, 104}, "x86-64-v3") == wide);
  CHECK(TileOf({32, 16, 1, 1, 1, Dim::Symbol(1, "n")}, "x86-64-v3") == wide);
  CHECK(TileOf({3, 16, 3, 2, 1, 224}, "x86-64-v3") == wide);
  // 49 pixels are three panels of three vectors and four of two; 68 rows are 72 or 68.
  CHECK(TileOf({544, 544, 1, 1, 4, 7}, "x86-64-v3") == high);
  CHECK(TileOf({272, 272, 1, 1, 4, 14}, "x86-64-v3") == high);
}

TEST_CASE("wider vectors bring bytes into another order faster") {
  const double v2 = codegen::CyclesOfTransform(MachineNamed("x86-64-v2"), 1e6);
  const double v4 = codegen::CyclesOfTransform(MachineNamed("x86-64-v4"), 1e6);
  CHECK(v4 > 1e5);
  CHECK(v2 > 1.5 * v4);
}

}  // namespace relayvm
