#include "vm/run/executable.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "bytecode/test_programs.h"
#include "bytecode/writer.h"
#include "tests/temp_folder.h"
#include "vm/border/host_testing.h"

namespace relayvm {
namespace {

using testing::Contains;

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

// A .vmx file with a constant of 20,000 bytes, which main returns, at `offset` from a line's start.
struct FileInMemory {
  explicit FileInMemory(size_t offset) {
    std::string hex;
    for (int i = 0; i < 20'000; ++i) hex += fmt::format("{:02x}", i % 256);
    Result<Program> program = Assemble(fmt::format(R"(
.version 1
.constant uint8[20000] "weights"
  .hex {}
.export "main" f0 () -> uint8[20000]
.function "main" scalars 0 objects 0 captured 0 registers 0 1 returns object arena 0
  const.r r0, c0
  ret.r r0!
.end
)",
                                                   hex));
    REQUIRE_MESSAGE(program.ok(), program.status().message());
    Result<std::vector<uint8_t>> serialized = SerializeProgram(*program);
    REQUIRE(serialized.ok());
    memory.reset(
        static_cast<uint8_t*>(std::aligned_alloc(64, (serialized->size() + 127) / 64 * 64)),
        std::free);
    std::copy(serialized->begin(), serialized->end(), memory.get() + offset);
    bytes = {memory.get() + offset, serialized->size()};
  }
  bool Has(const void* data) const {
    auto* p = static_cast<const uint8_t*>(data);
    return p >= bytes.data() && p < bytes.data() + bytes.size();
  }
  std::shared_ptr<uint8_t> memory;
  std::span<const uint8_t> bytes;
};

// A file that executables are loaded from, and what a host may do to it.
class ModelFile {
 public:
  ModelFile() : file_(0) { Write(); }
  void Write() {  // in place, as cp does
    std::ofstream file(path(), std::ios::binary);
    file.write(reinterpret_cast<const char*>(file_.bytes.data()),
               static_cast<std::streamsize>(file_.bytes.size()));
  }
  // A byte of the constant.
  void Damage() {
    std::fstream stream(path(), std::ios::binary | std::ios::in | std::ios::out);
    const auto size = static_cast<std::streamoff>(std::filesystem::file_size(path()));
    stream.seekp(size - 100);
    stream.put('x');
  }
  std::vector<uint8_t> Bytes() const {
    std::ifstream stream(path(), std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  void Truncate() { std::filesystem::resize_file(path(), 0); }
  void Replace() {
    const std::string other = folder_ / "new.vmx";
    std::filesystem::copy_file(path(), other);
    std::filesystem::rename(other, path());
  }
  std::string path() const { return folder_ / "model.vmx"; }
  // Longer than a tick of the file system's clock, and than a file is not looked at.
  static void Wait() { usleep(30'000); }

 private:
  FileInMemory file_;
  testing::TempFolder folder_;
};

TEST_CASE(
    "executable: who asks has constants compared with their checksums, and the file is watched") {
  ModelFile file;
  auto verified = Executable::Load(file.path(), {.verify = true});
  REQUIRE_MESSAGE(verified.ok(), verified.status().message());
  auto invocation = testing::NewInvocation(*verified);
  testing::RunOk(*invocation, {});
  file.Damage();
  ModelFile::Wait();
  CHECK(invocation->Run("main", {}).status().code() == StatusCode::kFailedPrecondition);
  CHECK(Executable::Load(file.path()).ok());
  for (const bool copied : {false, true}) {
    const Status s = Executable::Load(file.path(), {.copy_file = copied, .verify = true}).status();
    CHECK(s.code() == StatusCode::kInvalidInput);
    CHECK_MESSAGE(Contains(s.message(), "model.vmx: .vmx constant 0 \"weights\" is damaged"),
                  s.message());
  }
  const std::vector<uint8_t> bytes = file.Bytes();
  CHECK(Executable::FromMemory(bytes, nullptr).ok());
  CHECK(Executable::FromMemory(bytes, nullptr, {.verify = true}).status().code() ==
        StatusCode::kInvalidInput);
}

TEST_CASE("executable: a file that was written to is found out though its time was set back") {
  ModelFile file;
  const auto time = std::filesystem::last_write_time(file.path());
  auto loaded = Executable::Load(file.path());
  REQUIRE(loaded.ok());
  auto invocation = testing::NewInvocation(*loaded);
  testing::RunOk(*invocation, {});
  // Its status changes, and nothing else.
  ModelFile::Wait();
  std::filesystem::last_write_time(file.path(), time);
  ModelFile::Wait();
  testing::RunOk(*invocation, {});
  file.Damage();
  std::filesystem::last_write_time(file.path(), time);
  ModelFile::Wait();
  const Status status = invocation->Run("main", {}).status();
  CHECK(status.code() == StatusCode::kFailedPrecondition);
  CHECK_MESSAGE(Contains(status.message(), "\"weights\" is damaged"), status.message());
}

TEST_CASE("executable: runs are refused once the mapped file was written to in place") {
  ModelFile file;
  for (const bool truncated : {false, true}) {
    auto loaded = Executable::Load(file.path());
    REQUIRE_MESSAGE(loaded.ok(), loaded.status().message());
    auto copied = Executable::Load(file.path(), {.copy_file = true});
    REQUIRE_MESSAGE(copied.ok(), copied.status().message());
    auto invocation = testing::NewInvocation(*loaded);
    testing::RunOk(*invocation, {});
    ModelFile::Wait();
    testing::RunOk(*invocation, {});
    if (truncated) {
      file.Truncate();
    } else {
      file.Write();
    }
    ModelFile::Wait();
    for (int turn = 0; turn < 2; ++turn) {
      const Status status = invocation->Run("main", {}).status();
      CHECK(status.code() == StatusCode::kFailedPrecondition);
      CHECK_MESSAGE(status.message().starts_with("'" + file.path() +
                                                 "' has been written to while it is in use ("),
                    status.message());
    }
    // What was copied is not the file's any more.
    CHECK(testing::RunOk(*copied, {}).bytes() == 20'000);
    file.Write();
    REQUIRE(Executable::Load(file.path()).ok());
  }
}

TEST_CASE("executable: a mapped file may be replaced by renaming, or removed") {
  ModelFile file;
  auto loaded = Executable::Load(file.path());
  REQUIRE_MESSAGE(loaded.ok(), loaded.status().message());
  auto invocation = testing::NewInvocation(*loaded);
  const Value before = testing::RunOk(*invocation, {});
  file.Replace();
  ModelFile::Wait();
  CHECK(testing::ElementsOf<uint8_t>(testing::RunOk(*invocation, {})) ==
        testing::ElementsOf<uint8_t>(before));
  std::filesystem::remove(file.path());
  ModelFile::Wait();
  CHECK(testing::RunOk(*invocation, {}).bytes() == 20'000);
}

// A host function writes over the file that the program which calls it is of.
TEST_CASE("executable: a run that was going on while the file was written to fails too") {
  Result<Program> program = Assemble(testing::Forward("int64[]", "int64[]"));
  REQUIRE(program.ok());
  Result<std::vector<uint8_t>> bytes = SerializeProgram(*program);
  REQUIRE(bytes.ok());
  testing::TempFolder folder;
  const std::string path = folder / "model.vmx";
  const auto write = [&] {
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes->data()),
               static_cast<std::streamsize>(bytes->size()));
  };
  write();
  const HostFunction function{"f", "", [&](HostCall& call) -> Result<Value> {
                                ModelFile::Wait();
                                write();
                                return call.args()[0];
                              }};
  auto loaded = Executable::Load(path, {.host_functions = {&function, 1}});
  REQUIRE_MESSAGE(loaded.ok(), loaded.status().message());
  const Status status = testing::RunFails(*loaded, testing::Int64Values({5}));
  CHECK(status.code() == StatusCode::kFailedPrecondition);
}

TEST_CASE("executable: from memory without a copy, which its owner keeps for results too") {
  FileInMemory file(0);
  std::weak_ptr<uint8_t> watched = file.memory;
  auto executable = Executable::FromMemory(file.bytes, std::move(file.memory));
  REQUIRE_MESSAGE(executable.ok(), executable.status().message());
  Value weights = testing::RunOk(*executable, {});
  CHECK(file.Has(weights.data()));
  *executable = nullptr;
  CHECK(!watched.expired());
  CHECK(weights.element(19'999) == 19'999 % 256);
  weights = Value();
  CHECK(watched.expired());
}

TEST_CASE("executable: memory that is not aligned, or nobody's, is copied") {
  for (size_t offset : {0, 1, 8, 32}) {
    FileInMemory file(offset);
    std::weak_ptr<uint8_t> watched = file.memory;
    auto executable =
        Executable::FromMemory(file.bytes, offset == 0 ? nullptr : std::move(file.memory));
    REQUIRE_MESSAGE(executable.ok(), executable.status().message());
    CHECK(watched.expired() == (offset != 0));
    if (offset == 0) std::fill_n(file.memory.get(), file.bytes.size(), 0xFF);
    Value weights = testing::RunOk(*executable, {});
    CHECK(!file.Has(weights.data()));
    CHECK(weights.element(300) == 300 % 256);
  }
}

TEST_CASE("executable: bad bytes in memory are an error, and the owner is let go") {
  FileInMemory file(0);
  for (size_t size : {size_t{0}, size_t{3}, size_t{63}, size_t{64}, file.bytes.size() - 1}) {
    auto executable = Executable::FromMemory(file.bytes.first(size), file.memory);
    REQUIRE(!executable.ok());
    CHECK(executable.status().code() == StatusCode::kInvalidInput);
  }
  file.memory.get()[80] ^= 1;
  CHECK(!Executable::FromMemory(file.bytes, file.memory).ok());
  CHECK(!Executable::FromMemory({}, file.memory).ok());
  CHECK(file.memory.use_count() == 1);
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
