// What the tools say to users: of mistakes, before work that would be in vain, and where they look.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <sstream>

#include "bytecode/io/npz.h"
#include "tools/shell.h"

namespace relayvm::tools {
namespace {

using Json = nlohmann::json;

constexpr const char* kAddTwo =
    "def @main(%x: Tensor[(?, 2), float32], %y: Tensor[(2), float32]) { add(%x, %y) }\n";
constexpr const char* kImage =
    "def @main(%image: Tensor[(1, 3, 4, 4), float32]) { nn.relu(%image) }\n";
// Each constructor around a value makes its type twice as long.
constexpr const char* kNested = R"(
type P[A] { E, C(P[(A, A)]), }
def @main(%x: P[int32]) -> int32 { match (%x) { E => { 0 }, C(%y) => { 1 }, } }
)";
constexpr const char* kForEver =
    "def @spin(%x: int32) -> int32 { @spin(%x) }\n"
    "def @main(%x: int32) { let %y = @spin(%x); (%y, %y, %x) }\n";
constexpr const char* kHalves =
    "def @main(%x: Tensor[(4), float32]) { split(%x, indices_or_sections=2) }\n";

TEST_CASE("mistakes are told with what was meant") {
  Shell shell;
  shell.Compile("add", kAddTwo);
  shell.Compile("image", kImage);
  REQUIRE(WriteNpz(shell / "wrong.npz",
                   {{"nope", {DType::kFloat32, {2}, std::vector<std::byte>(8, std::byte{1})}}})
              .ok());
  const struct {
    const char* command;
    int status;
    const char* text;
  } kCases[] = {
      {"relayc add.relay --prams w.npz", 1, "unexpected argument --prams; did you mean --params?"},
      {"relayc add.relay --precison bf16", 1, "did you mean --precision?"},
      {"vmrun add.vmx --inputs 1", 1, "unexpected argument --inputs; did you mean --input?"},
      {"vmrun add.vmx --input=1 --memory-limt=3", 1, "did you mean --memory-limit?"},
      {"vmdump add.vmx --bytcode", 1, "did you mean --bytecode?"},
      {"relayrun add.relay --inptu 1", 1, "did you mean --input?"},
      {"relayc add.relay --nonsense", 1, "unexpected argument --nonsense\n"},
      {"relayc add.relay --precision int8", 1,
       "--precision int8: expected fp32 or bf16; --weights q8 makes weights integers"},
      {"relayc add.relay --precision float16", 1, "a model whose tensors are float16"},
      {"relayc add.relay --params wrong.npz", 2,
       "relayc: wrong.npz: parameter \"nope\" matches no parameter of @main; it has %x, %y\n"},
      {"vmrun image.vmx --input 1x3x4x4=random", 1,
       "--input 1x3x4x4=random: a tensor of a size says its dtype: 1x3x4x4xf32=random"},
      {"vmrun image.vmx --input imge=1x3x4x4xf32=1", 1,
       "there is no parameter imge; did you mean image?"},
      {"vmrun image.vmx --input 1x3x4x4xf32=random --memory-limit 1", 3, "the memory limit is 1;"},
  };
  for (const auto& c : kCases) {
    CAPTURE(c.command);
    const Outcome o = shell.Run(c.command);
    CHECK(o.status == c.status);
    CHECK_MESSAGE(o.err.find(c.text) != std::string::npos, o.err);
  }
}

TEST_CASE("files of others are told, with what to do") {
  Shell shell;
  using namespace std::string_literals;
  const std::pair<std::string, const char*> kFiles[] = {
      {"PK\3\4"s + std::string(22, '\0') + "\x10\0\0\0"s + "archive/data.pkl", "archive"},
      {"\x1c\0\0\0TFL3"s + std::string(20, '\0'), "a TensorFlow Lite model"},
      {"GGUF\3\0\0\0"s + std::string(20, '\0'), "a GGUF file"},
      {"\x10\0\0\0\0\0\0\0{\"w\":{}}        "s, "a safetensors file: weights without a model"},
  };
  for (const auto& [content, text] : kFiles) {
    CAPTURE(text);
    shell.Write("model", content);
    for (const char* command : {"relayc model", "vmrun model"}) {
      const Outcome o = shell.Run(command);
      CHECK(o.status == 2);
      CHECK_MESSAGE(o.err.find(text) != std::string::npos, o.err);
    }
  }
}

TEST_CASE("types that double with each constructor are written to a length") {
  Shell shell;
  shell.Compile("nested", kNested);
  std::string value = "x";
  for (int i = 0; i < 60; ++i) value = "C(" + value + ")";
  const auto start = std::chrono::steady_clock::now();
  const Outcome o = shell.Run("vmrun nested.vmx --input '" + value + "'");
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(20));
  CHECK(o.status == 2);
  CHECK(o.err.find("expected E or C of P[") != std::string::npos);
  CHECK(o.err.find("...") != std::string::npos);
  CHECK(o.err.size() < 4000);
}

