#include "compiler/lowering/liveness.h"

#include <algorithm>
#include <cassert>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace relayvm::lower {
namespace {

class BitSet {
 public:
  BitSet() = default;
  explicit BitSet(size_t bits) : words_((bits + 63) / 64) {}
  bool Has(uint32_t i) const { return (words_[i / 64] >> (i % 64) & 1) != 0; }
  void Add(uint32_t i) { words_[i / 64] |= uint64_t{1} << (i % 64); }
  void Remove(uint32_t i) { words_[i / 64] &= ~(uint64_t{1} << (i % 64)); }
  void Union(const BitSet& other) {
    for (size_t w = 0; w < words_.size(); ++w) words_[w] |= other.words_[w];
  }
  // Calls fn for each member of this set that is not in `other`.
  template <typename Fn>
  void ForEachNotIn(const BitSet& other, const Fn& fn) const {
    for (size_t w = 0; w < words_.size(); ++w) {
      for (uint64_t rest = words_[w] & ~other.words_[w]; rest != 0; rest &= rest - 1) {
        fn(static_cast<uint32_t>(w * 64 + static_cast<size_t>(__builtin_ctzll(rest))));
      }
    }
  }

 private:
  std::vector<uint64_t> words_;
};

struct BasicBlock {
  size_t begin = 0, end = 0;  // instructions
  std::vector<size_t> successors;
  size_t num_predecessors = 0;  // that are not done yet
  // What is needed at the start; while there are predecessors.
  BitSet objects_in, scalars_in;
  bool reachable = false;
};

std::vector<BasicBlock> MakeBlocks(const MFunction& f) {
  std::vector<size_t> block_of_label(f.num_labels);
  std::vector<BasicBlock> blocks;
  bool start = true;
  for (size_t i = 0; i < f.code.size(); ++i) {
    const MInst& inst = f.code[i];
    if (start || inst.is_label) {
      if (!blocks.empty()) blocks.back().end = i;
      blocks.push_back({.begin = i});
      start = false;
    }
    if (inst.is_label) {
      block_of_label[inst.label] = blocks.size() - 1;
      continue;
    }
    bool branches = EndsBlock(inst);
    ForEachTarget(inst, [&](Label) { branches = true; });
    start = branches;
  }
  if (!blocks.empty()) blocks.back().end = f.code.size();
  for (size_t b = 0; b < blocks.size(); ++b) {
    BasicBlock& block = blocks[b];
    if (block.begin == block.end) continue;
    const MInst& last = f.code[block.end - 1];
    ForEachTarget(last, [&](Label l) { block.successors.push_back(block_of_label[l]); });
    if (!EndsBlock(last) && b + 1 < blocks.size()) block.successors.push_back(b + 1);
    // A switch may reach one block by several targets, or by falling through as well.
    std::sort(block.successors.begin(), block.successors.end());
    block.successors.erase(std::unique(block.successors.begin(), block.successors.end()),
                           block.successors.end());
  }
  if (!blocks.empty()) blocks[0].reachable = true;
  for (BasicBlock& block : blocks) {
    if (!block.reachable) continue;
    for (size_t s : block.successors) {
      blocks[s].reachable = true;
      ++blocks[s].num_predecessors;
    }
  }
  return blocks;
}

MInst MakeDrop(uint32_t reg, ir::Span span) {
  MInst drop;
  drop.op = Opcode::kDrop;
  drop.operands.emplace_back(reg);
  drop.operands[0].take = true;
  drop.span = span;
  return drop;
}

// A tuple that is only unpacked here, and not needed afterwards, is unpacked at once where its
// first field is read: it dies there, and what it held is held by the registers alone. So a tensor
// that a tuple brought may be overwritten, or grow, where it is last used.
void UnpackAtOnce(MFunction& f, const BasicBlock& block, const BitSet& live_out) {
  struct Tuple {
    std::vector<size_t> reads;  // instructions
    bool only_read = true;
  };
  std::unordered_map<uint32_t, Tuple> tuples;  // by register
  for (size_t i = block.begin; i < block.end; ++i) {
    MInst& inst = f.code[i];
    if (inst.is_label) continue;
    if (inst.op == Opcode::kAdtGet) {
      tuples[static_cast<uint32_t>(inst.operands[1].value)].reads.push_back(i);
      continue;
    }
    if (tuples.empty()) continue;
    const auto other = [&](Bank bank, uint32_t& r) {
      const auto tuple = bank == Bank::kObject ? tuples.find(r) : tuples.end();
      if (tuple != tuples.end()) tuple->second.only_read = false;
    };
    ForEachUse(inst, [&](Bank bank, uint32_t& r, bool*) { other(bank, r); });
    ForEachDef(inst, other);
  }
  std::unordered_map<size_t, std::vector<size_t>> after;  // reads that move, by the first one
  std::unordered_set<size_t> moved;
  for (auto& [reg, tuple] : tuples) {
    if (!tuple.only_read || tuple.reads.size() < 2 || live_out.Has(reg)) continue;
    after[tuple.reads[0]].assign(tuple.reads.begin() + 1, tuple.reads.end());
    moved.insert(tuple.reads.begin() + 1, tuple.reads.end());
  }
  if (moved.empty()) return;
  std::vector<MInst> code;
  code.reserve(block.end - block.begin);
  for (size_t i = block.begin; i < block.end; ++i) {
    if (moved.contains(i)) continue;
    code.push_back(std::move(f.code[i]));
    const auto reads = after.find(i);
    if (reads == after.end()) continue;
    for (const size_t read : reads->second) code.push_back(std::move(f.code[read]));
  }
  std::move(code.begin(), code.end(), f.code.begin() + static_cast<ptrdiff_t>(block.begin));
}

// Walks one block backwards from its live-out sets; appends the kept instructions in reverse to
// `out`.
void WalkBlock(MFunction& f, const BasicBlock& block, BitSet& objects, BitSet& scalars,
               std::vector<MInst>& out) {
  std::vector<uint32_t> taken_by_kernel;  // of the nearest kernel below
  for (size_t i = block.end; i-- > block.begin;) {
    MInst& inst = f.code[i];
    if (inst.is_label) {
      out.push_back(std::move(inst));
      continue;
    }
    bool kernel = inst.op == Opcode::kKernel || inst.op == Opcode::kKernel1;
    if (inst.op == Opcode::kTensorReuse &&
        std::find(taken_by_kernel.begin(), taken_by_kernel.end(),
                  static_cast<uint32_t>(inst.operands[1].value)) == taken_by_kernel.end()) {
      // The candidate lives on after the kernel: the result needs memory of its own.
      inst.op = Opcode::kTensorAlloc;
      inst.operands.erase(inst.operands.begin() + 1);
    }
    bool used = !IsPure(inst);
    std::vector<uint32_t> dead_results;
    ForEachDef(inst, [&](Bank bank, uint32_t& r) {
      BitSet& live = bank == Bank::kScalar ? scalars : objects;
      if (live.Has(r)) {
        used = true;
      } else if (bank == Bank::kObject) {
        dead_results.push_back(r);
      }
      live.Remove(r);
    });
    if (!used) continue;
    for (uint32_t r : dead_results) out.push_back(MakeDrop(r, inst.span));
    // The last operand that names a register takes it, when no later instruction needs it.
    std::vector<bool*> takes;
    std::vector<uint32_t> regs;
    ForEachUse(inst, [&](Bank bank, uint32_t& r, bool*) {
      if (bank == Bank::kScalar) {
        scalars.Add(r);
      } else {
        regs.push_back(r);
      }
    });
    std::vector<bool> take(regs.size(), false);
    // tensor.reuse leaves its candidate in place for the kernel that follows.
    if (inst.op != Opcode::kTensorReuse) {
      for (size_t k = regs.size(); k-- > 0;) {
        bool later = objects.Has(regs[k]);
        for (size_t m = k + 1; m < regs.size(); ++m) later = later || regs[m] == regs[k];
        take[k] = !later;
      }
    }
    if (kernel) {
      taken_by_kernel.clear();
      for (size_t m = 0; m < regs.size(); ++m) {
        if (take[m]) taken_by_kernel.push_back(regs[m]);
      }
    }
    size_t k = 0;
    ForEachUse(inst, [&](Bank bank, uint32_t&, bool* t) {
      if (bank == Bank::kObject) *t = take[k++];
    });
    for (uint32_t r : regs) objects.Add(r);
    out.push_back(std::move(inst));
  }
}

}  // namespace

