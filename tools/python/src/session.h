// A program on a runtime, as Python calls it: invocations that are kept for the next call, runs on
// the calling thread and on the runtime's scheduler, host functions in Python.
//
// Python code never runs on an invocation's fiber, whose stack is small: a host function in Python
// suspends its run, and whoever drives that calls it: the calling thread, or the event loop.
#pragma once

#include <pybind11/pybind11.h>

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "tools/python/src/runtime.h"
#include "vm/api/relayvm.h"
#include "vm/schedule/scheduler.h"

namespace relayvm::python {

// A call of a host function that waits for Python.
struct PendingCall : HeldByPointer {
  std::shared_ptr<const Executable> executable;
  size_t function = 0;  // index into Program::host_functions
  std::vector<Value> args;
  Waker waker;
  std::mutex mutex;
  bool done = false;  // under mutex, as the result
  Status status;
  Value result;

  void Finish(Result<Value> value);
};

// What a run's host functions go through (InvocationOptions::host_context).
class HostContext {
 public:
  virtual ~HostContext() = default;
  // From a thread that runs the program, without the GIL.
  virtual void Call(std::shared_ptr<PendingCall> call) = 0;
};

// A function's inputs by position and name (a dict that may be null). `without_states`: those of
// states need not be given.
std::vector<Value> InputsOf(const Program& program, const ExportInfo& function,
                            const pybind11::tuple& args, const pybind11::dict& kwargs,
                            bool without_states = false);

// rvm.Model's native part. Thread-safe.
class Session : public HeldByPointer {
 public:
  Session(std::shared_ptr<const Executable> executable, std::shared_ptr<PyRuntime> runtime,
          pybind11::dict host_functions)
      : executable_(std::move(executable)),
        runtime_(std::move(runtime)),
        host_functions_(std::move(host_functions)) {}
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  const std::shared_ptr<const Executable>& executable() const { return executable_; }
  const std::shared_ptr<PyRuntime>& runtime() const { return runtime_; }
  const ExportInfo& Export(const std::string& name) const;

  // A run to its end on this thread. The GIL is given away meanwhile; on the main thread a signal's
  // handler runs within 50 ms, and its exception cancels the run. `out`: None or a buffer an
  // output. `kwargs` may be null.
  pybind11::object Run(const ExportInfo& function, const pybind11::tuple& args,
                       pybind11::dict kwargs);
  // On the scheduler. `done(result, None)` or `done(None, exception)` is called once, from any
  // thread; `host_call(pending)` for each call of a host function.
  Scheduler::Handle Start(const ExportInfo& function, const pybind11::tuple& args,
                          pybind11::dict kwargs, const pybind11::object& done,
                          const pybind11::object& host_call);

  pybind11::object HostFunctionOf(const PendingCall& call) const;
  void Trim();

 private:
  std::unique_ptr<Invocation> Acquire();
  void Release(std::unique_ptr<Invocation> invocation);

  std::shared_ptr<const Executable> executable_;
  std::shared_ptr<PyRuntime> runtime_;
  pybind11::dict host_functions_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Invocation>> idle_;
};

// The body of a host function that Python has.
Result<Value> CallPython(HostCall& call);

}  // namespace relayvm::python
