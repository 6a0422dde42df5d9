// The tools as a user runs them: relayc, vmrun and relayrun on small programs, their output and
// exit statuses.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>
#include <sstream>

#include "bytecode/io/npy.h"
#include "bytecode/io/npz.h"
#include "tools/shell.h"

namespace relayvm::tools {
namespace {

using Json = nlohmann::json;

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

TEST_CASE("a graph: compiled to a folder, run from it, refused where it is none or damaged") {
  Shell shell;
  shell.Write("net.relay",
              "#[version = \"0.0.5\"]\ndef @main(%x: Tensor[(2, 3), float32], %n: int64) {\n"
              "  (nn.softmax(%x), (add(%n, 1i64), reshape(%x, newshape=[6])))\n}\n");
  Outcome o = shell.Run("relayc net.relay --executor graph");
  CHECK(o.status == 0);
  CHECK(o.err.find("kernels") != std::string::npos);
  const std::string run = "--input '[[1,1,1],[2,2,2]]' --input n=4";
  const char* expected =
      "(Tensor[(2, 3), float32] [[0.33333334, 0.33333334, 0.33333334], [0.33333334, 0.33333334, "
      "0.33333334]], (5i64, Tensor[(6), float32] [1., 1., 1., 2., 2., 2.]))\n";
  for (const std::string command :
       {"vmrun net_graph ", "relayrun net.relay --executor graph ", "relayrun net.relay "}) {
    o = shell.Run(command + run);
    CHECK(o.err == "");
    CHECK(o.out == expected);
  }
  o = shell.Run("vmrun net_graph " + run + " --repeat 3 --profile --stats --threads 2");
  CHECK(o.status == 0);
  CHECK(o.err.find("mean us") != std::string::npos);
  CHECK(o.err.find("softmax") != std::string::npos);
  CHECK(o.err.find("[net.relay:3:") != std::string::npos);
  CHECK(o.err.find("allocations       0") != std::string::npos);
  o = shell.Run("vmrun net_graph " + run + " --json --profile --output r.npz");
  CHECK(Json::parse(o.out)["profile"][0]["calls"] == 1);
  CHECK(shell.Run("vmrun net_graph " + run + " --expect r.npz").status == 0);
  o = shell.Run("vmrun net_graph " + run + " --timeout 1");
  CHECK(o.status == 1);
  CHECK(o.err.find("not for graphs") != std::string::npos);
  o = shell.Run("vmrun net_graph --input '[[1,2]]' --input 1");
  CHECK(o.status == 2);
  CHECK(shell.Run("vmrun net_graph --function f " + run).status == 1);

  shell.Write("open.relay", "#[version = \"0.0.5\"]\n" + std::string(kAdd));
  o = shell.Run("relayc open.relay --executor graph");
  CHECK(o.status == 2);
  CHECK(
      o.err.find("dimension 0 of parameter %x: Tensor[(?, 2), float32] is open; give its size, as "
                 "--shape x=Nx2") != std::string::npos);
  CHECK(shell.Run("relayc open.relay --executor graph --shape x=3x2 -q").status == 0);
  CHECK(shell.Run("relayc open.relay --executor other").status == 1);
  shell.Write("net_graph/graph.json", "{}");
  o = shell.Run("vmrun net_graph " + run);
  CHECK(o.status == 2);
  CHECK(o.err == "vmrun: net_graph/graph.json: graph: \"nodes\" is missing\n");
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

constexpr const char* kGuard =
    "def @main(%x: Tensor[(?), float32], %y: Tensor[(?), float32]) { add(%x, %y) }\n";
constexpr const char* kDeep = "def @main(%x: int32) -> int32 { add(@main(add(%x, 1)), 1) }\n";
constexpr const char* kPair =
    "def @main(%x: Tensor[(?), float32]) { (add(%x, 1f), (sum(%x), %x)) }\n"
    "def @other(%x: int32) { add(%x, 1) }\n";
constexpr const char* kOpen =
    "type List[A] { Cons(A, List[A]), Nil, }\n"
    "def @main[A](%x: A, %l: List[A]) -> List[A] { Cons(%x, %l) }\n";

struct Command {
  const char* command;
  int status;
  const char* message;  // part of what standard error says
};

void CheckAll(const Shell& shell, std::initializer_list<Command> commands) {
  for (const Command& c : commands) {
    CAPTURE(std::string(c.command));
    Outcome o = shell.Run(c.command);
    CAPTURE(o.err);
    CHECK(o.status == c.status);
    CHECK(o.err.find(c.message) != std::string::npos);
    // Errors say who speaks, and nothing else is said. (Wrong options are CLI11's to tell.)
    std::string speaker = "\n" + std::string(c.command, std::strcspn(c.command, " ")) + ": ";
    if (o.status > 1) CHECK(("\n" + o.err).find(speaker) != std::string::npos);
    // (relayc sums up what it made.)
    const bool sums_up = o.err.starts_with("  input ") || o.err.starts_with("  output ");
    if (o.status == 0 && *c.message == '\0' && !sums_up) CHECK(o.err == "");
  }
}

// The numbers of the row of relayc --check's table that begins with `name`.
std::vector<double> CheckRow(const std::string& report, const std::string& name) {
  std::istringstream lines(report);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(name + " ")) continue;
    std::istringstream words(line.substr(name.size()));
    std::string elements;
    words >> elements;
    std::vector<double> numbers;
    for (double number; words >> number;) numbers.push_back(number);
    return numbers;
  }
  return {};
}

TEST_CASE("a file for several processors, and an operator alone") {
  const Shell shell;
  shell.Write("add.relay", std::string("#[version = \"0.0.5\"]\n") + kAdd);
  REQUIRE(shell.Run("relayc -q add.relay --target x86-64-v3,x86-64-v2 -o both.vmx").status == 0);
  // Without products there is nothing in which the first two differ.
  REQUIRE(shell.Run("relayc -q add.relay --target sapphirerapids,x86-64-v4,x86-64-v2 -o three.vmx")
              .status == 0);
  const std::pair<const char*, const char*> commands[] = {
      {"vmdump both.vmx", "for x86-64-v2, x86-64-v3"},
      {"vmdump three.vmx", "for x86-64-v2, x86-64-v4\n"},
      {"vmdump both.vmx --target x86-64-v3 --kernels", "image x86-64-v3"},
      {"vmrun both.vmx --target x86-64-v2 --input [[1,2]] --input [3,4]", "[[4., 6.]]"},
      {"relayc --kernel 'add[(n), (n)]' --emit relay --dim n=5 -o -", "Tensor[(5), float32]"},
      {"relayc --kernel 'add[(n), (n)]' --emit time --dim n=5", "add n=5: "},
      {"relayc --kernel 'nn.contrib_dense_pack[(n, 64), (2, 32, 32, 2) bfloat16; units=64, "
       "in_units=64]' "
       "--target sapphirerapids --emit asm -o -",
       "tdpbf16ps"},
  };
  for (const auto& [command, text] : commands) {
    CAPTURE(command);
    const Outcome outcome = shell.Run(command);
    CHECK_MESSAGE(outcome.status == 0, outcome.err);
    CHECK_MESSAGE(outcome.out.find(text) != std::string::npos, outcome.out);
  }
}

TEST_CASE("a machine is no more than the level that the environment names") {
  const Shell shell;
  shell.Write("add.relay", std::string("#[version = \"0.0.5\"]\n") + kAdd);
  const std::string v2 = "RELAYVM_MAX_CPU_LEVEL=x86-64-v2 ";
  REQUIRE(shell.Run(v2 + "relayc -q add.relay -o v2.vmx").status == 0);
  const Outcome made = shell.Run(v2 + "relayc -q add.relay --emit bytecode -o -");
  CHECK_MESSAGE(made.out.find(".image \"x86-64-v2\"") != std::string::npos, made.out);
  const std::string inputs = " --input [[1,2]] --input [3,4]";
  CHECK(shell.Run(v2 + "vmrun v2.vmx" + inputs).status == 0);
  REQUIRE(shell.Run("relayc -q add.relay --target x86-64-v3 -o v3.vmx").status == 0);
  Outcome outcome = shell.Run(v2 + "vmrun v3.vmx" + inputs);
  CHECK(outcome.status == 2);
  CHECK_MESSAGE(outcome.err.find("avx2") != std::string::npos, outcome.err);
  outcome = shell.Run("RELAYVM_MAX_CPU_LEVEL=v3 vmrun v2.vmx" + inputs);
  CHECK(outcome.status == 1);
  CHECK_MESSAGE(
      outcome.err.find("expected x86-64-v2, x86-64-v3 or x86-64-v4, found v3") != std::string::npos,
      outcome.err);
}

TEST_CASE("relayc --check says how far reduced precision is from the program as written") {
  Shell shell;
  // The weight 1 + 2^-8 is a tie and becomes 1: sums of three products are 6 in place of 6.0234.
  shell.Write("dense.relay",
              "#[version = \"0.0.5\"]\n"
              "def @main(%x: Tensor[(?, 3), float32]) {\n"
              "  let %w = full(1.00390625f, shape=[4, 3], dtype=\"float32\");\n"
              "  (nn.dense(%x, %w, units=4), multiply(%x, 2f))\n"
              "}\n");
  Outcome outcome = shell.Run(
      "relayc dense.relay --precision bf16 --check '[[2,2,2],[0,0,0]]' -q && "
      "vmrun dense.vmx --input '[[2,2,2],[0,0,0]]'");
  CHECK(outcome.status == 0);
  INFO(outcome.out, outcome.err);
  CHECK(outcome.out.starts_with("against float32 weights:\noutput"));
  const std::vector<double> row = CheckRow(outcome.out, "out0");
  REQUIRE(row.size() == 4);
  CHECK(row[0] == doctest::Approx(6 * 0x1p-8).epsilon(1e-2));
  CHECK(row[1] == doctest::Approx(0x1p-8).epsilon(1e-2));
  CHECK(row[2] == doctest::Approx(3 * 0x1p-8).epsilon(1e-2));
  CHECK(row[3] == doctest::Approx(0x1p-8).epsilon(1e-2));
  CHECK(CheckRow(outcome.out, "out1") == std::vector<double>{0, 0, 0, 0});
  CHECK(outcome.out.find("[6., 6., 6., 6.]") != std::string::npos);
  // A block of equal numbers is exact.
  for (const char* format : {"q8", "q4"}) {
    outcome = shell.Run(fmt::format(
        "relayc dense.relay --weights {} --check '[[2,2,2],[0,0,0]]' -q -o q.vmx", format));
    CHECK(outcome.status == 0);
    REQUIRE(CheckRow(outcome.out, "out0").size() == 4);
    CHECK(CheckRow(outcome.out, "out0")[0] < 1e-5);
  }
  // Without reduced precision, against -O0; standard output is the program's where it goes there.
  outcome = shell.Run("relayc dense.relay --check 2x3xf32=random -o - >x.vmx");
  CHECK(outcome.status == 0);
  CHECK(outcome.err.find("against -O0:") != std::string::npos);
  CHECK(CheckRow(outcome.err, "out1") == std::vector<double>{0, 0, 0, 0});
}

TEST_CASE("relayc replaces no file that it reads") {
  Shell shell;
  shell.Compile("add", kAdd);
  const std::string text = shell.Read("add.relay");
  shell.Write("given.vmx", text);
  shell.Write("given.h", text);
  shell.Write("one.rules", "rule @r(%x) { negative(negative(%x)) => %x }\n");
  shell.Run("ln -s add.relay link.relay; mkdir -p graph; cp add.relay graph/graph.json");
  struct Case {
    const char *command, *output, *what;
  };
  const Case cases[] = {
      {"relayc given.vmx", "given.vmx", "the input"},
      {"relayc add.relay -o add.relay", "add.relay", "the input"},
      {"relayc link.relay -o ./add.relay --emit relay", "./add.relay", "the input"},
      {"relayc add.relay -o link.relay --emit bytecode", "link.relay", "the input"},
      {"relayc given.h --shape x=1x2 --executor aot", "given.h", "the input"},
      {"relayc add.relay --executor aot --emit exe -o add.relay", "add.relay", "the input"},
      {"relayc graph/graph.json --executor graph -o graph", "graph/graph.json", "the input"},
      {"relayc add.relay --rules one.rules -o one.rules", "one.rules", "the file of --rules"},
      {"relayc add.relay --list-passes -o add.relay", "add.relay", "the input"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.command);
    const Outcome o = shell.Run(c.command);
    CHECK(o.status == 1);
    CHECK(o.err == fmt::format("relayc: {}: the output is {}; give another name by --output\n",
                               c.output, c.what));
  }
  for (const char* file : {"add.relay", "given.vmx", "given.h", "graph/graph.json"})
    CHECK(shell.Read(file) == text);
}

TEST_CASE("names of a program are printed without control characters") {
  Shell shell;
  shell.Compile("odd",
                "def @main(%\"a\\x1b[2J\\nb\": Tensor[(2), float32]) { exp(%\"a\\x1b[2J\\nb\") }");
  const std::string shown = "a?[2J?b: Tensor[(2), float32]";
  CHECK(shell.Run("relayc odd.relay -o o.vmx").err.find("  input  " + shown + "\n") !=
        std::string::npos);
  CHECK(shell.Run("vmdump odd.vmx").out.find("export main(" + shown + ")") != std::string::npos);
  const Outcome o = shell.Run("vmrun odd.vmx");
  CHECK(o.status != 0);
  CHECK(o.err.find('\x1b') == std::string::npos);
}

TEST_CASE("exit statuses of relayc") {
  Shell shell;
  shell.Compile("add", kAdd);
  shell.Compile("pair", kPair);
  shell.Write("broken.relay", "def @main(");
  shell.Write("typed.relay",
              "#[version = \"0.0.5\"]\n"
              "def @main(%x: Tensor[(3), float32], %y: Tensor[(2), float32]) { add(%x, %y) }");
  shell.Write("empty.relay", "");
  CheckAll(
      shell,
      {
          {"relayc --help", 0, ""},
          {"relayc add.relay", 0, ""},
          {"relayc add.relay -o - >copy.vmx", 0, ""},
          {"relayc add.relay --emit relay", 0, ""},
          {"relayc add.relay --emit bytecode -o -", 0, ""},
          {"relayc add.relay --emit llvm -o add.ll", 0, ""},
          {"relayc add.relay --emit asm -O0", 0, ""},
          {"relayc pair.relay --entry other -o other.vmx", 0, ""},
          {"relayc add.relay --shape x=7x? --target x86-64-v2 --precision fp32", 0, ""},
          {"relayc add.relay --print-ir-after FuseOps", 0, "// After FuseOps"},
          {"echo 'rule @r(%x, %y) { add(%x, %y) => add(%y, %x) }' > swap.rules; "
           "relayc add.relay --rules swap.rules",
           1, "rules go on for ever"},
          {"echo 'rule @r(%x, %y) { add(%x, exp(%y)) => %x }' > miss.rules; "
           "relayc add.relay --rules miss.rules --explain-rules",
           0, "is not applied: %y: expected exp, found a parameter or a constant"},
          {"relayc add.relay --time-passes", 0, " ms  total"},
          {"relayc", 1, "INPUT"},
          {"relayc add.relay --nonsense", 1, "nonsense"},
          {"relayc add.relay pair.relay", 1, "pair.relay"},
          {"relayc add.relay -O7", 1, "-O7"},
          {"relayc add.relay --emit other", 1, "other"},
          {"relayc add.relay --target z80", 1, "z80"},
          {"relayc add.relay --precision fp3", 1, "fp3"},
          {"relayc add.relay --precision bf16 -O0", 1, "it needs -O1 or more"},
          {"relayc add.relay --precision bf16 -O1", 0, ""},
          {"relayc add.relay --weights q8 -O0", 1, "--weights q8 packs weights"},
          {"relayc add.relay --weights q5", 1, "q5"},
          {"relayc add.relay --weights q4 --precision bf16", 1, "give one of them"},
          {"relayc add.relay --weights q4", 0, ""},
          {"relayc add.relay --exact", 0, ""},
          {"relayc add.relay --check [[1,2]] --check [3,4]", 0, ""},
          {"relayc add.relay --check [[1,2]]", 1, "y"},
          {"relayc add.relay --check x=no.npy --check [3,4]", 2, "no.npy"},
          {"relayc add.relay --check - --check [3,4]", 1, "name a file, not -"},
          {"relayc add.relay --check [[1,2]] --check [3,4,5]", 2, "y"},
          {"relayc add.relay --target x86-64-v3,x86-64-v2 -o both.vmx", 0, ""},
          {"relayc add.relay --target x86-64-v3,z80", 1, "z80"},
          {"relayc add.relay --target x86-64-v3,x86-64-v2 --emit asm", 1, "found 2"},
          {"vmdump both.vmx", 0, ""},
          {"vmdump both.vmx --check --target x86-64-v3 --kernels", 0, ""},
          {"vmdump both.vmx --target z80", 2, "the file has no program for z80, it has"},
          {"vmrun both.vmx --target x86-64-v2 --input [[1,2]] --input [3,4]", 0, ""},
          {"vmrun both.vmx --target x86-64-v2 --verify --input [[1,2]] --input [3,4]", 0, ""},
          {"vmrun both.vmx --target z80 --input [[1,2]] --input [3,4]", 2, "no program for z80"},
          {"relayrun add.relay --target x86-64-v2,x86-64-v3 --input [[1,2]] --input [3,4]", 1,
           "expected one processor"},
          {"relayc add.relay --layout nn.conv2d=NHWC:default", 0, "layout transforms left: 0"},
          {"relayc add.relay --layout nn.conv2d", 1, "write OPERATOR=DATA:KERNEL"},
          {"relayc add.relay --layout add=NHWC", 1, "add computes in one layout alone"},
          {"relayc --kernel 'add[(n), (n)]' --emit asm -o add.s", 0, ""},
          {"relayc --kernel 'add[(n), (n)]' --emit relay --dim n=5 -o -", 0, ""},
          {"relayc --kernel 'add[(n), (n)]' --emit time --dim n=5", 0, ""},
          {"relayc --kernel 'add[(n) float16, (n) float16]' --emit time --dim n=5", 0, ""},
          {"relayc --kernel 'add[(4), (4)]' --emit time --check [1,2,3,4] --check [1,2,3,4]", 0,
           "against -O0"},
          {"relayc --kernel 'add[(n), (n)]' --emit time", 1, "how large is n"},
          {"relayc --kernel 'add[(n), (n)]' --dim m=5", 1, "no dimension of that name"},
          {"relayc --kernel 'add[(n), ' --emit asm", 1, "expected a shape in parentheses"},
          {"relayc --kernel 'nonsense[(n)]'", 2, "nonsense"},
          {"relayc add.relay --kernel 'add[(n), (n)]'", 1, "there is an INPUT as well"},
          {"relayc add.relay --emit time", 1, "only with --kernel"},
          {"relayc add.relay --schedule tile=4x8", 1, "only with --kernel"},
          {"relayc add.relay --schedule-for add", 1, "write KERNEL=tile=8x32"},
          {"relayc add.relay --schedule-for add=tile=4", 1, "expected tile=ROWSxCOLUMNS"},
          {"relayc add.relay --schedule-for add=tile=4x8", 1, "it is no product or convolution"},
          {"relayc add.relay --schedules", 1, "--schedules"},
          {"relayc add.relay --schedules no.log", 2, "no.log"},
          {"relayc add.relay --schedules .", 2, "not a regular file"},
          {"relayc add.relay --schedules add.vmx", 2, "add.vmx:1: expected an object of JSON"},
          {"relayc add.relay --schedules add.relay", 2, "add.relay:1: expected an object of JSON"},
          {": >empty.log; relayc add.relay --schedules empty.log", 0, ""},
          {"relayc add.relay --tune", 1, "--tune"},
          {"relayc add.relay --tune 0s", 1, "--tune 0s: expected a time such as 500ms, 60s or 2m"},
          {"relayc add.relay --tune abc", 1, "--tune abc: expected a time"},
          {"relayc add.relay --tune 60", 1, "--tune 60: expected a time"},
          {"relayc add.relay --tune -1s", 1, "--tune"},
          {"relayc add.relay --tune 9999999999h", 1, "at most 24h"},
          {"relayc add.relay --tune 1s --target x86-64-v2,x86-64-v3", 1,
           "--tune: expected one --target, found 2"},
          {"relayc add.relay --tune 1s --emit relay", 1, "nothing is compiled"},
          {"relayc add.relay --tune 1s --list-passes", 1, "nothing is compiled"},
          {"relayc add.relay --tune 1s --shape-samples q=3", 1, "no open dimension has that name"},
          {"relayc add.relay --tune 1s --shape-samples q=0", 1, "--shape-samples q=0: expected"},
          {"relayc add.relay --tune 1s --tune-log .", 2, "not a regular file"},
          {"relayc add.relay --tune 1s --tune-log no/t.log", 2, "no/t.log"},
          {"relayc add.relay --tune 1s --tune-log add.relay", 2, "add.relay:1: expected an object"},
          {"relayc add.relay --tune-log t.log", 1, "--tune-log: only with --tune"},
          {"relayc add.relay --shape-samples n=3", 1, "--shape-samples: only with --tune"},
          {"relayc add.relay --tune 1s --tune-log t.log", 0, "tuning: 0 kernels have alternatives"},
          {"relayc add.relay --tune 1s -q -o - >copy.vmx", 0, ""},
          {"relayc --kernel 'add[(n), (n)]' --tune 1s --shape-samples m=3 -o add.vmx", 1,
           "--kernel has no dimension of that name"},
          {"relayc --kernel 'add[(n), (n)]' --tune 1s --shape-samples n=3 --emit time --dim n=5", 0,
           "tuning"},
          {"relayrun add.relay --tune 1s", 1, "unexpected argument"},
          {"relayrun add.relay --schedules no.log --input 1x2xf32=1 --input 2xf32=1", 2, "no.log"},
          {"relayc add.relay --shape x", 1, "write NAME=1x?x300"},
          {"relayc add.relay --shape z=1", 1, "no parameter of that name"},
          {"relayc add.relay --shape x=1x3", 1, "is declared as 2"},
          {"relayc add.relay --print-ir-after Nope", 1, "there is no pass Nope; there are "},
          {"relayc no.relay", 2, "no.relay"},
          {"relayc .", 2, "."},
          {"relayc empty.relay", 2, "empty.relay"},
          {"relayc broken.relay", 2, "broken.relay:1:"},
          {"relayc typed.relay", 2, "typed.relay:2:65: add: "},
          {"relayc add.vmx", 2,
           "add.vmx: expected Relay text or an ONNX model, found a compiled program"},
          {"relayc add.relay --entry nope", 2, "@nope"},
          {"relayc add.relay --params no.npz", 2, "no.npz"},
          {"relayc add.relay --params add.relay", 2,
           "add.relay: expected a TVM parameter file or an .npz archive, found Relay text"},
          {"relayc add.relay -o no/add.vmx", 2, "cannot create 'no/add.vmx'"},
          {"relayc add.relay -o /dev/full", 2, "cannot write '/dev/full'"},
          {"relayc add.relay --emit relay -o /dev/full", 2, "cannot write '/dev/full'"},
          {"relayc add.relay -o - >/dev/full", 2, "standard output cannot be written"},
      });
}

TEST_CASE("exit statuses of vmrun, relayrun and vmdump") {
  Shell shell;
  for (auto [name, text] : {std::pair("add", kAdd),
                            {"loop", kLoop},
                            {"guard", kGuard},
                            {"deep", kDeep},
                            {"pair", kPair},
                            {"open", kOpen}}) {
    shell.Compile(name, text);
  }
  const std::string file = shell.Read("add.vmx");
  shell.Write("broken.vmx", "RVMX");
  shell.Write("cut.vmx", file.substr(0, file.size() - 1));
  for (auto [name, at] :
       {std::pair("flip1.vmx", size_t{20}), {"flip2.vmx", 200}, {"flip3.vmx", 5000}}) {
    std::string damaged = file;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x40);
    shell.Write(name, damaged);
  }
  shell.Write("broken.relay", "def @main(");
  REQUIRE(shell.Run("vmrun pair.vmx --input '[1,2]' --output pair.npz").status == 0);
  shell.Write("cut.npz", shell.Read("pair.npz").substr(0, 100));
  REQUIRE(shell.Run("vmrun guard.vmx --input '[1,2]' --input '[0,0]' --output r.npy").status == 0);
  shell.Write("cut.npy", shell.Read("r.npy").substr(0, 130));
  shell.Write("value.txt", "[5, 6]");
  shell.Write("model.onnx", "\x08\x07\x12\x07pytorch\x1a\x03");
  REQUIRE(shell.Run("vmrun guard.vmx --input '[1,2]' --input '[3,4]' --output y.npy").status == 0);
  REQUIRE(WriteNpz(shell / "y.npz", {{"y", *ReadNpyFile(shell / "y.npy")}}).ok());
  REQUIRE(shell.Run("relayc add.relay --params y.npz -o weights.vmx").status == 0);
  std::string damaged_weights = shell.Read("weights.vmx");
  damaged_weights.back() = static_cast<char>(damaged_weights.back() ^ 1);
  shell.Write("damaged.vmx", damaged_weights);
  CheckAll(
      shell,
      {
          // 0: done.
          {"vmrun --help", 0, ""},
          {"vmrun guard.vmx --input @value.txt --input y=r.npy", 0, ""},
          {"vmrun guard.vmx --input - --input r.npy <value.txt", 0, ""},
          {"vmrun guard.vmx --input y=- --input x=r.npy <r.npy", 0, ""},
          {"vmrun pair.vmx --input '[1,2]' --expect pair.npz", 0, ""},
          {"vmrun pair.vmx --input '[1,2]' --output out1=second.npy --output all.npz", 0, ""},
          {"vmrun add.vmx --input 1x2xf32=1 --input 2xf32=1 --threads 0 --timeout 100 "
           "--memory-limit 1GB",
           0, ""},
          {"vmrun add.vmx --input 1x2xf32=1 --input 2xf32=1 --timeout 1e300", 0, ""},
          {"vmrun add.vmx --input 1x2xf32=1 --input 2xf32=1 --stats", 0, "peak memory"},
          {"vmrun add.vmx --input 1x2xf32=1 --input 2xf32=1 --profile", 0, "mean us"},
          {"vmrun add.vmx --input 1x2xf32=1 --input 2xf32=1 --trace", 0, "ret.r"},
          {"relayrun pair.relay --entry other --input 3", 0, ""},
          {"relayrun add.relay --input 1x2xf32=1 --input 2xf32=1 --executor reference --stats", 0,
           "run time"},
          {"relayrun add.relay --input 1x2xf32=1 --input 2xf32=1 --executor debug --trace-values=1",
           0, "parameter  Tensor[(1, 2), float32]  min 1  max 1  mean 1  NaN 0  Inf 0"},
          {"vmrun - --input 1x2xf32=1 --input 2xf32=1 <add.vmx", 0, ""},
          {"vmrun /dev/stdin --input 1x2xf32=1 --input 2xf32=1 <add.vmx", 0, ""},
          {"cat add.vmx | vmrun - --input 1x2xf32=1 --input 2xf32=1", 0, ""},
          {"cat add.vmx | vmdump - --check", 0, ""},
          {"relayc - -o stdin.vmx <add.relay", 0, ""},
          {"cat add.relay | relayrun - --input 1x2xf32=1 --input 2xf32=1", 0, ""},
          {"vmrun add.vmx --verify --input 1x2xf32=1 --input 2xf32=1 --stack-limit 1MiB", 0, ""},
          {"vmrun guard.vmx --input ./value.txt --input ./r.npy", 0, ""},
          {"vmdump --help", 0, ""},
          {"vmdump add.vmx", 0, ""},
          {"vmdump add.vmx --bytecode --kernels --memory --constants", 0, ""},
          {"vmdump add.vmx --bytecode --kernels --memory --constants --json", 0, ""},
          // 1: wrong usage.
          {"vmrun", 1, "MODEL"},
          {"vmrun add.vmx --nonsense", 1, "vmrun: unexpected argument --nonsense\n"},
          {"vmrun add.vmx x.npy", 1,
           "vmrun: unexpected argument x.npy; the value of a parameter is given by --input "
           "x.npy\n"},
          {"relayrun add.relay 3", 1, "relayrun: unexpected argument 3; the value of a parameter"},
          {"vmrun --input 3", 1, "vmrun: MODEL is required"},
          {"relayc", 1, "relayc: INPUT is required"},
          {"relayc add.relay extra", 1, "relayc: unexpected argument extra\n"},
          {"relayc - <add.relay", 1, "relayc: standard input has no name"},
          {"vmasm", 1, "vmasm: INPUT is required"},
          {"vmrun loop.vmx --input 1 --stack-limit x", 1,
           "--stack-limit x: expected a size such as 64MiB"},
          {"relayrun loop.relay --input 1 --executor reference --stack-limit 1MB", 1,
           "not for the reference"},
          {"vmrun add.vmx", 1, "parameter x has no --input; main takes:\n  x: Tensor[("},
          {"vmrun add.vmx --function f", 1, "the program has no function f; it has main"},
          {"vmrun add.vmx --input z=3", 1, "there is no parameter z"},
          {"vmrun add.vmx --input x=1x2xf32=1 --input x=1x2xf32=1", 1, "x has a value already"},
          {"vmrun loop.vmx --input 1 --input 2", 1, "all parameters have a value"},
          {"vmrun guard.vmx --input - --input - <value.txt", 1, "standard input is read already"},
          {"vmrun guard.vmx --input pair.npz", 1, "no array with the name of a parameter"},
          {"vmrun loop.vmx --input 1 --memory-limit x", 1, "expected a size"},
          {"vmrun loop.vmx --input 1 --timeout x", 1, "--timeout"},
          {"vmrun loop.vmx --input 1 --timeout -1", 1, "--timeout"},
          {"vmrun loop.vmx --input 1 --timeout nan", 1, "--timeout"},
          {"vmrun loop.vmx --input 1 --repeat 0", 1, "--repeat"},
          {"vmrun loop.vmx --input 1 --threads -1", 1, "--threads"},
          {"vmrun loop.vmx --input 1 --threads 100000", 1, "num_threads is 100000, above 1024"},
          {"vmrun loop.vmx --input 1 --rtol -1", 1, "--rtol"},
          {"vmrun loop.vmx --input 1 --output r.txt", 1, "must end in .npy or .npz"},
          {"relayrun", 1, "INPUT"},
          {"relayrun add.relay --executor other", 1, "other"},
          {"relayrun add.relay --function main", 1, "--function"},
          {"relayrun loop.relay --input 1 --executor reference --trace", 1,
           "not for the reference"},
          {"relayrun loop.relay --input 1 --trace-values", 1, "use --executor debug"},
          {"relayrun add.relay --shape x", 1, "write NAME"},
          {"vmdump", 1, "MODEL"},
          {"vmdump add.vmx --nonsense", 1, "nonsense"},
          // 2: bad input.
          {"vmrun no.vmx", 2, "no.vmx"},
          {"relayc add.vmx", 2,
           "relayc: add.vmx: expected Relay text or an ONNX model, found a compiled program "
           "(.vmx): run it with"},
          {"relayc pair.npz", 2,
           "expected Relay text or an ONNX model, found a zip archive, such as an .npz"},
          {"relayc r.npy", 2, "expected Relay text or an ONNX model, found a tensor (.npy)"},
          {"relayc model.onnx", 2,
           "relayc: model.onnx: expected an ONNX model: the file is damaged"},
          {"relayrun model.onnx", 2,
           "relayrun: model.onnx: expected an ONNX model: the file is damaged"},
          {"relayc add.relay --params add.vmx", 2,
           "expected a TVM parameter file or an .npz archive, found a compiled program"},
          {"vmrun model.onnx", 2, "expected a compiled program (.vmx), found an ONNX model"},
          {"vmrun - <add.relay", 2, "expected a compiled program (.vmx), found Relay text"},
          {"vmasm add.relay", 2, "vmasm: add.relay: expected bytecode as text, found Relay text"},
          {"vmasm add.vmx", 2, "expected bytecode as text, found a compiled program"},
          {"vmrun add.vmx --input ./no.file --input 2xf32=1", 2,
           "--input x: cannot open './no.file': No such file or directory"},
          {"vmrun add.vmx --input ./add.vmx --input 2xf32=1", 2,
           "expected a tensor (.npy) or a value as text, found a compiled program (.vmx)"},
          {"vmrun damaged.vmx --verify --input 1x2xf32=1", 2, "is damaged: expected checksum 0x"},
          {"vmdump damaged.vmx --check", 2,
           "vmdump: damaged.vmx: .vmx constant 0 \"y\" is damaged"},
          {"vmrun .", 2, ".: expected a folder that 'relayc --executor graph -o' has written: "},
          {"vmrun add.relay", 2,
           "vmrun: add.relay: expected a compiled program (.vmx), found Relay text: compile it "
           "with relayc"},
          {"vmrun broken.vmx", 2, "broken.vmx"},
          {"vmrun cut.vmx", 2, "truncated"},
          {"vmrun flip1.vmx", 2, "flip1.vmx"},
          {"vmrun flip2.vmx", 2, "damaged"},
          {"vmrun flip3.vmx", 2, "is damaged: its checksum differs"},
          {"vmdump broken.vmx --memory", 2, "broken.vmx"},
          {"vmdump cut.vmx --bytecode", 2, "truncated"},
          {"vmdump flip2.vmx --json --memory", 2, "damaged"},
          {"vmdump no.vmx", 2, "no.vmx"},
          {"vmrun guard.vmx --input no.npy --input 2xf32=1", 2, "no.npy"},
          {"vmrun guard.vmx --input cut.npy --input 2xf32=1", 2, "cut.npy"},
          {"vmrun guard.vmx --input cut.npz", 2, "cut.npz"},
          {"vmrun guard.vmx --input add.npy=3 --input 2xf32=1", 1, "there is no parameter add.npy"},
          {"vmrun guard.vmx --input @no.txt --input 2xf32=1", 2, "no.txt"},
          {"vmrun guard.vmx --input - --input 2xf32=1 </dev/null", 2, "standard input: "},
          {"vmrun add.vmx --input 2x3xf32=1 --input 2xf32=1", 2, "expected Tensor[("},
          {"vmrun guard.vmx --input 1000000000000xf32=1 --input 2xf32=1", 2,
           "no memory for a tensor"},
          {"vmrun add.vmx --input 4000000000x4000000000xf32=1 --input 2xf32=1", 2, "too large"},
          {"vmrun loop.vmx --input 99999999999", 2, "out of the range of int32"},
          {"vmrun open.vmx --input 1 --input 'Cons(2.5, Nil)'", 2, "2.5 is not an integer"},
          {"vmrun pair.vmx --input '[1]' --output no/r.npz", 2, "no/r.npz"},
          {"vmrun pair.vmx --input '[1]' --output r.npy", 2, "the result has 3 tensors"},
          {"vmrun pair.vmx --input '[1]' --output z=r.npy", 2,
           "write NAME=OUT.npy; the result has out0, out1, out2"},
          {"vmrun pair.vmx --input '[1]' --expect no.npz", 2, "no.npz"},
          {"vmrun pair.vmx --input '[1]' --expect cut.npz", 2, "cut.npz"},
          {"vmrun pair.vmx --input '[1]' --profile no/p.json", 2, "no/p.json: cannot be written"},
          {"vmrun pair.vmx --input '[1]' >/dev/full", 2, "standard output cannot be written"},
          {"vmdump add.vmx >/dev/full", 2, "standard output cannot be written"},
          {"relayrun broken.relay", 2, "broken.relay"},
          {"relayrun no.relay", 2, "no.relay"},
          {"relayrun add.relay --params cut.npz", 2, "cut.npz"},
          // 3: the program failed while running.
          {"vmrun loop.vmx --input 1 --timeout 0.05", 3, "the deadline has passed"},
          {"vmrun add.vmx --input 200000x2xf32=1 --input 2xf32=1 --memory-limit 1MB", 3,
           "memory limit"},
          {"vmrun add.vmx --input 1x2xf32=1 --input 2xf32=1 --memory-limit 0", 3, "memory limit"},
          {"vmrun guard.vmx --input '[1,2]' --input '[1,2,3]'", 3, "2 and 3"},
          {"vmrun deep.vmx --input 1", 3, "raise the stack limit"},
          {"vmrun deep.vmx --input 1 --stack-limit 64KiB", 3, "in 65536 bytes"},
          {"relayrun guard.relay --input '[1,2]' --input '[1,2,3]'", 3, "broadcast"},
          {"relayrun guard.relay --input '[1,2]' --input '[1,2,3]' --executor reference", 3,
           "broadcast"},
          {"relayrun loop.relay --input 1 --timeout 0.05 --executor reference", 3, "timeout"},
          {"relayrun deep.relay --input 1 --executor reference", 3, "deep"},
          // 4: --expect did not match.
          {"vmrun pair.vmx --input '[1,3]' --expect pair.npz", 4, "out2: values differ"},
          {"vmrun pair.vmx --input '[1,2,3]' --expect pair.npz", 4,
           "out0: found Tensor[(3), float32]"},
          {"vmrun guard.vmx --input '[1,2]' --input '[0,1]' --expect r.npy", 4, "differ"},
          {"relayrun pair.relay --input '[1,3]' --expect pair.npz --executor reference", 4,
           "differ"},
      });
}

