// A module of the compiler's IR, as Python holds it.
#pragma once

#include "compiler/api/module.h"
#include "compiler/pass.h"

namespace relayvm::python {

// With the operators of plugins that it calls. Immutable.
struct PyModule {
  LoadedModel model;
  Facts holds;  // what passes have made of it
};

}  // namespace relayvm::python
