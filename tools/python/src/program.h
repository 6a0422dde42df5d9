// What the modules of the runtime and of the compiler share: a program as Python holds it.
#pragma once

#include <memory>
#include <string>

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
  const Program& program() const { return session->executable()->program(); }
};

// A function's parameters, and the parts of its result depth first through tuples: for each, what
// relayvm.model.Argument takes.
pybind11::list DescribeInputs(const Program& program, const ExportInfo& info);
pybind11::list DescribeOutputs(const Program& program, const ExportInfo& info);

}  // namespace relayvm::python
