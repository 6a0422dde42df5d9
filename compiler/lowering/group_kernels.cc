#include "compiler/lowering/group_kernels.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "bytecode/instruction.h"

namespace relayvm::lower {
namespace {

// In tasks (MInst::tasks). Smaller calls take less than it takes to hand them to a thread; larger
// ones fill all threads.
constexpr double kLeastTasks = 0.1, kMostTasks = 16;
// Instructions that a call may pass, and the size of what it then writes early.
constexpr size_t kReach = 64, kMostBytes = 1 << 20;

using Register = std::pair<Bank, uint32_t>;

bool IsCall(const MInst& inst) {
  return !inst.is_label && (inst.op == Opcode::kKernel || inst.op == Opcode::kKernel1);
}

// True for what may run earlier than kernels that do not give its operands.
bool MayMove(const MInst& inst) {
  if (inst.is_label) return false;
  switch (inst.op) {
    case Opcode::kConstR:
    case Opcode::kTensorAlloc:
    case Opcode::kTensorStatic:
    case Opcode::kTensorDim:
    case Opcode::kDimTensor:
    case Opcode::kDimShape:
      return true;
    default:
      return KindOf(inst.op) == RowKind::kScalar ||
             (KindOf(inst.op) == RowKind::kFallible && !EndsControl(inst.op));
  }
}

// True for what a call may pass that gives it nothing: it writes nothing.
bool MayBePassed(const MInst& inst) {
  return !inst.is_label && (MayMove(inst) || IsCall(inst) || IsPure(inst));
}

// True for what may end the run: what comes after it may rely on that, so that it moves along.
bool IsCheck(const MInst& inst) {
  if (inst.is_label) return false;
  const OpcodeInfo& info = GetOpcodeInfo(inst.op);
  return std::find(info.operands.begin(), info.operands.begin() + info.num_operands,
                   OperandKind::MESSAGE) != info.operands.begin() + info.num_operands;
}

// Memory that a call uses.
struct Use {
  BufferKind kind;
  uint32_t index;       // register; for slots, the one that it is a subview of
  uint64_t begin, end;  // bytes, for slots
  bool written;

  bool Overlaps(const Use& other) const {
    return kind == other.kind && index == other.index && begin < other.end && other.begin < end;
  }
};

// A call, or several that run together, or one other instruction. `before`: what moved up with
// calls.
struct Item {
  std::vector<MInst> before, insts;
  bool calls = false;
};

class Grouping {
 public:
  Grouping(MFunction& f, const std::vector<KernelInfo>& kernels)
      : f_(f), kernels_(kernels), roots_(SlotRoots(f)) {
    for (const auto& [read, written] : f.in_place) overwrites_.emplace(written, read);
  }

  void Run() {
    for (MInst& inst : f_.code) {
      const bool is_call = IsCall(inst);
      if (is_call && IsWorthIt(inst) && Join(inst)) continue;
      Item& item = items_.emplace_back();
      item.calls = is_call && IsWorthIt(inst);
      item.insts.push_back(std::move(inst));
    }
    f_.code.clear();
    for (Item& item : items_) {
      std::ranges::move(item.before, std::back_inserter(f_.code));
      if (item.insts.size() > 1) {
        MInst& together = f_.code.emplace_back();
        together.op = Opcode::kKernels;
        together.operands.emplace_back(static_cast<int64_t>(item.insts.size()));
        together.span = item.insts[0].span;
      }
      std::ranges::move(item.insts, std::back_inserter(f_.code));
    }
  }

 private:
  // A range whose size is not known may be worth it: the interpreter sees.
  static bool IsWorthIt(const MInst& call) {
    return call.tasks ? *call.tasks >= kLeastTasks : call.op == Opcode::kKernel;
  }
  static bool IsSmall(const MInst& call) { return call.tasks && *call.tasks <= kMostTasks; }
  static bool IsLarge(const MInst& call) { return call.tasks && *call.tasks > kMostTasks; }

