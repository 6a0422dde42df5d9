// One file for several processors: each level of x86-64 gives the same results from it, as far as
// this machine can run them, and the bytes of weights that no level lays out anew stand once.
#include <doctest/doctest.h>

#include <cmath>
#include <fstream>
#include <span>

#include "bytecode/io/npz.h"
#include "bytecode/reader.h"
#include "bytecode/writer.h"
#include "compiler/driver.h"
#include "tests/temp_folder.h"
#include "vm/api/relayvm.h"

namespace relayvm {
namespace {

// A product whose weight is packed for each level, a table that none packs, and a branch.
constexpr const char* kSource = R"(#[version = "0.0.5"]
def @main(%x: Tensor[(?, 64), float32], %ids: Tensor[(?), int32],
          %w: Tensor[(48, 64), float32], %table: Tensor[(5000, 48), float32]) {
  let %y = tanh(nn.dense(%x, %w, units=48));
  let %z = add(%y, take(%table, %ids, axis=0));
  if (less(sum(%z), 0f)) { negative(%z) } else { %z }
}
)";

HostTensor Waves(std::vector<int64_t> shape) {
  HostTensor t{DType::kFloat32, std::move(shape), {}};
  std::vector<float> values(static_cast<size_t>(t.size()));
  for (size_t i = 0; i < values.size(); ++i) values[i] = 0.3F * std::sin(static_cast<float>(i));
  t.data = SharedBytes::Copy(std::as_bytes(std::span(values)));
  return t;
}

// The program's weights are of the folder, which must live as long.
Compiled CompileFor(const testing::TempFolder& folder, const std::vector<std::string>& cpus) {
  std::ofstream(folder / "program.relay") << kSource;
  REQUIRE(WriteNpz(folder / "w.npz", {{"w", Waves({48, 64})}, {"table", Waves({5000, 48})}}).ok());
  CompileOptions options;
  options.params_file = folder / "w.npz";
  options.kernels.machine = options.pipeline.machine = MachineNamed(cpus[0]);
  std::transform(cpus.begin() + 1, cpus.end(), std::back_inserter(options.more_machines),
                 MachineNamed);
  auto compiled = CompileFile(folder / "program.relay", options);
  REQUIRE_MESSAGE(compiled.ok(), compiled.status().ToString());
  return *std::move(compiled);
}

std::vector<uint8_t> FileFor(const std::vector<std::string>& cpus) {
  testing::TempFolder folder;
  const Compiled compiled = CompileFor(folder, cpus);
  auto file = SerializeProgram(compiled.program, compiled.others);
  REQUIRE_MESSAGE(file.ok(), file.status().ToString());
  return *std::move(file);
}

std::vector<float> Run(Program program) {
  auto executable = Executable::FromProgram(std::move(program));
  REQUIRE_MESSAGE(executable.ok(), executable.status().ToString());
  auto runtime = Runtime::Create();
  auto invocation = Invocation::Create(*runtime, *executable);
  REQUIRE(invocation.ok());
  std::vector<float> x(3 * 64);
  for (size_t i = 0; i < x.size(); ++i) x[i] = std::cos(static_cast<float>(i));
  const int32_t ids[] = {4999, 0, 17};
  auto y =
      (*invocation)
          ->Run("main", {*Value::CopyTensor(DType::kFloat32, std::vector<int64_t>{3, 64}, x.data()),
                         *Value::CopyTensor(DType::kInt32, std::vector<int64_t>{3}, ids)});
  REQUIRE_MESSAGE(y.ok(), y.status().ToString());
  const auto* data = static_cast<const float*>(y->data());
  return {data, data + y->num_elements()};
}

const std::vector<std::string> kLevels = {"x86-64-v2", "x86-64-v3", "x86-64-v4"};

TEST_CASE("one file gives each processor its program") {
  // In any order, one twice.
  const std::vector<uint8_t> file = FileFor({"x86-64-v4", "x86-64-v2", "x86-64-v3", "x86-64-v2"});
  REQUIRE(CheckSegments(file).ok());
  auto best = ReadProgram(file);
  REQUIRE_MESSAGE(best.ok(), best.status().ToString());
  CHECK(best->targets == kLevels);
  const std::vector<float> expected = Run(*best);
  for (const std::string& level : kLevels) {
    CAPTURE(level);
    auto program = ReadProgram(file, {.target = level});
    REQUIRE_MESSAGE(program.ok(), program.status().ToString());
    REQUIRE(program->images.size() == 1);
    CHECK(program->images[0].cpu_features == level);
    // The program is what the level alone compiles to.
    testing::TempFolder folder;
    const Compiled alone = CompileFor(folder, {level});
    CHECK(program->kernels.size() == alone.program.kernels.size());
    CHECK(std::equal(program->code.begin(), program->code.end(), alone.program.code.begin(),
                     alone.program.code.end()));
    auto executable = Executable::FromProgram(*program);
    if (!executable.ok()) {
      // A machine of a lower level.
      CHECK(executable.status().message().find("no kernel image runs on this machine") !=
            std::string::npos);
      continue;
    }
    const std::vector<float> y = Run(*std::move(program));
    REQUIRE(y.size() == expected.size());
    for (size_t i = 0; i < y.size(); ++i) CHECK(std::abs(y[i] - expected[i]) <= 1e-4F);
  }
}

TEST_CASE("weights that no processor lays out anew stand once") {
  const size_t table = size_t{5000} * 48 * 4;
  size_t apart = 0;
  for (const std::string& level : kLevels) apart += FileFor({level}).size();
  const size_t together = FileFor(kLevels).size();
  CHECK(together + 2 * table <= apart + 3 * 4096);
  CHECK(together > table);
}

TEST_CASE("a program without kernels is one for all processors") {
  testing::TempFolder folder;
  std::ofstream(folder / "program.relay")
      << "#[version = \"0.0.5\"]\ndef @main(%x: int64) { add(%x, 1i64) }\n";
  CompileOptions options;
  options.kernels.machine = options.pipeline.machine = MachineNamed("x86-64-v2");
  options.more_machines = {MachineNamed("x86-64-v3")};
  auto compiled = CompileFile(folder / "program.relay", options);
  REQUIRE_MESSAGE(compiled.ok(), compiled.status().ToString());
  CHECK(compiled->others.empty());
  CHECK(compiled->program.images.empty());
}

}  // namespace
}  // namespace relayvm
