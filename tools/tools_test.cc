// The tools as a user runs them: relayc, vmrun and relayrun on small programs, their output and
// exit statuses.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/wait.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "bytecode/io/npy.h"
#include "bytecode/io/npz.h"
#include "tools/values/testing.h"

namespace relayvm::tools {
namespace {

using Json = nlohmann::json;

struct Outcome {
  int status;
  std::string out, err;
};

class Shell : public testing::TempFolder {
 public:
  void Write(const std::string& name, const std::string& text) const {
    std::ofstream(*this / name) << text;
  }
  std::string Read(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(*this / name).rdbuf();
    return text.str();
  }
  // Runs in this folder.
  Outcome Run(const std::string& command) const {
    std::string all = fmt::format("cd '{}' && PATH='{}':$PATH && {} >out.txt 2>err.txt", *this / "",
                                  TOOLS_PATH, command);
    int status = std::system(all.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), Read("out.txt"),
            Read("err.txt")};
  }
  void Compile(const std::string& name, const std::string& text) const {
    Write(name + ".relay", "#[version = \"0.0.5\"]\n" + text);
    Outcome outcome = Run("relayc " + name + ".relay -o " + name + ".vmx");
    REQUIRE_MESSAGE(outcome.status == 0, outcome.err);
  }
};

constexpr const char* kAdd =
    "def @main(%x: Tensor[(?, 2), float32], %y: Tensor[(2), float32]) { add(%x, %y) }\n";
constexpr const char* kReverse = R"(
type List[A] { Cons(A, List[A]), Nil, }
def @reverse[A](%l: List[A], %done: List[A]) -> List[A] {
  match (%l) { Cons(%h, %t) => { @reverse(%t, Cons(%h, %done)) }, Nil => { %done }, }
}
def @main(%l: List[int32]) -> (List[int32], int32) { (@reverse(%l, Nil), 3) }
)";
constexpr const char* kLoop = "def @main(%x: int32) -> int32 { @main(%x) }\n";

TEST_CASE("a tensor program: inputs, printing, files") {
  Shell shell;
  shell.Compile("add", kAdd);
  Outcome o = shell.Run("vmrun add.vmx --input '[[1, 2]]' --input y=2xf32=0.5 --output r.npy");
  CHECK(o.err == "");
  CHECK(o.status == 0);
  CHECK(o.out == "Tensor[(1, 2), float32] [[1.5, 2.5]]\n");
  // What was written can be an input, from a file and from standard input, and be compared with.
  o = shell.Run("vmrun add.vmx --input r.npy --input '[0,0]' --expect r.npy --json");
  CHECK(o.status == 0);
  CHECK(o.out == "{\"dtype\": \"float32\", \"shape\": [1, 2], \"data\": [[1.5, 2.5]]}\n");
  o = shell.Run("vmrun add.vmx --input - --input '[1,1]' < r.npy");
  CHECK(o.out == "Tensor[(1, 2), float32] [[2.5, 3.5]]\n");
  o = shell.Run("vmrun add.vmx --input r.npy --input '[0,1]' --expect r.npy");
  CHECK(o.status == 4);
  CHECK(
      o.err.find("out0: values differ in 1 of 2 places, most at [0, 1]: found 3.5, expected 2.5") !=
      std::string::npos);
  CHECK(shell.Run("vmrun add.vmx --input r.npy --input '[0,1]' --expect r.npy --atol 1").status ==
        0);
}

TEST_CASE("values with structure") {
  Shell shell;
  shell.Compile("reverse", kReverse);
  Outcome o = shell.Run("vmrun reverse.vmx --input 'Cons(1, Cons(2, Nil))' --output r.npz");
  CHECK(o.err == "");
  CHECK(o.out == "(Cons(2, Cons(1, Nil)), 3)\n");
  Result<NamedTensors> saved = ReadNpz(shell / "r.npz");
  REQUIRE(saved.ok());
  REQUIRE(saved->size() == 3);
  CHECK((*saved)[2].first == "out2");
  CHECK((*saved)[2].second.data[0] == std::byte{3});
  o = shell.Run("vmrun reverse.vmx --input 'Cons(1, Nil)' --output r.npy");
  CHECK(o.status == 2);
  CHECK(o.err == "vmrun: --output r.npy: the result has 2 tensors; write an .npz\n");
}

TEST_CASE("a list of 100,000 elements") {
  Shell shell;
  shell.Compile("reverse", kReverse);
  constexpr int kLength = 100'000;
  std::string list, reversed;
  for (int i = 0; i < kLength; ++i) list += fmt::format("Cons({}, ", i);
  for (int i = kLength; i-- > 0;) reversed += fmt::format("Cons({}, ", i);
  std::string end = "Nil" + std::string(kLength, ')');
  shell.Write("list.txt", list + end);
  for (const char* run : {"vmrun reverse.vmx", "relayrun reverse.relay --executor reference"}) {
    Outcome o = shell.Run(std::string(run) + " --input @list.txt");
    CHECK(o.err == "");
    CHECK(o.out == "(" + reversed + end + ", 3)\n");
  }
}

