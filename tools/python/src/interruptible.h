// Long work of the compiler, on a thread of its own, so that Ctrl-C ends it. REQUIRES: the GIL is
// held.
#pragma once

#include <pybind11/pybind11.h>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <list>
#include <mutex>
#include <stop_token>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "bytecode/base/guarded.h"
#include "tools/python/src/errors.h"
#include "tools/python/src/without_gil.h"

namespace relayvm::python {

// How long a signal waits at most.
inline constexpr std::chrono::milliseconds kCompilerSignalSlice(20);

// Work that runs, of any thread. Once Python ends, that of others than the main thread is stopped
// at once.
class Work {
 public:
  explicit Work(std::stop_source stop);
  ~Work();
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;

 private:
  std::list<std::stop_source>::iterator at_;
};
// When Python ends: stops all, and waits for it, some seconds at most: what it needs is destroyed
// with the process, LLVM before all.
void StopWork();

// Runs `work` on a thread of its own while signals are handled here: what a handler raises stops
// it, and is raised.
template <typename T>
Result<T> InterruptibleResult(const std::function<Result<T>(std::stop_token)>& work) {
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;
  Result<T> result = Status(StatusCode::kInternal, "not run");
  const auto run = [&](const std::stop_token& stop) {
    // Nothing may leave a thread: memory that is short is an error as any other.
    Result<T> value = Guarded([&] { return work(stop); });
    const std::lock_guard lock(mutex);
    result = std::move(value);
    done = true;
    changed.notify_one();
  };
  std::jthread worker;
  try {
    worker = std::jthread(run);
  } catch (const std::system_error& e) {
    return Status(StatusCode::kResourceExhausted, std::string("no thread: ") + e.what());
  }
  const Work running(worker.get_stop_source());
  pybind11::object raised;
  while (true) {
    bool ended = false;
    {
      const GilRelease no_gil;
      std::unique_lock lock(mutex);
      ended = changed.wait_for(lock, kCompilerSignalSlice, [&] { return done; });
    }
    if (ended) break;
    if (!raised && PyErr_CheckSignals() != 0) {
      const pybind11::error_already_set e;
      raised = e.value();
      worker.request_stop();
    }
  }
  {
    const GilRelease no_gil;
    worker.join();
  }
  if (raised) {
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(raised.ptr())), raised.ptr());
    throw pybind11::error_already_set();
  }
  return result;
}

// The same; failures are exceptions.
template <typename T>
T Interruptible(const std::function<Result<T>(std::stop_token)>& work) {
  return ValueOrThrow(InterruptibleResult(work));
}

}  // namespace relayvm::python
