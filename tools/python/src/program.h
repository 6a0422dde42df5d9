// What the modules of the runtime and of the compiler share: a program as Python holds it.
#pragma once

#include <memory>
#include <string>

#include "tools/python/src/session.h"
#include "vm/executable.h"

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

}  // namespace relayvm::python
