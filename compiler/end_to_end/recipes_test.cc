// Kernels that Winograd's convolutions take: files hold them as given where they would grow, and
// loading makes of them the very bits that the compiler would.
#include "vm/kernels/recipes.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <span>

#include "bytecode/io/npz.h"
#include "bytecode/reader.h"
#include "bytecode/writer.h"
#include "compiler/driver.h"
#include "kernels/runtime/half.h"
#include "tests/temp_folder.h"
#include "vm/api/relayvm.h"

namespace relayvm {
namespace {

// A convolution that becomes one of tile 4, another of tile 2 with the same kernel, and a product.
constexpr const char* kConvolutions = R"(#[version = "0.0.5"]
def @main(%x: Tensor[(1, 20, 56, 56), float32], %s: Tensor[(1, 64, 6, 6), float32],
          %w: Tensor[(12, 20, 3, 3), float32], %v: Tensor[(64, 64, 3, 3), float32],
          %p: Tensor[({}, 56), float32]) {{
  (nn.conv2d(%x, %w, padding=[1, 1]), nn.conv2d(%s, %v, padding=[1, 1]), nn.dense(reshape(%x, newshape=[1120, 56]), %p, units={}))
}}
)";

HostTensor Noise(std::vector<int64_t> shape, bool as_halves) {
  HostTensor t{DType::kFloat32, std::move(shape), {}};
  std::vector<float> values(static_cast<size_t>(t.size()));
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = 0.3F * std::sin(static_cast<float>(i));
    if (as_halves) values[i] = HalfToFloat(FloatToHalf(values[i]));
  }
  t.data = SharedBytes::Copy(std::as_bytes(std::span(values)));
  return t;
}

// `units`: of the product, whose weights' size decides whether the file may grow.
Compiled CompileConvolutions(const testing::TempFolder& folder, int64_t units, bool as_halves,
                             const std::vector<std::string>& cpus) {
  std::ofstream(folder / "program.relay") << fmt::format(kConvolutions, units, units);
  REQUIRE(WriteNpz(folder / "w.npz", {{"w", Noise({12, 20, 3, 3}, as_halves)},
                                      {"v", Noise({64, 64, 3, 3}, as_halves)},
                                      {"p", Noise({units, 56}, false)}})
              .ok());
  CompileOptions options;
  options.params_file = folder / "w.npz";
  options.pipeline.disabled = {"ConvertLayout"};  // Winograd's, whatever the estimate says
  options.kernels.machine = options.pipeline.machine = MachineNamed(cpus[0]);
  std::transform(cpus.begin() + 1, cpus.end(), std::back_inserter(options.more_machines),
                 MachineNamed);
  auto compiled = CompileFile(folder / "program.relay", options);
  REQUIRE_MESSAGE(compiled.ok(), compiled.status().ToString());
  return *std::move(compiled);
}

std::vector<const RecipeInfo*> RecipesOf(const Program& program) {
  std::vector<const RecipeInfo*> recipes;
  for (const ConstantInfo& c : program.constants) {
    if (c.recipe != nullptr) recipes.push_back(c.recipe.get());
  }
  return recipes;
}

TEST_CASE("files hold Winograd's kernels as given where they would grow by more than a tenth") {
  const testing::TempFolder folder;
  for (const bool as_halves : {false, true}) {
    const Compiled small = CompileConvolutions(folder, 8, as_halves, {"x86-64-v3"});
    const std::vector<const RecipeInfo*> recipes = RecipesOf(small.program);
    REQUIRE(recipes.size() == 2);
    CHECK(recipes[0]->builtin == "winograd_weights_4");
    CHECK(recipes[1]->builtin == "winograd_weights_2");
    for (const RecipeInfo* r : recipes)
      CHECK(r->inputs[0].dtype == (as_halves ? DType::kFloat16 : DType::kFloat32));
    const auto file = SerializeProgram(small.program);
    REQUIRE(file.ok());
    const size_t given = (size_t{12} * 20 + 64 * 64) * 9 * (as_halves ? 2 : 4);
    CHECK(file->size() < given + 60'000);
    // What is made of them are the compiler's own bits.
    auto read = ReadProgram(*file);
    REQUIRE_MESSAGE(read.ok(), read.status().ToString());
    const Status made = vm::MakeByRecipes(&*read, false, false);
    REQUIRE_MESSAGE(made.ok(), made.ToString());
    for (size_t i = 0; i < read->constants.size(); ++i) {
      CHECK(read->constants[i].data == small.program.constants[i].data);
    }
  }
  // The product's weights are 20 times as large.
  const Compiled large = CompileConvolutions(folder, 30'000, false, {"x86-64-v3"});
  CHECK(RecipesOf(large.program).empty());
  // Other processors' programs are made of the same bytes.
  const Compiled both = CompileConvolutions(folder, 8, false, {"x86-64-v3", "x86-64-v4"});
  REQUIRE(both.others.size() == 1);
  const auto one = SerializeProgram(both.program);
  const auto file = SerializeProgram(both.program, both.others);
  REQUIRE((one.ok() && file.ok()));
  CHECK(file->size() < one->size() + 60'000);
}

TEST_CASE("a program with recipes computes what one does that holds all weights") {
  const testing::TempFolder folder;
  const Compiled compiled = CompileConvolutions(folder, 8, false, {"native"});
  const auto file = SerializeProgram(compiled.program);
  REQUIRE(file.ok());
  auto read = ReadProgram(*file);
  REQUIRE_MESSAGE(read.ok(), read.status().ToString());
  std::vector<std::vector<std::byte>> results;
  for (const Program& program : {compiled.program, *read}) {
    auto executable = Executable::FromProgram(program);
    REQUIRE_MESSAGE(executable.ok(), executable.status().ToString());
    auto invocation = Invocation::Create(*Runtime::Create(), *executable);
    REQUIRE(invocation.ok());
    const HostTensor x = Noise({1, 20, 56, 56}, false), s = Noise({1, 64, 6, 6}, false);
    auto y = (*invocation)
                 ->Run("main", {*Value::CopyTensor(x.dtype, x.shape, x.data.data()),
                                *Value::CopyTensor(s.dtype, s.shape, s.data.data())});
    REQUIRE_MESSAGE(y.ok(), y.status().ToString());
    std::vector<std::byte>& bytes = results.emplace_back();
    for (size_t i = 0; i < 3; ++i) {
      const auto* data = static_cast<const std::byte*>(y->field(i).data());
      bytes.insert(bytes.end(), data, data + y->field(i).bytes());
    }
  }
  CHECK(results[0] == results[1]);
}

}  // namespace
}  // namespace relayvm