  std::vector<Use> UsesOf(const MInst& call) const {
    const KernelInfo& kernel = kernels_[static_cast<size_t>(call.operands[0].value)];
    const std::vector<MBuffer>& buffers = call.operands.back().buffers;
    std::vector<Use> uses;
    for (size_t i = 0; i < buffers.size(); ++i) {
      const MBuffer& b = buffers[i];
      if (b.kind == BufferKind::kConstant) continue;
      Use use{b.kind, b.index, 0, 1, kernel.buffers[i].written};
      if (b.kind == BufferKind::kSlot) {
        const MSlot::Part& root = roots_[b.index];
        use = {b.kind, root.whole, root.offset, root.offset + f_.slots[b.index].bytes, use.written};
      }
      uses.push_back(use);
    }
    return uses;
  }

  // True when neither writes what the other one uses, nor `later` what it may write over.
  bool AreApart(const MInst& earlier, const MInst& later,
                const std::vector<Use>& later_uses) const {
    const std::vector<Use> uses = UsesOf(earlier);
    for (const Use& a : uses) {
      for (const Use& b : later_uses) {
        if ((a.written || b.written) && a.Overlaps(b)) return false;
      }
    }
    for (const MBuffer& w : later.operands.back().buffers) {
      if (w.kind != BufferKind::kSlot) continue;
      const auto [first, last] = overwrites_.equal_range(w.index);
      for (auto pair = first; pair != last; ++pair) {
        for (const MBuffer& r : earlier.operands.back().buffers) {
          if (r.kind == BufferKind::kSlot && r.index == pair->second) return false;
        }
      }
    }
    return true;
  }

  // Moves `call` to the earliest calls that it may run with; false where there are none.
  bool Join(MInst& call) {
    const std::vector<Use> uses = UsesOf(call);
    // What reads nothing could stand anywhere: best where its result is used.
    if (std::ranges::all_of(uses, &Use::written)) return false;
    const bool may_pass_calls = IsSmall(call) && std::ranges::all_of(uses, [](const Use& use) {
                                  return !use.written || use.end - use.begin <= kMostBytes;
                                });
    std::set<Register> needed;
    const auto need = [&](MInst& inst) {
      ForEachUse(inst, [&](Bank bank, uint32_t& r, bool*) { needed.emplace(bank, r); });
    };
    need(call);
    std::vector<size_t> moved;  // items that it needs, last first
    std::optional<size_t> found;
    size_t num_moved = 0;  // of `moved`, for the one that was found
    const size_t first = items_.size() - std::min(items_.size(), kReach);
    for (size_t at = items_.size(); at-- > first;) {
      Item& item = items_[at];
      bool needs = false, passes = true, apart = true;
      for (std::vector<MInst>* list : {&item.before, &item.insts}) {
        for (MInst& inst : *list) {
          passes = passes && MayBePassed(inst);
          if (IsCall(inst)) apart = apart && AreApart(inst, call, uses);
          needs = needs || IsCheck(inst);
          ForEachDef(inst,
                     [&](Bank bank, uint32_t& r) { needs = needs || needed.contains({bank, r}); });
        }
      }
      if (!passes || !apart) break;
      // What stands before calls may give what is needed to join them.
      if (item.calls && item.insts.size() < kMaxKernelsTogether && MayStandWith(item, call)) {
        found = at;
        num_moved = moved.size();
      }
      if (needs) {
        if (item.insts.size() != 1 || !item.before.empty() || !MayMove(item.insts[0])) break;
        moved.push_back(at);
        need(item.insts[0]);
      }
      if (!may_pass_calls && std::ranges::any_of(item.insts, IsCall)) break;
    }
    if (!found) return false;
    Item& to = items_[*found];
    for (size_t m = num_moved; m-- > 0;) {
      to.before.push_back(std::move(items_[moved[m]].insts[0]));
      items_[moved[m]].insts.clear();
    }
    to.insts.push_back(std::move(call));
    return true;
  }

  static bool MayStandWith(const Item& item, const MInst& call) {
    return IsSmall(call) || std::ranges::none_of(item.insts, IsLarge);
  }

  MFunction& f_;
  const std::vector<KernelInfo>& kernels_;
  const std::vector<MSlot::Part> roots_;
  std::multimap<uint32_t, uint32_t>
      overwrites_;  // by what is written, what may be read in its place
  std::vector<Item> items_;
};

}  // namespace

void RunKernelsTogether(MFunction& f, const std::vector<KernelInfo>& kernels) {
  Grouping(f, kernels).Run();
}

}  // namespace relayvm::lower
