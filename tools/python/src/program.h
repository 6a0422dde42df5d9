// What the modules of the runtime and of the compiler share: a program as Python holds it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bytecode/program.h"
#include "tools/python/src/session.h"
#include "vm/run/executable.h"

namespace relayvm::python {

struct PyProgram {
  std::shared_ptr<const Executable> executable;
};

// A function of a program on a runtime.
struct BoundFunction {
  std::shared_ptr<Session> session;
  const ExportInfo* info;  // of the session's program
  // Results are tensors of this library's, where they are tensors; null: arrays of numpy. Inputs
  // that want gradients are taken then too.
  const ExchangeFunctions* library = nullptr;
  const FunctionSignature& signature() const {
    return *session->executable()->info().FindFunction(info->name).value();
  }
};

// Inputs or outputs of a function: for each, what relayvm.model.Argument takes.
pybind11::list Describe(const std::vector<NamedType>& parts);

}  // namespace relayvm::python
