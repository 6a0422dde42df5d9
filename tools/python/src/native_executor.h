// The executor "aot" in Python: a program's native code, linked into a shared object and loaded.
#pragma once

#include <pybind11/pybind11.h>

#include <string>

#include "compiler/api/compiler.h"

namespace relayvm::python {

// The class NativeFunction of relayvm.compiler._native.
void AddNativeExecutor(pybind11::module_& m);

// A NativeFunction of an export of what was compiled.
pybind11::object MakeNative(const CompiledModel& model, const std::string& function);

}  // namespace relayvm::python
