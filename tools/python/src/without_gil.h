// Giving the GIL away where something waits for threads or gives much memory back: destructors, which run
// with it when the last reference of Python goes, and without it when that of a thread of ours does. And
// the reverse.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <optional>

namespace relayvm::python {

// Gives the GIL away for as long as it lives, if this thread has it.
class WithoutGil {
 public:
  WithoutGil() {
    if (PyGILState_Check() != 0) released_.emplace();
  }

 private:
  std::optional<pybind11::gil_scoped_release> released_;
};

// Takes the GIL for as long as it lives, unless this thread has it.
class WithGil {
 public:
  WithGil() {
    if (PyGILState_Check() == 0) taken_.emplace();
  }

 private:
  std::optional<pybind11::gil_scoped_acquire> taken_;
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
