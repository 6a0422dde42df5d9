// A graph that runs (vm/graph/graph_module.h), as Python holds it: what the modules of the runtime
// and of the compiler share. The class that users see is in relayvm/graph.py.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>

#include "vm/graph/graph_module.h"

namespace relayvm::python {

struct PyGraph {
  std::shared_ptr<GraphModule> module;
  mutable bool is_running = false;  // under the GIL
};

// The class Graph of relayvm._native, and load_graph.
void AddGraph(pybind11::module_& m);

}  // namespace relayvm::python
