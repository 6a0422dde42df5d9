#include "vm/graph/format/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "bytecode/kernel_call.h"
#include "bytecode/size_formula.h"
#include "bytecode/verifier.h"

namespace relayvm::graph {
namespace {

constexpr uint64_t kAlignment = 64;
// Of one storage, and of all.
constexpr uint64_t kMostBytes = uint64_t{1} << 47;
constexpr int64_t kMostScratch = int64_t{1} << 40;
// Looks at tensors that live together, for each node: graphs of compilers take a few.
constexpr uint64_t kMostLooks = uint64_t{1} << 26;

class Verifier {
 public:
  Verifier(const Graph& graph, const Program& kernels) : graph_(graph), kernels_(kernels) {}

  Status Run() {
    if (graph_.nodes.size() > UINT32_MAX)
      return InvalidInput(fmt::format("{} nodes are too many", graph_.nodes.size()));
    for (size_t n = 0; n < graph_.nodes.size(); ++n) {
      const Node& node = graph_.nodes[n];
      Status s = CheckTensors(n);
      if (s.ok() && node.kind == Node::Kind::kInput) s = CheckInput(node);
      if (s.ok() && node.kind == Node::Kind::kView) s = CheckView(node);
      if (s.ok() && node.kind == Node::Kind::kKernel) s = CheckKernel(node);
      if (!s.ok()) return s.WithContext(fmt::format("node {} ({})", n, node.name));
    }
    RELAYVM_RETURN_IF_ERROR(CheckInputs());
    for (size_t i = 0; i < graph_.heads.size(); ++i) {
      if (!Exists(graph_.heads[i], graph_.nodes.size()))
        return InvalidInput(fmt::format("result {}: there is no output {} of node {}", i,
                                        graph_.heads[i].output, graph_.heads[i].node));
    }
    if (graph_.heads.empty()) return InvalidInput("the graph has no result");
    RELAYVM_RETURN_IF_ERROR(CheckStorages());
    return CheckMemory();
  }

 private:
  const Entry& At(EntryRef ref) const { return graph_.nodes[ref.node].outputs[ref.output]; }
  bool Exists(EntryRef ref, size_t before) const {
    return ref.node < before && ref.output < graph_.nodes[ref.node].outputs.size();
  }

  Status CheckTensors(size_t n) const {
    const Node& node = graph_.nodes[n];
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (!Exists(node.inputs[i], n))
        return InvalidInput(fmt::format("input {}: there is no output {} of node {} before", i,
                                        node.inputs[i].output, node.inputs[i].node));
    }
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      const Entry& entry = node.outputs[i];
      const auto bytes = StaticTensorBytes(entry.dtype, entry.dims);
      if (!bytes.ok()) return bytes.status().WithContext(fmt::format("output {}", i));
      if (entry.offset % kAlignment != 0)
        return InvalidInput(
            fmt::format("output {}: expected a multiple of {} for its offset, found {}", i,
                        kAlignment, entry.offset));
      if (*bytes > kMostBytes || entry.offset > kMostBytes)
        return InvalidInput(
            fmt::format("output {}: {} bytes at {} are beyond memory", i, *bytes, entry.offset));
    }
    return OkStatus();
  }

  static Status CheckInput(const Node& node) {
    if (node.outputs.size() == 1 && node.inputs.empty() && node.outputs[0].offset == 0)
      return OkStatus();
    return InvalidInput(
        fmt::format("an input of the graph has one output, at the start of its storage, and "
                    "takes nothing; found {} outputs and {} inputs",
                    node.outputs.size(), node.inputs.size()));
  }

