// rvm.Runtime: a runtime, and the scheduler of run_async.
#pragma once

#include <pybind11/pybind11.h>

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>

#include "vm/api/relayvm.h"
#include "vm/schedule/scheduler.h"

namespace relayvm::python {

// What pybind11 holds by shared pointers, which it forgets where there is no memory to make the
// Python object that has one: it frees the object itself then, which the pointer does too. Objects
// of these classes are made by make_shared alone, so that nothing else calls this.
struct HeldByPointer {
  static void operator delete(void*) noexcept {}
};

// rvm.Device.
struct PyDevice {
  std::shared_ptr<Device> device;
};
// Of a capsule "relayvm_device_functions" (vm/api/c_api_device.h), whose struct is copied.
PyDevice DeviceOfCapsule(const pybind11::capsule& functions);

// Thread-safe. Each function with the GIL.
class PyRuntime : public HeldByPointer {
 public:
  PyRuntime() = default;  // for Create
  static std::shared_ptr<PyRuntime> Create(uint32_t num_threads, uint32_t scheduler_threads,
                                           size_t max_batch, double max_wait,
                                           std::optional<size_t> memory_limit,
                                           std::shared_ptr<TraceSink> trace,
                                           const std::vector<PyDevice>& devices,
                                           std::optional<size_t> device_memory_limit);
  // Like Close, from any thread: the last reference may go with a completion, on a thread of the
  // scheduler's own, which then leaves the end to another one.
  ~PyRuntime();
  PyRuntime(const PyRuntime&) = delete;
  PyRuntime& operator=(const PyRuntime&) = delete;

  const std::shared_ptr<Runtime>& runtime() const { return runtime_; }
  uint32_t num_threads() const { return runtime_->num_threads(); }
  bool has_devices() const { return has_devices_; }
  // Made when it is first asked for. Not to be kept: Close waits until nobody has it.
  std::shared_ptr<Scheduler> scheduler();
  // Null before the first run of run_async, and after Close.
  std::shared_ptr<Scheduler> scheduler_if_any();
  // Fails in a process that was forked after threads were started: they are not there.
  void CheckFork() const;
  // Accepts no more runs of run_async, and waits until all have ended; signals are handled
  // meanwhile. Fails with kDeadlineExceeded after `timeout`.
  void Drain(std::optional<std::chrono::nanoseconds> timeout);
  // Cancels what the scheduler runs, and waits for it.
  void Close();

 private:
  std::shared_ptr<TraceSink> trace_;  // outlives the runtime
  std::shared_ptr<Runtime> runtime_;
  SchedulerOptions options_;
  std::mutex mutex_;
  std::shared_ptr<Scheduler> scheduler_;
  bool closed_ = false, has_devices_ = false;
  uint64_t generation_ = 0;  // of forks
};

// rvm.RunGroup: runs of run_async that are limited and counted together.
struct PyRunGroup {
  std::shared_ptr<PyRuntime> runtime;
  RunGroup group;
};

// Waits, for some seconds at most, until no thread of a scheduler is left: those of runtimes that
// nobody has any more end on threads of their own. With the GIL, when Python ends: they could not
// take it later.
void WaitForSchedulers();

}  // namespace relayvm::python
