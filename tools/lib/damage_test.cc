// Damaged files of every kind that the tools read, in process: whatever the bytes, there is a
// result or an error, and never a crash. Tests beside the readers look at each of them more
// closely.
#include <doctest/doctest.h>

#include <cstring>
#include <fstream>
#include <functional>
#include <string>

#include "bytecode/checksum.h"
#include "bytecode/disassembler.h"
#include "bytecode/file_format.h"
#include "bytecode/io/npy.h"
#include "bytecode/io/npz.h"
#include "bytecode/memory_report.h"
#include "bytecode/reader.h"
#include "bytecode/writer.h"
#include "compiler/driver.h"
#include "compiler/frontend/params.h"
#include "compiler/frontend/parser.h"
#include "tools/values/input.h"
#include "tools/values/literal.h"
#include "tools/values/tensor_file.h"
#include "tools/values/testing.h"
#include "vm/api/relayvm.h"

namespace relayvm::tools {
namespace {

using testing::TempFolder;

// A list, a loop, a kernel, a constant, and a value of an open type.
constexpr const char* kProgram = R"(#[version = "0.0.5"]
type List[A] { Cons(A, List[A]), Nil, }
def @sum(%l: List[Tensor[(?, 2), float32]], %s: float32) -> float32 {
  match (%l) {
    Cons(%x, %t) => { @sum(%t, add(%s, sum(nn.relu(%x)))) },
    Nil => { if (less(%s, 3f)) { %s } else { negative(%s) } },
  }
}
def @main[A](%l: List[Tensor[(?, 2), float32]], %w: Tensor[(2), float32], %a: A) {
  (@sum(%l, 0f), %a, add(%w, 1f))
}
)";

Program Compile() {
  auto module = frontend::ParseRelay("test.relay", kProgram);
  REQUIRE_MESSAGE(module.ok(), module.status().message());
  auto compiled = CompileModule(std::move(module).value(), {});
  REQUIRE_MESSAGE(compiled.ok(), compiled.status().message());
  return std::move(compiled->program);
}

// Every truncation of `bytes`, and every byte changed in each of a few ways.
void ForEachDamage(const std::string& bytes, const std::vector<int>& flips,
                   const std::function<void(const std::string&)>& use) {
  for (size_t size = 0; size < bytes.size(); ++size) use(bytes.substr(0, size));
  for (size_t i = 0; i < bytes.size(); ++i) {
    for (int flip : flips) {
      std::string damaged = bytes;
      damaged[i] = static_cast<char>(damaged[i] ^ flip);
      use(damaged);
    }
  }
}

void WriteBytes(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

std::string ReadBytes(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// An error that a user can read.
void CheckMessage(const Status& status) {
  CHECK(status.message().size() > 5);
  CHECK(status.message().size() < 10'000);
}

TEST_CASE("executables: every truncation and every changed byte") {
  Result<std::vector<uint8_t>> file = SerializeProgram(Compile());
  REQUIRE(file.ok());
  FileHeader header{};
  std::memcpy(&header, file->data(), sizeof header);
  const size_t program_end = sizeof header + header.program_size;
  // The header and the program; images behind it are hashed as a whole (bytecode/reader_test.cc).
  for (size_t i = 0; i < program_end; ++i) {
    CAPTURE(i);
    std::vector<uint8_t> damaged = *file;
    damaged[i] ^= 0xFF;
    Result<Program> read = ReadProgram(damaged);
    CHECK(!read.ok());
    if (!read.ok()) CheckMessage(read.status());
    Result<Program> cut = ReadProgram(std::span(*file).first(i));
    CHECK(!cut.ok());
  }
  // Behind a checksum that is right: what loads is what all tools can show and link.
  int loaded = 0;
  for (size_t i = sizeof header; i < program_end; ++i) {
    for (int flip : {0x01, 0x80}) {
      std::vector<uint8_t> damaged = *file;
      damaged[i] = static_cast<uint8_t>(damaged[i] ^ flip);
      FileHeader sealed = header;
      sealed.checksum = 0;
      uint64_t seed = Checksum64({reinterpret_cast<const uint8_t*>(&sealed), sizeof sealed});
      sealed.checksum =
          Checksum64(std::span(damaged).subspan(sizeof header, header.program_size), seed);
      std::memcpy(damaged.data(), &sealed, sizeof sealed);
      Result<Program> read = ReadProgram(damaged);
      if (!read.ok()) {
        CheckMessage(read.status());
        continue;
      }
      ++loaded;
      DisassembleProgram(*read);
      for (uint32_t f = 0; f < read->functions.size(); ++f) ReportMemory(*read, f);
      auto executable = Executable::FromProgram(std::move(read).value());
      if (!executable.ok()) CheckMessage(executable.status());
    }
  }
  CHECK(loaded > 0);
}

TEST_CASE("tensors and parameters: every truncation and every changed byte") {
  TempFolder folder;
  HostTensor tensor{DType::kFloat32, {2, 3}, std::vector<std::byte>(24)};
  HostTensor flag{DType::kBool, {1}, std::vector<std::byte>(1)};
  REQUIRE(WriteNpyFile(folder / "a.npy", tensor).ok());
  REQUIRE(WriteNpz(folder / "a.npz", {{"w", tensor}, {"b", flag}}).ok());
  ForEachDamage(ReadBytes(folder / "a.npy"), {0x01, 0x10, 0xFF}, [&](const std::string& damaged) {
    WriteBytes(folder / "b.npy", damaged);
    Result<Value> read = LoadNpy(folder / "b.npy");
    if (!read.ok()) CheckMessage(read.status());
  });
  ForEachDamage(ReadBytes(folder / "a.npz"), {0xFF}, [&](const std::string& damaged) {
    WriteBytes(folder / "b.npz", damaged);
    Result<NamedTensors> read = ReadNpz(folder / "b.npz");
    if (!read.ok()) CheckMessage(read.status());
    auto params = frontend::ReadParams(folder / "b.npz");
    if (!params.ok()) CheckMessage(params.status());
  });
}

TEST_CASE("large tensors, which are mapped: every changed byte of the header") {
  TempFolder folder;
  HostTensor tensor{DType::kFloat32, {300, 100}, std::vector<std::byte>(120'000)};
  REQUIRE(WriteNpyFile(folder / "a.npy", tensor).ok());
  const std::string file = ReadBytes(folder / "a.npy");
  for (size_t i = 0; i < file.size() - 120'000; ++i) {
    for (int flip : {0x01, 0x10, 0xFF}) {
      std::string damaged = file;
      damaged[i] = static_cast<char>(damaged[i] ^ flip);
      WriteBytes(folder / "b.npy", damaged);
      Result<Value> read = LoadNpy(folder / "b.npy");
      if (!read.ok()) CheckMessage(read.status());
      if (read.ok()) CHECK(read->bytes() <= 120'000);
    }
  }
}

TEST_CASE("programs: every truncation and every changed byte goes through the whole compiler") {
  int compiled = 0;
  auto use = [&](const std::string& text) {
    auto module = frontend::ParseRelay("test.relay", text);
    if (!module.ok()) return CheckMessage(module.status());
    if (!module->functions.contains("main")) return;
    CompileOptions options;
    options.pipeline.opt_level = 1;
    auto result = CompileModule(std::move(module).value(), options);
    if (!result.ok()) return CheckMessage(result.status());
    ++compiled;
  };
  ForEachDamage(kProgram, {0x01, 0x08}, use);
  CHECK(compiled > 0);
}

TEST_CASE("literals: every truncation and every changed byte") {
  Program program = Compile();
  const ExportInfo& function = program.exports.at(0);
  for (const char* text :
       {"Cons([[1, 2.5]], Cons(1x2xf32=random, Nil))", "(Cons(1, Nil), [true], (2.5f,), 2xi64=3)",
        "Tensor[(2, 1), float32] [[1.], [nan]]"}) {
    ForEachDamage(text, {0x01, 0x10, 0xFF}, [&](const std::string& damaged) {
      for (const ValueType& type : function.params) {
        TypeTable types(program);
        Result<Value> value = ParseLiteral(damaged, types, types.InternOf(function, type));
        if (!value.ok()) CheckMessage(value.status());
      }
    });
  }
}

}  // namespace
}  // namespace relayvm::tools
