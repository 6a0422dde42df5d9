// The engines that regions of programs may run on, as keywords of Python say them.
#pragma once

#include <pybind11/pybind11.h>

#include <string>
#include <vector>

#include "vm/run/executable.h"

namespace relayvm::python {

// LoadOptions::engines, and what the loader says of them, which it may without the GIL.
struct Engines {
  std::vector<EngineLibrary> libraries;
  std::vector<std::string> notices;

  // `engines`: a dict of names and paths, "" for the one that comes with relayvm.
  explicit Engines(const pybind11::dict& engines) {
    for (const auto& [name, path] : engines)
      libraries.push_back({name.cast<std::string>(), path.cast<std::string>()});
  }
  Engines(const Engines&) = delete;
  Engines& operator=(const Engines&) = delete;

  // REQUIRES: this lives as long as the options.
  void Use(LoadOptions* options) {
    options->engines = libraries;
    options->notice = [this](const std::string& text) { notices.push_back(text); };
  }
  // As Python's warnings. REQUIRES: the GIL.
  void Warn() const {
    for (const std::string& text : notices) {
      if (PyErr_WarnEx(PyExc_RuntimeWarning, text.c_str(), 3) != 0)
        throw pybind11::error_already_set();
    }
  }
};

}  // namespace relayvm::python
