// The executor "debug" in Python: the reference interpreter, which shows each value on its way.
#pragma once

#include <pybind11/pybind11.h>

namespace relayvm::python {

// The class DebugProgram of relayvm.compiler._native.
void AddDebugExecutor(pybind11::module_& m);

}  // namespace relayvm::python