TEST_CASE("versions") {
  Shell shell;
  for (const char* tool : {"relayc", "vmrun", "relayrun", "vmdump", "vmasm"}) {
    Outcome o = shell.Run(std::string(tool) + " --version");
    CHECK(o.status == 0);
    CHECK(o.out.starts_with(std::string(tool) + " (relayvm) "));
    CHECK(o.out.find(".vmx format 1.1, bytecode ") != std::string::npos);
  }
}

TEST_CASE("an option takes one value, and the file may follow") {
  Shell shell;
  shell.Compile("add", kAdd);
  for (const std::string tool : {"relayc", "vmrun", "relayrun", "vmdump", "vmasm"}) {
    const std::string file = tool == "vmrun" || tool == "vmdump" ? "add.vmx" : "add.relay";
    std::istringstream help(shell.Run(tool + " --help").out);
    size_t options = 0;
    for (std::string line; std::getline(help, line);) {
      const size_t begin = line.find("--");
      const size_t end = line.find(' ', begin);
      // The name, then what it takes.
      if (begin > 6 || end == std::string::npos || line[end + 1] == ' ') continue;
      const std::string option = line.substr(begin, end - begin);
      CAPTURE(tool + " " + option);
      ++options;
      // Whatever the value is worth, the file is not taken for another one.
      const Outcome o = shell.Run(tool + " " + option + " x " + file);
      CHECK(o.err.find("is required") == std::string::npos);
      CHECK(o.err.find(file + " not in") == std::string::npos);
    }
    CHECK(options > 0);
  }
  CHECK(shell.Run("relayc --target x86-64-v2 add.relay -o t.vmx").status == 0);
  CHECK(shell.Run("relayc --shape x=1x2 --layout nn.conv2d=NHWC add.relay -o t.vmx").status == 0);
  CHECK(shell.Run("vmrun --input 1x2xf32=1 --input 2xf32=1 add.vmx").status == 0);
}

