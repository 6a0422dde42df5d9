#include "vm/kernels/recipes.h"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "bytecode/reader.h"
#include "bytecode/writer.h"
#include "kernels/runtime/call_builtin.h"
#include "tests/temp_folder.h"
#include "vm/testing.h"

namespace relayvm {
namespace {

namespace fs = std::filesystem;
using testing::Contains;

constexpr int64_t kOutputs = 20, kInputs = 5;

std::vector<float> Kernel() {
  std::vector<float> values(kOutputs * kInputs * 9);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(static_cast<int>(i * 37 % 101) - 50) / 8;
  return values;
}

// A program that returns its constant, which `constant` and the lines behind it declare.
std::string Returning(const std::string& constant) {
  return fmt::format(R"(
.version 1
.constant {}
.export "main" f0 () -> float32[2, 36, 1, 5, 16]
.function "main" scalars 0 objects 0 captured 0 registers 0 1 returns object arena 0
  const.r r0, c0
  ret.r r0!
.end
)",
                     constant);
}

std::string Hex(std::span<const std::byte> bytes) {
  std::string hex;
  for (std::byte b : bytes) hex += fmt::format("{:02x}", static_cast<unsigned>(b));
  return hex;
}

std::string Transformed() {
  const std::vector<float> kernel = Kernel();
  return Returning(fmt::format(
      "float32[2, 36, 1, 5, 16] \"w\" recipe \"winograd_weights_4\" ()\n  .input float32[20, 5, 3, "
      "3]\n  .hex {}",
      Hex(std::as_bytes(std::span(kernel)))));
}

std::vector<float> Expected() {
  const std::vector<float> kernel = Kernel();
  std::vector<float> out(2 * 36 * 5 * 16);
  const int64_t from[] = {kOutputs, kInputs, 3, 3}, to[] = {2, 36, 1, kInputs, 16};
  const BuiltinTensor tensors[] = {{DType::kFloat32, from, const_cast<float*>(kernel.data())},
                                   {DType::kFloat32, to, out.data()}};
  REQUIRE(CallBuiltin(*FindBuiltin("winograd_weights_4"), tensors, {}) == 0);
  return out;
}

// The file of a program, in a folder with one for what is shared.
class SharingFile {
 public:
  explicit SharingFile(const std::string& text) {
    Result<Program> program = Assemble(text);
    REQUIRE_MESSAGE(program.ok(), program.status().message());
    const Status written = WriteProgramFile(*program, path());
    REQUIRE_MESSAGE(written.ok(), written.message());
    if (const char* old = std::getenv("RELAYVM_CACHE")) old_ = old;
    ::setenv("RELAYVM_CACHE", cache().c_str(), 1);
  }
  ~SharingFile() {
    if (old_) {
      ::setenv("RELAYVM_CACHE", old_->c_str(), 1);
    } else {
      ::unsetenv("RELAYVM_CACHE");
    }
  }
  SharingFile(const SharingFile&) = delete;
  SharingFile& operator=(const SharingFile&) = delete;

  std::string path() const { return folder_ / "model.vmx"; }
  std::string cache() const { return folder_ / "cache"; }
  std::vector<fs::path> shared() const {
    std::vector<fs::path> files;
    if (!fs::exists(cache())) return files;
    for (const auto& entry : fs::directory_iterator(cache())) files.push_back(entry.path());
    return files;
  }
  std::shared_ptr<const Executable> Load(const LoadOptions& options = {}) const {
    auto loaded = Executable::Load(path(), options);
    REQUIRE_MESSAGE(loaded.ok(), loaded.status().message());
    return *loaded;
  }
  // Changes bytes of the file that stand there once.
  void Replace(const std::string& from, const std::string& to) {
    std::ifstream in(path(), std::ios::binary);
    std::string bytes{std::istreambuf_iterator<char>(in), {}};
    const size_t at = bytes.find(from);
    REQUIRE(at != std::string::npos);
    bytes.replace(at, to.size(), to);
    std::ofstream(path(), std::ios::binary) << bytes;
  }

 private:
  testing::TempFolder folder_;
  std::optional<std::string> old_;
};

bool IsExpected(const std::shared_ptr<const Executable>& executable) {
  const Value result = testing::RunOk(executable, {});
  const std::vector<float> expected = Expected();
  return result.bytes() == expected.size() * sizeof(float) &&
         std::memcmp(result.data(), expected.data(), result.bytes()) == 0;
}

// The inode of the file that lies at an address of this process; 0: none.
uint64_t InodeAt(const void* address) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    unsigned long long begin = 0, end = 0, inode = 0;
    if (std::sscanf(line.c_str(), "%llx-%llx %*s %*s %*s %llu", &begin, &end, &inode) != 3)
      continue;
    const auto at = reinterpret_cast<uintptr_t>(address);
    if (begin <= at && at < end) return inode;
  }
  return 0;
}
uint64_t InodeOf(const std::shared_ptr<const Executable>& executable) {
  return InodeAt(executable->program().constants[0].data.data());
}

