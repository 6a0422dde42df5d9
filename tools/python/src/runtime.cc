#include "tools/python/src/runtime.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <new>
#include <system_error>
#include <thread>
#include <utility>

#include "tools/python/src/errors.h"
#include "tools/python/src/numbers.h"
#include "tools/python/src/without_gil.h"
#include "vm/api/c_api_device.h"
#include "vm/api/c_api_internal.h"

namespace relayvm::python {

namespace py = pybind11;
using Clock = std::chrono::steady_clock;

namespace {

std::atomic<uint64_t> g_forks{0};
// Schedulers of this process whose threads may still call Python.
std::atomic<int> g_schedulers{0};

uint64_t Forks() {
  static const bool installed = [] {
    pthread_atfork(nullptr, nullptr, [] {
      g_forks.fetch_add(1);
      g_schedulers.store(0);
    });
    return true;
  }();
  return installed ? g_forks.load(std::memory_order_relaxed) : 0;
}

// Of a process that was forked: its threads are not here, and so nobody may wait for them.
void Forget(std::shared_ptr<Scheduler> scheduler) {
  [[maybe_unused]] auto* left = new (std::nothrow) std::shared_ptr<Scheduler>(std::move(scheduler));
}

}  // namespace

void WaitForSchedulers() {
  constexpr std::chrono::milliseconds kStep(1), kMost(10'000);
  const GilRelease no_gil;
  const auto end = Clock::now() + kMost;
  while (g_schedulers.load() > 0 && Clock::now() < end) std::this_thread::sleep_for(kStep);
}

PyDevice DeviceOfCapsule(const py::capsule& functions) {
  constexpr const char* kName = "relayvm_device_functions";
  if (functions.name() == nullptr || std::string_view(functions.name()) != kName)
    throw py::type_error(std::string("expected a name, or a capsule called ") + kName);
  relayvm_device* handle = nullptr;
  relayvm_status* const failed =
      relayvm_device_create(functions.get_pointer<relayvm_device_functions>(), &handle);
  if (failed != nullptr) {
    const Status status = failed->status;
    relayvm_status_free(failed);
    ThrowIfError(status);
  }
  PyDevice made{handle->device};
  relayvm_device_free(handle);
  return made;
}

std::shared_ptr<PyRuntime> PyRuntime::Create(uint32_t num_threads, uint32_t scheduler_threads,
                                             size_t max_batch, double max_wait,
                                             std::optional<size_t> memory_limit,
                                             std::shared_ptr<TraceSink> trace,
                                             const std::vector<PyDevice>& devices,
                                             std::optional<size_t> device_memory_limit) {
  auto runtime = std::make_shared<PyRuntime>();
  RuntimeOptions options;
  options.num_threads = num_threads;
  options.trace = trace.get();
  options.memory_limit = memory_limit.value_or(SIZE_MAX);
  std::vector<std::shared_ptr<Device>> all;
  for (const PyDevice& device : devices) all.push_back(device.device);
  options.devices = all;
  runtime->has_devices_ = !all.empty();
  options.device_memory_limit = device_memory_limit.value_or(SIZE_MAX);
  runtime->trace_ = std::move(trace);
  runtime->runtime_ = ValueOrThrow(WithoutTheGil([&] { return Runtime::Create(options); }));
  runtime->options_.num_threads = scheduler_threads;
  runtime->options_.batching.max_batch = max_batch;
  if (const auto wait = Seconds(py::float_(max_wait), "max_wait"))
    runtime->options_.batching.max_wait = *wait;
  runtime->generation_ = Forks();
  return runtime;
}

PyRuntime::~PyRuntime() {
  if (runtime_ == nullptr) return;  // it was not made
  if (generation_ != Forks()) {
    // Threads of another process: not to be waited for.
    if (runtime_->num_threads() > 1) [[maybe_unused]]
      auto* left = new (std::nothrow) std::shared_ptr<Runtime>(runtime_);
    Forget(std::move(scheduler_));
    return;
  }
  if (scheduler_ != nullptr && IsPythonEnding()) {
    // Its threads would wait for the GIL for ever. They go with the process, and what they use.
    [[maybe_unused]] auto* used = new (std::nothrow) auto(std::move(runtime_));
    [[maybe_unused]] auto* told = new (std::nothrow) auto(std::move(trace_));
    Forget(std::move(scheduler_));
    return;
  }
  // The threads that are waited for take the GIL when a run ends.
  const WithoutGil no_gil;
  if (scheduler_ != nullptr && scheduler_->IsOwnThread()) {
    // Members go in the order in which they are captured: the scheduler before what it uses.
    auto end = [scheduler = std::move(scheduler_), runtime = std::move(runtime_),
                trace = std::move(trace_)]() mutable {
      scheduler.reset();
      runtime.reset();
      trace.reset();
      g_schedulers.fetch_sub(1);
    };
    auto* left = new (std::nothrow) decltype(end)(std::move(end));
    if (left == nullptr) return;
    try {
      std::thread([left] {
        (*left)();
        delete left;
      }).detach();
    } catch (
        const std::system_error&) {  // NOLINT(bugprone-empty-catch): no thread; it stays as it is
    }
    return;
  }
  const bool had_scheduler = scheduler_ != nullptr;
  scheduler_.reset();
  runtime_.reset();
  if (had_scheduler) g_schedulers.fetch_sub(1);
}

std::shared_ptr<Scheduler> PyRuntime::scheduler() {
  if (std::shared_ptr<Scheduler> made = scheduler_if_any()) return made;
  const auto check_open = [this] {
    if (closed_) ThrowIfError({StatusCode::kFailedPrecondition, "the runtime is closed"});
  };
  check_open();
  // It starts threads. Without the lock: one that is held without the GIL may be when the process
  // is forked, and is held for ever in the child.
  std::shared_ptr<Scheduler> made =
      ValueOrThrow(WithoutTheGil([&] { return Scheduler::Create(runtime_, options_); }));
  {
    const std::lock_guard lock(mutex_);
    if (scheduler_ == nullptr && !closed_) {
      scheduler_ = made;
      g_schedulers.fetch_add(1);
    }
  }
  if (made != scheduler_) WithoutTheGil([&] { made.reset(); });  // another thread was first
  check_open();
  return scheduler_;
}

std::shared_ptr<Scheduler> PyRuntime::scheduler_if_any() {
  CheckFork();
  const std::lock_guard lock(mutex_);
  return scheduler_;
}

void PyRuntime::CheckFork() const {
  if (generation_ == Forks() || (runtime_->num_threads() == 1 && scheduler_ == nullptr)) return;
  ThrowIfError({StatusCode::kFailedPrecondition,
                "this process was forked after the runtime started threads, which are not here: "
                "make a Runtime and load the model after os.fork(), or use the 'spawn' method of "
                "multiprocessing"});
}

void PyRuntime::Drain(std::optional<std::chrono::nanoseconds> timeout) {
  const Clock::time_point end = timeout ? Clock::now() + *timeout : Clock::time_point::max();
  // In slices: for signals, and so that Close, which needs the scheduler back, can be called
  // meanwhile.
  while (true) {
    Status status;
    Clock::time_point slice;
    {
      std::shared_ptr<Scheduler> scheduler = scheduler_if_any();
      if (scheduler == nullptr) {  // nothing has run, or nothing does any more
        const std::lock_guard lock(mutex_);
        closed_ = true;
        return;
      }
      const GilRelease no_gil;
      slice = std::min(end, Clock::now() + kSignalSlice);
      status = scheduler->Drain(slice);
      scheduler.reset();
    }
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    if (status.code() != StatusCode::kDeadlineExceeded || slice == end) return ThrowIfError(status);
  }
}

void PyRuntime::Close() {
  std::shared_ptr<Scheduler> scheduler;
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    scheduler = std::move(scheduler_);
  }
  if (generation_ != Forks()) return Forget(std::move(scheduler));
  if (scheduler == nullptr) return;
  const GilRelease no_gil;  // completions take it
  // Who has it gives it back soon, and nobody else gets it.
  while (scheduler.use_count() > 1) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  scheduler.reset();
  g_schedulers.fetch_sub(1);
}

}  // namespace relayvm::python
