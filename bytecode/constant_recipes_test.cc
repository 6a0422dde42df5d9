// Constants with recipes, through the assembler, the verifier, the writer and the reader. What runs
// them is tested in vm/kernels/recipes_test.cc.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstring>
#include <functional>
#include <string>

#include "bytecode/assembler.h"
#include "bytecode/blake2b.h"
#include "bytecode/checksum.h"
#include "bytecode/disassembler.h"
#include "bytecode/file_format.h"
#include "bytecode/reader.h"
#include "bytecode/verifier.h"
#include "bytecode/writer.h"

namespace relayvm {
namespace {

using Bytes = std::vector<uint8_t>;

constexpr const char* kText = R"(.version 1
.constant int8[2] "plain"
  .hex 0102
.constant float32[3, 4] "made" recipe "widen" (7, -1)
  .input float16[3]
  .hex aabbccddeeff
  .input int8[2]
  .hex 0304
.constant int8[1] "last"
  .hex 05
)";

Program Made(const std::string& text = kText) {
  Result<Program> program = Assemble(text);
  REQUIRE_MESSAGE(program.ok(), program.status().message());
  return *std::move(program);
}

Bytes Serialize(const Program& program) {
  Result<Bytes> bytes = SerializeProgram(program);
  REQUIRE_MESSAGE(bytes.ok(), bytes.status().message());
  return *std::move(bytes);
}

Program Read(const Bytes& file) {
  Result<Program> read = ReadProgram(file);
  REQUIRE_MESSAGE(read.ok(), read.status().message());
  return *std::move(read);
}

uint16_t MinorOf(const Bytes& file) {
  FileHeader header;
  std::memcpy(&header, file.data(), sizeof header);
  return header.minor;
}

// With changes to the first recipe.
Program Changed(const std::function<void(ConstantInfo*, RecipeInfo*)>& change) {
  Program program = Made();
  ConstantInfo& constant = program.constants[1];
  auto recipe = std::make_shared<RecipeInfo>(*constant.recipe);
  change(&constant, recipe.get());
  constant.recipe = std::move(recipe);
  return program;
}

TEST_CASE("recipes: text and back, bytes included or elided") {
  const Program program = Made();
  REQUIRE(program.constants.size() == 3);
  CHECK(program.constants[0].recipe == nullptr);
  CHECK(program.constants[2].data.size() == 1);
  const RecipeInfo& recipe = *program.constants[1].recipe;
  CHECK(recipe.builtin == "widen");
  CHECK(recipe.params == std::vector<int64_t>{7, -1});
  REQUIRE(recipe.inputs.size() == 2);
  CHECK(recipe.inputs[0].dtype == DType::kFloat16);
  CHECK(recipe.inputs[1].dims == std::vector<int64_t>{2});
  CHECK(BytesInFile(program.constants[1]) == 8);
  const std::string text = DisassembleProgram(program, {.data = true});
  CHECK(Serialize(Made(text)) == Serialize(program));
  Result<Program> elided = Assemble(DisassembleProgram(program), &program);
  REQUIRE_MESSAGE(elided.ok(), elided.status().message());
  CHECK(Serialize(*elided) == Serialize(program));
  CHECK(!Assemble(DisassembleProgram(program)).ok());
  CHECK(Assemble(".version 1\n.input int8[1]\n")
            .status()
            .message()
            .ends_with(".input before any recipe"));
  CHECK(!Assemble(".version 1\n.constant int8[1] \"w\" recipe \"x\" ()\n.hex 01\n").ok());
}

TEST_CASE("recipes: files hold the inputs and their hashes, and ask for a reader that knows them") {
  const Program program = Made();
  const Bytes file = Serialize(program);
  CHECK(MinorOf(file) == 2);
  const Program read = Read(file);
  CHECK(Serialize(read) == file);
  CHECK(read.constants[1].data.empty());
  const RecipeInfo& recipe = *read.constants[1].recipe;
  for (const RecipeInput& input : recipe.inputs) {
    REQUIRE(input.hash);
    CHECK(*input.hash == HashOf({input.data.data(), input.data.size()}));
    CHECK(reinterpret_cast<uintptr_t>(input.data.data()) % 64 == 0);
  }
  // What needs no recipes is for older readers, too.
  Program plain = Made();
  plain.constants.erase(plain.constants.begin() + 1);
  CHECK(MinorOf(Serialize(plain)) == 1);
  // What a compiler has made of them is not written, nor read.
  Program with_data = Made();
  with_data.constants[1].data = SharedBytes::Lazy(48, [](std::span<std::byte>) { FAIL("read"); });
  CHECK(Serialize(with_data) == file);
}

TEST_CASE("recipes: inputs of the same bytes stand in the file once") {
  Program program = Made();
  const SharedBytes data = SharedBytes::Copy(std::vector<std::byte>(100'000));
  auto recipe = std::make_shared<RecipeInfo>();
  recipe->builtin = "x";
  recipe->inputs.push_back({DType::kInt8, {100'000}, data});
  for (int i = 0; i < 3; ++i)
    program.constants.push_back({DType::kInt8, {200'000}, "w", {}, recipe});
  program.constants.push_back({DType::kInt8, {100'000}, "raw", data});
  CHECK(Serialize(program).size() < 120'000);
}

TEST_CASE("recipes: damage of an input is found by who asks") {
  Bytes file = Serialize(Made());
  CHECK(CheckSegments(file).ok());
  const uint8_t bytes[] = {0xaa, 0xbb, 0xcc, 0xdd};
  const auto at = std::search(file.begin(), file.end(), std::begin(bytes), std::end(bytes));
  REQUIRE(at != file.end());
  *at ^= 1;
  CHECK(CheckSegments(file).message().starts_with(".vmx constant 1 \"made\" is damaged"));
}

TEST_CASE("recipes: what they make is in proportion to the file") {
  // Many of the same bytes.
  Program program;
  auto recipe = std::make_shared<RecipeInfo>();
  recipe->builtin = "x";
  recipe->inputs.push_back(
      {DType::kInt8, {1'000}, SharedBytes::Copy(std::vector<std::byte>(1'000))});
  for (int i = 0; i < 2'000; ++i)
    program.constants.push_back({DType::kInt8, {64'000}, "", {}, recipe});
  const Bytes file = Serialize(program);
  CHECK(ReadProgram(file).status().message() ==
        fmt::format(".vmx recipes make more than 64 times the file's {} bytes of constants",
                    file.size()));
  program.constants.resize(4);
  Read(Serialize(program));
}

TEST_CASE("recipes: the verifier's refusals") {
  struct Case {
    std::function<void(ConstantInfo*, RecipeInfo*)> change;
    std::string message;
  };
  const Case kCases[] = {
      {[](ConstantInfo*, RecipeInfo* r) { r->inputs.clear(); },
       "0 inputs and 2 parameters, expected 1 to 16 and at most 16"},
      {[](ConstantInfo*, RecipeInfo* r) { r->inputs.resize(17); },
       "17 inputs and 2 parameters, expected 1 to 16 and at most 16"},
      {[](ConstantInfo*, RecipeInfo* r) { r->params.resize(17); },
       "2 inputs and 17 parameters, expected 1 to 16 and at most 16"},
      {[](ConstantInfo*, RecipeInfo* r) { r->inputs[0].dims = {4}; },
       "an input of 6 bytes of data, its type has 8"},
      {[](ConstantInfo*, RecipeInfo* r) { r->inputs[0].dims = {-1}; }, "dim of -1"},
      {[](ConstantInfo*, RecipeInfo* r) { r->inputs[0].dims = {int64_t{1} << 62, 4}; },
       "tensor size does not fit 63 bits"},
      {[](ConstantInfo*, RecipeInfo* r) { r->inputs[0].dtype = static_cast<DType>(99); },
       "unknown dtype 99"},
      {[](ConstantInfo*, RecipeInfo* r) { r->inputs[1] = {DType::kString, {0}, {}}; },
       "it is of strings"},
      {[](ConstantInfo* c, RecipeInfo*) { c->dtype = DType::kString; }, "it is of strings"},
      {[](ConstantInfo* c, RecipeInfo*) { c->dims = {8 * 66 / 4}; },
       "it makes 528 bytes of 8, expected at most 64 times as many"},
      {[](ConstantInfo* c, RecipeInfo*) { c->dims = {int64_t{1} << 60}; },
       "it makes 4611686018427387904 bytes of 8, expected at most 64 times as many"},
  };
  for (const Case& c : kCases) {
    CAPTURE(c.message);
    const Program program = Changed(c.change);
    CHECK(VerifyProgram(program).message() == "recipe of constant 1: " + c.message);
    CHECK(!SerializeProgram(program).ok());
  }
  CHECK(VerifyProgram(Changed([](ConstantInfo* c, RecipeInfo*) { c->dims = {8 * 64 / 4}; })).ok());
  CHECK(VerifyProgram(Changed([](ConstantInfo* c, RecipeInfo*) {
          c->data = SharedBytes::Zeros(47);
        })).message() == "constant 1: 47 bytes of data, its type has 48");
}

}  // namespace
}  // namespace relayvm
