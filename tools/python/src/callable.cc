#include "tools/python/src/callable.h"

#include <structmember.h>

#include <array>
#include <cstddef>
#include <exception>
#include <memory>
#include <span>

#include "tools/python/src/instances.h"

namespace relayvm::python {

namespace py = pybind11;

namespace {

struct Callable {
  PyObject_HEAD;
  vectorcallfunc vectorcall;
  BoundFunction* function;  // its own; null: there is none yet
};

Callable* Of(PyObject* self) { return reinterpret_cast<Callable*>(self); }

PyObject* CallBound(PyObject* self, const CallArguments& given) {
  const BoundFunction* function = Of(self)->function;
  if (function == nullptr) {
    PyErr_Format(PyExc_TypeError, "this %s has no function to call", Py_TYPE(self)->tp_name);
    return nullptr;
  }
  return Call(*function, given);
}

PyObject* CallWithTuple(PyObject* self, PyObject* args, PyObject* kwargs) {
  try {
    const ArgumentsOf given(py::reinterpret_borrow<py::tuple>(args),
                            py::reinterpret_borrow<py::dict>(kwargs));
    return CallBound(self, given);
  } catch (...) {
    py::detail::translate_exception(std::current_exception());
    return nullptr;
  }
}

// Of a class whose __call__ is another one.
PyObject* CallOther(PyObject* self, PyObject* const* args, size_t count, PyObject* names) {
  try {
    py::tuple positional(count);
    for (size_t i = 0; i < count; ++i) positional[i] = py::handle(args[i]);
    py::dict named;
    const Py_ssize_t num_names = names != nullptr ? PyTuple_GET_SIZE(names) : 0;
    for (Py_ssize_t i = 0; i < num_names; ++i)
      named[PyTuple_GET_ITEM(names, i)] = py::handle(args[count + static_cast<size_t>(i)]);
    return Py_TYPE(self)->tp_call(self, positional.ptr(), named.ptr());
  } catch (...) {
    py::detail::translate_exception(std::current_exception());
    return nullptr;
  }
}

PyObject* CallVector(PyObject* self, PyObject* const* args, size_t count_and_flags,
                     PyObject* names) {
  const auto count = static_cast<size_t>(PyVectorcall_NARGS(count_and_flags));
  if (Py_TYPE(self)->tp_call != CallWithTuple) return CallOther(self, args, count, names);
  CallArguments given;
  given.positional = {args, count};
  if (names != nullptr) {
    given.names = {PySequence_Fast_ITEMS(names), static_cast<size_t>(PyTuple_GET_SIZE(names))};
    given.named = args + count;
  }
  return CallBound(self, given);
}

PyObject* New(PyTypeObject* type, PyObject* /*args*/, PyObject* /*kwargs*/) {
  PyObject* self = type->tp_alloc(type, 0);
  if (self != nullptr) Of(self)->vectorcall = CallVector;
  return self;
}

void Delete(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  delete Of(self)->function;
  type->tp_free(self);
  Py_DECREF(type);
}

// _bind(Function): what calls of this are, once.
PyObject* Bind(PyObject* self, PyObject* function) {
  try {
    if (Of(self)->function != nullptr) throw py::type_error("_bind: it is bound already");
    Of(self)->function = std::make_unique<BoundFunction>(BoundFunctionOf(function)).release();
    return py::none().release().ptr();
  } catch (...) {
    py::detail::translate_exception(std::current_exception());
    return nullptr;
  }
}

// Before CPython 3.12 classes made in Python do not inherit that they are called by vectorcall.
PyObject* InitSubclass(PyObject* type, PyObject* /*args*/) {
#if PY_VERSION_HEX < 0x030C0000
  auto* made = reinterpret_cast<PyTypeObject*>(type);
  if (made->tp_call == CallWithTuple) made->tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL;
#else
  static_cast<void>(type);
#endif
  Py_RETURN_NONE;
}

}  // namespace

const BoundFunction& BoundFunctionOf(py::handle function) {
  if (!IsInstance<BoundFunction>(function)) throw py::type_error("expected a native Function");
  // pybind11's cast would make memory for one that __init__ has not made.
  auto* instance = reinterpret_cast<py::detail::instance*>(function.ptr());
  const auto* made =
      static_cast<const BoundFunction*>(instance->get_value_and_holder().value_ptr());
  if (made == nullptr) throw py::type_error("a Function that was not made");
  return *made;
}

PyObject* Call(const BoundFunction& function, const CallArguments& given) {
  try {
    const std::shared_ptr<Session> session = function.session;  // also when the call ends it
    return session->Run(*function.info, given, function.library).release().ptr();
  } catch (...) {
    py::detail::translate_exception(std::current_exception());
    return nullptr;
  }
}

void DefineCallable(py::module_& m) {
  static std::array<PyMethodDef, 3> methods = {{
      {"_bind", Bind, METH_O, nullptr},
      {"__init_subclass__", InitSubclass, METH_CLASS | METH_NOARGS, nullptr},
      {nullptr, nullptr, 0, nullptr},
  }};
  static std::array<PyMemberDef, 2> members = {{
      {"__vectorcalloffset__", T_PYSSIZET, offsetof(Callable, vectorcall), READONLY, nullptr},
      {nullptr, 0, 0, 0, nullptr},
  }};
  std::array<PyType_Slot, 6> slots = {{
      {Py_tp_new, reinterpret_cast<void*>(New)},
      {Py_tp_dealloc, reinterpret_cast<void*>(Delete)},
      {Py_tp_call, reinterpret_cast<void*>(CallWithTuple)},
      {Py_tp_methods, methods.data()},
      {Py_tp_members, members.data()},
      {0, nullptr},
  }};
  PyType_Spec spec = {"relayvm._native.Callable", sizeof(Callable), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_VECTORCALL,
                      slots.data()};
  const auto type = py::reinterpret_steal<py::object>(PyType_FromSpec(&spec));
  if (!type) throw py::error_already_set();
  m.attr("Callable") = type;
}

}  // namespace relayvm::python
