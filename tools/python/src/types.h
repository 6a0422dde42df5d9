// Types and dims that Python makes and reads. REQUIRES: the GIL is held.
#pragma once

#include <pybind11/pybind11.h>

#include "tools/python/src/nodes.h"

namespace relayvm::python {

// An int, or a Dim.
pybind11::object ObjectOfDim(const Dim& d, const Home& home);
// relayvm.compiler._native's Type and Dim, and what makes them.
void AddTypes(pybind11::module_& m);

}  // namespace relayvm::python
