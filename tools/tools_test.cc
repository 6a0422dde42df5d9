// The tools as a user runs them: relayc, vmrun and relayrun on small programs, and their output.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <sstream>

#include "bytecode/io/npy.h"
#include "bytecode/io/npz.h"
#include "kernels/op/weight_forms.h"
#include "tools/shell.h"
#include "tools/test_programs.h"

namespace relayvm::tools {
namespace {

using Json = nlohmann::json;

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
  // A Chrome trace has the runs, their beginnings and ends, and their nodes.
  CHECK(shell.Run("vmrun net_graph " + run + " --repeat 2 --trace t.json").status == 0);
  const auto trace = nlohmann::json::parse(shell.Read("t.json"));
  std::map<std::string, int> names;
  for (const auto& event : trace["traceEvents"]) ++names[event["name"].get<std::string>()];
  CHECK(names["main"] == 4);
  CHECK(names.size() > 3);
  CHECK(shell.Run("vmrun net_graph " + run + " --profile p.json").status == 0);
  CHECK(shell.Read("p.json").find("traceEvents") != std::string::npos);
  CHECK(shell.Run("vmrun net_graph " + run + " --trace").status == 1);
  o = shell.Run("vmrun net_graph " + run + " --json --profile --output r.npz");
  CHECK(Json::parse(o.out)["profile"][0]["calls"] == 1);
  CHECK(shell.Run("vmrun net_graph " + run + " --expect r.npz").status == 0);

  // Sums of nodes with the same operators.
  shell.Write("twice.relay",
              "#[version = \"0.0.5\"]\ndef @main(%x: Tensor[(2, 3), float32]) {\n"
              "  nn.softmax(nn.softmax(%x))\n}\n");
  CHECK(shell.Run("relayc twice.relay --executor graph").status == 0);
  o = shell.Run("vmrun twice_graph --input 2x3xf32=1 --repeat 3 --profile");
  CHECK(o.err.find("  outside kernels\n") != std::string::npos);
  CHECK(o.err.find("  operators, of all their kernels\n         6 ") != std::string::npos);
  o = shell.Run("vmrun twice_graph --input 2x3xf32=1 --json --profile");
  CHECK(Json::parse(o.out)["operators"][0]["calls"] == 2);
  o = shell.Run("vmrun net_graph " + run + " --timeout 60 --memory-limit 1MB");
  CHECK(o.status == 0);
  CHECK(o.out == expected);
  o = shell.Run("vmrun net_graph " + run + " --memory-limit 10");
  CHECK(o.err.find(
            "the graph: no memory for its tensors and scratch: 0 bytes are in use of 10; raise "
            "the memory limit") != std::string::npos);
  o = shell.Run("vmrun net_graph " + run + " --stack-limit 1MB");
  CHECK(o.status == 1);
  CHECK(o.err.find("not for graphs") != std::string::npos);
  o = shell.Run("vmrun net_graph --input '[[1,2]]' --input 1");
  CHECK(o.status == 2);
  CHECK(shell.Run("vmrun net_graph --function f " + run).status == 1);