TEST_CASE("what is disassembled assembles to the same file") {
  Shell shell;
  shell.Compile("add", kAdd);
  shell.Compile("reverse", kReverse);
  REQUIRE(WriteNpz(shell / "y.npz",
                   {{"y", {DType::kFloat32, {2}, std::vector<std::byte>(8, std::byte{1})}}})
              .ok());
  REQUIRE(shell.Run("relayc add.relay --params y.npz -o weights.vmx").status == 0);
  for (const std::string name : {"add", "reverse", "weights"}) {
    CAPTURE(name);
    const std::string relay = name == "weights" ? "add.relay --params y.npz" : name + ".relay";
    for (const std::string& make : {"relayc " + relay + " --emit bytecode --data -o text.txt",
                                    "vmdump " + name + ".vmx --bytecode --data >text.txt"}) {
      REQUIRE(shell.Run(make).status == 0);
      Outcome o = shell.Run("vmasm text.txt");
      CHECK(o.err == "");
      CHECK(shell.Read("text.vmx") == shell.Read(name + ".vmx"));
    }
    // Without the bytes, from the program that has them.
    REQUIRE(shell.Run("relayc " + relay + " --emit bytecode -o short.txt").status == 0);
    Outcome o = shell.Run("cat short.txt | vmasm - --data " + name + ".vmx -o short.vmx");
    CHECK(o.err == "");
    CHECK(shell.Read("short.vmx") == shell.Read(name + ".vmx"));
  }
  const std::string text = shell.Read("text.txt");
  Outcome onto = shell.Run("vmasm text.txt -o ./text.txt");
  CHECK(onto.status == 2);
  CHECK(onto.err.find("the output is the input") != std::string::npos);
  CHECK(shell.Read("text.txt") == text);
  Outcome o = shell.Run("vmasm short.txt");
  CHECK(o.status == 2);
  CHECK(o.err.starts_with("vmasm: short.txt: the bytes of constant 0 are elided: expected a"));
}

