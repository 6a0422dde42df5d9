#include "vm/graph/c_api_graph.h"

#include "vm/api/c_api_internal.h"
#include "vm/api/c_api_task_pool.h"
#include "vm/graph/graph_module.h"

using relayvm::GraphMemory;
using relayvm::GraphModule;
using relayvm::GraphOptions;
using relayvm::GraphTensor;
using relayvm::NodeTime;
using relayvm::Result;
using relayvm::Status;
using relayvm::StatusCode;
using relayvm::c_api::Fail;
using relayvm::c_api::GiveValue;
using relayvm::c_api::Guarded;
using relayvm::c_api::ValueOf;

struct relayvm_graph {
  std::unique_ptr<relayvm::c_api::HostPool> pool;  // which the module borrows
  std::unique_ptr<GraphModule> module;
};
struct relayvm_graph_times {
  std::vector<NodeTime> rows;
};

namespace {

// The first versions of the structs.
constexpr size_t kGraphOptionsSize = 24, kNodeTimeSize = 40, kMemorySize = 32;
static_assert(sizeof(relayvm_graph_options) >= kGraphOptionsSize);
static_assert(sizeof(relayvm_graph_node_time) >= kNodeTimeSize);
static_assert(sizeof(relayvm_graph_memory) >= kMemorySize);

Result<std::unique_ptr<relayvm_graph>> Load(const char* folder,
                                            const relayvm_graph_options* options) {
  RELAYVM_ASSIGN_OR_RETURN(const relayvm_graph_options read,
                           RELAYVM_READ_OPTIONS(options, relayvm_graph_options, kGraphOptionsSize));
  // First, since what it takes over is taken over also on failure.
  relayvm::c_api::OwnedLoadOptions load;
  RELAYVM_RETURN_IF_ERROR(relayvm::c_api::ReadLoadOptions(read.load, &load));
  auto graph = std::make_unique<relayvm_graph>();
  GraphOptions to;
  to.load = load.options;
  if (read.runtime != nullptr) to.runtime = read.runtime->runtime;
  if (read.num_threads != 0) to.num_threads = read.num_threads;
  if (read.num_threads == RELAYVM_ALL_THREADS) to.num_threads = 0;
  if (read.memory_limit != 0) to.memory_limit = read.memory_limit;
  if (read.task_pool != nullptr) {
    RELAYVM_ASSIGN_OR_RETURN(graph->pool, relayvm::c_api::ReadTaskPool(read.task_pool));
    to.thread_pool = graph->pool.get();
  }
  RELAYVM_ASSIGN_OR_RETURN(graph->module, GraphModule::Load(folder, to));
  if (graph->pool != nullptr) graph->pool->Take();
  return graph;
}

// Names are the graph's own strings, which end with a zero.
relayvm_graph_tensor ToC(const GraphTensor& tensor) {
  return {tensor.name.data(), tensor.dims.data(), tensor.dims.size(),
          static_cast<relayvm_dtype>(tensor.dtype)};
}

Status CheckOutput(const relayvm_output& to) {
  RELAYVM_RETURN_IF_ERROR(relayvm::c_api::CheckDType(to.dtype));
  if (to.rank > 0 && to.dims == nullptr)
    return {StatusCode::kInvalidArgument, "relayvm_output: dims is NULL"};
  if (to.rank > 255) {
    return {StatusCode::kInvalidArgument,
            "relayvm_output: rank is " + std::to_string(to.rank) + ", above 255"};
  }
  // A tensor without elements may have no memory.
  const std::span dims(to.dims, to.rank);
  if (to.data == nullptr && std::ranges::find(dims, 0) == dims.end())
    return {StatusCode::kInvalidArgument, "relayvm_output: data is NULL"};
  return relayvm::OkStatus();
}

}  // namespace

