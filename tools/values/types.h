// TypeTable: the types of values at a program's border, each once, with type variables replaced by
// what they stand for.
//
// A list of 100,000 elements has one type; reading and printing it must not copy that type for each
// element. So a type is interned as a number, and the fields of a constructor (Cons of List[int32]:
// int32, List[int32]) are worked out once. Not thread-safe. Tested by types_test.cc.
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

  ValueType::Kind kind(Id type) const { return nodes_[type].shallow.kind; }
  // REQUIRES: kTensor.
  DType dtype(Id type) const { return nodes_[type].shallow.dtype; }
  const std::vector<int64_t>& dims(Id type) const { return nodes_[type].shallow.dims; }
  // Fields of a tuple, type arguments of an ADT, content of a reference.
  const std::vector<Id>& args(Id type) const { return nodes_[type].args; }
  // REQUIRES: kAdt.
  const AdtInfo& adt(Id type) const { return program_.adts[nodes_[type].shallow.index]; }
  // REQUIRES: kAdt, tag < adt(type).constructors.size().
  const std::vector<Id>& ConstructorFields(Id type, uint32_t tag);

  // As Relay writes it.
  std::string ToString(Id type) const;
  const Program& program() const { return program_; }

 private:
  struct Node {
    ValueType shallow;  // without args
    std::vector<Id> args;
    std::vector<std::optional<std::vector<Id>>> constructors;  // kAdt: filled when asked for
  };
  ValueType ToValueType(Id type) const;

  const Program& program_;
  std::deque<Node> nodes_;  // references stay valid while it grows
  std::map<std::string, Id> ids_;
};

}  // namespace relayvm::tools
