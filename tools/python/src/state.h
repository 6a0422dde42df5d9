// What a program keeps between runs, as Python holds it. REQUIRES: the GIL is held.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <string>
#include <vector>

#include "bytecode/program.h"
#include "tools/python/src/session.h"
#include "vm/border/state.h"

namespace relayvm::python {

struct PyState {
  // KeyError, ValueError and those of errors.h.
  static PyState Of(const std::shared_ptr<Session>& session, const std::string& function);

  std::vector<std::string> Names() const;
  // The parameter that a name stands for. KeyError.
  size_t Find(const std::string& name) const;

  std::shared_ptr<const Executable> executable;
  const ExportInfo* info;  // of it
  State state;
};

void DefineState(pybind11::module_& m);

}  // namespace relayvm::python
