#include "compiler/graph/plan_storage.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include "vm/graph/format/verify.h"

namespace relayvm::graph {
namespace {

// Tensors that lie in one piece of memory: a kernel's result, with views of it, or what is joined.
struct Block {
  uint64_t bytes = 0;
  uint32_t first = std::numeric_limits<uint32_t>::max(), last = 0;  // nodes
  uint32_t writers = 0;                                             // kernels' results in it
  bool is_input = false;
  uint32_t merged = std::numeric_limits<uint32_t>::max();  // the block whose place it takes
};

class Planner {
 public:
  Planner(Graph& graph, const Program& kernels) : graph_(graph), kernels_(kernels) {}

  void Run() {
    MakeBlocks();
    for (uint32_t n = 0; n < graph_.nodes.size(); ++n) {
      if (graph_.nodes[n].kind == Node::Kind::kKernel) ShareInPlace(n);
    }
    AssignStorages();
  }

 private:
  static constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();

  Entry& At(EntryRef ref) { return graph_.nodes[ref.node].outputs[ref.output]; }
  uint32_t Root(uint32_t block) const {
    while (blocks_[block].merged != kNone) block = blocks_[block].merged;
    return block;
  }

  void MakeBlocks() {
    std::map<uint32_t, uint32_t> block_of;
    std::vector<uint64_t> begin;  // of each block: its first byte
    for (uint32_t n = 0; n < graph_.nodes.size(); ++n) {
      Node& node = graph_.nodes[n];
      for (Entry& entry : node.outputs) {
        const auto [at, fresh] =
            block_of.emplace(entry.storage, static_cast<uint32_t>(blocks_.size()));
        if (fresh) {
          blocks_.emplace_back();
          begin.push_back(std::numeric_limits<uint64_t>::max());
        }
        entry.storage = at->second;
        Block& block = blocks_[entry.storage];
        block.first = std::min(block.first, n);
        block.last = std::max(block.last, n);
        block.is_input |= node.kind == Node::Kind::kInput;
        block.writers += node.kind == Node::Kind::kKernel;
        begin[entry.storage] = std::min(begin[entry.storage], entry.offset);
      }
      for (const EntryRef& in : node.inputs)
        blocks_[At(in).storage].last = std::max(blocks_[At(in).storage].last, n);
    }
    for (const EntryRef& head : graph_.heads)
      blocks_[At(head).storage].last = static_cast<uint32_t>(graph_.nodes.size());
    for (Node& node : graph_.nodes) {
      for (Entry& entry : node.outputs) {
        entry.offset -= begin[entry.storage];
        Block& block = blocks_[entry.storage];
        block.bytes = std::max(block.bytes, entry.offset + BytesOf(entry));
      }
    }
  }

  // A result takes the place of an operand of its size that dies here, where the kernel allows it.
  void ShareInPlace(uint32_t n) {
    const Node& node = graph_.nodes[n];
    const KernelInfo& kernel = kernels_.kernels[node.kernel];
    std::vector<size_t> position(kernel.buffers.size());
    size_t in = 0, out = 0;
    for (size_t b = 0; b < kernel.buffers.size(); ++b)
      position[b] = kernel.buffers[b].written ? out++ : in++;
    std::set<uint32_t> taken;
    for (size_t b = 0; b < kernel.buffers.size(); ++b) {
      if (!kernel.buffers[b].written) continue;
      const Entry& result = node.outputs[position[b]];
      Block& own = blocks_[result.storage];
      if (own.writers != 1 || own.bytes != BytesOf(result) || own.merged != kNone) continue;
      for (const uint16_t other : kernel.buffers[b].may_share) {
        const Entry& operand = At(node.inputs[position[other]]);
        const uint32_t root = Root(operand.storage);
        Block& place = blocks_[root];
        const auto readers = std::ranges::count_if(
            node.inputs, [&](EntryRef r) { return Root(At(r).storage) == root; });
        if (place.is_input || place.last != n || place.bytes != own.bytes ||
            BytesOf(operand) != own.bytes || readers != 1 || !taken.insert(root).second)
          continue;
        place.last = own.last;
        own.merged = root;
        break;
      }
    }
  }

  void AssignStorages() {
    std::vector<uint32_t> order(blocks_.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](uint32_t a, uint32_t b) { return blocks_[a].bytes > blocks_[b].bytes; });
    // Of each storage, when it is in use: first node -> last.
    std::vector<std::map<uint32_t, uint32_t>> in_use;
    std::vector<uint32_t> storage_of(blocks_.size(), kNone);
    for (const uint32_t b : order) {
      const Block& block = blocks_[b];
      if (block.merged != kNone || block.is_input) continue;
      uint32_t storage = 0;
      while (storage < in_use.size() && !IsFree(in_use[storage], block)) ++storage;
      if (storage == in_use.size()) in_use.emplace_back();
      in_use[storage].emplace(block.first, block.last);
      storage_of[b] = storage;
    }
    auto next = static_cast<uint32_t>(in_use.size());
    for (uint32_t b = 0; b < blocks_.size(); ++b) {
      if (blocks_[b].is_input) storage_of[b] = next++;
    }
    for (Node& node : graph_.nodes) {
      for (Entry& entry : node.outputs) entry.storage = storage_of[Root(entry.storage)];
    }
  }

  static bool IsFree(const std::map<uint32_t, uint32_t>& in_use, const Block& block) {
    const auto next = in_use.upper_bound(block.first);
    if (next != in_use.end() && next->first <= block.last) return false;
    return next == in_use.begin() || std::prev(next)->second < block.first;
  }

  Graph& graph_;
  const Program& kernels_;
  std::vector<Block> blocks_;
};

}  // namespace

void PlanStorage(Graph& graph, const Program& kernels) { Planner(graph, kernels).Run(); }

}  // namespace relayvm::graph
