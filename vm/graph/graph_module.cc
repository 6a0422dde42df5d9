#include "vm/graph/graph_module.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <optional>
#include <utility>

#include "bytecode/base/guarded.h"
#include "bytecode/io/tvm_params.h"
#include "vm/graph/format/verify.h"
#include "vm/graph/graph_folder.h"
#include "vm/kernels/kernel_runner.h"
#include "vm/platform/system_pages.h"
#include "vm/run/linked_program.h"
#include "vm/run/workspace.h"
#include "vm/trace/sampling.h"
#include "vm/trace/trace.h"

namespace relayvm {
namespace {

using graph::Entry;
using graph::Node;

constexpr size_t kAlignment = 64;
constexpr const char* kNoResult = "the graph has not run to its end yet";
constexpr size_t kMostArena = size_t{1} << 48;

// Memory of its own, of whole pages, huge ones where it is large. Zero when it is made, since
// nobody says that kernels write all of it.
class Memory {
 public:
  Memory() = default;
  Memory(Memory&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  Memory& operator=(Memory other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~Memory() {
    if (data_ != nullptr) vm::SystemPages().Free(data_, bytes_);
  }
  static Result<Memory> Zeros(size_t bytes) {
    Memory m;
    if (bytes > SIZE_MAX - vm::kPageBytes) return Status::OutOfMemory();
    m.bytes_ = std::max<size_t>(vm::PagesOf(bytes), 1) * vm::kPageBytes;
    m.data_ = static_cast<char*>(vm::SystemPages().Allocate(m.bytes_, vm::kPageBytes));
    if (m.data_ != nullptr) return m;
    return Status(StatusCode::kResourceExhausted,
                  fmt::format("no memory: {} bytes for the graph's tensors", bytes));
  }
  char* data() const { return data_; }
  size_t size() const { return bytes_; }

 private:
  char* data_ = nullptr;
  size_t bytes_ = 0;
};

// Room for one input. Who shares it (ShareParams) holds the same piece.
struct Piece {
  std::shared_ptr<Memory> memory;
  char* data = nullptr;
};

// Where an input is.
struct Slot {
  uint32_t node = 0;
  std::shared_ptr<Piece> own;  // null: it is `value`
  Value value;
  bool is_set = false;
};

// An output.
struct Head {
  const Entry* entry;
  size_t bytes;
  size_t place = SIZE_MAX;  // of a copy of its own, in the arena
  bool is_copied = false;   // there, at the end of each run
  char* data = nullptr;
};

// A kernel's call, ready to run.
struct Step {
  vm::KernelCall call;
  uint32_t node;
};

Status Failed(const std::string& where, StatusPlace place, vm::Failure failure) {
  failure.detail.places = {std::move(place)};
  return {failure.code, fmt::format("{}: {}", where, failure.message),
          std::make_shared<StatusDetail>(std::move(failure.detail))};
}

std::string TypeText(DType dtype, std::span<const int64_t> dims) {
  if (dims.empty()) return std::string(DTypeName(dtype));
  return fmt::format("Tensor[({}), {}]", fmt::join(dims, ", "), DTypeName(dtype));
}

}  // namespace

struct GraphModule::Impl {
  graph::Graph graph;
  std::shared_ptr<const Executable> kernels;
  std::vector<graph::StorageInfo> storages;
  std::vector<uint64_t> place;  // of each storage that is no input's: its byte in the arena
  Memory arena;
  size_t arena_bytes = 0;
  std::vector<Slot> inputs;      // by position
  std::vector<size_t> input_of;  // of each node: its position in `inputs`
  std::vector<Head> heads;
  size_t num_parameters = 0;
  std::vector<std::string> output_names;

  std::vector<Step> steps;
  std::vector<void*> buffers;
  std::vector<int64_t> scalars;
  // Of each input: the buffers that are (in) it, and at which byte.
  struct Use {
    uint32_t buffer;
    uint64_t offset;
  };
  std::vector<std::vector<Use>> uses;

