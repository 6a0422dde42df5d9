#include "tools/python/src/errors.h"
#include "tools/python/src/values.h"
#include "tools/python/src/without_gil.h"
#include "vm/api/dlpack_exchange.h"

namespace relayvm::python {

namespace py = pybind11;

namespace {

constexpr const char* kLegacy = "dltensor";
constexpr const char* kVersioned = "dltensor_versioned";

// Capsules that nobody has taken are named as they were made.
template <typename T>
void DropCapsule(PyObject* capsule, const char* name) {
  if (PyCapsule_IsValid(capsule, name) == 0) return;
  auto* tensor = static_cast<T*>(PyCapsule_GetPointer(capsule, name));
  if (tensor != nullptr && tensor->deleter != nullptr) tensor->deleter(tensor);
}

template <typename T>
Value Take(PyObject* capsule, const char* name, const char* used, const Runtime* runtime) {
  auto* tensor = static_cast<T*>(PyCapsule_GetPointer(capsule, name));
  if (tensor == nullptr) throw py::error_already_set();
  // From here on it is ours to delete.
  if (PyCapsule_SetName(capsule, used) != 0) throw py::error_already_set();
  // It may have to be copied. Nothing is read of it here: it may be of another version.
  return ValueOrThrow(WithoutTheGil([&] { return FromDLPack(tensor, runtime); }));
}

}  // namespace

py::object ToCapsule(const Value& value, bool versioned) {
  PyObject* capsule = nullptr;
  if (versioned) {
    DLManagedTensorVersioned* tensor = ValueOrThrow(ToDLPack(value));
    capsule = PyCapsule_New(tensor, kVersioned, [](PyObject* c) {
      DropCapsule<DLManagedTensorVersioned>(c, kVersioned);
    });
    if (capsule == nullptr) tensor->deleter(tensor);
  } else {
    DLManagedTensor* tensor = ValueOrThrow(ToLegacyDLPack(value));
    capsule = PyCapsule_New(tensor, kLegacy,
                            [](PyObject* c) { DropCapsule<DLManagedTensor>(c, kLegacy); });
    if (capsule == nullptr) tensor->deleter(tensor);
  }
  if (capsule == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(capsule);
}

Value FromCapsule(py::handle capsule, const Runtime* runtime) {
  if (PyCapsule_IsValid(capsule.ptr(), kVersioned) != 0)
    return Take<DLManagedTensorVersioned>(capsule.ptr(), kVersioned, "used_dltensor_versioned",
                                          runtime);
  if (PyCapsule_IsValid(capsule.ptr(), kLegacy) != 0)
    return Take<DLManagedTensor>(capsule.ptr(), kLegacy, "used_dltensor", runtime);
  throw py::type_error("expected a capsule of DLPack that nobody has taken");
}

}  // namespace relayvm::python
