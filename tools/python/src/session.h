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

#include "tools/python/src/arguments.h"
#include "tools/python/src/exchange.h"
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

// A tensor of a result that is known before a run: it goes to an array that is made for it, which
// takes less than to bring it out of the run.
struct SmallResult {
  DType dtype;
  std::vector<int64_t> dims;
};

// rvm.Model's native part. Thread-safe.
class Session : public HeldByPointer {
 public:
  Session(std::shared_ptr<const Executable> executable, std::shared_ptr<PyRuntime> runtime,
          pybind11::dict host_functions);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  const std::shared_ptr<const Executable>& executable() const { return executable_; }
  const std::shared_ptr<PyRuntime>& runtime() const { return runtime_; }
  const ExportInfo& Export(const std::string& name) const;

  // A run to its end on this thread. The GIL is given away meanwhile; on the main thread a signal's
  // handler runs within 50 ms, and its exception cancels the run.
  // `library`: as BoundFunction has it.
  pybind11::object Run(const ExportInfo& function, const CallArguments& given,
                       const ExchangeFunctions* library);
  // On the scheduler. `done(result, None)` or `done(None, exception)` is called once, from any
  // thread; `host_call(pending)` for each call of a host function.
  Scheduler::Handle Start(const ExportInfo& function, const CallArguments& given,
                          const pybind11::object& done, const pybind11::object& host_call);

  pybind11::object HostFunctionOf(const PendingCall& call) const;
  void Trim();

 private:
  class Lease;
  // What is kept for the next call.
  struct Idle {
    std::unique_ptr<Invocation> invocation;
    std::vector<Value> spares;  // memory of small inputs; nobody else has it
  };

  Idle Acquire();
  void Release(Idle idle) noexcept;
  // What a host function or the handler of a signal raises is thrown.
  Result<Value> Drive(Invocation& invocation, const ExportInfo& function, std::vector<Value> inputs,
                      std::vector<OutputBuffer> outputs);

  std::shared_ptr<const Executable> executable_;
  std::shared_ptr<PyRuntime> runtime_;
  pybind11::dict host_functions_;
  std::vector<std::vector<SmallResult>> small_results_;  // by export; empty: there are others
  std::mutex mutex_;
  std::vector<Idle> idle_;
};

// The body of a host function that Python has.
Result<Value> CallPython(HostCall& call);

}  // namespace relayvm::python