// Dims with names, which Relay's text has in its metadata alone.
constexpr const char* kLists = R"(type List[A] { Cons(A, List[A]), Nil, }
def @main(%xs: List[Tensor[(meta[tir.SizeVar][0], 2), float32]], %ys: List[Tensor[(meta[tir.Add][0]), float32]]) {
  (%xs, %ys)
}
#[metadata]
{"root": 1, "nodes": [{"type_key": ""},
  {"type_key": "Map", "keys": ["tir.SizeVar", "tir.Add"], "data": [2, 3]},
  {"type_key": "Array", "data": [4]}, {"type_key": "Array", "data": [5]},
  {"type_key": "tir.SizeVar", "attrs": {"dtype": "int32", "name": "6"}},
  {"type_key": "tir.Add", "attrs": {"a": "4", "b": "7"}},
  {"type_key": "runtime.String", "repr_str": "n"},
  {"type_key": "IntImm", "attrs": {"dtype": "int32", "value": "1"}}]}
)";

TEST_CASE("names of dims inside of lists are one number, and so are expressions over them") {
  Shell shell;
  shell.Compile("lists", kLists);
  const auto run = [&](const char* xs, const char* ys) {
    return shell.Run(fmt::format("vmrun lists.vmx --input 'xs={}' --input 'ys={}'", xs, ys));
  };
  CHECK(run("Cons([[1, 2]], Cons([[3, 4]], Nil))", "Cons([1, 2], Cons([3, 4], Nil))").status == 0);
  CHECK(run("Nil", "Cons([1, 2], Nil)").status == 0);
  const struct {
    const char *xs, *ys, *text;
  } kCases[] = {
      {"Cons([[1, 2]], Cons([[3, 4], [5, 6]], Nil))", "Nil",
       "a tensor in xs's dim 0 (n) is 1, a tensor in xs's dim 0 (n) is 2"},
      {"Cons([[1, 2]], Nil)", "Cons([1, 2], Cons([3], Nil))",
       "a tensor in xs's dim 0 (n) is 1, a tensor in ys's dim 0 (n + 1) is 1"},
  };
  for (const auto& c : kCases) {
    const Outcome o = run(c.xs, c.ys);
    CHECK(o.status == 2);
    CHECK_MESSAGE(o.err.find(c.text) != std::string::npos, o.err);
  }
}

TEST_CASE("outputs are checked before the run") {
  Shell shell;
  shell.Compile("spin", kForEver);  // would not end
  const struct {
    const char* output;
    const char* text;
  } kCases[] = {
      {"r.npy", "--output r.npy: the result has 3 tensors; write an .npz"},
      {"z=r.npy", "write NAME=OUT.npy; the result has out0, out1, out2"},
      {"no/r.npz", "--output no/r.npz: there is no folder no"},
      {"out0=no/r.npy", "there is no folder no"},
  };
  for (const auto& c : kCases) {
    CAPTURE(c.output);
    const Outcome o =
        shell.Run(fmt::format("vmrun spin.vmx --input 1 --timeout 20 --output {}", c.output));
    CHECK(o.status == 2);
    CHECK_MESSAGE(o.err.find(c.text) != std::string::npos, o.err);
  }
  shell.Compile("halves", kHalves);
  CHECK(shell.Run("vmrun halves.vmx --input '[1,2,3,4]' --output out1=second.npy").status == 0);
  CHECK(shell.Run("vmrun halves.vmx --input '[1,2,3,4]' --output all.npz").status == 0);
}

TEST_CASE("a file states the least version of bytecode that it needs") {
  Shell shell;
  shell.Compile("image", kImage);
  const Json dumped = Json::parse(shell.Run("vmdump image.vmx --json").out);
  CHECK(dumped["bytecode_version"] == 1);
  Shell other;
  other.Write("host.relay",
              "#[version = \"0.0.5\"]\ndef @host(%x: int32, host=1) -> int32;\n"
              "def @main(%x: int32) -> int32 { @host(%x) }\n");
  REQUIRE(other.Run("relayc host.relay -o host.vmx").status == 0);
  CHECK(Json::parse(other.Run("vmdump host.vmx --json").out)["bytecode_version"] == 5);
}

