#include "vm/graph/graph_module.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <utility>

#include "bytecode/base/guarded.h"
#include "vm/graph/graph_module_impl.h"
#include "vm/run/linked_program.h"
#include "vm/trace/sampling.h"
#include "vm/trace/trace.h"

namespace relayvm {
namespace {

using graph::Entry;
using graph::Node;

constexpr const char* kNoResult = "the graph has not run to its end yet";

Status Failed(const std::string& where, StatusPlace place, vm::Failure failure) {
  failure.detail.places = {std::move(place)};
  return {failure.code, fmt::format("{}: {}", where, failure.message),
          std::make_shared<StatusDetail>(std::move(failure.detail))};
}

}  // namespace

std::string GraphModule::Impl::TypeText(DType dtype, std::span<const int64_t> dims) {
  if (dims.empty()) return std::string(DTypeName(dtype));
  return fmt::format("Tensor[({}), {}]", fmt::join(dims, ", "), DTypeName(dtype));
}

// --- Inputs ---

Result<size_t> GraphModule::Impl::Position(size_t index) const {
  if (index < inputs.size()) return index;
  return Status(StatusCode::kOutOfRange,
                fmt::format("there is no input {}; the graph has {}", index, inputs.size()));
}

Status GraphModule::Impl::CheckType(size_t index, DType dtype,
                                    std::span<const int64_t> dims) const {
  const Node& node = graph.nodes[inputs[index].node];
  const Entry& entry = node.outputs[0];
  if (entry.dtype == dtype && std::ranges::equal(entry.dims, dims)) return OkStatus();
  return {StatusCode::kInvalidArgument,
          fmt::format("input {}: expected {}, found {}", node.name,
                      TypeText(entry.dtype, entry.dims), TypeText(dtype, dims))};
}

Result<std::shared_ptr<GraphModule::Impl::Piece>> GraphModule::Impl::NewRoom(size_t index) const {
  const Slot& slot = inputs[index];
  if (slot.own != nullptr && slot.own.use_count() == 1) return std::shared_ptr<Piece>();
  const Entry& entry = graph.nodes[slot.node].outputs[0];
  RELAYVM_ASSIGN_OR_RETURN(Memory memory, Memory::Zeros(graph::BytesOf(entry)));
  auto owner = std::make_shared<Memory>(std::move(memory));
  char* data = owner->data();
  return std::make_shared<Piece>(Piece{std::move(owner), data});
}

void GraphModule::Impl::CopyTo(std::shared_ptr<Piece> room, size_t index, const void* data) {
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

Status GraphModule::Impl::NotSet(const Slot& slot) const {
  return {StatusCode::kFailedPrecondition,
          fmt::format("input {} is not set", graph.nodes[slot.node].name)};
}

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

namespace {
Status CheckTensor(const Value& value, std::string_view name) {
  if (value.is_tensor() && value.device() == nullptr) return OkStatus();
  return {StatusCode::kInvalidArgument,
          fmt::format("input {}: expected a tensor{}", name,
                      value.is_tensor() ? " of the host, found one on a device" : "")};
}
}  // namespace

Status GraphModule::SetInput(size_t index, const Value& value) {
  return Guarded([&]() -> Status {
    RELAYVM_RETURN_IF_ERROR(impl_->Position(index).status());
    RELAYVM_RETURN_IF_ERROR(CheckTensor(value, input(index).name));
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
    RELAYVM_RETURN_IF_ERROR(CheckTensor(value, input(index).name));
    RELAYVM_RETURN_IF_ERROR(impl_->CheckType(index, value.dtype(), value.dims()));
    // A scalar's memory is less aligned than views of it may ask for: it is copied.
    if (reinterpret_cast<uintptr_t>(value.data()) % Impl::kAlignment != 0 &&
        value.num_elements() > 0)
      return impl_->Copy(index, value.data());
    Impl::Slot& slot = impl_->inputs[index];
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
    const Impl::Slot& slot = impl_->inputs[index];
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
    std::vector<std::shared_ptr<Impl::Piece>> rooms;  // of all, before anything is set
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
        Impl::Slot& slot = impl_->inputs[i];
        const uint32_t node = slot.node;
        slot = from.inputs[j];
        slot.node = node;
        impl_->Patch(i);
        if (count++ == 0)
          impl_->files.insert(impl_->files.end(), from.files.begin(), from.files.end());
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

Status GraphModule::Impl::CheckFiles() {
  constexpr int64_t kInterval = 10'000'000;
  const int64_t now = vm::NowNanoseconds();
  RELAYVM_RETURN_IF_ERROR(kernels->CheckFile(now));
  if (now < next_look) return OkStatus();
  for (const auto& file : files) RELAYVM_RETURN_IF_ERROR(file->CheckUnchanged());
  next_look = now + kInterval;
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
  const auto files = [&] { return m.CheckFiles(); };
  Status ran = Guarded([&] { return m.CheckInputs(); });
  if (ran.ok()) ran = Guarded(files);
  if (ran.ok()) {
    ran = m.is_counted ? m.RunCounted() : Guarded([&] { return m.RunSteps(); });
    if (ran.ok()) ran = Guarded(files);
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
  return Guarded([&]() -> Status {
    if (index >= num_outputs())
      return {StatusCode::kOutOfRange,
              fmt::format("there is no output {}; the graph has {}", index, num_outputs())};
    if (!impl_->has_run) return {StatusCode::kFailedPrecondition, kNoResult};
    const GraphTensor t = output(index);
    if (to.dtype != t.dtype || !std::ranges::equal(to.dims, t.dims))
      return {StatusCode::kInvalidArgument,
              fmt::format("output {}: expected a buffer of {}, found {}", t.name,
                          Impl::TypeText(t.dtype, t.dims), Impl::TypeText(to.dtype, to.dims))};
    const size_t bytes = impl_->heads[index].bytes;
    if (bytes > 0 && to.data != nullptr) std::memcpy(to.data, output_data(index), bytes);
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
