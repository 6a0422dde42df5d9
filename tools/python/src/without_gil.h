// Giving the GIL away where something waits for threads or gives much memory back: destructors,
// which run with it when the last reference of Python goes, and without it when that of a thread of
// ours does. And the reverse.
#pragma once

#include <cxxabi.h>
#include <pybind11/pybind11.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

namespace relayvm::python {

// Whether no other thread than the main one gets the GIL any more.
inline bool IsPythonEnding() {
#if PY_VERSION_HEX >= 0x030D0000
  return Py_IsFinalizing() != 0;
#else
  return _Py_IsFinalizing() != 0;
#endif
}

// Runs `take`, which takes the GIL. While Python ends, that ends any thread but the main one:
// before CPython 3.14 by unwinding its stack, which ends the process where a frame or destructor of
// ours is not to be left so. Such a thread sleeps instead until the process is gone.
template <typename F>
auto TakeGil(F&& take) {
  try {
    return take();
  } catch (const abi::__forced_unwind&) {
    while (true) pause();
  }
}

// Gives the GIL away for as long as it lives. REQUIRES: this thread has it.
class GilRelease {
 public:
  GilRelease() : state_(PyEval_SaveThread()) {}
  ~GilRelease() {
    TakeGil([this] { PyEval_RestoreThread(state_); });
  }
  GilRelease(const GilRelease&) = delete;
  GilRelease& operator=(const GilRelease&) = delete;

 private:
  PyThreadState* state_;
};

// What `work` gives, which has not the GIL and throws no exception of Python's.
template <typename F>
auto WithoutTheGil(F&& work) {
  const GilRelease no_gil;
  return work();
}

// The same for work on so many bytes that it takes a microsecond or more. REQUIRES: as GilRelease;
// nothing throws an exception of Python's meanwhile.
class GilReleaseFor {
 public:
  explicit GilReleaseFor(size_t bytes) {
    if (bytes >= kLongBytes) released_.emplace();
  }

 private:
  static constexpr size_t kLongBytes = 16 << 10;
  std::optional<GilRelease> released_;
};

// Takes the GIL for as long as it lives.
class GilAcquire {
 public:
  GilAcquire() : taken_(TakeGil([] { return pybind11::gil_scoped_acquire(); })) {}
  GilAcquire(const GilAcquire&) = delete;
  GilAcquire& operator=(const GilAcquire&) = delete;

 private:
  pybind11::gil_scoped_acquire taken_;
};

// Whether this thread has the GIL. PyGILState_Check says so of all threads once there is a second
// interpreter.
inline bool HasGil() {
  const PyThreadState* own = PyGILState_GetThisThreadState();
  return own != nullptr && own == pybind11::detail::get_thread_state_unchecked();
}

// The thread that Python runs handlers of signals on. REQUIRES: the GIL is held.
inline bool IsMainThread() {
  static const auto main =
      pybind11::module_::import("threading").attr("main_thread")().attr("ident").cast<uint64_t>();
  return PyThread_get_thread_ident() == main;
}
// How long a signal waits at most in a run.
inline constexpr std::chrono::milliseconds kSignalSlice(20);

// Gives the GIL away for as long as it lives, if this thread has it.
class WithoutGil {
 public:
  WithoutGil() {
    if (HasGil()) released_.emplace();
  }

 private:
  std::optional<GilRelease> released_;
};

// Takes the GIL for as long as it lives, unless this thread has it.
class WithGil {
 public:
  WithGil() {
    if (!HasGil()) taken_.emplace();
  }

 private:
  std::optional<GilAcquire> taken_;
};

// Deletes without the GIL, for pybind11. REQUIRES: the object has none of Python's.
struct DeleteWithoutGil {
  template <typename T>
  void operator()(T* object) const {
    const WithoutGil no_gil;
    delete object;
  }
};

// The same object, which is destroyed without the GIL.
template <typename T>
std::shared_ptr<T> DestroyedWithoutGil(std::unique_ptr<T> object) {
  return {object.release(), [](T* last) {
            const WithoutGil no_gil;
            delete last;
          }};
}

}  // namespace relayvm::python
