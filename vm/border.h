// The border of an invocation: values in are checked against the export's types, objects out become
// values. Tested by border_test.cc.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "bytecode/base/status.h"
#include "vm/executable.h"
#include "vm/object.h"
#include "vm/value.h"

namespace relayvm::vm {

// A type parameter of the export stands for any tensor, tuple or constructor, each use on its own:
// a program that treats it as opaque, as typed programs do, cannot tell. Fails with
// kInvalidArgument: "main: parameter %x: expected Tensor[(?, 300), float32], found Tensor[(2, 200),
// float32]".
Status CheckInputs(const Program& program, const ExportInfo& function,
                   std::span<const Value> inputs);

// Empty when the object is of `type`, which has no variables; else "expected X, found Y", with the
// tensors in `detail`.
std::string CheckType(const Program& program, const Object* object, const ValueType& type,
                      StatusDetail* detail);

// The value of a result. Large tensors change hands without a copy: their memory leaves the heap.
// What is shared inside the result stays shared; a closure becomes opaque. `num_objects`, if not
// null, receives how many objects were walked. The object must not be used afterwards, except to
// release it.
Result<Value> ExportObject(Heap& heap, const std::shared_ptr<const Executable>& executable,
                           Object* object, size_t* num_objects);

// The value of an object that the program may go on to use; with `last_use`, it is only released
// afterwards. Large tensors that nobody else holds then change hands, others are copied.
Result<Value> ExportArgument(Heap& heap, const std::shared_ptr<const Executable>& executable,
                             Object* object, bool last_use);
// The object of a value that the host gave, copied into the heap. Null without memory: what was made
// until then stays for Heap::Reset. REQUIRES: it holds no closures and references.
Object* ImportValue(Heap& heap, const Value& value);

}  // namespace relayvm::vm
