// TypeTable: the types of values at a program's border, each once, with type variables replaced by
// what they stand for.
//
// A list of 100,000 elements has one type; reading and printing it must not copy that type for each
// element. So a type is interned as a number, and the fields of a constructor (Cons of List[int32]:
// int32, List[int32]) are worked out once.
//
// The type parameters of a polymorphic function are variables here: reading an input binds them to
// what it turns out to be, and then the type that mentions a variable reads as the bound one. A
// variable that no input binds stays open. Not thread-safe. Tested by types_test.cc.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bytecode/program.h"

namespace relayvm::tools {

class TypeTable {
 public:
  using Id = uint32_t;

  // `program` is borrowed.
  explicit TypeTable(const Program& program) : program_(program) {}

  // The type with its type variables replaced by `args`, by position; those beyond stay.
  Id Intern(const ValueType& type, std::span<const Id> args = {});
  // The same with the function's type parameters as variables, the same ones for all its types.
  // REQUIRES: one function for each table.
  Id InternOf(const ExportInfo& function, const ValueType& type);

  // --- Variables. kind() is kTypeVar while they are open. ---
  Id NewVariable();
  // REQUIRES: `variable` is open. Nothing happens where `type` is that variable.
  void Bind(Id variable, Id type);
  // The type of the ADT with fresh variables for its type arguments.
  Id NewAdt(uint32_t adt);
  Id NewTuple(const std::vector<Id>& fields);

  ValueType::Kind kind(Id type) const { return At(type).shallow.kind; }
  // REQUIRES: kTensor.
  DType dtype(Id type) const { return At(type).shallow.dtype; }
  const std::vector<int64_t>& dims(Id type) const { return At(type).shallow.dims; }
  // Fields of a tuple, type arguments of an ADT, content of a reference.
  const std::vector<Id>& args(Id type) const { return At(type).args; }
  // REQUIRES: kAdt.
  const AdtInfo& adt(Id type) const { return program_.adts[At(type).shallow.index]; }
  // REQUIRES: kAdt, tag < adt(type).constructors.size().
  const std::vector<Id>& ConstructorFields(Id type, uint32_t tag);

  // As Relay writes it, to a depth and a length: ... for what is left out.
  std::string ToString(Id type) const;
  const Program& program() const { return program_; }

 private:
  struct Node {
    ValueType shallow;  // without args
    std::vector<Id> args;
    std::optional<Id> bound;                                   // kTypeVar: what it stands for
    std::vector<std::optional<std::vector<Id>>> constructors;  // kAdt: filled when asked for
  };
  Id Resolve(Id type) const {
    while (nodes_[type].bound) type = *nodes_[type].bound;
    return type;
  }
  const Node& At(Id type) const { return nodes_[Resolve(type)]; }
  Id Add(Node node);
  void Write(Id type, int depth, std::string* out) const;

  const Program& program_;
  std::vector<Id> parameters_;  // of the function, as variables
  std::deque<Node> nodes_;      // references stay valid while it grows
  std::map<std::string, Id> ids_;
};

}  // namespace relayvm::tools
