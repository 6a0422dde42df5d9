// relayvm._native.Callable: the base of what is called as a function of a program (Model,
// Function). A call reaches the program without a frame of Python's, a tuple or a dict: by
// vectorcall. A subclass that has a __call__ of its own is called by that.
#pragma once

#include <pybind11/pybind11.h>

#include "tools/python/src/arguments.h"
#include "tools/python/src/program.h"

namespace relayvm::python {

// After BoundFunction.
void DefineCallable(pybind11::module_& m);

// TypeError where it is no Function, or was not made.
const BoundFunction& BoundFunctionOf(pybind11::handle function);

// A run to its end; null with an exception set where it fails.
PyObject* Call(const BoundFunction& function, const CallArguments& given);

}  // namespace relayvm::python