  // One kernel that takes seconds ends inside.
  shell.Write("long.relay",
              "#[version = \"0.0.5\"]\ndef @main(%x: Tensor[(4096, 4096), float64]) {\n"
              "  sum(nn.dense(%x, %x))\n}\n");
  CHECK(shell.Run("relayc long.relay --executor graph").status == 0);
  o = shell.Run("vmrun long_graph --input 4096x4096xf64=1 --timeout 0.05 --stats --json");
  CHECK(o.status == 3);
  CHECK_MESSAGE(o.err.find("the deadline has passed") != std::string::npos, o.err);

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

TEST_CASE("variables begin with their first values, are kept in a file, and are no outputs") {
  Shell shell;
  shell.Write("v.relay", R"(#[version = "0.0.5"]
def @main(%x: Tensor[(2), float32], %h: Tensor[(2), float32], output_names=["y", "h"]) {
  let %n = add(%x, %h);
  (multiply(%n, 2f), %n)
}
)");
  REQUIRE(shell.Run("relayc v.relay --state h=h -o v.vmx").status == 0);
  const std::string once = "Tensor[(2), float32] [2., 4.]\n";
  CHECK(shell.Run("vmrun v.vmx --input [1,2]").out == once);
  CHECK(shell.Run("vmrun v.vmx --input 0=[1,2] --state s.npz").out == once);
  CHECK(shell.Run("vmrun v.vmx --input x=[1,2] --state s.npz --output y.npy").out ==
        "Tensor[(2), float32] [4., 8.]\n");
  CHECK(shell.Run("vmrun v.vmx --input [1,2] --output n=y.npy").err.find("the result has y") !=
        std::string::npos);
  CHECK(shell.Run("vmrun v.vmx --input 2=[1,2]").status == 1);
  CHECK(shell.Run("relayc v.relay --state h=h --executor graph -o g").err.find("keeps nothing") !=
        std::string::npos);
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
  REQUIRE(shell
              .Run("relayc -q --kernel 'nn.dense[(n, 1024), (768, 1024)]' "
                   "--target x86-64-v3,x86-64-v2 -o dense.vmx")
              .status == 0);
  const std::pair<const char*, const char*> commands[] = {
      {"vmdump both.vmx", "for x86-64-v2, x86-64-v3"},
      {"vmdump three.vmx", "for x86-64-v2, x86-64-v4\n"},
      {"vmdump both.vmx --target x86-64-v3 --kernels", "image x86-64-v3"},
      {"vmdump both.vmx --target x86-64-v3 --kernels", "\n       x86-64-v3: loops"},
      {"vmdump dense.vmx --target x86-64-v2 --kernels",
       "\n       x86-64-v2: tile=5x8,block=100 of 512 deep, 8 panels; "},
      {"vmdump dense.vmx --target x86-64-v3 --kernels",
       "\n       x86-64-v3: tile=6x16,block=192 of 256 deep, 6 panels; "},
      {"vmdump dense.vmx --target x86-64-v3 --kernels", " cycles with 128 for what is open, "},
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

TEST_CASE("kernels for aarch64 are text alone") {
  const Shell shell;
  shell.Write("add.relay", std::string("#[version = \"0.0.5\"]\n") + kAdd);
  const std::string compile = "relayc -q add.relay --target aarch64-v8.2 ";
  Outcome outcome = shell.Run(compile + "--emit llvm -o -");
  CHECK_MESSAGE(outcome.status == 0, outcome.err);
  CHECK(outcome.out.find("target triple = \"aarch64-unknown-linux-gnu\"") != std::string::npos);
  outcome = shell.Run(compile + "--emit asm -o -");
  CHECK_MESSAGE(outcome.status == 0, outcome.err);
  CHECK(outcome.out.find("fadd\tv") != std::string::npos);
  for (const char* emit : {"", " --emit bytecode", " --executor graph", " --executor aot"}) {
    CAPTURE(emit);
    outcome = shell.Run(compile + "-o add.out" + emit);
    CHECK(outcome.status == 2);
    CHECK_MESSAGE(
        outcome.err.starts_with("relayc: --target aarch64-v8.2: kernels are compiled for"),
        outcome.err);
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
  for (const WeightForm* form : WeightFormsOf("weights")) {
    outcome = shell.Run(fmt::format(
        "relayc dense.relay --weights {} --check '[[2,2,2],[0,0,0]]' -q -o q.vmx", form->name));
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

TEST_CASE("versions") {
  Shell shell;
  for (const char* tool : {"relayc", "vmrun", "relayrun", "vmdump", "vmasm"}) {
    Outcome o = shell.Run(std::string(tool) + " --version");
    CHECK(o.status == 0);
    CHECK(o.out.starts_with(std::string(tool) + " (relayvm) "));
    CHECK(o.out.find(".vmx format 1.5, bytecode ") != std::string::npos);
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
