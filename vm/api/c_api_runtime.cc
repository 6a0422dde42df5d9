// The C API: runtimes, and what a host injects into them as structs of functions.
#include "vm/api/c_api_internal.h"
#include "vm/api/c_api_task_pool.h"

using relayvm::Result;
using relayvm::Status;
using relayvm::StatusCode;
using relayvm::c_api::Fail;
using relayvm::c_api::Guarded;
using relayvm::c_api::HostPool;
using relayvm::c_api::Taken;

namespace {

// The first versions of the structs.
constexpr size_t kMemorySourceSize = 48, kTraceSize = 40;
constexpr size_t kRuntimeOptionsSize = 40, kRuntimeStatsSize = 400;
static_assert(sizeof(relayvm_memory_source) >= kMemorySourceSize);
static_assert(sizeof(relayvm_trace) >= kTraceSize);
static_assert(sizeof(relayvm_runtime_options) >= kRuntimeOptionsSize);
static_assert(sizeof(relayvm_runtime_stats) >= kRuntimeStatsSize);
static_assert(std::size(relayvm_runtime_stats{}.ended) == relayvm::kNumStatusCodes);
static_assert(std::size(relayvm_runtime_stats{}.batch_sizes) == relayvm::kNumBatchSizes);

class HostMemory : public relayvm::MemorySource {
 public:
  explicit HostMemory(const relayvm_memory_source& functions) : functions_(functions) {}
  void* Allocate(size_t bytes, size_t alignment) override {
    return functions_->allocate(functions_->user, bytes, alignment);
  }
  void Free(void* memory, size_t bytes) override {
    functions_->free(functions_->user, memory, bytes);
  }
  void Discard(void* memory, size_t bytes) override {
    if (functions_->discard != nullptr) functions_->discard(functions_->user, memory, bytes);
  }
  void Take() { functions_.Take(); }

 private:
  Taken<relayvm_memory_source> functions_;
};

// A place for as long as it is passed on.
class HostPlace {
 public:
  HostPlace(const relayvm::Executable& executable, uint32_t function, uint32_t pc)
      : place_(executable.PlaceOf(function, pc)) {}
  relayvm_place get() const {
    return {place_.function.c_str(), place_.file.c_str(), place_.line, place_.column,
            place_.instruction};
  }

 private:
  relayvm::StatusPlace place_;
};

// Names are the program's own strings, which end with a zero.
class HostTrace : public relayvm::TraceSink {
 public:
  // NOLINTBEGIN(bugprone-suspicious-stringview-data-usage): they end with a zero
  explicit HostTrace(const relayvm_trace& functions) : functions_(functions) {}
  void OnKernel(const relayvm::KernelEvent& event) override {
    const HostPlace place(*event.run.executable, event.function, event.pc);
    Call(functions_->on_kernel,
         relayvm_kernel_event{sizeof(relayvm_kernel_event), event.kernel, event.name.data(),
                              event.begin_ns, event.end_ns, event.units, event.run.invocation,
                              event.batch, event.weight, place.get(), event.suspended_ns,
                              event.run.executable, event.run.tag,
                              event.device.empty() ? nullptr : event.device.data()});
  }
  void OnInstruction(const relayvm::InstructionEvent& event) override {
    Call(functions_->on_instruction,
         relayvm_instruction_event{sizeof(relayvm_instruction_event), event.function, event.pc,
                                   event.depth, event.run.invocation, event.run.executable,
                                   event.run.tag});
  }
  void OnRunBegin(const relayvm::RunEvent& event) override {
    Call(functions_->on_run_begin, Run(event));
  }
  void OnRunEnd(const relayvm::RunEvent& event) override {
    Call(functions_->on_run_end, Run(event));
  }
  void OnSlice(const relayvm::SliceEvent& event) override {
    Call(functions_->on_slice,
         relayvm_slice_event{sizeof(relayvm_slice_event), event.begin_ns, event.end_ns,
                             event.run.invocation, event.run.tag});
  }
  void OnWait(const relayvm::WaitEvent& event) override {
    Call(functions_->on_wait,
         relayvm_wait_event{sizeof(relayvm_wait_event), static_cast<uint32_t>(event.in_batch),
                            event.begin_ns, event.end_ns, event.run.invocation, event.run.tag});
  }
  void OnHostCall(const relayvm::HostCallEvent& event) override {
    const HostPlace place(*event.run.executable, event.function, event.pc);
    Call(functions_->on_host_call,
         relayvm_host_call_event{sizeof(relayvm_host_call_event), event.host_function,
                                 event.name.data(), event.begin_ns, event.end_ns,
                                 event.run.invocation, place.get(), event.run.executable,
                                 event.run.tag});
  }
  void OnBatch(const relayvm::BatchEvent& event) override {
    Call(functions_->on_batch,
         relayvm_batch_event{sizeof(relayvm_batch_event), event.kernel, event.name.data(),
                             event.begin_ns, event.end_ns, event.calls, event.executable});
  }
  bool wants_instructions() const override { return functions_->on_instruction != nullptr; }
  bool wants_slices() const override { return functions_->on_slice != nullptr; }
  uint32_t kernel_interval() const override {
    if (functions_->on_kernel == nullptr) return 0;
    return std::max(functions_->kernel_interval, 1U);
  }
  void Take() { functions_.Take(); }

