#include "compiler/lowering/place.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "bytecode/disassembler.h"
#include "bytecode/verifier.h"
#include "compiler/frontend/parser.h"
#include "compiler/lowering/lower.h"
#include "compiler/pipeline.h"

namespace relayvm::lower {
namespace {

Program Placed(const std::string& text, int64_t seed = 0) {
  auto parsed = frontend::ParseRelay("test.relay", "#[version = \"0.0.5\"]\n" + text);
  REQUIRE_MESSAGE(parsed.ok(), parsed.status().message());
  PipelineOptions pipeline;
  pipeline.opt_level = 1;
  pipeline.machine = MachineNamed("x86-64-v3");
  auto module = RunPipeline(*std::move(parsed), pipeline);
  REQUIRE_MESSAGE(module.ok(), module.status().message());
  const KernelOptions options{.machine = MachineNamed("x86-64-v3"), .opt_level = 0};
  auto lowered = LowerModule(*module, options, {.placement = {"d", seed}});
  REQUIRE_MESSAGE(lowered.ok(), lowered.status().message());
  const Status status = VerifyProgram(lowered->program);
  REQUIRE_MESSAGE(status.ok(), status.message());
  return std::move(lowered->program);
}

std::string Code(const Program& program) {
  return "\n" + DisassembleFunction(program, 0, {.comments = false, .locations = false}).substr(1);
}

// Copies to a device, 0 being the host.
size_t Copies(const std::string& code, char device) {
  size_t count = 0;
  for (size_t at = code.find("tensor.copy"); at != std::string::npos;
       at = code.find("tensor.copy", at + 1)) {
    if (code[code.find('\n', at) - 1] == device) ++count;
  }
  return count;
}

TEST_CASE("placing: tensors lie where their kernels run, and are copied where they cross") {
  // Two kernels and a view between them; what comes in and goes out is the host's.
  const Program program = Placed(R"(
def @main(%x: Tensor[(2, 8), float32]) -> Tensor[(16), float32] {
  let %a = nn.softmax(%x);
  let %b = reshape(%a, newshape=[16]);
  cumsum(nn.softmax(%b), axis=0)
})");
  CHECK(program.devices == std::vector<std::string>{"d"});
  const std::string code = Code(program);
  INFO(code);
  CHECK(Copies(code, '1') == 1);  // x
  CHECK(Copies(code, '0') == 1);  // what the builtin reads
  for (const KernelInfo& kernel : program.kernels) CHECK(kernel.device == (kernel.builtin ? 0 : 1));
  CHECK(std::ranges::count(program.tensor_types, 1, &TensorTypeInfo::device) == 2);
  CHECK(program.images.size() == 1);
  CHECK(program.images[0].device == 1);
}

TEST_CASE("placing: one copy serves a stretch of code") {
  const std::string code = Code(Placed(R"(
def @main(%x: Tensor[(?), float32]) -> (Tensor[(?), float32], Tensor[(?), float32]) {
  let %a = cumsum(%x, axis=0);
  let %b = nn.softmax(%a);
  let %c = nn.softmax(negative(%a));
  (%b, %c)
})"));
  INFO(code);
  CHECK(Copies(code, '1') == 1);
  CHECK(Copies(code, '0') == 2);
}

TEST_CASE("placing: what control flow reads comes back") {
  const std::string code = Code(Placed(R"(
def @main(%x: Tensor[(4), float32]) -> Tensor[(4), float32] {
  if (less(sum(%x), 1f)) { tanh(%x) } else { %x }
})"));
  INFO(code);
  const size_t item = code.find("tensor.item");
  REQUIRE(item != std::string::npos);
  CHECK(code.rfind("tensor.copy", item) != std::string::npos);
}

TEST_CASE("placing by a seed: some kernels, the same ones each time") {
  const std::string text = R"(
def @main(%x: Tensor[(4, 4), float32]) -> Tensor[(4, 4), float32] {
  let %a = nn.softmax(add(%x, 2f));
  let %b = nn.softmax(transpose(%a));
  let %c = nn.dense(%b, %a);
  let %d = nn.softmax(%c);
  cumsum(nn.dense(%d, %x), axis=0)
})";
  size_t there = 0, here = 0;
  for (int64_t seed = 1; seed <= 8; ++seed) {
    const Program program = Placed(text, seed);
    CHECK(Code(program) == Code(Placed(text, seed)));
    for (const KernelInfo& kernel : program.kernels)
      if (!kernel.builtin) ++(kernel.device == 1 ? there : here);
  }
  CHECK(there > 5);
  CHECK(here > 5);
}

TEST_CASE("placing: the options") {
  const PassOptionValues values = {{"device", {"cuda:0"}}, {"device-seed", {"7"}}};
  CHECK(PlacementOf(values).device == "cuda:0");
  CHECK(PlacementOf(values).seed == 7);
  CHECK(PlacementOf({}).device.empty());
  CHECK_FALSE(DeviceOption().row().check("a b").ok());
  CHECK_FALSE(DeviceOption().row().check("").ok());
}

}  // namespace
}  // namespace relayvm::lower
