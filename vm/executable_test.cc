#include "vm/executable.h"

#include <unistd.h>

#include <cstdio>
#include <fstream>

#include "bytecode/test_programs.h"
#include "bytecode/writer.h"
#include "tests/temp_folder.h"
#include "vm/testing.h"

namespace relayvm {
namespace {

// One compiled kernel, which returns 0, in an image for any x86-64 machine.
std::string KernelText(const std::string& features) {
  std::string hex;
  for (uint8_t byte : testing::MakeTinyImage().Bytes()) hex += fmt::format("{:02x}", byte);
  return testing::ScalarProgram(
      1, "  tensor.box r1, i0, int64\n  kernel.1 k0, [i0], [r1]\n  mov.i i15, i0\n", "",
      fmt::format(".image \"{}\"\n  .hex {}\n.kernel \"nothing\" scalars 1 buffers (out int64[]) "
                  "units 1 {:#x}\n",
                  features, hex, testing::kTinyImageEntry));
}

TEST_CASE("executable: from memory and from a file, with a kernel image") {
  auto executable = testing::LoadText(KernelText("x86-64"));
  CHECK(executable->image_index() == 0);
  CHECK(testing::ToInt64(testing::RunOk(executable, testing::Int64Values({5}))) == 5);

  Result<Program> program = Assemble(KernelText("x86-64"));
  REQUIRE(program.ok());
  Result<std::vector<uint8_t>> bytes = SerializeProgram(*program);
  REQUIRE(bytes.ok());
  std::string path = std::string(P_tmpdir) + "/relayvm_executable_test." + std::to_string(getpid());
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes->data()),
             static_cast<std::streamsize>(bytes->size()));
  auto loaded = Executable::Load(path, {.perf_map = true});
  REQUIRE_MESSAGE(loaded.ok(), loaded.status().message());
  CHECK(testing::ToInt64(testing::RunOk(*loaded, testing::Int64Values({6}))) == 6);
  std::ofstream(path, std::ios::binary).write("RVMX", 4);
  auto damaged = Executable::Load(path);
  REQUIRE(!damaged.ok());
  CHECK(damaged.status().code() == StatusCode::kInvalidInput);
  CHECK(testing::Contains(damaged.status().message(), path));
  std::remove(path.c_str());
  CHECK(Executable::Load(path).status().code() == StatusCode::kNotFound);
}

TEST_CASE("executable: a file that changes under a running program changes no verified code") {
  Result<Program> program = Assemble(testing::ScalarProgram(1, "  addimm.i i15, i0, 1\n"));
  REQUIRE(program.ok());
  Result<std::vector<uint8_t>> bytes = SerializeProgram(*program);
  REQUIRE(bytes.ok());
  testing::TempFolder folder;
  const std::string path = folder / "model.vmx";
  auto write = [&](const std::vector<uint8_t>& content) {
    std::ofstream file(path, std::ios::binary | std::ios::in | std::ios::out | std::ios::ate);
    if (!file) file.open(path, std::ios::binary);
    file.seekp(0);
    file.write(reinterpret_cast<const char*>(content.data()),
               static_cast<std::streamsize>(content.size()));
  };
  write(*bytes);
  auto loaded = Executable::Load(path);
  REQUIRE_MESSAGE(loaded.ok(), loaded.status().message());
  write(std::vector<uint8_t>(bytes->size(), 0xFF));  // into the mapped file itself
  CHECK(!Executable::Load(path).ok());
  CHECK(testing::ToInt64(testing::RunOk(*loaded, testing::Int64Values({5}))) == 6);
}

TEST_CASE("executable: an image for another machine is refused, with what it lacks") {
  Result<Program> program = Assemble(KernelText("x86-64-v2,from-the-future"));
  REQUIRE(program.ok());
  auto executable = Executable::FromProgram(*std::move(program));
  REQUIRE(!executable.ok());
  CHECK(executable.status().code() == StatusCode::kUnsupported);
  CHECK(testing::Contains(executable.status().message(), "needs from-the-future"));
}

TEST_CASE("executable: what the verifier refuses does not load") {
  Result<Program> program = Assemble(testing::ScalarProgram(0, "  add.i i99, i0, i0"));
  REQUIRE(program.ok());
  auto executable = Executable::FromProgram(*std::move(program));
  REQUIRE(!executable.ok());
  CHECK(executable.status().code() == StatusCode::kInvalidInput);
}

TEST_CASE("executable: exports and constructors by name") {
  auto executable = testing::LoadText(testing::ScalarProgram(0, "", "", R"(
.data "List" 1
  .constructor "Nil" ()
  .constructor "Cons" (var 0, data 0(var 0))
.data "Stack" 0
  .constructor "Nil" ()
  .constructor "Push" (data 1())
)"));
  CHECK(executable->FindExport("main") == &executable->program().exports[0]);
  CHECK(executable->FindExport("Main") == nullptr);
  CHECK(*executable->FindConstructor("Push") == 1);
  CHECK(executable->FindConstructor("Pop").status().code() == StatusCode::kNotFound);
  CHECK(executable->FindConstructor("Nil").status().message() ==
        "constructor 'Nil' is both of List and of Stack; give its tag");
}

}  // namespace
}  // namespace relayvm
