#include "compiler/frontend/params.h"

#include <doctest/doctest.h>

#include <cstdio>
#include <fstream>

#include "bytecode/io/npz.h"
#include "bytecode/io/tvm_params.h"
#include "compiler/frontend/parser.h"
#include "compiler/ir/printer.h"
#include "tests/temp_folder.h"

namespace relayvm::frontend {
namespace {

HostTensor Floats(std::vector<int64_t> shape) {
  size_t n = 1;
  for (int64_t d : shape) n *= static_cast<size_t>(d);
  return {DType::kFloat32, std::move(shape), std::vector<std::byte>(4 * n)};
}

TEST_CASE("the kind of file is told by its content") {
  testing::TempFolder folder;
  const std::string path = folder / "params";
  REQUIRE(WriteTvmParams(path, {{"w", Floats({2})}}).ok());
  CHECK(ReadParams(path)->contains("w"));
  REQUIRE(WriteNpz(path, {{"layers.0.w", Floats({2})}}).ok());
  CHECK(ReadParams(path)->contains("layers.0.w"));
  std::ofstream(path, std::ios::binary) << "text";
  CHECK(ReadParams(path).status().message() ==
        path + ": expected a TVM parameter file or an .npz archive, found text");
  std::remove(path.c_str());
  CHECK(ReadParams(path).status().code() == StatusCode::kNotFound);
}

std::string Bind(const std::string& function, const Params& params) {
  auto m = ParseRelay("f", "#[version = \"0.0.5\"]\n" + function);
  REQUIRE_MESSAGE(m.ok(), m.status().message());
  auto bound = BindParams(*m, params);
  if (!bound.ok()) return bound.status().message().substr(0, bound.status().message().find('\n'));
  return ir::PrintFunction(*bound, *bound->functions.at("main"));
}

TEST_CASE("bound parameters become constants") {
  const Params one = {{"w", {DType::kInt32, {}, std::vector<std::byte>(4)}}};
  CHECK(
      Bind("def @main(%x: int32, %w: int32) { if (True) { add(%x, %w) } else { fn () { %w }() } }",
           one) ==
      "def @main(%x: int32) {\n"
      "  if (True) {\n"
      "    add(%x, 0)\n"
      "  } else {\n"
      "    let %_1 = fn () {\n"
      "      0\n"
      "    };\n"
      "    %_1()\n"
      "  }\n"
      "}\n");
  CHECK(Bind("def @main(%w: int32) { %w }", one) == "def @main() {\n  0\n}\n");
}

TEST_CASE("names as TVM prints them") {
  const Params number = {{"1", {DType::kInt32, {}, std::vector<std::byte>(4)}}};
  CHECK(Bind("def @main(%v1: int32) { %v1 }", number) == "def @main() {\n  0\n}\n");
  const Params weight = {{"weight", {DType::kInt32, {}, std::vector<std::byte>(4)}}};
  CHECK(Bind("def @main(%weight3: int32) { %weight3 }", weight) == "def @main() {\n  0\n}\n");
  CHECK(Bind("def @main(%weight1: int32, %weight2: int32) { %weight1 }", weight) ==
        "parameter \"weight\" matches no parameter of @main; did you mean %weight1? it has "
        "%weight1, %weight2");
}

TEST_CASE("parameters that do not fit are errors") {
  const struct {
    const char* function;
    Params params;
    const char* message;
  } kCases[] = {
      {"def @main(%weight: float32) { %weight }",
       {{"wieght", Floats({})}},
       "parameter \"wieght\" matches no parameter of @main; did you mean %weight? it has %weight"},
      {"def @main() { 0 }",
       {{"w", Floats({})}},
       "parameter \"w\" matches no parameter of @main; it has none"},
      {"def @main(%w: Tensor[(4), float32]) { %w }",
       {{"w", Floats({3})}},
       "f:2:11: parameter \"w\" is Tensor[(3), float32], but %w is declared as Tensor[(4), "
       "float32]"},
      {"def @main(%w: Tensor[(3), int32]) { %w }",
       {{"w", Floats({3})}},
       "f:2:11: parameter \"w\" is Tensor[(3), float32], but %w is declared as Tensor[(3), int32]"},
      {"def @main(%w: (int32,)) { %w }",
       {{"w", Floats({3})}},
       "f:2:11: parameter \"w\" is Tensor[(3), float32], but %w is declared as (int32,)"},
      {"def @main(%w: float32) { @f(1f) } def @f(%x: float32) { @main(%x) }",
       {{"w", Floats({})}},
       "f:2:39: cannot bind parameters of @main: @f calls it"},
      {"def @main(%v1: float32) { %v1 }",
       {{"1", Floats({})}, {"v1", Floats({})}},
       "f:2:11: two of the given parameters match %v1"},
  };
  for (const auto& c : kCases) CHECK(Bind(c.function, c.params) == c.message);
  auto m = ParseRelay("f", "#[version = \"0.0.5\"]\ndef @g() { 1 }");
  CHECK(BindParams(*m, {{"w", Floats({})}}).status().message() ==
        "no function @main to bind parameters to");
}

TEST_CASE("unknown dimensions and left out types take any tensor") {
  CHECK(Bind("def @main(%w: Tensor[(?, 3), float32]) { 1 }", {{"w", Floats({2, 3})}}) ==
        "def @main() {\n  1\n}\n");
  CHECK(Bind("def @main(%w) { 1 }", {{"w", Floats({2, 3})}}) == "def @main() {\n  1\n}\n");
}

}  // namespace
}  // namespace relayvm::frontend
