// Profile: where programs spend their time, by kernel and by line of the source or node of the
// model.
//
//   Profile profile({.kernel_interval = 1000});
//   auto runtime = Runtime::Create({.trace = &profile});
//   ...
//   for (const Profile::Row& row : profile.ByKernel()) Print(row.name, row.calls, row.total_ns);
//
// Thread-safe; may be read at any time. Tested by trace_test.cc.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bytecode/base/status_detail.h"
#include "vm/trace/trace.h"

namespace relayvm {

class Profile : public TraceSink {
 public:
  struct Options {
    // Times one call of a kernel in so many, chosen at random, which stands for as many: the
    // numbers of a row are then estimates. 1: times each.
    uint32_t kernel_interval = 1;
  };
  struct Row {
    std::string name;   // of the kernel; of a place: its kernels', separated by ", "
    StatusPlace place;  // empty in rows of kernels
    uint64_t calls = 0;
    int64_t total_ns = 0, longest_ns = 0;
    uint64_t samples = 0;  // calls that were timed
  };
  struct Totals {
    uint64_t runs = 0;                // that have ended
    int64_t run_ns = 0, wait_ns = 0;  // of those; of all waits
    int64_t kernel_ns = 0;            // the sum of the rows
  };

  Profile();
  explicit Profile(const Options& options);
  ~Profile() override;

  // The longest time first. Kernels of one name are one row, whatever the program. A place is a
  // source line, or a node: instructions without one are left out.
  std::vector<Row> ByKernel() const;
  std::vector<Row> ByPlace() const;
  Totals totals() const;
  // Forgets all, and lets go of the programs, which it keeps until then.
  void Clear();

  void OnKernel(const KernelEvent& event) override;
  void OnRunEnd(const RunEvent& event) override;
  void OnWait(const WaitEvent& event) override;
  uint32_t kernel_interval() const override { return options_.kernel_interval; }
  bool wants_slices() const override { return false; }

 private:
  struct Shard;
  static constexpr size_t kShards = 16;
  Shard& ShardOf(uint64_t invocation) const;

  Options options_;
  std::unique_ptr<Shard[]> shards_;
};

}  // namespace relayvm
