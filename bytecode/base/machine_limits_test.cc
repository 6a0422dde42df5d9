#include "bytecode/base/machine_limits.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <utility>
#include <vector>

#include "tests/temp_folder.h"

namespace relayvm {
namespace {

using Files = std::vector<std::pair<std::string, std::string>>;

MachineLimits LimitsOf(const Files& files) {
  testing::TempFolder folder;
  for (const auto& [name, text] : files) {
    const std::filesystem::path path = folder / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  return ReadMachineLimits(folder / "");
}

TEST_CASE("machine limits: of the machine, or of the groups of either version, and those above") {
  const MachineLimits machine = ReadMachineLimits("/nowhere");
  REQUIRE(machine.memory_bytes > (64 << 20));
  REQUIRE(machine.num_processors >= 1);
  const std::string sys = "sys/fs/cgroup/", v2 = "0::/a/b\n";
  const std::string v1 = "9:name=systemd:/\n4:memory:/a/b\n";
  struct Case {
    const char* what;
    Files files;
    size_t memory;
    uint32_t processors;
  };
  const size_t all = machine.memory_bytes;
  const uint32_t each = machine.num_processors;
  for (const Case& c : std::vector<Case>{
           {"no groups", {}, all, each},
           {"no limit",
            {{"proc/self/cgroup", v2},
             {sys + "a/b/memory.max", "max\n"},
             {sys + "a/b/cpu.max", "max 100000\n"}},
            all,
            each},
           {"its own",
            {{"proc/self/cgroup", v2}, {sys + "a/b/memory.max", "1048576\n"}},
            1 << 20,
            each},
           {"of a group above",
            {{"proc/self/cgroup", v2},
             {sys + "a/b/memory.max", "2097152\n"},
             {sys + "a/memory.max", "1048576\n"},
             {sys + "a/b/cpu.max", "max 100000\n"},
             {sys + "a/cpu.max", "50000 100000\n"}},
            1 << 20,
            1},
           {"of the container, whose path is the machine's",
            {{"proc/self/cgroup", v2},
             {sys + "memory.max", "4096"},
             {sys + "cpu.max", "100001 100000"}},
            4096,
            std::min(each, 2U)},
           {"version 1",
            {{"proc/self/cgroup", v1 + "3:cpuacct,cpu:/a\n"},
             {sys + "memory/a/b/memory.limit_in_bytes", "9223372036854771712\n"},
             {sys + "memory/a/memory.limit_in_bytes", "125829120\n"},
             {sys + "cpu/a/cpu.cfs_quota_us", "-1\n"},
             {sys + "cpu/cpu.cfs_quota_us", "20000\n"},
             {sys + "cpu/cpu.cfs_period_us", "100000\n"}},
            125829120,
            1},
           {"both versions side by side",
            {{"proc/self/cgroup", v1 + v2},
             {sys + "memory/memory.limit_in_bytes", "8192\n"},
             {sys + "unified/a/cpu.max", "1 100000"}},
            8192,
            1},
           {"more than the machine has",
            {{"proc/self/cgroup", v2},
             {sys + "a/memory.max", "99999999999999999999999\n"},
             {sys + "a/cpu.max", "99999999 1"}},
            all,
            each},
           {"damaged files",
            {{"proc/self/cgroup", "\n:\n::\n0:\n0::\n0::x\n4:memory\n0::/a\n"},
             {sys + "a/memory.max", "-5"},
             {sys + "a/cpu.max", "5"},
             {sys + "cpu.max", " 0 0 "}},
            all,
            each},
       }) {
    CAPTURE(c.what);
    const MachineLimits found = LimitsOf(c.files);
    CHECK(found.memory_bytes == c.memory);
    CHECK(found.num_processors == c.processors);
  }
}

}  // namespace
}  // namespace relayvm
