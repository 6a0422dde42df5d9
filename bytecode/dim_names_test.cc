// Names of dims in a signature, and expressions over them: text, file and back.
#include "bytecode/dim_names.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "bytecode/assembler.h"
#include "bytecode/disassembler.h"
#include "bytecode/reader.h"
#include "bytecode/verifier.h"
#include "bytecode/writer.h"

namespace relayvm {
namespace {

std::string Text(const std::string& params) {
  return fmt::format(R"(
.version 1
.export "main" f0 ({}) -> int32[]
.function "main" scalars 0 objects 1 captured 0 registers 0 1 returns object arena 0
  ret.r r0
.end
)",
                     params);
}

constexpr const char* kParam =
    R"("x": (float32[?"n", 3, ?"n*2 + k"=s0*2 + s1], (int64[?"k", ?"n"]), float32[?, ?"m"]))";

TEST_CASE("names are counted in the order in which they stand in tensors and tuples") {
  const Result<Program> program = Assemble(Text(kParam));
  REQUIRE_MESSAGE(program.ok(), program.status().message());
  CHECK(DimNames(program->exports[0].params) == std::vector<std::string_view>{"n", "k", "m"});
  const ValueType& first = program->exports[0].params[0].args[0];
  CHECK(IsDimName(first, 0));
  CHECK(!IsDimName(first, 1));
  CHECK(!IsDimName(first, 2));
  CHECK(IsDimFormula(first, 2));
}

TEST_CASE("expressions come back from text and file") {
  const Result<Program> program = Assemble(Text(kParam));
  REQUIRE(program.ok());
  const std::string text = DisassembleProgram(*program);
  CHECK_MESSAGE(text.find(R"(?"n*2 + k"=s0*2 + s1])") != std::string::npos, text);
  const Result<Program> again = Assemble(text);
  REQUIRE_MESSAGE(again.ok(), again.status().message());
  CHECK(DisassembleProgram(*again) == text);
  const auto file = SerializeProgram(*program);
  REQUIRE(file.ok());
  const Result<Program> read = ReadProgram(*file);
  REQUIRE_MESSAGE(read.ok(), read.status().message());
  CHECK(DisassembleProgram(*read) == text);
}

TEST_CASE("expressions over names that are not there are refused") {
  const struct {
    const char *params, *message;
  } kCases[] = {
      {R"("x": float32[?"n", ?"n + m"=s0 + s1])", "a size of scalar 1, out of range 1"},
      {R"("x": float32[?"n + 1"=s0 + 1])", "a size of scalar 0, out of range 0"},
      {R"("x": float32[?"n", 3=s0])", "a dim with a size has a formula"},
  };
  for (const auto& c : kCases) {
    CAPTURE(c.params);
    const Result<Program> program = Assemble(Text(c.params));
    REQUIRE_MESSAGE(program.ok(), program.status().message());
    const Status status = VerifyProgram(*program);
    CHECK(status.code() == StatusCode::kInvalidInput);
    CHECK_MESSAGE(status.message().find(c.message) != std::string::npos, status.message());
  }
}

}  // namespace
}  // namespace relayvm
