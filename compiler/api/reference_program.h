// A program as the reference interpreter runs it (compiler/reference), with the runtime's values at
// its border: the executor "debug". Not part of the library's interface. Immutable; thread-safe.
// Tested by reference_program_test.cc.
#pragma once

#include <memory>
#include <span>

#include "compiler/api/module.h"
#include "compiler/reference/interpreter.h"
#include "vm/border/value.h"
#include "vm/run/executable.h"

namespace relayvm {

class ReferenceProgram {
 public:
  // Infers types, of what ReadModel gives. Fails as the program is wrong.
  static Result<std::shared_ptr<const ReferenceProgram>> Make(const LoadedModel& model);

  // Its entry function's parameters and result, and data types: for who reads and prints values. It
  // cannot run.
  const std::shared_ptr<const Executable>& signature() const { return signature_; }
  const ir::Module& module() const { return module_; }

  // Runs the entry function. Fails as reference::Run does; with kInvalidArgument, where an input is
  // no value of its parameter; with kUnsupported for a result with functions or references in it,
  // which only live inside. What it gives does not need this program.
  Result<Value> Run(std::span<const Value> inputs, const reference::Options& options = {}) const;

 private:
  ReferenceProgram() = default;
  ir::Module module_;
  std::shared_ptr<const Executable> signature_;
};

// A value of the interpreter as one of the runtime, memory shared where it may be. kUnsupported for
// functions and references. Strings are ids of `strings`; null: there are none.
Result<Value> FromReference(const reference::Value& value, const StringTable* strings = nullptr);
// The other way; `type` tells constructors. The tensors share the value's memory. Fails with
// kInvalidArgument for a value that is none of the type, kUnsupported for data of an open type.
Result<reference::Value> ToReference(const Value& value, const ir::Type& type,
                                     const ir::Module& module, StringTable* strings = nullptr);

}  // namespace relayvm
