#include "compiler/lowering/allocate.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>

namespace relayvm::lower {
namespace {

constexpr size_t kNever = SIZE_MAX;
constexpr uint32_t kMaxRegisters = 32767;

struct Interval {
  size_t first = kNever, last = 0;
  void Touch(size_t at) {
    first = std::min(first, at);
    last = std::max(last, at);
  }
  bool used() const { return first != kNever; }
};

// Linear scan over one bank: intervals by start; the lowest free register first, so that register
// files stay small.
Result<uint16_t> Scan(std::vector<Interval>& intervals, uint32_t num_args,
                      std::vector<uint32_t>& assigned, std::string_view bank) {
  std::vector<uint32_t> order;
  for (uint32_t r = 0; r < intervals.size(); ++r) {
    if (r < num_args) intervals[r].Touch(0);
    if (intervals[r].used()) order.push_back(r);
  }
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    bool arg_a = a < num_args;
    bool arg_b = b < num_args;
    if (arg_a != arg_b) return arg_a;
    return intervals[a].first < intervals[b].first;
  });
  assigned.assign(intervals.size(), 0);
  using Ending = std::pair<size_t, uint32_t>;  // last use, machine register
  std::priority_queue<Ending, std::vector<Ending>, std::greater<>> active;
  std::priority_queue<uint32_t, std::vector<uint32_t>, std::greater<>> free;
  uint32_t count = 0;
  for (uint32_t r : order) {
    // A register is free for results of the very instruction that last reads it: operands are read
    // before results are written.
    while (r >= num_args && !active.empty() && active.top().first <= intervals[r].first) {
      free.push(active.top().second);
      active.pop();
    }
    uint32_t machine = count;
    if (r >= num_args && !free.empty()) {
      machine = free.top();
      free.pop();
    } else {
      ++count;
    }
    assigned[r] = machine;
    active.emplace(intervals[r].last, machine);
  }
  if (count > kMaxRegisters) {
    return Status(
        StatusCode::kOutOfRange,
        fmt::format(
            "the function needs {} {} registers, more than {}; split it into smaller functions",
            count, bank, kMaxRegisters));
  }
  return static_cast<uint16_t>(count);
}

}  // namespace

Result<RegisterCounts> AllocateRegisters(MFunction& f) {
  std::vector<Interval> scalars(f.num_scalars);
  std::vector<Interval> objects(f.num_objects);
  auto bank_of = [&](Bank bank) -> std::vector<Interval>& {
    return bank == Bank::kScalar ? scalars : objects;
  };
  // Position 0 is the entry, where arguments arrive. A result is written after the operands are
  // read: odd positions.
  for (size_t i = 0; i < f.code.size(); ++i) {
    size_t read = 2 * i + 2;
    ForEachUse(f.code[i], [&](Bank bank, uint32_t& r, bool*) { bank_of(bank)[r].Touch(read); });
    ForEachDef(f.code[i], [&](Bank bank, uint32_t& r) { bank_of(bank)[r].Touch(read + 1); });
  }
  std::vector<uint32_t> scalar_map;
  std::vector<uint32_t> object_map;
  RegisterCounts counts;
  RELAYVM_ASSIGN_OR_RETURN(counts.scalars, Scan(scalars, f.num_scalar_args, scalar_map, "scalar"));
  RELAYVM_ASSIGN_OR_RETURN(counts.objects, Scan(objects, f.num_object_args, object_map, "object"));
  for (MInst& inst : f.code) {
    ForEachUse(inst, [&](Bank bank, uint32_t& r, bool*) {
      r = bank == Bank::kScalar ? scalar_map[r] : object_map[r];
    });
    ForEachDef(inst, [&](Bank bank, uint32_t& r) {
      r = bank == Bank::kScalar ? scalar_map[r] : object_map[r];
    });
  }
  return counts;
}

