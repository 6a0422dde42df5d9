// Runs the vmdump binary, whose path is given by the build.
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "bytecode/test_programs.h"
#include "bytecode/writer.h"

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
