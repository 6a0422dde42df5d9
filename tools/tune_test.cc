// relayc --tune and --schedules as a user runs them.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "bytecode/image_loader.h"
#include "tools/shell.h"

namespace relayvm::tools {
namespace {

using Json = nlohmann::json;

constexpr const char* kLayers = R"(
def @main(%x: Tensor[(?, 40), float32], %w: Tensor[(56, 40), float32], %v: Tensor[(24, 56), float32]) {
  nn.dense(nn.relu(nn.dense(%x, %w)), %v)
}
)";

std::vector<Json> Lines(const std::string& log) {
  std::vector<Json> lines;
  std::istringstream stream(log);
  for (std::string line; std::getline(stream, line);) lines.push_back(Json::parse(line));
  return lines;
}

// Whatever the times say: the log holds what the program was compiled with.
TEST_CASE("relayc --tune: the log gives the same program again, and the same results") {
  Shell shell;
  shell.Compile("layers", kLayers);
  const std::string run =
      " --input 5x40xf32=random --input 56x40xf32=random --input 24x56xf32=random ";
  REQUIRE(shell.Run("vmrun layers.vmx" + run + "--output r.npy").status == 0);
  Outcome o = shell.Run("relayc layers.relay --tune 300ms --tune-log t.log -o tuned.vmx");
  REQUIRE_MESSAGE(o.status == 0, o.err);
  CHECK(o.err.find("  tuning: 2 kernels have alternatives, 0 are known, ") == 0);
  o = shell.Run("vmrun tuned.vmx" + run + "--expect r.npy --rtol 1e-3");
  CHECK_MESSAGE(o.status == 0, o.err);

  const std::vector<Json> lines = Lines(shell.Read("t.log"));
  for (const Json& line : lines) {
    CHECK(line["v"] == 1);
    CHECK(line["ns"].size() == 3);
    for (size_t i = 0; i < 3; ++i) CHECK(line["ns"][i] <= 1.01 * line["base_ns"][i].get<double>());
  }
  o = shell.Run("relayc layers.relay --schedules t.log -o again.vmx");
  REQUIRE_MESSAGE(o.status == 0, o.err);
  CHECK(shell.Read("again.vmx") == shell.Read("tuned.vmx"));

  // What is known is not measured again, and the log grows.
  o = shell.Run("relayc layers.relay --schedules t.log --tune 2s --tune-log t.log -o more.vmx");
  REQUIRE_MESSAGE(o.status == 0, o.err);
  CHECK(o.err.find(fmt::format("{} are known", lines.size())) != std::string::npos);
  CHECK(Lines(shell.Read("t.log")).size() <= 2);
  o = shell.Run("relayc layers.relay --schedules t.log -o again.vmx");
  CHECK(shell.Read("again.vmx") == shell.Read("more.vmx"));
}

TEST_CASE("relayc says in a line where tuning would pay") {
  if (!CpuFeatures::OfThisMachine().Missing("x86-64-v3").empty()) return;
  Shell shell;
  const auto program = [](int columns) {
    return fmt::format(
        "#[version = \"0.0.5\"]\n"
        "def @main(%x: Tensor[(?, 512), float32], %w: Tensor[({}, 512), float32]) {{ nn.dense(%x, "
        "%w) "
        "}}\n",
        columns);
  };
  shell.Write("thin.relay", program(17));
  shell.Write("wide.relay", program(512));
  const std::string says =
      "  1 kernel is estimated below 60 % of what this machine reaches; 'relayc --tune 60s' "
      "measures alternatives\n";
  for (const auto& [command, expected] :
       {std::pair("relayc thin.relay --target x86-64-v3", true),
        {"relayc wide.relay --target x86-64-v3", false},
        {"relayc thin.relay --target x86-64-v3 -q", false},
        {"relayc thin.relay --target x86-64-v3 --tune 100ms", false},
        {"relayc thin.relay --target x86-64-v2,x86-64-v3", false}}) {
    CAPTURE(std::string(command));
    Outcome o = shell.Run(command);
    REQUIRE(o.status == 0);
    CAPTURE(o.err);
    CHECK(o.err.ends_with(says) == expected);
    CHECK((o.err.find("estimated below") != std::string::npos) == expected);
  }
}

// Line of a log with another schedule.
std::string With(const Json& line, const Json& schedule) {
  Json changed = line;
  changed["schedule"] = schedule;
  return changed.dump() + "\n";
}

TEST_CASE("relayc --schedules: what a log says is compiled, whatever the names of the program") {
  Shell shell;
  shell.Write("a.relay", std::string("#[version = \"0.0.5\"]\n") + kLayers);
  // Both kernels are measured, however long that takes.
  REQUIRE(shell.Run("relayc a.relay --tune 20s --tune-log t.log -o a.vmx -q").status == 0);
  const std::vector<Json> lines = Lines(shell.Read("t.log"));
  REQUIRE(lines.size() == 2);
  const auto assembly = [&](const std::string& program, const std::string& options) {
    Outcome o = shell.Run("relayc " + program + " --emit asm -q " + options);
    REQUIRE_MESSAGE(o.status == 0, o.err);
    CHECK(o.err == "");
    return o.out;
  };
  const std::string own = assembly("a.relay", "");
  shell.Write("own.log", With(lines[0], Json::object()) + With(lines[1], Json::object()));
  CHECK(assembly("a.relay", "--schedules own.log") == own);
  const Json small = {{"tile", {1, 16}}};
  shell.Write("small.log", With(lines[0], small) + With(lines[1], small));
  const std::string tiled = assembly("a.relay", "--schedules small.log");
  CHECK(tiled != own);
  CHECK(tiled == assembly("a.relay",
                          "--schedule-for nn_dense=tile=1x16 "
                          "--schedule-for fused_nn_dense_nn_relu=tile=1x16"));
  // The last log counts, and a schedule by name before any log.
  CHECK(assembly("a.relay", "--schedules small.log --schedules own.log") == own);
  CHECK(assembly("a.relay", "--schedules own.log --schedules small.log") == tiled);

  // The same layers by other names, among others.
  shell.Write("b.relay", R"(#[version = "0.0.5"]
def @main(%data: Tensor[(?, 40), float32], %first: Tensor[(56, 40), float32], %second: Tensor[(24, 56), float32]) {
  let %hidden = nn.relu(nn.dense(%data, %first));
  nn.dense(%hidden, %second)
}
)");
  CHECK(assembly("b.relay", "--schedules small.log") != assembly("b.relay", ""));
  // Another width is another kernel.
  std::string wider = kLayers;
  for (size_t at = 0; (at = wider.find("40", at)) != std::string::npos;) wider.replace(at, 2, "41");
  shell.Write("c.relay", "#[version = \"0.0.5\"]\n" + wider);
  shell.Write("one.log", With(lines[0], small) + With(lines[1], Json::object()));
  shell.Write("other.log", With(lines[0], Json::object()) + With(lines[1], small));
  const std::string c = assembly("c.relay", "");
  CHECK((assembly("c.relay", "--schedules one.log") == c) !=
        (assembly("c.relay", "--schedules other.log") == c));

  // What is not legal, or of another machine, is left out with a warning.
  struct Case {
    Json schedule;
    const char *field, *value, *warning;
  };
  // More than the registers of any level hold.
  const Json large = {{"tile", {31, 16}}};
  for (const Case& c : {Case{large, "kernel", "x", "registers"},
                        Case{{{"tile", {4, 17}}}, "kernel", "x", "a multiple of"},
                        Case{small, "target", "riscv64", "it is for riscv64 (znver"},
                        Case{small, "machine", "z80, L1 0K", "(z80, L1 0K), not x86-64-"}}) {
    Json line = lines[0];
    line["machine"] = std::string("znver9, L1 32K, L2 1024K");
    if (std::string(c.field) == "kernel") line["machine"] = lines[0]["machine"];
    line[c.field] = c.value;
    shell.Write("w.log", With(line, c.schedule));
    Outcome o = shell.Run("relayc a.relay --emit asm -q --schedules w.log");
    CHECK(o.status == 0);
    CHECK(o.out == own);
    CHECK(o.err.starts_with("warning: kernel "));
    CHECK_MESSAGE(o.err.find(c.warning) != std::string::npos, o.err);
    CHECK(std::count(o.err.begin(), o.err.end(), '\n') == 1);
  }
  shell.Write("bad.log", With(lines[0], small) + "{\"v\": 1}\n");
  Outcome o = shell.Run("relayc a.relay --schedules bad.log");
  CHECK(o.status == 2);
  CHECK(o.err == "relayc: bad.log:2: expected \"key\", 32 hexadecimal digits in lower case\n");
}

}  // namespace
}  // namespace relayvm::tools
