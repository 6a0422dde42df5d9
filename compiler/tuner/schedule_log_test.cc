#include "compiler/tuner/schedule_log.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <random>

#include "kernels/codegen/contraction/harness.h"
#include "kernels/codegen/schedule_space.h"

namespace relayvm::tuner {
namespace {

const std::string kKey = "0123456789abcdef0123456789abcdef";
const std::string kLine = R"({"v":1,"key":")" + kKey +
                          R"(","target":"x86-64-v3","machine":"znver2, L1 32K, L2 512K",)"
                          R"("kernel":"nn_dense","extents":{"n":[1,16]},)"
                          R"("schedule":{"tile":[8,32],"block":96},"ns":[10,200],)"
                          R"("base_ns":[12,240],"compiler":"relayvm)";

TEST_CASE("a record is a line, and is read as it was written") {
  ScheduleRecord record{kKey,        "x86-64-v3", "znver2, L1 32K, L2 512K",
                        {8, 32, 96}, "nn_dense",  {{"n", {1, 16}}},
                        {10, 200.4}, {12, 239.6}};
  const std::string line = FormatRecord(record);
  CHECK(line.starts_with(kLine));
  CHECK(line.ends_with("\"}\n"));
  record.schedule = {0, 0, 48};
  const std::string block = FormatRecord(record);
  CHECK(block.find(R"("schedule":{"block":48})") != std::string::npos);
  record.schedule = {};
  record.extents = {{"\xff\"\n", {3}}};
  const std::string own = FormatRecord(record);
  CHECK(own.find(R"("schedule":{})") != std::string::npos);
  CHECK(own.find('\n') == own.size() - 1);

  auto records = ParseScheduleLog(line + "\n \r\n" + block + own, "t.log");
  REQUIRE_MESSAGE(records.ok(), records.status().message());
  REQUIRE(records->size() == 3);
  for (const ScheduleRecord& r : *records) {
    CHECK(r.key == kKey);
    CHECK(r.target == "x86-64-v3");
    CHECK(r.machine == "znver2, L1 32K, L2 512K");
  }
  CHECK((*records)[0].schedule == TileSchedule{8, 32, 96});
  CHECK((*records)[1].schedule == TileSchedule{0, 0, 48});
  CHECK((*records)[2].schedule == TileSchedule());
  CHECK(ParseScheduleLog("", "t.log")->empty());
}

TEST_CASE("a damaged line is named, with what was expected") {
  const std::string line = kLine + "\"}";
  auto with = [&](std::string_view from, std::string_view to) {
    std::string changed = line;
    const size_t at = changed.find(from);
    REQUIRE_MESSAGE(at != std::string::npos, from);
    return changed.replace(at, from.size(), to);
  };
  struct Case {
    std::string line, expected;
  };
  const std::string schedule = "expected \"schedule\", an object with \"tile\"";
  const std::vector<Case> cases = {
      {"x", "expected an object of JSON"},
      {"[]", "expected an object of JSON"},
      {"3", "expected an object of JSON"},
      {"{}", "expected \"v\": 1"},
      {line.substr(0, line.size() - 1), "expected an object of JSON"},
      {line + "}", "expected an object of JSON"},
      {line + line, "expected an object of JSON"},
      {std::string(60000, '['), "expected an object of JSON"},
      {std::string(60000, '[') + std::string(1, '\0'), "expected an object of JSON"},
      {"{\"v\":1,\"a\":" + std::string(30000, '[') + std::string(30000, ']') + "}",
       "expected \"key\""},
      {"\xff\xfe\xfd", "expected an object of JSON"},
      {std::string(70000, ' ') + "x", "the line has 70001 bytes"},
      {with("\"v\":1", "\"v\":2"), "expected \"v\": 1"},
      {with("\"v\":1", "\"v\":\"1\""), "expected \"v\": 1"},
      {with(kKey, kKey + "0"), "expected \"key\", 32 hexadecimal digits"},
      {with(kKey, std::string(32, 'G')), "expected \"key\", 32 hexadecimal digits"},
      {with("\"" + kKey + "\"", "7"), "expected \"key\", 32 hexadecimal digits"},
      {with("\"x86-64-v3\"", "null"), "expected \"target\""},
      {with("x86-64-v3", "\\u001b[2J"), "expected \"target\""},
      {with("x86-64-v3", std::string(129, 'x')), "expected \"target\""},
      {with("\"machine\"", "\"machines\""), "expected \"machine\""},
      {with("\"schedule\"", "\"schedules\""), schedule},
      {with("[8,32]", "[8]"), schedule},
      {with("[8,32]", "[8,32,1]"), schedule},
      {with("[8,32]", "\"8x32\""), schedule},
      {with("[8,32]", "[0,32]"), schedule},
      {with("[8,32]", "[-8,32]"), schedule},
      {with("[8,32]", "[8.5,32]"), schedule},
      {with("[8,32]", "[8,4097]"), schedule},
      {with("[8,32]", "[8,18446744073709551616]"), schedule},
      {with("96", "1e300"), schedule},
      {with("96", "true"), schedule},
      {with("\"block\"", "\"unroll\""), schedule},
      {with(R"({"tile":[8,32],"block":96})", "[]"), schedule},
  };
  for (const Case& c : cases) {
    CAPTURE(c.line.substr(0, 200));
    auto records = ParseScheduleLog(line + "\n\n" + c.line + "\n" + line, "t.log");
    REQUIRE(!records.ok());
    CHECK(records.status().code() == StatusCode::kInvalidInput);
    CHECK(records.status().message().find("t.log:3: ") == 0);
    CHECK_MESSAGE(records.status().message().find(c.expected) != std::string::npos,
                  records.status().message());
  }
}