  std::shared_ptr<Runtime> runtime;
  std::unique_ptr<vm::Workspace> workspace;  // of the runtime; all runs are one of its heap
  bool is_counted = false;                   // the runtime is the host's, who may ask it
  uint64_t id = 0, sampling = 0;             // in the runtime; a state of random numbers
  size_t memory_limit = 0;
  std::chrono::nanoseconds timeout{0};
  std::atomic<uint32_t> stop{0};
  vm::KernelResources resources;
  struct Polled : vm::Interrupts {
    bool (*poll)(void* context) = nullptr;
    void* context = nullptr;
  };
  Polled interrupts{{&stop}};
  std::optional<vm::KernelRunner> runner;

  bool has_run = false;
  int64_t run_ns = 0;  // of the latest run
  uint64_t kernel_calls = 0;
  bool timing = false;
  std::vector<NodeTime> times;  // parallel to `steps`

  const Entry& EntryOf(graph::EntryRef ref) const {
    return graph.nodes[ref.node].outputs[ref.output];
  }
  char* AddressOf(const Entry& entry) const {
    const graph::StorageInfo& storage = storages[entry.storage];
    if (storage.input < 0) return arena.data() + place[entry.storage] + entry.offset;
    const Slot& slot = inputs[input_of[static_cast<size_t>(storage.input)]];
    char* base = slot.own != nullptr ? slot.own->data
                                     : static_cast<char*>(const_cast<void*>(slot.value.data()));
    return base + entry.offset;
  }

  Impl() = default;
  ~Impl();
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  Status OrderInputs(const ExportInfo& signature);
  Status PlaceHeads();
  Status PlaceStorages();
  Status BorrowConstants();
  Status SetWeights(const TensorsByName& params);
  Status MakeSteps();
  Status TakeWorkspace(const GraphOptions& options);

  Result<size_t> Position(size_t index) const {
    if (index < inputs.size()) return index;
    return Status(StatusCode::kOutOfRange,
                  fmt::format("there is no input {}; the graph has {}", index, inputs.size()));
  }
  Status CheckType(size_t index, DType dtype, std::span<const int64_t> dims) const {
    const Node& node = graph.nodes[inputs[index].node];
    const Entry& entry = node.outputs[0];
    if (entry.dtype == dtype && std::ranges::equal(entry.dims, dims)) return OkStatus();
    return {StatusCode::kInvalidArgument,
            fmt::format("input {}: expected {}, found {}", node.name,
                        TypeText(entry.dtype, entry.dims), TypeText(dtype, dims))};
  }
  // The input is somewhere else now.
  void Patch(size_t index) {
    char* base = AddressOf(graph.nodes[inputs[index].node].outputs[0]);
    for (const Use& use : uses[index]) buffers[use.buffer] = base + use.offset;
  }
  // Room of its own, where an input has none that nobody shares; else null.
  Result<std::shared_ptr<Piece>> NewRoom(size_t index) const {
    const Slot& slot = inputs[index];
    if (slot.own != nullptr && slot.own.use_count() == 1) return std::shared_ptr<Piece>();
    const Entry& entry = graph.nodes[slot.node].outputs[0];
    RELAYVM_ASSIGN_OR_RETURN(Memory memory, Memory::Zeros(graph::BytesOf(entry)));
    auto owner = std::make_shared<Memory>(std::move(memory));
    char* data = owner->data();
    return std::make_shared<Piece>(Piece{std::move(owner), data});
  }
  // `room` as NewRoom gave it. What the input was until now goes only after the copy.
  void CopyTo(std::shared_ptr<Piece> room, size_t index, const void* data) {
    Slot& slot = inputs[index];
    const size_t bytes = graph::BytesOf(graph.nodes[slot.node].outputs[0]);
    char* const to = room != nullptr ? room->data : slot.own->data;
    if (bytes > 0) std::memmove(to, data, bytes);
    slot.is_set = true;
    if (room == nullptr) return;
    slot.own = std::move(room);
    slot.value = Value();
    Patch(index);
  }
  Status Copy(size_t index, const void* data) {
    RELAYVM_ASSIGN_OR_RETURN(std::shared_ptr<Piece> room, NewRoom(index));
    CopyTo(std::move(room), index, data);
    return OkStatus();
  }