void MarkLastUses(MFunction& f) {
  std::vector<BasicBlock> blocks = MakeBlocks(f);
  std::vector<std::vector<MInst>> kept(blocks.size());
  for (size_t b = blocks.size(); b-- > 0;) {
    BasicBlock& block = blocks[b];
    if (!block.reachable) continue;
    BitSet objects(f.num_objects);
    BitSet scalars(f.num_scalars);
    for (size_t s : block.successors) {
      assert(s > b && "jumps go forward");
      objects.Union(blocks[s].objects_in);
      scalars.Union(blocks[s].scalars_in);
    }
    BitSet out_objects = objects;
    UnpackAtOnce(f, block, objects);
    WalkBlock(f, block, objects, scalars, kept[b]);
    // What leaves this block alive but is dead in a successor is dropped where that successor
    // starts. Such a successor has this block as its only predecessor, because branch targets are
    // fresh labels.
    for (size_t s : block.successors) {
      std::vector<MInst>& target = kept[s];
      ir::Span span = target.empty() ? ir::Span{} : target.back().span;
      std::vector<MInst> drops;
      out_objects.ForEachNotIn(blocks[s].objects_in,
                               [&](uint32_t r) { drops.push_back(MakeDrop(r, span)); });
      if (drops.empty()) continue;
      // `kept` is reversed: the block's first instruction, perhaps its label, is at the back.
      bool has_label = !target.empty() && target.back().is_label;
      auto at = has_label ? target.end() - 1 : target.end();
      target.insert(at, drops.begin(), drops.end());
    }
    // Sets are as large as the function: only those that are needed are kept.
    for (size_t s : block.successors) {
      if (--blocks[s].num_predecessors > 0) continue;
      blocks[s].objects_in = BitSet();
      blocks[s].scalars_in = BitSet();
    }
    block.objects_in = std::move(objects);
    block.scalars_in = std::move(scalars);
  }
  // Arguments that are never used die at entry.
  if (!blocks.empty()) {
    std::vector<MInst>& entry = kept[0];
    bool has_label = !entry.empty() && entry.back().is_label;
    for (uint32_t r = 0; r < f.num_object_args; ++r) {
      if (blocks[0].objects_in.Has(r)) continue;
      auto at = has_label ? entry.end() - 1 : entry.end();
      entry.insert(at, MakeDrop(r, ir::Span{}));
    }
  }
  std::vector<MInst> code;
  code.reserve(f.code.size());
  for (std::vector<MInst>& block : kept) {
    for (size_t i = block.size(); i-- > 0;) code.push_back(std::move(block[i]));
  }
  f.code = std::move(code);
}

}  // namespace relayvm::lower
