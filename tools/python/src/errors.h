// Failures as Python exceptions: a class for each StatusCode (relayvm/errors.py), with the message
// and the fields of StatusDetail. REQUIRES: the GIL is held.
#pragma once

#include <pybind11/pybind11.h>

#include <utility>

#include "bytecode/base/status.h"
#include "bytecode/base/status_detail.h"

namespace relayvm::python {

// The arguments of relayvm.errors.Place.
pybind11::dict PlaceOf(const StatusPlace& place);
// The exception object, not raised.
pybind11::object ErrorOf(const Status& status);
// Raises it. REQUIRES: !status.ok().
[[noreturn]] void Throw(const Status& status);

inline void ThrowIfError(const Status& status) {
  if (!status.ok()) Throw(status);
}
template <typename T>
T ValueOrThrow(Result<T> result) {
  if (!result.ok()) Throw(result.status());
  return std::move(result).value();
}

}  // namespace relayvm::python