TEST_CASE("--help is in groups, and says the forms of values") {
  Shell shell;
  for (const std::string tool : {"relayc", "relayrun", "vmrun", "vmserve", "vmbench"}) {
    std::istringstream help(shell.Run(tool + " --help").out);
    std::string group;
    size_t groups = 0, options = 0;
    for (std::string line; std::getline(help, line);) {
      if (!line.empty() && line[0] != ' ' && line.ends_with(":")) {
        group = line;
        ++groups;
      }
      if (!line.starts_with("  -")) continue;
      CAPTURE(tool + ": " + line);
      ++options;
      const bool is_common = line.find("--help ") < 8 || line.find("--version ") < 8;
      CHECK((group == "Options:") == is_common);
      for (const char* type : {" TEXT", " UINT", " FLOAT"})
        CHECK(line.find(type) == std::string::npos);
    }
    const bool is_small = tool == "vmbench";
    CHECK(groups >= (is_small ? 4 : 5));
    CHECK(options > (is_small ? 10 : 20));
  }
}

TEST_CASE("--batching says what it made, --repeat has percentiles, --profile sums by operator") {
  Shell shell;
  shell.Write("relu.relay", std::string("#[version = \"0.0.5\"]\n") + kImage);
  Outcome o = shell.Run("relayc relu.relay --batching -o relu.vmx");
  CHECK(o.err.find("batching: no kernel can run the products of many requests at once: it gains "
                   "nothing here") != std::string::npos);
  CHECK(shell.Run("relayc relu.relay -o relu.vmx").err.find("batching") == std::string::npos);
  shell.Compile("twice",
                "def @main(%x: Tensor[(2, 4), float32]) {\n"
                "  nn.softmax(nn.dense(nn.softmax(%x), nn.softmax(%x), units=2))\n}\n");
  o = shell.Run("vmrun twice.vmx --input 2x4xf32=1 --repeat 20 --profile");
  for (const char* text : {"p90 ms", "p99 ms"}) CHECK(o.err.find(text) != std::string::npos);
  const Json all =
      Json::parse(shell.Run("vmrun twice.vmx --input 2x4xf32=1 --repeat 20 --profile --json").out);
  CHECK(all["times"]["median_ms"] <= all["times"]["p90_ms"]);
  CHECK(all["times"]["p90_ms"] <= all["times"]["p99_ms"]);
  size_t calls = 0, by_operator = 0;
  for (const Json& row : all["profile"]) calls += row["calls"].get<size_t>();
  for (const Json& row : all["operators"]) by_operator += row["calls"].get<size_t>();
  CHECK(calls == by_operator);
  CHECK(all["operators"].size() <= all["profile"].size());
}

TEST_CASE("an opset that nobody knows yet is told") {
  // A field of a protobuf that holds bytes.
  const auto field = [](int number, const std::string& bytes) {
    return std::string{static_cast<char>(number << 3 | 2), static_cast<char>(bytes.size())} + bytes;
  };
  const std::string tensor = field(2, field(1, "\x08\x01" + field(2, field(1, "\x08\x02"))));
  const auto model = [&](char opset) {
    return "\x08\x08" + field(8, std::string("\x10") + opset) +
           field(7, field(1, field(1, "x") + field(2, "y") + field(4, "Relu")) + field(2, "g") +
                        field(11, field(1, "x") + tensor) + field(12, field(1, "y") + tensor));
  };
  Shell shell;
  shell.Write("new.onnx", model(99));
  shell.Write("old.onnx", model(13));
  Outcome o = shell.Run("relayc new.onnx -q");
  CHECK(o.status == 0);
  CHECK_MESSAGE(o.err.starts_with("warning: new.onnx: opset 99 is newer than this version knows"),
                o.err);
  o = shell.Run("relayc old.onnx -q");
  CHECK(o.status == 0);
  CHECK(o.err.empty());
}

TEST_CASE("tuning is not offered where a run takes no time that matters") {
  Shell shell;
  shell.Write("small.relay",
              "#[version = \"0.0.5\"]\n"
              "def @main(%x: Tensor[(4, 4), float32], %w: Tensor[(4, 4), float32]) {\n"
              "  nn.dense(%x, %w, units=4)\n}\n");
  CHECK(shell.Run("relayc small.relay -o small.vmx").err.find("--tune") == std::string::npos);
}

}  // namespace
}  // namespace relayvm::tools
