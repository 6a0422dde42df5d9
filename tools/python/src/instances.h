// Whether an object is one of a class of ours: pybind11's own way looks the class up by name each
// time.
#pragma once

#include <pybind11/pybind11.h>

namespace relayvm::python {

template <typename T>
bool IsInstance(pybind11::handle object) {
  static PyTypeObject* type = nullptr;  // null: the class is not there yet
  if (type == nullptr) {
    const pybind11::handle found = pybind11::detail::get_type_handle(typeid(T), false);
    type = reinterpret_cast<PyTypeObject*>(found.ptr());
    if (type == nullptr) return false;
  }
  return PyObject_TypeCheck(object.ptr(), type) != 0;
}

}  // namespace relayvm::python
