// Python objects to Values and back. A tensor comes from whatever has the buffer protocol, from
// __dlpack__, __array__, and numbers in nested lists; it leaves as a numpy array that is a view of
// the value's memory. Trees of any depth, of lists too, take no native stack. REQUIRES: the GIL is
// held.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <span>
#include <string>

#include "bytecode/program.h"
#include "tools/python/src/exchange.h"
#include "vm/border/value.h"
#include "vm/run/executable.h"

namespace relayvm {
class Runtime;
}

namespace relayvm::python {

// A tensor that is no numpy array: bfloat16, which numpy does not have. Closures and references are
// handed through programs as they are.
struct Opaque {
  Value value;
  // What has names and types for it; may be null for a tensor.
  std::shared_ptr<const Executable> executable;
};

// `type` of `program` says what numbers and tuples become. `what` names the argument in errors
// (TypeError, ValueError and those of errors.h). Memory is shared where it is compact and 64-byte
// aligned, and then kept until the value is dropped, from any thread. `spare`: as in arrays.h.
// `with_gradients`: as in exchange.h.
Value ToValue(pybind11::handle object, const ValueType& type, const Program& program,
              const std::string& what, Value* spare = nullptr, bool with_gradients = false);

// The object for a value of `type`. Memory of an argument is copied, so that results stay what they
// are when the caller fills its arrays anew. Arrays may be written when nobody else has the memory.
// Where the value has none, tensors went to the caller's buffers: those of `given` that are not
// None, in order. `library`: whose tensors become; null: arrays of numpy.
pybind11::object FromValue(Value value, const ValueType& type,
                           const std::shared_ptr<const Executable>& executable,
                           std::span<const pybind11::object> given = {},
                           const ExchangeFunctions* library = nullptr);

// "dltensor" capsules; versioned ones ("dltensor_versioned") where the consumer takes them.
pybind11::object ToCapsule(const Value& value, bool versioned);
// Memory of devices where `runtime` has them; null: none.
Value FromCapsule(pybind11::handle capsule, const Runtime* runtime = nullptr);

}  // namespace relayvm::python