TEST_CASE("files of strangers: bytes changed at random are read or refused") {
  const std::string log = kLine + "\"}\n" + kLine + "\"}\n";
  std::mt19937 random(7);
  for (int i = 0; i < 20000; ++i) {
    std::string changed = log;
    for (uint32_t n = random() % 4 + 1; n > 0; --n) {
      const size_t at = random() % changed.size();
      switch (random() % 3) {
        case 0:
          changed[at] = static_cast<char>(random());
          break;
        case 1:
          changed.erase(at, random() % 20);
          break;
        default:
          changed.insert(at, changed.substr(random() % changed.size(), random() % 20));
      }
    }
    auto records = ParseScheduleLog(changed, "t.log");
    if (!records.ok()) continue;
    for (const ScheduleRecord& r : *records) {
      CHECK(r.key.size() == 32);
      CHECK(r.schedule.rows <= kMostOfSchedule);
      CHECK(r.schedule.block <= kMostOfSchedule);
    }
  }
}

// --- ScheduleBook ---

KernelSpec Product() {
  const Dim m = Dim::Symbol(1, "m");
  const std::vector<te::Tensor> in = {Input({m, 64}, 0), Input({64, 48}, 1)};
  return Spec("product", in, {Apply("nn.matmul", {}, in, {m, 48}, DType::kFloat32)});
}

TEST_CASE("a book gives what is legal for the kernel and the target, and warns of what is not") {
  KernelOptions options{.machine = MachineNamed("x86-64-v3")};
  const KernelSpec spec = Product();
  const std::string key = ScheduleKey(spec, options);
  std::vector<std::string> warnings;
  auto ask = [&](const std::vector<ScheduleRecord>& records) {
    warnings.clear();
    ScheduleBook book(records, options, [&](const std::string& w) { warnings.push_back(w); });
    const TileSchedule first = book.ScheduleFor(spec);
    CHECK(book.ScheduleFor(spec) == first);
    return first;
  };
  auto record = [&](const TileSchedule& schedule, const std::string& target = "x86-64-v3") {
    return ScheduleRecord{key, target, "other, L1 1K, L2 2K", schedule, "", {}, {}, {}};
  };
  CHECK(ask({}) == TileSchedule());
  CHECK(ask({record({4, 16, 0})}) == TileSchedule{4, 16, 0});
  CHECK(ask({record({4, 16, 0}), record({2, 8, 0})}) == TileSchedule{2, 8, 0});
  CHECK(ask({record({4, 16, 0}), record({})}) == TileSchedule());
  CHECK(ask({record({4, 16, 0}), record({6, 32, 0}, "x86-64-v4")}) == TileSchedule{4, 16, 0});
  CHECK(ask({record({6, 32, 0}, "x86-64-v4"), record({4, 16, 0})}) == TileSchedule{4, 16, 0});
  ScheduleRecord unknown = record({4, 16, 0});
  unknown.key = kKey;
  CHECK(ask({unknown}) == TileSchedule());
  CHECK(warnings.empty());

  CHECK(ask({record({8, 16, 0})}) == TileSchedule());
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0] ==
        "kernel product: a schedule of --schedules is left out: tile=8x16: 16 sums and what they "
        "are made of take 19 registers, there are 16");
  CHECK(ask({record({6, 32, 0}, "x86-64-v4")}) == TileSchedule());
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0] ==
        "kernel product: a schedule of --schedules is left out: it is for x86-64-v4 (other, L1 1K, "
        "L2 2K), not x86-64-v3");
  CHECK(ask({record({1, 8, 4096})}) == TileSchedule{1, 8, 4096});

  // For this machine: only what was measured on one of its kind.
  options.machine = MachineNamed("native");
  const std::string target = ScheduleTarget(options);
  ScheduleRecord native = record({4, 16, 0}, target);
  CHECK(ask({native}) == TileSchedule());
  CHECK(warnings.size() == 1);
  native.machine = MachineName();
  CHECK(ask({native}) == TileSchedule{4, 16, 0});
  CHECK(warnings.empty());
}

}  // namespace
}  // namespace relayvm::tuner
