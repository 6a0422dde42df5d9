#include "kernels/codegen/contraction/estimate.h"

#include <doctest/doctest.h>

#include <string>

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

Cycles CyclesOf(const Conv& c, const char* machine, bool exact = false) {
  const auto estimate = [&](const std::string& data, const std::string& kernel) {
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
    codegen::ContractionTarget target{MachineNamed(machine)};
    target.exact = exact;
    const auto found = codegen::EstimateConv(*conv, target);
    REQUIRE(found.has_value());
    CHECK(found->least > 0);
    return found->cycles;
  };
  return {estimate("NCHW", "OIHW"), estimate("NHWC", c.groups > 1 ? "HWOI" : "HWIO")};
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

TEST_CASE("wider vectors bring bytes into another order faster") {
  const double v2 = codegen::CyclesOfTransform(MachineNamed("x86-64-v2"), 1e6);
  const double v4 = codegen::CyclesOfTransform(MachineNamed("x86-64-v4"), 1e6);
  CHECK(v4 > 1e5);
  CHECK(v2 > 1.5 * v4);
}

}  // namespace relayvm