 private:
  template <typename Event>
  void Call(void (*function)(void*, const Event*), const Event& event) const {
    if (function != nullptr) function(functions_->user, &event);
  }
  static relayvm_run_event Run(const relayvm::RunEvent& event) {
    return {sizeof(relayvm_run_event),
            static_cast<int>(event.status),
            event.function.data(),
            event.begin_ns,
            event.end_ns,
            event.run.invocation,
            event.run.executable,
            event.run.tag};
  }
  // NOLINTEND(bugprone-suspicious-stringview-data-usage)

  Taken<relayvm_trace> functions_;
};

// A runtime with what it borrows, and which goes first.
struct Bundle {
  std::unique_ptr<HostPool> pool;
  std::unique_ptr<HostTrace> trace;
  std::shared_ptr<relayvm::TraceSink> sink;  // one of the library's own
  std::shared_ptr<HostMemory> memory;
  std::shared_ptr<relayvm::Runtime> runtime;

  void TakeAll() {
    if (pool != nullptr) pool->Take();
    if (trace != nullptr) trace->Take();
    if (memory != nullptr) memory->Take();
  }
};

Status Missing(const char* what) {
  return {StatusCode::kInvalidArgument, std::string(what) + " is NULL"};
}

Status ReadInjected(const relayvm_runtime_options& options, Bundle* bundle) {
  if (options.task_pool != nullptr) {
    RELAYVM_ASSIGN_OR_RETURN(bundle->pool, relayvm::c_api::ReadTaskPool(options.task_pool));
  }
  if (options.trace != nullptr) {
    RELAYVM_ASSIGN_OR_RETURN(relayvm_trace trace,
                             RELAYVM_READ_OPTIONS(options.trace, relayvm_trace, kTraceSize));
    bundle->trace = std::make_unique<HostTrace>(trace);
  }
  if (options.profile != nullptr) bundle->sink = options.profile->profile;
  if (options.chrome_trace != nullptr) bundle->sink = options.chrome_trace->trace;
  const bool given[] = {options.trace != nullptr, options.profile != nullptr,
                        options.chrome_trace != nullptr};
  if (std::ranges::count(given, true) > 1) {
    return {StatusCode::kInvalidArgument,
            "relayvm_runtime_options: give one of trace, profile and chrome_trace"};
  }
  if (options.memory != nullptr) {
    RELAYVM_ASSIGN_OR_RETURN(
        relayvm_memory_source memory,
        RELAYVM_READ_OPTIONS(options.memory, relayvm_memory_source, kMemorySourceSize));
    if (memory.allocate == nullptr) return Missing("relayvm_memory_source: allocate");
    if (memory.free == nullptr) return Missing("relayvm_memory_source: free");
    bundle->memory = std::make_shared<HostMemory>(memory);
  }
  return relayvm::OkStatus();
}

Result<std::shared_ptr<relayvm::Runtime>> CreateRuntime(const relayvm_runtime_options& read) {
  auto bundle = std::make_shared<Bundle>();
  RELAYVM_RETURN_IF_ERROR(ReadInjected(read, bundle.get()));
  relayvm::RuntimeOptions options;
  if (read.num_threads != 0) options.num_threads = read.num_threads;
  if (read.num_threads == RELAYVM_ALL_THREADS) options.num_threads = 0;
  if (read.max_idle_workspaces != 0) options.max_idle_workspaces = read.max_idle_workspaces;
  if (read.max_idle_workspaces == RELAYVM_NO_IDLE_WORKSPACES) options.max_idle_workspaces = 0;
  options.thread_pool = bundle->pool.get();
  options.trace = bundle->sink != nullptr ? bundle->sink.get() : bundle->trace.get();
  options.memory = bundle->memory;
  std::vector<std::shared_ptr<relayvm::Device>> devices;
  if (read.num_devices > 0 && read.devices == nullptr)
    return Missing("relayvm_runtime_options: devices");
  for (size_t i = 0; i < read.num_devices; ++i) {
    if (read.devices[i] == nullptr)
      return Missing(("relayvm_runtime_options: device " + std::to_string(i)).c_str());
    devices.push_back(read.devices[i]->device);
  }
  options.devices = devices;
  if (read.device_memory_limit != 0) options.device_memory_limit = read.device_memory_limit;
  if (read.memory_limit != 0) options.memory_limit = read.memory_limit;
  if (read.keep_idle_ns != 0) options.keep_idle = std::chrono::nanoseconds(read.keep_idle_ns);
  RELAYVM_ASSIGN_OR_RETURN(bundle->runtime, relayvm::Runtime::Create(options));
  bundle->TakeAll();
  relayvm::Runtime* runtime = bundle->runtime.get();
  return std::shared_ptr<relayvm::Runtime>(std::move(bundle), runtime);
}

}  // namespace

