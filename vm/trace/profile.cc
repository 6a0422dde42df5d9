#include "vm/trace/profile.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <new>
#include <tuple>
#include <unordered_map>

#include "vm/run/executable.h"

namespace relayvm {
namespace {

struct Key {
  const Executable* executable;
  uint32_t kernel, function, pc;
  bool operator==(const Key&) const = default;
};
struct KeyHash {
  size_t operator()(const Key& key) const {
    uint64_t hash = reinterpret_cast<uintptr_t>(key.executable);
    for (uint64_t number : {key.kernel, key.function, key.pc})
      hash = (hash ^ number) * 0x9E3779B97F4A7C15;
    return hash ^ hash >> 32;
  }
};
struct Sum {
  std::shared_ptr<const Executable> executable;  // kept for its names
  std::string name;
  uint64_t calls = 0, samples = 0;
  int64_t total_ns = 0, longest_ns = 0;
};

void Add(const Sum& sum, Profile::Row* row) {
  row->calls += sum.calls;
  row->samples += sum.samples;
  row->total_ns += sum.total_ns;
  row->longest_ns = std::max(row->longest_ns, sum.longest_ns);
}

// The longest time first, else in the order of the keys.
template <typename Rows>
std::vector<Profile::Row> Sorted(Rows rows) {
  std::vector<std::tuple<int64_t, size_t, Profile::Row*>> order;  // small to move
  for (auto& [key, row] : rows) order.emplace_back(-row.total_ns, order.size(), &row);
  std::sort(order.begin(), order.end());
  std::vector<Profile::Row> sorted;
  sorted.reserve(order.size());
  for (const auto& [time, number, row] : order) sorted.push_back(std::move(*row));
  return sorted;
}

}  // namespace

// Of some of the invocations, so that threads seldom wait for each other.
struct Profile::Shard {
  mutable std::mutex mutex;
  std::unordered_map<Key, Sum, KeyHash> sums;
  uint64_t runs = 0;
  int64_t run_ns = 0, wait_ns = 0;
};

Profile::Profile() : Profile(Options()) {}
Profile::Profile(const Options& options)
    : options_(options), shards_(std::make_unique<Shard[]>(kShards)) {}
Profile::~Profile() = default;

Profile::Shard& Profile::ShardOf(uint64_t invocation) const {
  return shards_[invocation % kShards];
}

void Profile::OnKernel(const KernelEvent& event) {
  Shard& shard = ShardOf(event.run.invocation);
  const int64_t took =
      (event.end_ns - event.begin_ns - event.suspended_ns) / static_cast<int64_t>(event.batch);
  std::lock_guard lock(shard.mutex);
  try {
    Sum& sum = shard.sums[{event.run.executable, event.kernel, event.function, event.pc}];
    if (sum.samples == 0) {
      sum.name = event.name;
      if (event.run.executable != nullptr)
        sum.executable = event.run.executable->shared_from_this();
    }
    ++sum.samples;
    sum.calls += event.weight;
    sum.total_ns += took * static_cast<int64_t>(event.weight);
    sum.longest_ns = std::max(sum.longest_ns, took);
  } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch)
    // A call that there is no memory for is not counted.
  }
}

void Profile::OnRunEnd(const RunEvent& event) {
  Shard& shard = ShardOf(event.run.invocation);
  std::lock_guard lock(shard.mutex);
  ++shard.runs;
  shard.run_ns += event.end_ns - event.begin_ns;
}

void Profile::OnWait(const WaitEvent& event) {
  Shard& shard = ShardOf(event.run.invocation);
  std::lock_guard lock(shard.mutex);
  shard.wait_ns += event.end_ns - event.begin_ns;
}

std::vector<Profile::Row> Profile::ByKernel() const {
  std::map<std::string, Row> rows;
  for (size_t i = 0; i < kShards; ++i) {
    std::lock_guard lock(shards_[i].mutex);
    for (const auto& [key, sum] : shards_[i].sums) {
      Row& row = rows[sum.name];
      row.name = sum.name;
      Add(sum, &row);
    }
  }
  return Sorted(std::move(rows));
}

std::vector<Profile::Row> Profile::ByPlace() const {
  std::map<std::tuple<std::string, uint32_t, std::string>, Row> rows;
  for (size_t i = 0; i < kShards; ++i) {
    std::lock_guard lock(shards_[i].mutex);
    for (const auto& [key, sum] : shards_[i].sums) {
      if (sum.executable == nullptr) continue;
      StatusPlace place = sum.executable->PlaceOf(key.function, key.pc);
      if (place.file.empty()) continue;
      Row& row = rows[{place.file, place.line, place.function}];
      if (row.samples == 0) row.place = std::move(place);
      const std::string listed = ", " + row.name + ",";
      if (listed.find(", " + sum.name + ",") == std::string::npos)
        row.name += (row.name.empty() ? "" : ", ") + sum.name;
      Add(sum, &row);
    }
  }
  return Sorted(std::move(rows));
}

Profile::Totals Profile::totals() const {
  Totals totals;
  for (size_t i = 0; i < kShards; ++i) {
    const Shard& shard = shards_[i];
    std::lock_guard lock(shard.mutex);
    totals.runs += shard.runs;
    totals.run_ns += shard.run_ns;
    totals.wait_ns += shard.wait_ns;
    for (const auto& [key, sum] : shard.sums) totals.kernel_ns += sum.total_ns;
  }
  return totals;
}

void Profile::Clear() {
  for (size_t i = 0; i < kShards; ++i) {
    Shard& shard = shards_[i];
    // The programs go after the lock.
    std::unordered_map<Key, Sum, KeyHash> sums;
    std::lock_guard lock(shard.mutex);
    sums.swap(shard.sums);
    shard.runs = 0;
    shard.run_ns = shard.wait_ns = 0;
  }
}

}  // namespace relayvm
