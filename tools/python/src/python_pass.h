// Passes written in Python, as the compiler's pipeline runs them: on the thread of the compilation,
// with the GIL for as long as they run. KeyboardInterrupt reaches the pass where the compilation is
// told to stop.
#pragma once

#include <pybind11/pybind11.h>

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "compiler/pipeline.h"
#include "tools/python/src/module.h"

namespace relayvm::python {

// What a pass raised: that is what the caller of the compilation gets, as it is. REQUIRES: the GIL
// is held.
class RaisedException {
 public:
  void Set(pybind11::object value) {
    if (!value_) value_ = std::move(value);
  }
  const pybind11::object& value() const { return value_; }

 private:
  pybind11::object value_;
};

struct PythonPasses {
  std::vector<InsertedPass> passes;
  std::shared_ptr<RaisedException> raised;
};

// Of tuples (name, opt_level, place, run): run(Module) gives a Module of the same facts. REQUIRES:
// the GIL is held, here and where the result dies.
PythonPasses ReadPythonPasses(const pybind11::list& inserted, const CustomOperators& operators);

// Runs `compile`, which throws; where a pass (or a converter) raised an exception, throws that one.
// REQUIRES: the GIL is held.
void WithExceptionsOf(const RaisedException& raised, const std::function<void()>& compile);

}  // namespace relayvm::python