extern "C" {

relayvm_status* relayvm_runtime_create_for(uint32_t api_version,
                                           const relayvm_runtime_options* options,
                                           relayvm_runtime** out) {
  RELAYVM_REQUIRE(out);
  *out = nullptr;
  if (relayvm_status* wrong = relayvm_check_api_version(api_version)) return wrong;
  return Guarded([&]() -> relayvm_status* {
    auto read = RELAYVM_READ_OPTIONS(options, relayvm_runtime_options, kRuntimeOptionsSize);
    if (!read.ok()) return Fail(read.status());
    auto handle = std::make_unique<relayvm_runtime>();
    auto runtime = CreateRuntime(*read);
    if (!runtime.ok()) return Fail(runtime.status());
    handle->runtime = std::move(runtime).value();
    *out = handle.release();
    return nullptr;
  });
}
void relayvm_runtime_free(relayvm_runtime* runtime) { delete runtime; }

uint32_t relayvm_runtime_num_threads(const relayvm_runtime* runtime) {
  return runtime == nullptr ? 0 : runtime->runtime->num_threads();
}

relayvm_status* relayvm_runtime_trim(relayvm_runtime* runtime) {
  RELAYVM_REQUIRE(runtime);
  return Guarded([&]() -> relayvm_status* {
    runtime->runtime->Trim();
    return nullptr;
  });
}

relayvm_status* relayvm_runtime_get_stats(const relayvm_runtime* runtime,
                                          relayvm_runtime_stats* stats) {
  RELAYVM_REQUIRE(stats);
  RELAYVM_REQUIRE(runtime);
  return Guarded([&]() -> relayvm_status* {
    const uint32_t size = stats->struct_size;
    Status bad = relayvm::c_api::CheckStructSize(size, kRuntimeStatsSize, sizeof(*stats),
                                                 "relayvm_runtime_stats");
    if (!bad.ok()) return Fail(std::move(bad));
    const relayvm::RuntimeStats from = runtime->runtime->stats();
    relayvm_runtime_stats all{};
    all.struct_size = size;
    all.started = from.started;
    all.refused = from.refused;
    std::ranges::copy(from.ended, all.ended);
    all.slices = from.slices;
    all.run_ns = from.run_ns;
    all.kernel_calls = from.kernel_calls;
    all.host_calls = from.host_calls;
    all.waits = from.waits;
    all.batch_waits = from.batch_waits;
    all.wait_ns = from.wait_ns;
    all.batch_wait_ns = from.batch_wait_ns;
    all.batches = from.batches;
    all.batched_calls = from.batched_calls;
    all.lone_calls = from.lone_calls;
    std::ranges::copy(from.batch_sizes, all.batch_sizes);
    all.allocations = from.allocations;
    all.allocated_bytes = from.allocated_bytes;
    all.peak_bytes = from.peak_bytes;
    all.running = from.running;
    all.waiting = from.waiting;
    all.live_bytes = from.live_bytes;
    all.resident_bytes = from.resident_bytes;
    all.workspaces = from.workspaces;
    all.idle_workspaces = from.idle_workspaces;
    all.counted_bytes = from.counted_bytes;
    std::memcpy(stats, &all, std::min<size_t>(size, sizeof(all)));
    return nullptr;
  });
}

}  // extern "C"