  Status NotSet(const Slot& slot) const {
    return {StatusCode::kFailedPrecondition,
            fmt::format("input {} is not set", graph.nodes[slot.node].name)};
  }
  static StatusCode Interrupted(const Polled& run, bool own_thread) {
    const StatusCode reason = vm::Interrupted(run);
    if (reason != StatusCode::kOk || !own_thread || run.poll == nullptr) return reason;
    return run.poll(run.context) ? StatusCode::kCancelled : StatusCode::kOk;
  }
  size_t memory_bytes() const { return arena_bytes + workspace->scratch.bytes(); }
  Status StartHeap();
  Status CheckInputs() const;
  Status RunSteps();
  Status RunCounted();
  Status FailGraph(vm::Failure failure) const;
  Status Fail(const Step& step, vm::Failure failure) const;
};

// --- Loading ---

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
  for (const ConstantInfo& c : kernels->program().constants) constants.emplace(c.name, &c);
  for (size_t i = num_parameters; i < inputs.size() && !constants.empty(); ++i) {
    const auto found = constants.find(graph.nodes[inputs[i].node].name);
    if (found == constants.end()) continue;
    const ConstantInfo& c = *found->second;
    using Owner = std::shared_ptr<const Executable>;
    auto owner = std::make_unique<Owner>(kernels);
    RELAYVM_ASSIGN_OR_RETURN(inputs[i].value,
                             Value::WrapTensor(
                                 c.dtype, c.dims, const_cast<std::byte*>(c.data.data()),
                                 [](void* p) { delete static_cast<Owner*>(p); }, owner.release()));
    inputs[i].is_set = true;
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
    if (found == params.end()) continue;
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
    RELAYVM_RETURN_IF_ERROR(impl->PlaceStorages());
    RELAYVM_RETURN_IF_ERROR(impl->SetWeights(graph.params));
    RELAYVM_RETURN_IF_ERROR(impl->MakeSteps());
    RELAYVM_RETURN_IF_ERROR(impl->StartHeap());
    return std::unique_ptr<GraphModule>(new GraphModule(std::move(impl)));
  });
}

// --- Inputs ---

size_t GraphModule::num_inputs() const { return impl_->inputs.size(); }
size_t GraphModule::num_outputs() const { return impl_->graph.heads.size(); }
size_t GraphModule::num_parameters() const { return impl_->num_parameters; }
const std::shared_ptr<const Executable>& GraphModule::kernels() const { return impl_->kernels; }

GraphTensor GraphModule::input(size_t index) const {
  const Node& node = impl_->graph.nodes[impl_->inputs[index].node];
  return {node.name, node.outputs[0].dtype, node.outputs[0].dims};
}

GraphTensor GraphModule::output(size_t index) const {
  const Entry& entry = impl_->EntryOf(impl_->graph.heads[index]);
  return {impl_->output_names[index], entry.dtype, entry.dims};
}

Result<size_t> GraphModule::FindInput(std::string_view name) const {
  return Guarded([&]() -> Result<size_t> {
    std::string names;
    for (size_t i = 0; i < num_inputs(); ++i) {
      if (input(i).name == name) return i;
      if (i < num_parameters()) names += fmt::format("{}{}", i > 0 ? ", " : "", input(i).name);
    }
    return Status(StatusCode::kNotFound,
                  fmt::format("there is no input {}; inputs: {}; weights: {}", name, names,
                              num_inputs() - num_parameters()));
  });
}

Status GraphModule::SetInput(size_t index, const Value& value) {
  return Guarded([&]() -> Status {
    RELAYVM_RETURN_IF_ERROR(impl_->Position(index).status());
    if (!value.is_tensor())
      return {StatusCode::kInvalidArgument,
              fmt::format("input {}: expected a tensor", input(index).name)};
    RELAYVM_RETURN_IF_ERROR(impl_->CheckType(index, value.dtype(), value.dims()));
    return impl_->Copy(index, value.data());
  });
}

Status GraphModule::SetInput(std::string_view name, const Value& value) {
  RELAYVM_ASSIGN_OR_RETURN(const size_t index, FindInput(name));
  return SetInput(index, value);
}

Status GraphModule::SetInputZeroCopy(size_t index, Value value) {
  return Guarded([&]() -> Status {
    RELAYVM_RETURN_IF_ERROR(impl_->Position(index).status());
    if (!value.is_tensor())
      return {StatusCode::kInvalidArgument,
              fmt::format("input {}: expected a tensor", input(index).name)};
    RELAYVM_RETURN_IF_ERROR(impl_->CheckType(index, value.dtype(), value.dims()));
    // A scalar's memory is less aligned than views of it may ask for: it is copied.
    if (reinterpret_cast<uintptr_t>(value.data()) % kAlignment != 0 && value.num_elements() > 0)
      return impl_->Copy(index, value.data());
    Slot& slot = impl_->inputs[index];
    slot.own = nullptr;
    slot.value = std::move(value);
    slot.is_set = true;
    impl_->Patch(index);
    return OkStatus();
  });
}

Status GraphModule::SetInputZeroCopy(std::string_view name, Value value) {
  RELAYVM_ASSIGN_OR_RETURN(const size_t index, FindInput(name));
  return SetInputZeroCopy(index, std::move(value));
}

Result<Value> GraphModule::GetInput(size_t index) const {
  return Guarded([&]() -> Result<Value> {
    RELAYVM_RETURN_IF_ERROR(impl_->Position(index).status());
    const Slot& slot = impl_->inputs[index];
    if (!slot.is_set) return impl_->NotSet(slot);
    const Entry& entry = impl_->graph.nodes[slot.node].outputs[0];
    return Value::CopyTensor(entry.dtype, entry.dims, impl_->AddressOf(entry));
  });
}

Status GraphModule::LoadParams(std::span<const std::byte> bytes) {
  return Guarded([&]() -> Status {
    // The bytes stay the caller's, who is here until the end.
    const SharedBytes shared(bytes, nullptr);
    RELAYVM_ASSIGN_OR_RETURN(const TensorsByName params, ParseTvmParams(shared));
    std::vector<std::pair<size_t, const HostTensor*>> found;
    for (const auto& [name, tensor] : params) {
      RELAYVM_ASSIGN_OR_RETURN(const size_t index, FindInput(name));
      RELAYVM_RETURN_IF_ERROR(impl_->CheckType(index, tensor.dtype, tensor.shape));
      found.emplace_back(index, &tensor);
    }
    std::vector<std::shared_ptr<Piece>> rooms;  // of all, before anything is set
    for (const auto& [index, tensor] : found) {
      RELAYVM_ASSIGN_OR_RETURN(rooms.emplace_back(), impl_->NewRoom(index));
    }
    for (size_t i = 0; i < found.size(); ++i) {
      const auto& [index, tensor] = found[i];
      impl_->CopyTo(std::move(rooms[i]), index, tensor->data.data());
    }
    return OkStatus();
  });
}

Result<size_t> GraphModule::ShareParams(const GraphModule& other) {
  return Guarded([&]() -> Result<size_t> {
    size_t count = 0;
    if (&other == this) return count;
    const Impl& from = *other.impl_;
    for (size_t i = num_parameters(); i < num_inputs(); ++i) {
      for (size_t j = other.num_parameters(); j < other.num_inputs(); ++j) {
        const GraphTensor theirs = other.input(j);
        if (theirs.name != input(i).name) continue;
        if (!impl_->CheckType(i, theirs.dtype, theirs.dims).ok()) break;
        Slot& slot = impl_->inputs[i];
        const uint32_t node = slot.node;
        slot = from.inputs[j];
        slot.node = node;
        impl_->Patch(i);
        ++count;
        break;
      }
    }
    return count;
  });
}

// --- Running ---

// What has been taken already counts toward the heap's limit.
Status GraphModule::Impl::StartHeap() {
  vm::Heap& heap = *workspace->heap;
  const size_t machine = workspace->machine_memory;
  heap.Reset();
  heap.BeginRun(std::min(memory_limit, machine), machine < memory_limit);
  if (heap.Charge(memory_bytes())) return OkStatus();
  return FailGraph(vm::MemoryFailure(heap, "its tensors and scratch", memory_bytes()));
}

Status GraphModule::Impl::FailGraph(vm::Failure failure) const {
  return Failed("the graph", {.function = kernels->program().exports[0].name}, std::move(failure));
}

Status GraphModule::Impl::Fail(const Step& step, vm::Failure failure) const {
  const Node& node = graph.nodes[step.node];
  return Failed(fmt::format("node {} ({}){}{}", step.node, node.name,
                            node.source.empty() ? "" : ", ", node.source),
                {.function = node.name, .file = node.source}, std::move(failure));
}

Status GraphModule::Impl::CheckInputs() const {
  for (const Slot& slot : inputs) {
    if (!slot.is_set) return NotSet(slot);
  }
  return OkStatus();
}

Status GraphModule::Impl::RunSteps() {
  interrupts.deadline =
      timeout.count() > 0 ? vm::DeadlineOf(vm::NowNanoseconds(), timeout) : INT64_MAX;
  TraceSink* const trace = workspace->trace;
  const uint32_t interval = trace != nullptr ? trace->kernel_interval() : 0;
  const bool observed = timing || interval != 0;
  uint64_t until_sample = vm::DistanceToSample(interval, &sampling);
  int64_t fuel = 0;  // as the interpreter's, so that the clock is looked at now and then
  for (size_t i = 0; i < steps.size(); ++i) {
    const Step& step = steps[i];
    fuel -= vm::kKernelFuel;
    if (fuel < 0 || stop.load(std::memory_order_relaxed) != 0) [[unlikely]] {
      fuel = vm::kFuel;
      const StatusCode reason = Interrupted(interrupts, /*own_thread=*/true);
      if (reason != StatusCode::kOk) return Fail(step, {reason, vm::InterruptMessage(reason)});
    }
    // A host's kernel may take long, and not poll.
    if (!step.call.kernel->polls) fuel = 0;
    const int64_t begin = observed ? vm::NowNanoseconds() : 0;
    ++kernel_calls;
    const int32_t code = runner->Run(step.call);
    if (code != RELAYVM_KERNEL_OK) [[unlikely]]
      return Fail(step, runner->FailureOf(kernels->program().kernels[step.call.index].name, code));
    if (!observed) continue;
    const int64_t end = vm::NowNanoseconds();
    if (timing) {
      times[i].total_ns += end - begin;
      ++times[i].calls;
    }
    if (until_sample == 0 || --until_sample != 0) continue;
    until_sample = vm::DistanceToSample(interval, &sampling);
    trace->OnKernel({step.call.index,
                     graph.nodes[step.node].name,
                     begin,
                     end,
                     static_cast<uint64_t>(step.call.units),
                     {id, kernels.get()},
                     0,
                     step.node,
                     1,
                     interval});
  }
  // A run that does not end in time, or was cancelled, gives no result, wherever it was.
  if (const StatusCode reason = vm::Interrupted(interrupts); reason != StatusCode::kOk)
    return FailGraph({reason, vm::InterruptMessage(reason)});
  for (const Head& head : heads) {
    if (head.is_copied) std::memcpy(head.data, AddressOf(*head.entry), head.bytes);
  }
  return OkStatus();
}

// For who may ask the runtime, or is told by it.
Status GraphModule::Impl::RunCounted() {
  vm::RunCounters& counters = workspace->counters;
  TraceSink* const trace = workspace->trace;
  const std::string_view name = kernels->program().exports[0].name;
  const int64_t begin = vm::NowNanoseconds();
  ++counters.started;
  ++counters.slices;
  if (trace != nullptr)
    trace->OnRunBegin({{id, kernels.get()}, name, begin, begin, StatusCode::kOk});
  Status ran = Guarded([&] { return RunSteps(); });
  const int64_t end = vm::NowNanoseconds();
  counters.kernel_calls += std::exchange(kernel_calls, 0);
  counters.run_ns += run_ns = end - begin;
  counters.peak_bytes = std::max<uint64_t>(counters.peak_bytes, workspace->heap->peak_bytes());
  ++counters.ended[static_cast<size_t>(ran.code())];
  if (trace != nullptr) {
    trace->OnRunEnd({{id, kernels.get()}, name, begin, end, ran.code()});
    if (trace->wants_slices()) trace->OnSlice({{id, kernels.get()}, begin, end});
  }
  return ran;
}

Status GraphModule::Run() {
  Impl& m = *impl_;
  Status ran = Guarded([&] { return m.CheckInputs(); });
  if (ran.ok()) {
    ran = m.is_counted ? m.RunCounted() : Guarded([&] { return m.RunSteps(); });
  } else {
    ++m.workspace->counters.refused;
  }
  // A kernel that gave up has left something.
  if (m.workspace->heap->stats().live_bytes != m.memory_bytes()) static_cast<void>(m.StartHeap());
  // A cancellation of this run is used up; one that comes later is for the next.
  if (!ran.ok()) m.stop.store(0, std::memory_order_relaxed);
  m.has_run = ran.ok();
  return ran;
}

void GraphModule::set_timeout(std::chrono::nanoseconds timeout) { impl_->timeout = timeout; }
void GraphModule::Cancel() { impl_->stop.store(1, std::memory_order_release); }
void GraphModule::set_poll(bool (*poll)(void* context), void* context) {
  impl_->interrupts.poll = poll;
  impl_->interrupts.context = context;
}
void GraphModule::ForgetCancel() { impl_->stop.store(0, std::memory_order_relaxed); }

// --- Outputs ---

const void* GraphModule::output_data(size_t index) const { return impl_->heads[index].data; }

Result<Value> GraphModule::GetOutput(size_t index) const {
  return Guarded([&]() -> Result<Value> {
    if (index >= num_outputs())
      return Status(StatusCode::kOutOfRange,
                    fmt::format("there is no output {}; the graph has {}", index, num_outputs()));
    if (!impl_->has_run) return Status(StatusCode::kFailedPrecondition, kNoResult);
    const GraphTensor t = output(index);
    return Value::CopyTensor(t.dtype, t.dims, output_data(index));
  });
}

Status GraphModule::CopyOutput(size_t index, const OutputBuffer& to) const {
  return CopyOutput(index, to.dtype, to.dims, to.data);
}

Status GraphModule::CopyOutput(size_t index, DType dtype, std::span<const int64_t> dims,
                               void* data) const {
  return Guarded([&]() -> Status {
    if (index >= num_outputs())
      return {StatusCode::kOutOfRange,
              fmt::format("there is no output {}; the graph has {}", index, num_outputs())};
    if (!impl_->has_run) return {StatusCode::kFailedPrecondition, kNoResult};
    const GraphTensor t = output(index);
    if (dtype != t.dtype || !std::ranges::equal(dims, t.dims))
      return {StatusCode::kInvalidArgument,
              fmt::format("output {}: expected a buffer of {}, found {}", t.name,
                          TypeText(t.dtype, t.dims), TypeText(dtype, dims))};
    const size_t bytes = impl_->heads[index].bytes;
    if (bytes > 0 && data != nullptr) std::memcpy(data, output_data(index), bytes);
    return OkStatus();
  });
}

InvocationStats GraphModule::stats() const {
  const vm::Heap& heap = *impl_->workspace->heap;
  InvocationStats stats;
  stats.peak_bytes = heap.peak_bytes();
  stats.resident_bytes = heap.resident_bytes() + impl_->memory_bytes();
  stats.allocations = heap.allocations();
  stats.run_ns = impl_->run_ns;
  return stats;
}
uint64_t GraphModule::id() const { return impl_->id; }

void GraphModule::set_timing(bool timing) {
  impl_->timing = timing;
  for (NodeTime& t : impl_->times) t.calls = 0, t.total_ns = 0;
}

std::vector<NodeTime> GraphModule::node_times() const { return impl_->times; }

GraphMemory GraphModule::memory() const {
  GraphMemory memory;
  memory.planned_bytes = impl_->arena_bytes;
  memory.scratch_bytes = impl_->workspace->scratch.bytes();
  for (size_t i = num_parameters(); i < num_inputs(); ++i)
    memory.weight_bytes += graph::BytesOf(impl_->graph.nodes[impl_->inputs[i].node].outputs[0]);
  return memory;
}

}  // namespace relayvm