TEST_CASE("exit statuses") {
  Shell shell;
  shell.Compile("add", kAdd);
  shell.Compile("loop", kLoop);
  shell.Write("broken.vmx", "RVMX");
  shell.Write("broken.relay", "def @main(");
  struct Case {
    const char* command;
    int status;
    const char* message;
  };
  const Case cases[] = {
      {"vmrun", 1, "MODEL"},
      {"vmrun add.vmx --nonsense", 1, "nonsense"},
      {"vmrun add.vmx", 1, "parameter x has no --input; main takes:\n  x: Tensor[("},
      {"vmrun add.vmx --function f", 1, "the program has no function f; it has main"},
      {"vmrun add.vmx --input z=3", 1, "there is no parameter z"},
      {"vmrun add.vmx --memory-limit x", 1, "expected a size"},
      {"vmrun no.vmx", 2, "no.vmx"},
      {"vmrun broken.vmx", 2, "broken.vmx"},
      {"vmrun add.vmx --input no.npy --input 2xf32=1", 2, "no.npy"},
      {"vmrun add.vmx --input 2x3xf32=1 --input 2xf32=1", 2, "expected Tensor[("},
      {"vmrun loop.vmx --input 1 --timeout 0.05", 3, ""},
      {"vmrun add.vmx --input 200000x2xf32=1 --input 2xf32=1 --memory-limit 1MB", 3, ""},
      {"relayrun broken.relay", 2, "broken.relay"},
      {"relayrun no.relay", 2, "no.relay"},
      {"relayrun loop.relay --input 1 --timeout 0.05 --executor reference", 3, "timeout"},
      {"relayrun add.relay --executor other", 1, "other"},
      {"vmrun --help", 0, ""},
  };
  for (const Case& c : cases) {
    CAPTURE(c.command);
    Outcome o = shell.Run(c.command);
    CHECK(o.status == c.status);
    CAPTURE(o.err);
    CHECK(o.err.find(c.message) != std::string::npos);
  }
}

TEST_CASE("measurements") {
  Shell shell;
  shell.Compile("add", kAdd);
  Outcome o = shell.Run(
      "vmrun add.vmx --input 100x2xf32=random --input 2xf32=1 --repeat 5 --stats --profile p.json "
      "--json --threads 2");
  CHECK(o.err == "");
  Json all = Json::parse(o.out);
  CHECK(all["result"]["shape"] == Json({100, 2}));
  CHECK(all["times"]["runs"] == 5);
  CHECK(all["times"]["min_ms"] <= all["times"]["median_ms"]);
  CHECK(all["stats"]["allocations"] > 0);
  CHECK(all["profile"][0]["calls"] == 5);
  CHECK(Json::parse(shell.Read("p.json"))["traceEvents"].size() == 5);
  o = shell.Run(
      "vmrun add.vmx --input 1x2xf32=1 --input 2xf32=1 --repeat 3 --stats --profile --trace");
  CHECK(o.out == "Tensor[(1, 2), float32] [[2., 2.]]\n");
  for (const char* text : {"median ms", "peak memory", "mean us", "ret.r"}) {
    CAPTURE(text);
    CHECK(o.err.find(text) != std::string::npos);
  }
}

TEST_CASE("the reference interpreter and the VM agree") {
  Shell shell;
  struct Case {
    const char *text, *inputs;
  };
  const Case cases[] = {
      {kAdd, "--input 3x2xf32=random --input 2xf32=random"},
      {kReverse, "--input 'Cons(1, Cons(2, Nil))'"},
      {"def @main(%x: Tensor[(?, 4), float32], %w: Tensor[(3, 4), float32]) { "
       "nn.softmax(nn.dense(%x, %w, units=3)) }\n",
       "--input 5x4xf32=random --input 3x4xf32=random"},
      {"def @main(%x: int32, %n: int32) -> int32 {\n"
       "  if (less(%x, %n)) { @main(multiply(%x, 3), %n) } else { subtract(%x, %n) }\n}\n",
       "--input 1 --input 1000"},
      {"def @main(%f: float32) { let %g = fn (%y: float32) -> float32 { power(%y, %f) }; (%g(2f), "
       "%g(3f)) }\n",
       "--input 2.5"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.text);
    shell.Write("p.relay", std::string("#[version = \"0.0.5\"]\n") + c.text);
    Outcome reference = shell.Run(
        fmt::format("relayrun p.relay {} --executor reference --output r.npz --json", c.inputs));
    CHECK(reference.err == "");
    CHECK(reference.status == 0);
    for (const char* level : {"-O0", "-O3"}) {
      Outcome vm =
          shell.Run(fmt::format("relayrun p.relay {} {} --expect r.npz --json", level, c.inputs));
      CHECK(vm.err == "");
      CHECK(vm.status == 0);
    }
  }
}

}  // namespace
}  // namespace relayvm::tools