extern "C" {

// --- Loading ---

relayvm_status* relayvm_graph_load_for(uint32_t api_version, const char* folder,
                                       const relayvm_graph_options* options, relayvm_graph** out) {
  RELAYVM_REQUIRE(out);
  *out = nullptr;
  if (relayvm_status* wrong = relayvm_check_api_version(api_version)) return wrong;
  RELAYVM_REQUIRE(folder);
  return Guarded([&]() -> relayvm_status* {
    auto loaded = Load(folder, options);
    if (!loaded.ok()) return Fail(loaded.status());
    *out = std::move(loaded).value().release();
    return nullptr;
  });
}
void relayvm_graph_free(relayvm_graph* graph) { delete graph; }

// --- What it takes and gives ---

size_t relayvm_graph_num_inputs(const relayvm_graph* graph) {
  return graph == nullptr ? 0 : graph->module->num_inputs();
}
size_t relayvm_graph_num_parameters(const relayvm_graph* graph) {
  return graph == nullptr ? 0 : graph->module->num_parameters();
}
size_t relayvm_graph_num_outputs(const relayvm_graph* graph) {
  return graph == nullptr ? 0 : graph->module->num_outputs();
}
int relayvm_graph_input(const relayvm_graph* graph, size_t index, relayvm_graph_tensor* tensor) {
  if (tensor == nullptr || index >= relayvm_graph_num_inputs(graph)) return 0;
  *tensor = ToC(graph->module->input(index));
  return 1;
}
int relayvm_graph_output(const relayvm_graph* graph, size_t index, relayvm_graph_tensor* tensor) {
  if (tensor == nullptr || index >= relayvm_graph_num_outputs(graph)) return 0;
  *tensor = ToC(graph->module->output(index));
  return 1;
}
relayvm_status* relayvm_graph_find_input(const relayvm_graph* graph, const char* name,
                                         size_t* index) {
  RELAYVM_REQUIRE(index);
  *index = 0;
  RELAYVM_REQUIRE(graph);
  RELAYVM_REQUIRE(name);
  return Guarded([&]() -> relayvm_status* {
    const Result<size_t> found = graph->module->FindInput(name);
    if (!found.ok()) return Fail(found.status());
    *index = *found;
    return nullptr;
  });
}
relayvm_status* relayvm_graph_kernels(const relayvm_graph* graph, relayvm_executable** out) {
  RELAYVM_REQUIRE(out);
  *out = nullptr;
  RELAYVM_REQUIRE(graph);
  return Guarded([&]() -> relayvm_status* {
    auto handle = std::make_unique<relayvm_executable>();
    handle->executable = graph->module->kernels();
    *out = handle.release();
    return nullptr;
  });
}

// --- Inputs ---

relayvm_status* relayvm_graph_set_input(relayvm_graph* graph, size_t index,
                                        const relayvm_value* value) {
  RELAYVM_REQUIRE(graph);
  RELAYVM_REQUIRE(value);
  return Guarded([&] { return Fail(graph->module->SetInput(index, *ValueOf(value))); });
}
relayvm_status* relayvm_graph_set_input_zero_copy(relayvm_graph* graph, size_t index,
                                                  const relayvm_value* value) {
  RELAYVM_REQUIRE(graph);
  RELAYVM_REQUIRE(value);
  return Guarded([&] { return Fail(graph->module->SetInputZeroCopy(index, *ValueOf(value))); });
}
relayvm_status* relayvm_graph_get_input(const relayvm_graph* graph, size_t index,
                                        relayvm_value** out) {
  RELAYVM_REQUIRE(out);
  *out = nullptr;
  RELAYVM_REQUIRE(graph);
  return Guarded([&] { return GiveValue(graph->module->GetInput(index), out); });
}
relayvm_status* relayvm_graph_load_params(relayvm_graph* graph, const void* bytes, size_t size) {
  RELAYVM_REQUIRE(graph);
  RELAYVM_REQUIRE(bytes);
  return Guarded([&] {
    return Fail(graph->module->LoadParams({static_cast<const std::byte*>(bytes), size}));
  });
}
relayvm_status* relayvm_graph_share_params(relayvm_graph* graph, const relayvm_graph* other,
                                           size_t* count) {
  if (count != nullptr) *count = 0;
  RELAYVM_REQUIRE(graph);
  RELAYVM_REQUIRE(other);
  return Guarded([&]() -> relayvm_status* {
    const Result<size_t> shared = graph->module->ShareParams(*other->module);
    if (!shared.ok()) return Fail(shared.status());
    if (count != nullptr) *count = *shared;
    return nullptr;
  });
}

// --- Runs ---

relayvm_status* relayvm_graph_run(relayvm_graph* graph) {
  RELAYVM_REQUIRE(graph);
  return Guarded([&] { return Fail(graph->module->Run()); });
}

relayvm_status* relayvm_graph_set_timeout(relayvm_graph* graph, int64_t timeout_ns) {
  RELAYVM_REQUIRE(graph);
  return Guarded([&]() -> relayvm_status* {
    if (timeout_ns < 0) {
      return Fail(Status(StatusCode::kInvalidArgument,
                         "timeout_ns is " + std::to_string(timeout_ns) + ", expected 0 or more"));
    }
    graph->module->set_timeout(std::chrono::nanoseconds(timeout_ns));
    return nullptr;
  });
}
void relayvm_graph_cancel(relayvm_graph* graph) {
  if (graph != nullptr) graph->module->Cancel();
}
void relayvm_graph_forget_cancel(relayvm_graph* graph) {
  if (graph != nullptr) graph->module->ForgetCancel();
}

relayvm_status* relayvm_graph_get_output(const relayvm_graph* graph, size_t index,
                                         relayvm_value** out) {
  RELAYVM_REQUIRE(out);
  *out = nullptr;
  RELAYVM_REQUIRE(graph);
  return Guarded([&] { return GiveValue(graph->module->GetOutput(index), out); });
}
relayvm_status* relayvm_graph_copy_output(const relayvm_graph* graph, size_t index,
                                          const relayvm_output* to) {
  RELAYVM_REQUIRE(graph);
  RELAYVM_REQUIRE(to);
  return Guarded([&]() -> relayvm_status* {
    if (Status bad = CheckOutput(*to); !bad.ok()) return Fail(std::move(bad));
    return Fail(graph->module->CopyOutput(
        index, {static_cast<relayvm::DType>(to->dtype), {to->dims, to->rank}, to->data}));
  });
}
const void* relayvm_graph_output_data(const relayvm_graph* graph, size_t index) {
  return index < relayvm_graph_num_outputs(graph) ? graph->module->output_data(index) : nullptr;
}

// --- Time and memory ---

relayvm_status* relayvm_graph_set_timing(relayvm_graph* graph, int timing) {
  RELAYVM_REQUIRE(graph);
  graph->module->set_timing(timing != 0);
  return nullptr;
}
relayvm_status* relayvm_graph_read_times(const relayvm_graph* graph, relayvm_graph_times** out) {
  RELAYVM_REQUIRE(out);
  *out = nullptr;
  RELAYVM_REQUIRE(graph);
  return Guarded([&]() -> relayvm_status* {
    *out = new relayvm_graph_times{graph->module->node_times()};
    return nullptr;
  });
}
void relayvm_graph_times_free(relayvm_graph_times* times) { delete times; }
int relayvm_graph_times_row(const relayvm_graph_times* times, size_t index,
                            relayvm_graph_node_time* row) {
  if (times == nullptr || row == nullptr) return 0;
  const uint32_t size = row->struct_size;
  if (index >= times->rows.size() || size < kNodeTimeSize) return 0;
  const NodeTime& from = times->rows[index];
  relayvm_graph_node_time all{};
  all.struct_size = size;
  all.node = from.name.c_str();
  all.source = from.source.c_str();
  all.calls = from.calls;
  all.total_ns = from.total_ns;
  std::memcpy(row, &all, std::min<size_t>(size, sizeof(all)));
  return 1;
}

relayvm_status* relayvm_graph_get_stats(const relayvm_graph* graph,
                                        relayvm_invocation_stats* stats) {
  RELAYVM_REQUIRE(stats);
  RELAYVM_REQUIRE(graph);
  return Guarded([&] { return relayvm::c_api::GiveStats(graph->module->stats(), stats); });
}
relayvm_status* relayvm_graph_get_memory(const relayvm_graph* graph, relayvm_graph_memory* memory) {
  RELAYVM_REQUIRE(memory);
  RELAYVM_REQUIRE(graph);
  return Guarded([&]() -> relayvm_status* {
    const uint32_t size = memory->struct_size;
    Status bad =
        relayvm::c_api::CheckStructSize(size, kMemorySize, sizeof(*memory), "relayvm_graph_memory");
    if (!bad.ok()) return Fail(std::move(bad));
    const GraphMemory from = graph->module->memory();
    const relayvm_graph_memory all{size, from.planned_bytes, from.weight_bytes, from.scratch_bytes};
    std::memcpy(memory, &all, std::min<size_t>(size, sizeof(all)));
    return nullptr;
  });
}

}  // extern "C"
