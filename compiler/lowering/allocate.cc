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
  void Touch(const Interval& other) {
    first = std::min(first, other.first);
    last = std::max(last, other.last);
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

struct SlotUses {
  std::vector<Interval> touched;  // by the very instructions
  std::vector<Interval> lives;    // longer: where its memory is another's, or is used at one time
  std::vector<bool> has_subviews;
};

// Kernels side by side use what each of them uses at one time. What is a subview of another slot
// lives and stands with it.
SlotUses UsesOf(MFunction& f, const std::vector<MSlot::Part>& roots) {
  const size_t count = f.slots.size();
  SlotUses uses{std::vector<Interval>(count), std::vector<Interval>(count),
                std::vector<bool>(count)};
  Interval together{0, 0};
  for (size_t i = 0; i < f.code.size(); ++i) {
    if (!f.code[i].is_label && f.code[i].op == Opcode::kKernels)
      together = {i + 1, i + static_cast<size_t>(f.code[i].operands[0].value)};
    ForEachSlot(f.code[i], [&](uint32_t& s) {
      uses.touched[s].Touch(i);
      uses.lives[s].Touch(i <= together.last ? together : Interval{i, i});
    });
  }
  for (uint32_t s = 0; s < count; ++s) {
    const uint32_t whole = roots[s].whole;
    if (whole == s) continue;
    uses.has_subviews[s] = uses.has_subviews[whole] = true;
    if (uses.lives[s].used()) uses.lives[whole].Touch(uses.lives[s]);
  }
  return uses;
}

// Slots that share one place stand for it by the first of them, which lives as long as all. Pairs
// come in the order of the code, so a chain of kernels shares one place.
std::vector<uint32_t> ShareInPlace(const MFunction& f, SlotUses& uses) {
  std::vector<uint32_t> place(f.slots.size());
  std::iota(place.begin(), place.end(), 0);
  auto& [touched, lives, has_subviews] = uses;
  for (const auto& [read, written] : f.in_place) {
    uint32_t first = place[read];
    // Other subviews of it are still read.
    if (has_subviews[read] || has_subviews[written]) continue;
    if (!touched[read].used() || touched[first].last != touched[written].first) continue;
    place[written] = first;
    touched[first].last = touched[written].last;
    lives[first].Touch(lives[written].last);
  }
  return place;
}

// Gives offsets to the plan's slots, in order: the largest first, each the lowest that no other has
// while it lives.
void PlaceSlots(const std::vector<Interval>& lives, ArenaPlan& plan) {
  std::vector<uint32_t> order(plan.slots.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return plan.slots[a].bytes > plan.slots[b].bytes;
  });
  std::vector<uint32_t> placed;  // ordered by offset
  for (uint32_t s : order) {
    ArenaSlot& slot = plan.slots[s];
    const uint64_t size = (slot.bytes + 63) / 64 * 64;
    for (uint32_t p : placed) {
      if (lives[p].first > lives[s].last || lives[s].first > lives[p].last) continue;
      const ArenaSlot& other = plan.slots[p];
      if (other.offset >= slot.offset + size) break;
      slot.offset = std::max(slot.offset, other.offset + (other.bytes + 63) / 64 * 64);
    }
    plan.bytes = std::max(plan.bytes, slot.offset + size);
    placed.insert(std::ranges::upper_bound(placed, slot.offset, {},
                                           [&](uint32_t p) { return plan.slots[p].offset; }),
                  s);
  }
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
  const std::vector<MSlot::Part> roots = SlotRoots(f);
  SlotUses uses = UsesOf(f, roots);
  const std::vector<uint32_t> place = ShareInPlace(f, uses);
  ArenaPlan plan;
  std::vector<uint32_t> position(f.slots.size());
  std::vector<Interval> lives;  // of the plan's slots
  for (uint32_t s = 0; s < f.slots.size(); ++s) {
    if (!uses.lives[s].used() || place[s] != s || roots[s].whole != s) continue;
    position[s] = static_cast<uint32_t>(plan.slots.size());
    plan.slots.push_back({0, f.slots[s].bytes});
    lives.push_back(uses.lives[s]);
  }
  PlaceSlots(lives, plan);
  for (uint32_t s = 0; s < f.slots.size(); ++s) {
    const auto& [whole, offset] = roots[s];
    if (whole == s || !uses.touched[s].used()) continue;
    position[s] = static_cast<uint32_t>(plan.slots.size());
    plan.slots.push_back({plan.slots[position[whole]].offset + offset, f.slots[s].bytes});
  }
  for (MInst& inst : f.code) {
    ForEachSlot(inst, [&](uint32_t& s) { s = position[place[s]]; });
  }
  return plan;
}

}  // namespace relayvm::lower
