// Converters of a model's operators written in Python (custom_convert_map), as an importer calls
// them: on its thread, with the GIL for as long as they run. What they give is built where the
// importer builds, so that it is typed and folded as what the importer's own converters give.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <stop_token>

#include "compiler/import/user_operators.h"
#include "tools/python/src/python_pass.h"

namespace relayvm::python {

struct PythonConverters {
  import::UserOperators operators;
  std::shared_ptr<RaisedException> raised;
  std::shared_ptr<std::stop_token> stop;  // of the import; to be set before it begins
};

// Of {name: run}. run gets the operator's arguments, a list of None, bool, int, float, str,
// ("tensor", Type), ("tensor", Constant), ("number", Type), ("list", [...]), ("tuple", [...]). It
// gives the records (nodes.h) of a function over those that have types, in their order, whose body
// is a tuple, and what the call gives: the same, but for ("field", i). REQUIRES: the GIL is held,
// here and where the result dies.
PythonConverters ReadPythonConverters(const pybind11::dict& converters);

}  // namespace relayvm::python