ArenaPlan PlanArena(MFunction& f) {
  // `touched` by the very instructions; kernels side by side use what each of them uses at one
  // time.
  std::vector<Interval> touched(f.slots.size()), intervals(f.slots.size());
  std::vector<bool> has_subviews(f.slots.size());
  size_t together_begin = 0, together_end = 0;
  for (size_t i = 0; i < f.code.size(); ++i) {
    if (!f.code[i].is_label && f.code[i].op == Opcode::kKernels) {
      together_begin = i + 1;
      together_end = i + static_cast<size_t>(f.code[i].operands[0].value);
    }
    const bool together = i <= together_end;
    ForEachSlot(f.code[i], [&](uint32_t& s) {
      touched[s].Touch(i);
      intervals[s].Touch(together ? together_begin : i);
      intervals[s].Touch(together ? together_end : i);
    });
  }
  // What is a subview of another slot lives and stands with it.
  const std::vector<MSlot::Part> roots = SlotRoots(f);
  for (uint32_t s = 0; s < f.slots.size(); ++s) {
    const uint32_t whole = roots[s].whole;
    if (whole == s) continue;
    has_subviews[s] = has_subviews[whole] = true;
    if (!intervals[s].used()) continue;
    intervals[whole].Touch(intervals[s].first);
    intervals[whole].Touch(intervals[s].last);
  }
  // Slots that share one place stand for it by the first of them. Pairs come in the order of the
  // code, so a chain of kernels shares one place.
  std::vector<uint32_t> place(f.slots.size());
  std::iota(place.begin(), place.end(), 0);
  for (const auto& [read, written] : f.in_place) {
    uint32_t first = place[read];
    // Other subviews of it are still read.
    if (has_subviews[read] || has_subviews[written]) continue;
    if (!touched[read].used() || touched[first].last != touched[written].first) continue;
    place[written] = first;
    touched[first].last = touched[written].last;
    intervals[first].Touch(intervals[written].last);
  }
  std::vector<uint32_t> order;
  for (uint32_t s = 0; s < intervals.size(); ++s) {
    if (intervals[s].used() && place[s] == s && roots[s].whole == s) order.push_back(s);
  }
  std::vector<uint32_t> position(f.slots.size());
  ArenaPlan plan;
  for (uint32_t s : order) {
    position[s] = static_cast<uint32_t>(plan.slots.size());
    plan.slots.push_back({0, f.slots[s].bytes});
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return f.slots[a].bytes > f.slots[b].bytes; });
  std::vector<uint32_t> placed;  // ordered by offset
  for (uint32_t s : order) {
    uint64_t size = (f.slots[s].bytes + 63) / 64 * 64;
    uint64_t offset = 0;
    for (uint32_t p : placed) {
      bool overlaps =
          intervals[p].first <= intervals[s].last && intervals[s].first <= intervals[p].last;
      if (!overlaps) continue;
      const ArenaSlot& slot = plan.slots[position[p]];
      if (slot.offset >= offset + size) break;
      offset = std::max(offset, slot.offset + (slot.bytes + 63) / 64 * 64);
    }
    plan.slots[position[s]].offset = offset;
    plan.bytes = std::max(plan.bytes, offset + size);
    auto at = std::upper_bound(placed.begin(), placed.end(), offset, [&](uint64_t o, uint32_t p) {
      return o < plan.slots[position[p]].offset;
    });
    placed.insert(at, s);
  }
  for (uint32_t s = 0; s < f.slots.size(); ++s) {
    const auto& [whole, offset] = roots[s];
    if (whole == s || !touched[s].used()) continue;
    position[s] = static_cast<uint32_t>(plan.slots.size());
    plan.slots.push_back({plan.slots[position[whole]].offset + offset, f.slots[s].bytes});
  }
  for (MInst& inst : f.code) {
    ForEachSlot(inst, [&](uint32_t& s) { s = position[place[s]]; });
  }
  return plan;
}

}  // namespace relayvm::lower