TEST_CASE("recipes: constants are made when the program is loaded, and kept for others") {
  SharingFile file(Transformed());
  CHECK(fs::file_size(file.path()) < 12'000);  // of 23,040 bytes of constants
  const auto first = file.Load();
  CHECK(IsExpected(first));
  REQUIRE(file.shared().size() == 1);
  const auto second = file.Load();
  CHECK(IsExpected(second));
  CHECK(InodeOf(first) != 0);
  CHECK(InodeOf(first) == InodeOf(second));
  // In another process, too.
  const pid_t child = ::fork();
  if (child == 0) {
    auto loaded = Executable::Load(file.path());
    ::_exit(loaded.ok() && InodeOf(*loaded) == InodeOf(first) ? 0 : 1);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  CHECK(file.shared().size() == 1);
}

TEST_CASE("recipes: where nothing is shared, they are memory of the program") {
  SharingFile file(Transformed());
  const auto alone = file.Load({.share_constants = false});
  CHECK(IsExpected(alone));
  CHECK(InodeOf(alone) == 0);
  ::setenv("RELAYVM_CACHE", "", 1);
  CHECK(IsExpected(file.Load()));
  ::setenv("RELAYVM_CACHE", "/proc/self/no", 1);
  CHECK(IsExpected(file.Load()));
  CHECK(file.shared().empty());
  // A program that nobody has written to a file.
  CHECK(IsExpected(testing::LoadText(Transformed())));
}

TEST_CASE("recipes: a damaged file of what is shared is made again") {
  SharingFile file(Transformed());
  file.Load();
  fs::resize_file(file.shared().at(0), 5'000);
  CHECK(IsExpected(file.Load()));
  {
    std::fstream stream(file.shared().at(0), std::ios::binary | std::ios::in | std::ios::out);
    stream.seekp(4096 + 100);
    stream.put('x');
  }
  CHECK(IsExpected(file.Load({.verify = true})));
  CHECK(IsExpected(file.Load()));
  CHECK(file.shared().size() == 1);
}

TEST_CASE("recipes: inputs that are not what the file says are refused before others see them") {
  SharingFile file(Transformed());
  // The first numbers of the kernel.
  const std::vector<float> kernel = Kernel();
  const std::string bytes(reinterpret_cast<const char*>(kernel.data()), 64);
  file.Replace(bytes, std::string(64, 'x'));
  const Status status = Executable::Load(file.path()).status();
  CHECK(status.code() == StatusCode::kInvalidInput);
  CHECK_MESSAGE(
      Contains(status.message(), "constant 'w', made by 'winograd_weights_4': an input is damaged"),
      status.message());
  CHECK(file.shared().empty());
  CHECK(Executable::Load(file.path(), {.verify = true}).status().code() ==
        StatusCode::kInvalidInput);
}

TEST_CASE("recipes: what is no recipe of this runtime's is refused") {
  struct Row {
    const char* constant;
    StatusCode code;
    const char* message;
  };
  const Row table[] = {
      {"float32[2, 36, 1, 5, 16] \"w\" recipe \"no_such\" ()\n .input int8[1000]",
       StatusCode::kUnsupported, "made by 'no_such': this runtime has no such builtin"},
      // Builtins for runs; of other numbers of inputs and parameters.
      {"float32[2, 36, 1, 5, 16] \"w\" recipe \"sort\" (0, 1)\n .input float32[2, 36, 1, 5, 16]",
       StatusCode::kInvalidInput, "it makes no constants"},
      {"float32[2, 36, 1, 5, 16] \"w\" recipe \"winograd_weights_4\" (3)\n .input float32[20, 5, "
       "3, "
       "3]",
       StatusCode::kInvalidInput, "or not of so many inputs and parameters"},
      {"float32[2, 36, 1, 5, 16] \"w\" recipe \"winograd_weights_4\" ()\n .input float32[20, 5, 3, "
       "3]\n .input float32[20, 5, 3, 3]",
       StatusCode::kInvalidInput, "or not of so many inputs and parameters"},
      // Shapes and dtypes that are not the builtin's.
      {"float32[2, 36, 1, 5, 16] \"w\" recipe \"winograd_weights_2\" ()\n .input float32[20, 5, 3, "
       "3]",
       StatusCode::kInvalidInput, "its tensors are not what that takes"},
      {"float32[2, 36, 1, 5, 16] \"w\" recipe \"winograd_weights_4\" ()\n .input int32[20, 5, 3, "
       "3]",
       StatusCode::kInvalidInput, "its tensors are not what that takes"},
      {"float64[2, 36, 1, 5, 16] \"w\" recipe \"winograd_weights_4\" ()\n .input float32[20, 5, 3, "
       "3]",
       StatusCode::kInvalidInput, "its tensors are not what that takes"},
  };
  for (const Row& row : table) {
    CAPTURE(row.constant);
    // Data of zeros for each input.
    std::string text = row.constant;
    for (const char* type : {"float32[20, 5, 3, 3]", "int32[20, 5, 3, 3]", "int8[1000]",
                             "input float32[2, 36, 1, 5, 16]"}) {
      const size_t bytes = type[0] == 'f' || type[1] == 'n' ? 3'600 : 0;
      const size_t size = std::strcmp(type, "int8[1000]") == 0  ? 1'000
                          : std::strncmp(type, "input", 5) == 0 ? 23'040
                                                                : bytes;
      const std::string typed =
          std::strncmp(type, "input", 5) == 0 ? type : std::string("input ") + type;
      for (size_t at = text.find(typed); at != std::string::npos; at = text.find(typed, at + 1))
        text.insert(at + typed.size(), "\n .hex " + std::string(size * 2, '0'));
    }
    SharingFile file(Returning(text));
    for (const bool share : {true, false}) {
      const Status status = Executable::Load(file.path(), {.share_constants = share}).status();
      CHECK(status.code() == row.code);
      CHECK_MESSAGE(Contains(status.message(), row.message), status.message());
    }
    CHECK(file.shared().empty());
  }
}

}  // namespace
}  // namespace relayvm
