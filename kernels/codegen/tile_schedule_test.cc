#include "kernels/codegen/tile_schedule.h"

#include <doctest/doctest.h>

#include "bytecode/image_loader.h"
#include "kernels/codegen/contraction/harness.h"

namespace relayvm {
namespace {

TEST_CASE("schedules are read, and written as they are read") {
  for (const char* text : {"tile=8x32", "block=96", "tile=1x4,block=4096"}) {
    auto schedule = ParseTileSchedule(text);
    REQUIRE_MESSAGE(schedule.ok(), schedule.status().message());
    CHECK(ToString(*schedule) == text);
  }
  CHECK(ParseTileSchedule("block=24,tile=6x16")->rows == 6);
  for (const char* text : {"", "tile", "tile=8", "tile=8x", "tile=x8", "tile=0x8", "tile=8x8x8",
                           "tile=-1x8", "tile=8x9999", "block=0", "block=x", "rows=8", "tile=8x8,",
                           ",tile=8x8", "tile=8x8,tile=8x8", "block=8,block=8", "tile=8x8 "}) {
    CAPTURE(text);
    auto schedule = ParseTileSchedule(text);
    REQUIRE(!schedule.ok());
    CHECK(schedule.status().message().find("expected tile=ROWSxCOLUMNS") != std::string::npos);
  }
}

const Dim kM = Dim::Symbol(1, "m");

// a . b of (m, 37) and (37, 45), with what follows.
KernelSpec Product(const std::string& name) {
  const std::vector<te::Tensor> in = {Input({kM, 37}, 0), Input({37, 45}, 1), Input({45}, 2)};
  const te::Tensor product = Apply("nn.matmul", {}, {in[0], in[1]}, {kM, 45}, DType::kFloat32);
  return Spec(name, in, {Relu(AddBias(product, in[2], 1))});
}

KernelSpec Convolution(const std::string& name) {
  Attrs attrs;
  attrs.Set("channels", 21);
  attrs.Set("kernel_size", AttrList{3, 3});
  attrs.Set("padding", AttrList{1, 1, 1, 1});
  const std::vector<te::Tensor> in = {Input({1, 5, kM, 9}, 0), Input({21, 5, 3, 3}, 1)};
  return Spec(name, in, {Apply("nn.conv2d", attrs, in, {1, 21, kM, 9}, DType::kFloat32)});
}

TEST_CASE("every tile that registers hold gives the sums") {
  for (const char* cpu : {"x86-64-v2", "x86-64-v3", "x86-64-v4"}) {
    const codegen::ContractionTarget target{MachineNamed(cpu)};
    const int64_t lanes = target.vector_bytes / 4;
    for (int64_t vectors = 1; vectors <= 4; ++vectors) {
      for (const int64_t rows : {1, 2, 3, 5, 6, 8, 14, 28}) {
        if (rows * vectors + vectors + 1 > target.vector_registers) continue;
        CAPTURE(cpu);
        CAPTURE(rows);
        CAPTURE(vectors);
        ContractionCases cases(cpu, {{"", {rows, vectors * lanes, rows == 5 ? 20 : 0}}});
        for (const KernelSpec& spec : {Product("product"), Convolution("convolution")})
          cases.Add(spec, {{{1, 1}}, {{1, 7}}, {{1, 50}}});
        if (CpuFeatures::OfThisMachine().Missing(cpu).empty()) cases.Check();
      }
    }
  }
}

std::string ErrorFor(const KernelSpec& spec, const std::string& name, const char* schedule) {
  KernelOptions options{.machine = MachineNamed("x86-64-v3")};
  options.schedules[name] = *ParseTileSchedule(schedule);
  KernelCompiler compiler(options);
  auto added = compiler.Add(spec);
  return added.ok() ? "" : std::string(added.status().message());
}

TEST_CASE("a tile that cannot be is told") {
  CHECK(ErrorFor(Product("p"), "p", "tile=4x16") == "");
  CHECK(ErrorFor(Product("p"), "other", "tile=99x99") == "");
  CHECK(ErrorFor(Product("p"), "p", "tile=8x16") ==
        "kernel p: schedule tile=8x16: 16 sums and what they are made of take 19 registers, there "
        "are 16");
  CHECK(ErrorFor(Product("p"), "", "tile=4x12") ==
        "kernel p: schedule tile=4x12: expected 8 to 32 columns, a multiple of 8, found 12");
  const te::Tensor x = Input({kM}, 0);
  CHECK(ErrorFor(Spec("relu", {x}, {Relu(x)}), "relu", "tile=4x8") ==
        "kernel relu: schedule tile=4x8: it is no product or convolution");
}

}  // namespace
}  // namespace relayvm
