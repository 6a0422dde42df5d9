// Graphs from folders and from the compiler, made ready to run: memory, weights, calls of kernels.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "bytecode/base/guarded.h"
#include "bytecode/regions.h"
#include "vm/graph/format/verify.h"
#include "vm/graph/graph_folder.h"
#include "vm/graph/graph_module_impl.h"
#include "vm/run/linked_program.h"

namespace relayvm {
namespace {

using graph::Entry;
using graph::Node;

constexpr size_t kMostArena = size_t{1} << 48;

}  // namespace

// Parameters in the order of the signature, then weights in that of the graph.
Status GraphModule::Impl::OrderInputs(const ExportInfo& signature) {
  std::vector<uint32_t> nodes;
  auto is_parameter = [&](uint32_t n) {
    return std::ranges::find(signature.param_names, graph.nodes[n].name) !=
           signature.param_names.end();
  };
  for (const std::string& name : signature.param_names) {
    for (const uint32_t n : graph.inputs) {
      if (graph.nodes[n].name == name) nodes.push_back(n);
    }
  }
  num_parameters = nodes.size();
  for (const uint32_t n : graph.inputs) {
    if (!is_parameter(n)) nodes.push_back(n);
  }
  input_of.assign(graph.nodes.size(), SIZE_MAX);
  for (const uint32_t n : nodes) {
    input_of[n] = inputs.size();
    inputs.emplace_back().node = n;
  }
  uses.resize(inputs.size());
  if (signature.output_names.size() == graph.heads.size()) {
    output_names = signature.output_names;
  } else {
    for (size_t i = 0; i < graph.heads.size(); ++i)
      output_names.push_back(fmt::format("output_{}", i));
  }
  return OkStatus();
}

// An input that is an output too, or what an output is a view of, is copied at the end of a run:
// the result stays what it was when the input changes.
Status GraphModule::Impl::PlaceHeads() {
  std::unordered_map<const Entry*, size_t> copies;  // to where in the arena
  for (const graph::EntryRef ref : graph.heads) {
    const Entry& entry = EntryOf(ref);
    Head head{&entry, graph::BytesOf(entry)};
    if (storages[entry.storage].input >= 0) {
      const auto [place, is_new] = copies.emplace(&entry, arena_bytes);
      head.place = place->second;
      head.is_copied = is_new && head.bytes > 0;
      if (is_new) arena_bytes += (head.bytes + kAlignment - 1) & ~(kAlignment - 1);
      if (arena_bytes > kMostArena) {
        return {StatusCode::kResourceExhausted,
                fmt::format("the graph's outputs take {} bytes and more", arena_bytes)};
      }
    }
    heads.push_back(head);
  }
  return OkStatus();
}

// Weights that the kernels' file holds, or makes, are where it has them.
Status GraphModule::Impl::BorrowConstants() {
  std::unordered_map<std::string_view, const ConstantInfo*> constants;
  const std::vector<bool> of_regions = ConstantsOfRegions(kernels->program());
  for (const ConstantInfo& c : kernels->program().constants) {
    if (!of_regions[static_cast<size_t>(&c - kernels->program().constants.data())])
      constants.emplace(c.name, &c);
  }
  for (size_t i = num_parameters; i < inputs.size() && !constants.empty(); ++i) {
    const auto found = constants.find(graph.nodes[inputs[i].node].name);
    if (found == constants.end()) continue;
    const ConstantInfo& c = *found->second;
    RELAYVM_RETURN_IF_ERROR(Borrow(i, c.dtype, c.dims, c.data.data(), kernels));
  }
  return OkStatus();
}

// Weights of a mapped file are where they lie, one copy for all processes, where that is aligned.
Status GraphModule::Impl::BorrowWeights(const TensorsByName& params) {
  for (size_t i = num_parameters; i < inputs.size(); ++i) {
    const auto found = params.find(graph.nodes[inputs[i].node].name);
    if (found == params.end() || inputs[i].is_set) continue;
    const HostTensor& w = found->second;
    if (w.data.empty() || reinterpret_cast<uintptr_t>(w.data.data()) % kAlignment != 0) continue;
    RELAYVM_RETURN_IF_ERROR(Borrow(i, w.dtype, w.shape, w.data.data(), w.data));
  }
  return OkStatus();
}

Status GraphModule::Impl::PlaceStorages() {
  storages = graph::StoragesOf(graph);
  place.resize(storages.size());
  for (size_t i = 0; i < storages.size(); ++i) {
    if (storages[i].input >= 0) continue;
    place[i] = arena_bytes;
    // The verifier has bounded their sum.
    arena_bytes += (storages[i].bytes + kAlignment - 1) & ~(kAlignment - 1);
  }
  RELAYVM_RETURN_IF_ERROR(PlaceHeads());
  RELAYVM_ASSIGN_OR_RETURN(arena, Memory::Zeros(arena_bytes));
  for (Head& head : heads)
    head.data = head.place != SIZE_MAX ? arena.data() + head.place : AddressOf(*head.entry);
  // Inputs and weights side by side, in the order in which they are used.
  size_t bytes = 0;
  std::vector<size_t> at;
  for (const Slot& slot : inputs) {
    at.push_back(bytes);
    if (slot.is_set) continue;
    bytes +=
        (graph::BytesOf(graph.nodes[slot.node].outputs[0]) + kAlignment - 1) & ~(kAlignment - 1);
  }
  RELAYVM_ASSIGN_OR_RETURN(Memory memory, Memory::Zeros(bytes));
  const auto owner = std::make_shared<Memory>(std::move(memory));
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].is_set)
      inputs[i].own = std::make_shared<Piece>(Piece{owner, owner->data() + at[i]});
  }
  return OkStatus();
}