TEST_CASE("outputs appear whole or not at all") {
  Shell shell;
  shell.Compile("add", kAdd);
  shell.Write("out.txt.old", "");
  shell.Write("keep.txt", "old");
  CHECK(shell.Run("relayc add.relay --emit relay -o keep.txt").status == 0);
  CHECK(shell.Read("keep.txt").starts_with("#[version"));
  shell.Write("broken.relay", "def @main(");
  shell.Write("keep.vmx", "old");
  CHECK(shell.Run("relayc broken.relay -o keep.vmx").status == 2);
  CHECK(shell.Read("keep.vmx") == "old");
  for (const auto& entry : std::filesystem::directory_iterator(shell / ""))
    CHECK(entry.path().string().find(".tmp") == std::string::npos);
}

TEST_CASE("a function with type parameters takes any value, and prints it by what it was") {
  Shell shell;
  shell.Compile("open", kOpen);
  struct Case {
    const char *inputs, *printed;
  };
  const Case cases[] = {
      {"--input 1 --input 'Cons(2, Nil)'", "Cons(1, Cons(2, Nil))\n"},
      {"--input '(true, [1.5])' --input Nil", "Cons((True, Tensor[(1), float32] [1.5]), Nil)\n"},
      {"--input 'Cons(2.5, Nil)' --input Nil", "Cons(Cons(2.5f, Nil), Nil)\n"},
      {"--input l=Nil --input x=Nil", "Cons(Nil, Nil)\n"},
      {"--input @v.npy --input 'Cons([7], Nil)'",
       "Cons(Tensor[(2), int64] [1, 2], Cons(Tensor[(1), int64] [7], Nil))\n"},
      {"--input - --input Nil <v.npy", "Cons(Tensor[(2), int64] [1, 2], Nil)\n"},
  };
  REQUIRE(WriteNpyFile(shell / "v.npy", {DType::kInt64,
                                         {2},
                                         [] {
                                           const int64_t numbers[] = {1, 2};
                                           auto bytes = std::as_bytes(std::span(numbers));
                                           return std::vector<std::byte>(bytes.begin(),
                                                                         bytes.end());
                                         }()})
              .ok());
  for (const Case& c : cases) {
    for (const char* run : {"vmrun open.vmx ", "relayrun open.relay --executor reference "}) {
      CAPTURE(c.inputs);
      Outcome o = shell.Run(std::string(run) + c.inputs);
      CHECK(o.err == "");
      CHECK(o.out == c.printed);
    }
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
  CHECK(all["places"][0]["place"].get<std::string>().starts_with("add"));
  size_t kernels = 0;
  const Json chrome = Json::parse(shell.Read("p.json"));
  for (const Json& event : chrome["traceEvents"])
    kernels += event.value("cat", "") == "kernel" ? 1 : 0;
  CHECK(kernels == 5);
  shell.Run("vmrun add.vmx --input 1x2xf32=1 --input 2xf32=1 --trace t.json");
  CHECK(Json::parse(shell.Read("t.json"))["traceEvents"].size() > 3);
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
