// One function of the compiler's IR of Python's records (nodes.h). Tested by
// tools/python/tests/test_relay.py.
#pragma once

#include <pybind11/pybind11.h>

#include <string>
#include <vector>

#include "compiler/ir/ir.h"
#include "tools/python/src/nodes.h"

namespace relayvm::python {

using Position = size_t;  // of a record

// What the records of one function say, as far as it is needed more than once.
struct Record {
  std::string kind;
  std::vector<Position> operands;
  pybind11::object payload;
  pybind11::object type;
  ir::Span span;
  const ir::Var* bound = nullptr;  // of the module that is built for
};

std::vector<Record> ReadRecords(const ir::Module& m, const pybind11::list& list);

// How much of the types that the module had is taken for what the new one states.
enum class KeptTypes : uint8_t {
  kOfRecursive,  // of variables whose value is the same as before, and results of recursive functions: these
                 // would be known less well
  kOfUnchanged,  // of variables whose value is the same as before
  kAll,
};

// Positions of records, those of several functions, by the names "#0", "#1" ... of variables.
struct Numbering {
  std::vector<Position> positions;

  std::string NewName(Position position);
  // Of a variable that NewName named; else null.
  const Position* Find(const std::string& name) const;
};

// The function that the records say, of a module. `is_recursive`: the one of this name was.
// `numbering`, if not null: each value that is no atom, and each variable, gets a variable with a
// number of its own.
Result<const ir::Function*> FunctionOf(const ir::Module& m, const std::vector<Record>& records,
                                       std::string name, bool is_recursive, KeptTypes keep,
                                       Numbering* numbering);

}  // namespace relayvm::python