Status GraphModule::Impl::SetWeights(const TensorsByName& params) {
  for (size_t i = num_parameters; i < inputs.size(); ++i) {
    const auto found = params.find(graph.nodes[inputs[i].node].name);
    if (found == params.end() || inputs[i].is_set) continue;
    const SharedBytes bytes = found->second.data.Loaded();
    RELAYVM_RETURN_IF_ERROR(Copy(i, bytes.data()));
    found->second.data.DropPages();
  }
  return OkStatus();
}

Status GraphModule::Impl::MakeSteps() {
  int64_t scratch_bytes = 0;
  for (uint32_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    if (node.kind != Node::Kind::kKernel) continue;
    const size_t first_buffer = buffers.size(), first_scalar = scalars.size();
    size_t in = 0, out = 0;
    for (const KernelBuffer& b : kernels->program().kernels[node.kernel].buffers) {
      const Entry& entry = b.written ? node.outputs[out++] : EntryOf(node.inputs[in++]);
      if (const int64_t input = storages[entry.storage].input; input >= 0) {
        uses[input_of[static_cast<size_t>(input)]].push_back(
            {static_cast<uint32_t>(buffers.size()), entry.offset});
      }
      buffers.push_back(AddressOf(entry));
    }
    scalars.insert(scalars.end(), node.scalars.begin(), node.scalars.end());
    scratch_bytes = std::max(scratch_bytes, node.scratch_bytes);
    if (node.units == 0) continue;
    // For now, where its arguments begin.
    const RelayvmKernelArgs args{reinterpret_cast<void**>(first_buffer),
                                 reinterpret_cast<const int64_t*>(first_scalar), nullptr};
    steps.push_back({{node.kernel, &kernels->linked().kernels[node.kernel], args, node.units,
                      node.grain, node.scratch_bytes},
                     n});
  }
  for (Step& step : steps) {
    RelayvmKernelArgs& args = step.call.args;
    args.buffers = buffers.data() + reinterpret_cast<size_t>(args.buffers);
    args.scalars = scalars.data() + reinterpret_cast<size_t>(args.scalars);
    times.push_back({graph.nodes[step.node].name, graph.nodes[step.node].source});
  }
  if (scratch_bytes > 0 &&
      !workspace->scratch.Reserve(static_cast<size_t>(scratch_bytes), resources.num_threads)) {
    return {StatusCode::kResourceExhausted,
            fmt::format("no memory: {} bytes of kernels' scratch, for each of {} threads",
                        scratch_bytes, resources.num_threads)};
  }
  return OkStatus();
}

Status GraphModule::Impl::TakeWorkspace(const GraphOptions& options) {
  runtime = options.runtime;
  is_counted = runtime != nullptr;
  if (!is_counted) {
    RELAYVM_ASSIGN_OR_RETURN(runtime, Runtime::Create({.num_threads = options.num_threads,
                                                       .thread_pool = options.thread_pool}));
  }
  workspace = runtime->Acquire();
  sampling = id = runtime->NextInvocationId();
  TaskPool* const pool = workspace->pool;
  resources = {workspace->heap.get(), &workspace->scratch, pool, pool->num_threads(),
               workspace->injected_pool};
  resources.regions = &kernels->linked().regions;
  runner.emplace(
      resources,
      [](void* of, bool own_thread) { return Interrupted(*static_cast<Polled*>(of), own_thread); },
      &interrupts);
  return OkStatus();
}

GraphModule::Impl::~Impl() {
  if (workspace == nullptr) return;
  workspace->heap->Reset();
  runtime->Release(std::move(workspace), vm::NowNanoseconds());
}

GraphModule::GraphModule(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
GraphModule::~GraphModule() = default;

Result<std::unique_ptr<GraphModule>> GraphModule::Load(const std::string& folder,
                                                       const GraphOptions& options) {
  return Guarded([&]() -> Result<std::unique_ptr<GraphModule>> {
    RELAYVM_ASSIGN_OR_RETURN(graph::LoadedGraph graph, graph::LoadGraph(folder, options.load));
    return Create(std::move(graph), options);
  });
}

Result<std::unique_ptr<GraphModule>> GraphModule::Create(graph::LoadedGraph graph,
                                                         const GraphOptions& options) {
  return Guarded([&]() -> Result<std::unique_ptr<GraphModule>> {
    auto impl = std::make_unique<Impl>();
    impl->graph = std::move(graph.graph);
    impl->kernels = std::move(graph.kernels);
    impl->memory_limit = options.memory_limit;
    RELAYVM_RETURN_IF_ERROR(impl->TakeWorkspace(options));
    RELAYVM_RETURN_IF_ERROR(impl->OrderInputs(impl->kernels->program().exports.at(0)));
    RELAYVM_RETURN_IF_ERROR(impl->BorrowConstants());
    if (graph.params_file != nullptr) {
      impl->files.push_back(graph.params_file);
      RELAYVM_RETURN_IF_ERROR(impl->BorrowWeights(graph.params));
    }
    RELAYVM_RETURN_IF_ERROR(impl->PlaceStorages());
    RELAYVM_RETURN_IF_ERROR(impl->SetWeights(graph.params));
    RELAYVM_RETURN_IF_ERROR(impl->MakeSteps());
    RELAYVM_RETURN_IF_ERROR(impl->StartHeap());
    return std::unique_ptr<GraphModule>(new GraphModule(std::move(impl)));
  });
}

}  // namespace relayvm
