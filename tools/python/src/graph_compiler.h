// Graphs of compiled programs, in Python.
#pragma once

#include <pybind11/pybind11.h>

#include "compiler/api/compiler.h"

namespace relayvm::python {

// The class CompiledGraph of relayvm.compiler._native.
void AddGraphCompiler(pybind11::module_& m);

// A CompiledGraph of what was compiled with executor="graph".
pybind11::object MakeGraph(const CompiledModel& model);

}  // namespace relayvm::python
