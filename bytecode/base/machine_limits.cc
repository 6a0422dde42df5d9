#include "bytecode/base/machine_limits.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <thread>

namespace relayvm {
namespace {

// Empty where there is no such file.
std::string ReadSmallFile(const std::string& path) {
  std::string text;
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return text;
  char buffer[4096];
  for (ssize_t got = 0; (got = ::read(fd, buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<size_t>(got));
  ::close(fd);
  return text;
}

// The number at the start of the text; 0, where there is none ("max", "-1").
uint64_t NumberOf(const std::string& text) {
  const bool is_number = !text.empty() && text[0] >= '0' && text[0] <= '9';
  return is_number ? std::strtoull(text.c_str(), nullptr, 10) : 0;
}

class GroupLimits {
 public:
  explicit GroupLimits(MachineLimits* limits) : limits_(*limits) {}

  // Of the group at `path` below `mount`, and those above. Where a container sees its own groups
  // alone, the path is that of the machine, and the mount is the container's group.
  void Read(const std::string& mount, std::string path, bool memory, bool processors) {
    for (;;) {
      const std::string group = mount + path + "/";
      if (memory) {
        LimitMemory(NumberOf(ReadSmallFile(group + "memory.max")));
        LimitMemory(NumberOf(ReadSmallFile(group + "memory.limit_in_bytes")));
      }
      if (processors) {
        const std::string both = ReadSmallFile(group + "cpu.max");  // "150000 100000"
        const size_t space = both.find(' ');
        if (space != std::string::npos)
          LimitProcessors(NumberOf(both), NumberOf(both.substr(space + 1)));
        LimitProcessors(NumberOf(ReadSmallFile(group + "cpu.cfs_quota_us")),
                        NumberOf(ReadSmallFile(group + "cpu.cfs_period_us")));
      }
      if (path.empty()) return;
      path.resize(path.rfind('/'));
    }
  }

 private:
  void LimitMemory(uint64_t bytes) {
    if (bytes > 0) limits_.memory_bytes = std::min<size_t>(limits_.memory_bytes, bytes);
  }
  void LimitProcessors(uint64_t quota, uint64_t period) {
    if (quota == 0 || period == 0) return;
    const uint64_t whole = quota / period + (quota % period != 0 ? 1 : 0);
    limits_.num_processors =
        static_cast<uint32_t>(std::min<uint64_t>(limits_.num_processors, whole));
  }

  MachineLimits& limits_;
};

bool HasWord(std::string_view list, std::string_view word) {
  for (size_t begin = 0; begin <= list.size();) {
    const size_t end = std::min(list.find(',', begin), list.size());
    if (list.substr(begin, end - begin) == word) return true;
    begin = end + 1;
  }
  return false;
}

}  // namespace

MachineLimits ReadMachineLimits(const std::string& root) {
  MachineLimits limits;
  limits.memory_bytes =
      static_cast<size_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  limits.num_processors = std::max(1U, std::thread::hardware_concurrency());
  GroupLimits groups(&limits);
  const std::string mounts = root + "/sys/fs/cgroup";
  // Lines of "4:cpu,cpuacct:/path", and of version 2 "0::/path".
  const std::string lines = ReadSmallFile(root + "/proc/self/cgroup");
  for (size_t begin = 0; begin < lines.size();) {
    const size_t end = std::min(lines.find('\n', begin), lines.size());
    const std::string line = lines.substr(begin, end - begin);
    begin = end + 1;
    const size_t first = line.find(':');
    const size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    std::string path = line.substr(second + 1);
    if (path.empty() || path[0] != '/') continue;
    if (path == "/") path.clear();
    if (controllers.empty()) {
      groups.Read(mounts, path, true, true);
      groups.Read(mounts + "/unified", path, true, true);  // beside version 1
    } else if (HasWord(controllers, "memory")) {
      groups.Read(mounts + "/memory", path, true, false);
    } else if (HasWord(controllers, "cpu")) {
      groups.Read(mounts + "/cpu", path, false, true);
    }
  }
  return limits;
}

}  // namespace relayvm
