#include "compiler/lowering/share_memory.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace relayvm::lower {
namespace {

constexpr size_t kNowhere = SIZE_MAX;

struct DimHash {
  size_t operator()(const Dim& d) const { return d.Hash(); }
};

// A dead tensor: the register, and the instruction that takes it last.
struct Dead {
  Reg reg;
  size_t taken_at;
};

// Dead tensors by size, among instructions that all run or all don't: what follows a branch is a
// region until the branch's last target, and what dies in it is of no use behind.
struct Region {
  size_t end;
  std::unordered_map<Dim, std::vector<Dead>, DimHash> dead;
};

class Sharing {
 public:
  explicit Sharing(MFunction& f) : f_(f), size_of_(f.num_objects) {}

  void Run() {
    FindLabels();
    regions_.push_back({kNowhere, {}});
    for (size_t i = 0; i < f_.code.size(); ++i) Visit(i);
    RemoveDrops();
  }

 private:
  void FindLabels() {
    label_at_.assign(f_.num_labels, kNowhere);
    for (size_t i = 0; i < f_.code.size(); ++i) {
      if (f_.code[i].is_label) label_at_[f_.code[i].label] = i;
    }
  }

  void Visit(size_t i) {
    MInst& inst = f_.code[i];
    if (inst.is_label) {
      // What died since the first branch to here died on other ways, also where the region goes on
      // (a branch with several targets).
      auto first = std::find_if(regions_.begin(), regions_.end(),
                                [&](const Region& r) { return r.end <= i; });
      for (auto r = first; r != regions_.end(); ++r) r->dead.clear();
      std::erase_if(regions_, [&](const Region& r) { return r.end <= i; });
      return;
    }
    switch (inst.op) {
      case Opcode::kTensorAlloc:
        TakeOver(inst);
        break;
      case Opcode::kCallI:
      case Opcode::kCallR:
      case Opcode::kCallClosure:
      case Opcode::kCallHost:
        for (Region& r : regions_) r.dead.clear();
        break;
      case Opcode::kKernel:
      case Opcode::kKernel1:
      case Opcode::kDrop:
        NoteDead(i);
        break;
      default:
        break;
    }
    bool is_allocation = inst.op == Opcode::kTensorAlloc || inst.op == Opcode::kTensorReuse;
    ForEachDef(inst, [&](Bank bank, uint32_t& r) {
      if (bank == Bank::kObject) size_of_[r] = is_allocation ? inst.bytes : Dim();
    });
    ForEachTarget(inst, [&](Label l) { regions_.push_back({label_at_[l], {}}); });
  }

  void NoteDead(size_t i) {
    ForEachUse(f_.code[i], [&](Bank bank, uint32_t& r, const bool* take) {
      if (bank != Bank::kObject || !*take || size_of_[r].is_const(0)) return;
      regions_.back().dead[size_of_[r]].push_back({r, i});
    });
  }

  void TakeOver(MInst& alloc) {
    if (alloc.bytes.is_const(0)) return;
    auto found = regions_.back().dead.find(alloc.bytes);
    if (found == regions_.back().dead.end() || found->second.empty()) return;
    Dead dead = found->second.back();  // the one that a cache most likely holds
    found->second.pop_back();
    ForEachUse(f_.code[dead.taken_at], [&](Bank bank, uint32_t& r, bool* take) {
      if (bank == Bank::kObject && r == dead.reg) *take = false;
    });
    alloc.op = Opcode::kTensorReuse;
    MOperand from(dead.reg);
    from.take = true;
    alloc.operands.insert(alloc.operands.begin() + 1, std::move(from));
  }

  // A drop that no longer takes its register does nothing.
  void RemoveDrops() {
    std::erase_if(f_.code, [](const MInst& inst) {
      return !inst.is_label && inst.op == Opcode::kDrop && !inst.operands[0].take;
    });
  }

  MFunction& f_;
  std::vector<Dim> size_of_;      // of the tensor that a register holds; 0: not known
  std::vector<size_t> label_at_;  // by label
  std::vector<Region> regions_;   // the last one is open
};

}  // namespace

void ShareMemory(MFunction& f) { Sharing(f).Run(); }

}  // namespace relayvm::lower
