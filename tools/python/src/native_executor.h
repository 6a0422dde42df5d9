// The executor "aot" in Python: a program's native code, linked into a shared object and loaded.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <string>

#include "compiler/api/compiler.h"
#include "tools/python/src/runtime.h"

namespace relayvm::python {

// The class NativeFunction of relayvm.compiler._native.
void AddNativeExecutor(pybind11::module_& m);

// A NativeFunction of an export of what was compiled.
// Runs take the threads and the memory of `runtime`; null: of one of the program's own.
pybind11::object MakeNative(const CompiledModel& model, const std::string& function,
                            std::shared_ptr<PyRuntime> runtime);

}  // namespace relayvm::python
