// Schedules that were measured, as lines of JSON: what `relayc --tune-log` writes and `--schedules`
// reads. A line is a kernel on a kind of machine:
//
//   {"v": 1, "key": "1f0c...", "target": "x86-64-v4+avx512vnni", "machine": "znver4, L1 32K, L2 1024K",
//    "kernel": "fused_nn_dense_add", "extents": {"n": [1, 16, 128]},
//    "schedule": {"tile": [8, 32], "block": 96}, "ns": [1310, 8120, 60200],
//    "base_ns": [1290, 9310, 71000], "compiler": "relayvm 0.1.0"}
//
//   key       ScheduleKey of the kernel (kernels/codegen/schedule_space.h)
//   target    ScheduleTarget: what the code is for; `machine`: MachineName of where it was measured
//   extents   the sizes that open dims had, by their names: as many of each as there are times
//   schedule  {}: the compiler's own, which nothing was faster than
//   ns        what a call took, one thread; base_ns: with the compiler's own
//
// Of several lines with one key and target the last counts. Fields that are not named here are for
// people, as `kernel`, `extents`, `ns`, `base_ns` and `compiler` are. The files come from
// strangers: what is read is checked and bounded. Tested by schedule_log_test.cc.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bytecode/base/status.h"
#include "kernels/codegen/kernel_compiler.h"

namespace relayvm::tuner {

struct ScheduleRecord {
  std::string key, target, machine;
  TileSchedule schedule;
  // For people.
  std::string kernel;
  std::vector<std::pair<std::string, std::vector<int64_t>>> extents;
  std::vector<double> ns, base_ns;
};

// A line, with its end.
std::string FormatRecord(const ScheduleRecord& record);
// What a log says, without what is for people. `name` is the file's, for errors: "t.log:3: ...", of
// kInvalidInput.
Result<std::vector<ScheduleRecord>> ParseScheduleLog(std::string_view text,
                                                     const std::string& name);
Result<std::vector<ScheduleRecord>> ReadScheduleLog(const std::string& path);

// The schedules of a program's kernels, from logs, for one target. Not thread-safe.
class ScheduleBook {
 public:
  using WarnFn = std::function<void(const std::string&)>;

  // Takes the records for `options`: those of its target, and where that is "native", of this kind
  // of machine. Others are kept only to be warned of.
  ScheduleBook(const std::vector<ScheduleRecord>& records, const KernelOptions& options,
               WarnFn warn);

  bool empty() const { return schedules_.empty(); }
  // Whether the kernel was measured on such a machine.
  bool Knows(const KernelSpec& spec) const;
  // The schedule of a kernel: the compiler's own where nothing is known, or what is known is not
  // legal or of another target, which is warned of once for each kernel.
  TileSchedule ScheduleFor(const KernelSpec& spec);
  void Set(const std::string& key, const TileSchedule& schedule);

 private:
  struct Known {
    TileSchedule schedule;
    std::string other_target;  // whose it is, if not ours: then it has no effect
    bool warned = false;
  };
  void Warn(Known& known, const KernelSpec& spec, const std::string& why);

  KernelOptions options_;
  std::string target_;
  std::map<std::string, Known> schedules_;  // by key
  WarnFn warn_;
};

}  // namespace relayvm::tuner