  Status CheckView(const Node& node) const {
    if (node.outputs.size() != 1 || node.inputs.empty())
      return InvalidInput(fmt::format("a view has inputs and one output; found {} and {}",
                                      node.inputs.size(), node.outputs.size()));
    const Entry& out = node.outputs[0];
    const uint64_t begin = out.offset, end = begin + BytesOf(out);
    uint64_t at = begin;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const Entry& in = At(node.inputs[i]);
      const uint64_t in_end = in.offset + BytesOf(in);
      if (in.storage != out.storage)
        return InvalidInput(fmt::format("input {}: expected the view's storage {}, found {}", i,
                                        out.storage, in.storage));
      const bool whole = in.offset == at && in_end <= end;
      const bool part = node.inputs.size() == 1 && in.offset <= begin && end <= in_end;
      if (!whole && !part)
        return InvalidInput(
            fmt::format("input {}: bytes {} to {} of storage {} are no part of the view's, {} "
                        "to {}, in order",
                        i, in.offset, in_end, in.storage, begin, end));
      at = part ? end : in_end;
    }
    if (at == end) return OkStatus();
    return InvalidInput(
        fmt::format("nobody writes bytes {} to {} of storage {}", at, end, out.storage));
  }

  Status CheckKernel(const Node& node) const {
    if (node.kernel >= kernels_.kernels.size())
      return InvalidInput(
          fmt::format("there is no kernel {}; there are {}", node.kernel, kernels_.kernels.size()));
    const KernelInfo& kernel = kernels_.kernels[node.kernel];
    if (node.scalars.size() != kernel.num_scalars)
      return InvalidInput(fmt::format("expected {} scalars for kernel {}, found {}",
                                      kernel.num_scalars, kernel.name, node.scalars.size()));
    for (const FixedScalar& fixed : kernel.fixed) {
      if (node.scalars[fixed.index] != fixed.value)
        return InvalidInput(ScalarMismatch(fixed, node.scalars[fixed.index]));
    }
    size_t in = 0, out = 0;
    for (size_t b = 0; b < kernel.buffers.size(); ++b) {
      const KernelBuffer& buffer = kernel.buffers[b];
      const bool there = buffer.written ? out < node.outputs.size() : in < node.inputs.size();
      if (!there) break;
      const Entry& entry = buffer.written ? node.outputs[out++] : At(node.inputs[in++]);
      if (entry.dtype != buffer.dtype)
        return InvalidInput(DTypeMismatch(b, buffer.dtype, entry.dtype));
      const std::optional<int64_t> elements = EvaluateSize(buffer.shape, node.scalars.data());
      const auto room = static_cast<int64_t>(BytesOf(entry)) / DTypeBytes(entry.dtype);
      if (!elements || *elements > room)
        return InvalidInput(SizeMismatch(b, elements.value_or(INT64_MAX), room));
    }
    const auto written = static_cast<size_t>(
        std::ranges::count_if(kernel.buffers, [](const KernelBuffer& b) { return b.written; }));
    if (node.outputs.size() != written || node.inputs.size() != kernel.buffers.size() - written)
      return InvalidInput(
          fmt::format("expected {} inputs and {} outputs for kernel {}, found {} and {}",
                      kernel.buffers.size() - written, written, kernel.name, node.inputs.size(),
                      node.outputs.size()));
    const std::optional<int64_t> units =
        kernel.units.empty() ? INT64_MAX : EvaluateSize(kernel.units, node.scalars.data());
    if (!units || node.units < 0 || node.units > *units || node.units > UINT32_MAX)
      return InvalidInput(fmt::format("expected at most {} units of work, found {}",
                                      units.value_or(0), node.units));
    if (node.grain < 0) return InvalidInput(fmt::format("a grain of {} units", node.grain));
    const std::optional<int64_t> scratch =
        kernel.scratch.empty() ? 0 : EvaluateSize(kernel.scratch, node.scalars.data());
    if (!scratch || node.scratch_bytes < *scratch || node.scratch_bytes < 0 ||
        node.scratch_bytes > kMostScratch)
      return InvalidInput(fmt::format("expected {} bytes of scratch, found {}",
                                      scratch.value_or(INT64_MAX), node.scratch_bytes));
    return OkStatus();
  }

  Status CheckInputs() const {
    size_t count = 0;
    for (const Node& node : graph_.nodes) count += node.kind == Node::Kind::kInput;
    std::unordered_set<uint32_t> listed;
    std::unordered_set<std::string_view> names;
    for (const uint32_t n : graph_.inputs) {
      if (n >= graph_.nodes.size() || graph_.nodes[n].kind != Node::Kind::kInput)
        return InvalidInput(fmt::format("node {} is listed as an input, and is none", n));
      if (!listed.insert(n).second) return InvalidInput(fmt::format("node {} is listed twice", n));
      if (!names.insert(graph_.nodes[n].name).second)
        return InvalidInput(fmt::format("two inputs have the name \"{}\"", graph_.nodes[n].name));
    }
    if (listed.size() == count) return OkStatus();
    return InvalidInput(fmt::format("{} of {} inputs are listed", listed.size(), count));
  }

  Status CheckStorages() {
    uint64_t entries = 0, total = 0;
    for (const Node& node : graph_.nodes) entries += node.outputs.size();
    for (const Node& node : graph_.nodes) {
      for (const Entry& entry : node.outputs) {
        if (entry.storage >= entries)
          return InvalidInput(fmt::format("node {}: storage {} of a graph with {} tensors",
                                          node.name, entry.storage, entries));
      }
    }
    for (const StorageInfo& storage : StoragesOf(graph_)) {
      total += storage.bytes;  // below 2^32 storages of 2^48 bytes at most: checked as it grows
      if (total > kMostBytes) return InvalidInput("the graph's tensors are beyond memory");
    }
    return OkStatus();
  }

  // --- Who lives when ---

  // The last node that reads each tensor, itself or a view of it; results live to the end.
  void FindLastUses() {
    const auto end = static_cast<uint32_t>(graph_.nodes.size());
    first_.resize(graph_.nodes.size() + 1);
    for (size_t n = 0; n < graph_.nodes.size(); ++n)
      first_[n + 1] = first_[n] + graph_.nodes[n].outputs.size();
    last_.resize(first_.back());
    for (uint32_t n = 0; n < end; ++n) {
      for (size_t o = 0; o < graph_.nodes[n].outputs.size(); ++o) last_[first_[n] + o] = n;
    }
    for (const EntryRef& head : graph_.heads) last_[Index(head)] = end;
    for (uint32_t n = end; n-- > 0;) {
      const Node& node = graph_.nodes[n];
      const uint32_t use = node.kind == Node::Kind::kView ? last_[first_[n]] : n;
      for (const EntryRef& in : node.inputs) last_[Index(in)] = std::max(last_[Index(in)], use);
    }
  }
  size_t Index(EntryRef ref) const { return first_[ref.node] + ref.output; }

  Status CheckMemory() {
    FindLastUses();
    const std::vector<StorageInfo> storages = StoragesOf(graph_);
    // Of each storage: the tensors there that somebody will still read.
    std::vector<std::vector<EntryRef>> live(storages.size());
    for (uint32_t n = 0; n < graph_.nodes.size(); ++n) {
      const Node& node = graph_.nodes[n];
      for (uint32_t o = 0; o < node.outputs.size(); ++o) {
        const Entry& entry = node.outputs[o];
        if (node.kind == Node::Kind::kKernel) {
          Status s = CheckWrite(n, o, storages[entry.storage], live[entry.storage]);
          if (!s.ok())
            return s.WithContext(fmt::format("node {} ({}): output {}", n, node.name, o));
        } else if (node.kind == Node::Kind::kInput &&
                   storages[entry.storage].input != static_cast<int64_t>(n)) {
          return InvalidInput(fmt::format("node {} ({}): storage {} is another input's too", n,
                                          node.name, entry.storage));
        }
        live[entry.storage].push_back({n, o});
      }
    }
    return OkStatus();
  }

  // Nothing in memory that output `o` of node `n` writes is read afterwards, or by the node itself
  // but where the kernel allows it.
  Status CheckWrite(uint32_t n, uint32_t o, const StorageInfo& storage,
                    std::vector<EntryRef>& live) {
    if (storage.input >= 0)
      return InvalidInput(fmt::format("it would write over input {}",
                                      graph_.nodes[static_cast<size_t>(storage.input)].name));
    const Entry& out = graph_.nodes[n].outputs[o];
    const uint64_t begin = out.offset, end = begin + BytesOf(out);
    std::optional<std::set<EntryRef>> shared;  // what is behind the inputs that it may be one with
    // Read no more from here on.
    std::erase_if(live, [&](EntryRef e) { return e.node != n && last_[Index(e)] < n; });
    looks_ += live.size();
    if (looks_ > kMostLooks) return InvalidInput("too many tensors live together in one storage");
    for (const EntryRef& e : live) {
      const Entry& other = At(e);
      const uint64_t bytes = BytesOf(other);
      if (begin == end || bytes == 0 || other.offset >= end || begin >= other.offset + bytes)
        continue;
      if (e.node != n && last_[Index(e)] == n) {
        if (!shared) shared = SharedWith(n, o);
        if (shared->contains(e)) continue;
      }
      return InvalidInput(
          fmt::format("it would write over output {} of node {} ({}), which node {} reads",
                      e.output, e.node, graph_.nodes[e.node].name, last_[Index(e)]));
    }
    return OkStatus();
  }

  // The inputs of the node in whose very place the output may be, and the tensors that they are
  // views of.
  std::set<EntryRef> SharedWith(uint32_t n, uint32_t o) {
    const Node& node = graph_.nodes[n];
    const KernelInfo& kernel = kernels_.kernels[node.kernel];
    std::vector<size_t> input_of(kernel.buffers.size());
    const KernelBuffer* written = nullptr;
    size_t in = 0, out = 0;
    for (size_t b = 0; b < kernel.buffers.size(); ++b) {
      if (!kernel.buffers[b].written) {
        input_of[b] = in++;
      } else if (out++ == o) {
        written = &kernel.buffers[b];
      }
    }
    const Entry& entry = node.outputs[o];
    std::set<EntryRef> shared;
    std::vector<EntryRef> work;
    for (const uint16_t b : written->may_share) {
      const EntryRef ref = node.inputs[input_of[b]];
      const Entry& other = At(ref);
      // Another input there is read after it was written over.
      const auto there = std::ranges::count_if(node.inputs, [&](EntryRef r) {
        const Entry& e = At(r);
        return e.storage == entry.storage && e.offset < entry.offset + BytesOf(entry) &&
               entry.offset < e.offset + BytesOf(e);
      });
      if (there == 1 && other.storage == entry.storage && other.offset == entry.offset &&
          BytesOf(other) == BytesOf(entry))
        work.push_back(ref);
    }
    while (!work.empty()) {
      const EntryRef ref = work.back();
      work.pop_back();
      if (!shared.insert(ref).second) continue;
      ++looks_;
      const Node& from = graph_.nodes[ref.node];
      if (from.kind == Node::Kind::kView)
        work.insert(work.end(), from.inputs.begin(), from.inputs.end());
    }
    return shared;
  }

  const Graph& graph_;
  const Program& kernels_;
  std::vector<size_t> first_;   // of each node: the number of its first tensor
  std::vector<uint32_t> last_;  // of each tensor: the node that reads it last
  uint64_t looks_ = 0;
};

}  // namespace

uint64_t BytesOf(const Entry& entry) {
  auto bytes = static_cast<uint64_t>(DTypeBytes(entry.dtype));
  for (const int64_t d : entry.dims) bytes *= static_cast<uint64_t>(d);
  return bytes;
}

std::vector<StorageInfo> StoragesOf(const Graph& graph) {
  std::vector<StorageInfo> storages;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    for (const Entry& entry : graph.nodes[n].outputs) {
      if (entry.storage >= storages.size()) storages.resize(size_t{entry.storage} + 1);
      StorageInfo& storage = storages[entry.storage];
      storage.bytes = std::max(storage.bytes, entry.offset + BytesOf(entry));
      if (graph.nodes[n].kind == Node::Kind::kInput) storage.input = static_cast<int64_t>(n);
    }
  }
  return storages;
}

Status VerifyGraph(const Graph& graph, const Program& kernels) {
  return Verifier(graph, kernels).Run();
}

}  // namespace relayvm::graph
