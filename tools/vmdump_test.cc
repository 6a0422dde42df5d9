// Runs the vmdump binary, whose path is given by the build.
#include <doctest/doctest.h>
#include <elf.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "bytecode/test_programs.h"
#include "bytecode/writer.h"
#include "tools/kernel_notes.h"

namespace relayvm {
namespace {

namespace fs = std::filesystem;

struct Run {
  int status;
  std::string output;  // of both streams
};

Run Vmdump(const std::string& arguments) {
  std::string command = std::string(VMDUMP_PATH) + " " + arguments + " 2>&1";
  FILE* pipe = ::popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  Run run;
  char buffer[4096];
  for (size_t n; (n = std::fread(buffer, 1, sizeof(buffer), pipe)) > 0;)
    run.output.append(buffer, n);
  int status = ::pclose(pipe);
  run.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return run;
}

class Sample {
 public:
  Sample() : dir_(fs::temp_directory_path() / ("relayvm_vmdump_" + std::to_string(::getpid()))) {
    fs::create_directories(dir_);
    Result<Program> program = Assemble(testing::SampleText());
    REQUIRE_MESSAGE(program.ok(), program.status().message());
    Status status = WriteProgramFile(*program, path());
    REQUIRE_MESSAGE(status.ok(), status.message());
  }
  ~Sample() { fs::remove_all(dir_); }
  std::string path() const { return (dir_ / "sample.vmx").string(); }

 private:
  fs::path dir_;
};

bool Contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("vmdump: text") {
  Sample sample;
  Run run = Vmdump(sample.path());
  CHECK(run.status == 0);
  CHECK(Contains(run.output, "type List[A] = Nil | Cons(A, List[A])\n"));
  CHECK(Contains(run.output,
                 "export main(x: Tensor[(n*2 + 1, 3), float32]) -> "
                 "List[(Tensor[(?), int32], ref(fn), Unit)]\n"));
  CHECK(Contains(run.output, "export choose[A](p: A, q: List[A], r: (A, int8)) -> List[A]\n"));
  CHECK(Contains(run.output,
                 "host fetch(int64, (Tensor[(3), bool], List[Tensor[(n), int8]])) -> "
                 "Tensor[(?, 128), float32]\nhost tick() -> ()\n"));
  CHECK(Contains(run.output, "4 functions"));
  CHECK(Contains(run.output, "needs a runtime of .vmx format 1.1, bytecode "));

  run = Vmdump(sample.path() + " --bytecode");
  CHECK(run.status == 0);
  CHECK(Contains(run.output, "  call.i i0, f1, [i1, i2], [r0]"));

  run = Vmdump(sample.path() + " --kernels --constants --memory");
  CHECK(run.status == 0);
  CHECK(Contains(run.output, "image x86-64-v3, 123 bytes\n"));
  CHECK(Contains(run.output, "fused_add"));
  CHECK(Contains(run.output, "Tensor[(2), float32]"));
  CHECK(Contains(run.output, "layers.0.weight"));
  CHECK(Contains(run.output, "main: peak "));
}

TEST_CASE("vmdump: JSON") {
  Sample sample;
  Run run = Vmdump(sample.path() + " --json --bytecode --kernels --memory --constants");
  CHECK(run.status == 0);
  auto json = nlohmann::json::parse(run.output, nullptr, false);
  REQUIRE(!json.is_discarded());
  CHECK(json["format"] == "1.1");
  CHECK(json["program"]["exports"][1]["outputs"] == nlohmann::json::array({"p", "q"}));
  CHECK(json["program"]["host_functions"][1]["name"] == "tick");
  CHECK(json["kernels"]["kernels"][0]["entries"][0] == testing::kTinyImageEntry);
  CHECK(json["constants"][1]["dtype"] == "int64");
  CHECK(json["constants"][2]["shape"] == nlohmann::json::array({0, 5}));
  CHECK(json["memory"][0]["arena_bytes"] == 128);
  CHECK(json["bytecode"].size() == 4);
}

// An ELF file of `sections` sections, each named by the first name; of the first are `notes`.
std::vector<uint8_t> ElfOf(const std::string& names, const std::string& notes, uint16_t sections) {
  Elf64_Ehdr header{};
  header.e_shnum = sections;
  header.e_shstrndx = 1;
  header.e_shoff = sizeof header;
  const uint64_t table_bytes = uint64_t{sections} * sizeof(Elf64_Shdr);
  std::vector<Elf64_Shdr> table(sections);
  table[0].sh_offset = header.e_shoff + table_bytes;
  table[0].sh_size = notes.size();
  table[1].sh_offset = table[0].sh_offset + notes.size();
  table[1].sh_size = names.size();
  table[1].sh_name = 1;
  std::vector<uint8_t> elf(table[1].sh_offset + names.size());
  std::memcpy(elf.data(), &header, sizeof header);
  std::memcpy(elf.data() + header.e_shoff, table.data(), table_bytes);
  std::memcpy(elf.data() + table[0].sh_offset, notes.data(), notes.size());
  std::memcpy(elf.data() + table[1].sh_offset, names.data(), names.size());
  return elf;
}

TEST_CASE("vmdump: what a damaged image says of its kernels is less, or other words") {
  const std::string names(".GCC.command.line\0", 18);
  const std::string notes("\0add_0: loops\0odd\0: \0dense_1: tile=6x16", 40);
  const std::vector<uint8_t> whole = ElfOf(names, notes, 2);
  const auto found = KernelNotes(whole);
  CHECK(found.at("add_0") == "loops");
  CHECK(found.at("dense_1") == "tile=6x16");
  CHECK(found.size() == 3);
  for (size_t bytes = 0; bytes < whole.size(); ++bytes)
    CHECK(KernelNotes(std::span(whole).first(bytes)).empty());
  for (size_t at = 0; at < whole.size(); ++at) {
    for (const int bit : {0, 3, 7}) {
      std::vector<uint8_t> other = whole;
      other[at] ^= static_cast<uint8_t>(1 << bit);
      CHECK(KernelNotes(other).size() <= 4);
    }
  }
}

TEST_CASE("vmdump: names without an end take no long time") {
  const std::vector<uint8_t> elf = ElfOf(std::string(8 << 20, 'x'), "", UINT16_MAX);
  const auto start = std::chrono::steady_clock::now();
  CHECK(KernelNotes(elf).empty());
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(5));
}

TEST_CASE("vmdump: exit status") {
  Sample sample;
  CHECK(Vmdump("--help").status == 0);
  CHECK(Vmdump("").status == 1);
  CHECK(Vmdump(sample.path() + " --no-such-option").status == 1);
  CHECK(Vmdump(sample.path() + " extra").status == 1);
  Run run = Vmdump("/no/such/file.vmx");
  CHECK(run.status == 2);
  CHECK(run.output == "vmdump: cannot open '/no/such/file.vmx': No such file or directory\n");
  std::ofstream(sample.path()) << "not a program";
  run = Vmdump(sample.path());
  CHECK(run.status == 2);
  CHECK(Contains(run.output, "sample.vmx: expected a compiled program (.vmx), found text"));
}

}  // namespace
}  // namespace relayvm
