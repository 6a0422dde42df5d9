#include "tools/python/src/exchange.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tools/python/src/arrays.h"
#include "tools/python/src/errors.h"
#include "tools/python/src/without_gil.h"
#include "vm/api/dlpack_exchange.h"

namespace relayvm::python {

namespace py = pybind11;

// The layout of DLPack 1.2's DLPackExchangeAPI.
struct ExchangeFunctions {
  DLPackVersion version;
  ExchangeFunctions* older;
  void* allocate;
  int (*own)(void* object, DLManagedTensorVersioned** out);
  int (*give)(DLManagedTensorVersioned* tensor, void** out_object);
  int (*look)(void* object, DLTensor* out);
  void* stream_of;
};

namespace {

PyObject* Interned(const char* text) {
  PyObject* str = PyUnicode_InternFromString(text);
  if (str == nullptr) throw py::error_already_set();
  return str;
}

// An attribute, or null.
py::object Attribute(PyObject* object, PyObject* name) {
  auto found = py::reinterpret_steal<py::object>(PyObject_GetAttr(object, name));
  if (!found) PyErr_Clear();
  return found;
}

const ExchangeFunctions* FunctionsOf(const py::object& capsule) {
  constexpr const char* kName = "dlpack_exchange_api";
  if (!capsule || PyCapsule_IsValid(capsule.ptr(), kName) == 0) return nullptr;
  const auto* found =
      static_cast<const ExchangeFunctions*>(PyCapsule_GetPointer(capsule.ptr(), kName));
  while (found != nullptr && found->version.major != DLPACK_MAJOR_VERSION) found = found->older;
  return found != nullptr && found->look != nullptr ? found : nullptr;
}

// The class that has the functions, of which `type` is or comes from.
PyTypeObject* OwnerOf(PyTypeObject* type, PyObject* name) {
  PyObject* order = type->tp_mro;
  for (Py_ssize_t i = 0; order != nullptr && i < PyTuple_GET_SIZE(order); ++i) {
    auto* base = reinterpret_cast<PyTypeObject*>(PyTuple_GET_ITEM(order, i));
    if (base->tp_dict != nullptr && PyDict_GetItemWithError(base->tp_dict, name) != nullptr)
      return base;
    PyErr_Clear();
  }
  return nullptr;
}

const ExchangeFunctions* Find(PyTypeObject* type) {
  static PyObject* const name = Interned("__dlpack_c_exchange_api__");
  static PyObject* const dispatch = Interned("__torch_dispatch__");
  PyTypeObject* owner = OwnerOf(type, name);
  if (owner == nullptr) return nullptr;
  auto* const asked = reinterpret_cast<PyObject*>(type);
  auto* const own = reinterpret_cast<PyObject*>(owner);
  if (!Attribute(asked, dispatch).is(Attribute(own, dispatch))) return nullptr;
  return FunctionsOf(Attribute(asked, name));
}

bool IsTrue(PyObject* object, PyObject* name) { return Attribute(object, name).ptr() == Py_True; }

// Whether numbers are to be read with the other sign (PyTorch's lazy negation), of which DLPack
// knows nothing.
bool IsNegated(PyObject* object) {
  static PyObject* const name = Interned("is_neg");
  const auto answer = py::reinterpret_steal<py::object>(PyObject_CallMethodNoArgs(object, name));
  if (!answer) PyErr_Clear();
  return answer.ptr() == Py_True;
}
bool WantsGradients(PyObject* object) {
  static PyObject* const name = Interned("requires_grad");
  return IsTrue(object, name);
}

bool IsOf(const DLDataType& type, DType dtype) {
  const DLDataType expected = ToDLDataType(dtype);
  return type.lanes == 1 && type.bits == expected.bits && type.code == expected.code;
}

// Of a tensor on the host, compact; else false.
bool Look(PyObject* object, DLTensor* tensor) {
  const ExchangeFunctions* functions = ExchangeOf(Py_TYPE(object));
  if (functions == nullptr) return false;
  if (functions->look(object, tensor) != 0) {
    PyErr_Clear();
    return false;
  }
  return tensor->device.device_type == kDLCPU && tensor->ndim >= 0 && IsCompact(*tensor);
}

std::span<const int64_t> DimsOf(const DLTensor& t) {
  return {t.shape, static_cast<size_t>(t.ndim)};
}
void* DataOf(const DLTensor& t) {
  return t.data == nullptr ? nullptr : static_cast<char*>(t.data) + t.byte_offset;
}

// A tensor of the library's that has the memory of a value which nobody else has. ToDLPack's are
// not to be written, and take three allocations.
py::object Give(Value value, const ExchangeFunctions& functions) {
  constexpr size_t kMostDims = 8;
  struct Given {
    Value value;
    std::array<int64_t, kMostDims> shape, strides;
    DLManagedTensorVersioned tensor;
  };
  DLManagedTensorVersioned* tensor = nullptr;
  const std::span<const int64_t> dims = value.dims();
  if (dims.size() > kMostDims) {
    tensor = ValueOrThrow(ToDLPack(value));
  } else {
    auto* given = new Given{};
    tensor = &given->tensor;
    std::ranges::copy(dims, given->shape.begin());
    int64_t stride = 1;
    for (size_t i = dims.size(); i-- > 0; stride *= std::max<int64_t>(dims[i], 1))
      given->strides[i] = stride;
    tensor->version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
    tensor->manager_ctx = given;
    tensor->deleter = [](DLManagedTensorVersioned* self) {
      delete static_cast<Given*>(self->manager_ctx);
    };
    tensor->dl_tensor = {const_cast<void*>(value.data()),
                         {kDLCPU, 0},
                         static_cast<int32_t>(dims.size()),
                         ToDLDataType(value.dtype()),
                         given->shape.data(),
                         given->strides.data(),
                         0};
    given->value = std::move(value);
  }
  tensor->flags = 0;
  void* object = nullptr;
  if (functions.give(tensor, &object) != 0) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(static_cast<PyObject*>(object));
}

}  // namespace

const ExchangeFunctions* ExchangeOf(PyTypeObject* type) {
  static PyTypeObject* last = nullptr;
  static const ExchangeFunctions* last_functions = nullptr;
  if (type == last) return last_functions;
  // Of classes that have them, which are kept.
  static auto* const known = new std::unordered_map<PyTypeObject*, const ExchangeFunctions*>();
  auto found = known->find(type);
  if (found == known->end()) {
    const ExchangeFunctions* functions = Find(type);
    if (functions == nullptr) return nullptr;
    Py_INCREF(type);
    found = known->emplace(type, functions).first;
  }
  last = type;
  return last_functions = found->second;
}

std::optional<Value> FromExchange(py::handle object, DType dtype, Value* spare,
                                  bool with_gradients) {
  DLTensor tensor;
  if (dtype == DType::kString || !Look(object.ptr(), &tensor) || !IsOf(tensor.dtype, dtype))
    return std::nullopt;
  if (!with_gradients && WantsGradients(object.ptr())) return std::nullopt;
  if (IsNegated(object.ptr())) {
    const py::object plain = object.attr("resolve_neg")();
    return FromExchange(plain, dtype, spare, with_gradients);
  }
  return FromMemory(object, dtype, DimsOf(tensor), DataOf(tensor), spare);
}

std::optional<Value> CopyStrided(DType dtype, std::span<const int64_t> dims,
                                 std::span<const int64_t> strides, void* data) {
  const int64_t each = DTypeBytes(dtype);
  std::vector<int64_t> shape(dims.begin(), dims.end()), elements(strides.begin(), strides.end());
  for (int64_t& stride : elements) {
    if (stride % each != 0) return std::nullopt;
    stride /= each;
  }
  int64_t bytes = each;
  for (const int64_t d : shape) bytes *= d;
  DLManagedTensor tensor{};
  tensor.dl_tensor.data = data;
  tensor.dl_tensor.device = {kDLCPU, 0};
  tensor.dl_tensor.ndim = static_cast<int32_t>(shape.size());
  tensor.dl_tensor.dtype = ToDLDataType(dtype);
  tensor.dl_tensor.shape = shape.data();
  tensor.dl_tensor.strides = elements.data();
  Result<Value> copy = Value();
  {
    const GilReleaseFor no_gil(static_cast<size_t>(bytes));
    copy = FromDLPack(&tensor);
  }
  Value made = ValueOrThrow(std::move(copy));
  if (made.is_borrowed()) return std::nullopt;  // it was compact
  return made;
}

bool IsOutputTensor(py::handle object, OutputBuffer* buffer) {
  DLTensor tensor;
  if (!Look(object.ptr(), &tensor)) return false;
  if (WantsGradients(object.ptr()) || IsNegated(object.ptr())) return false;
  for (int i = 0; i < kNumDTypes; ++i) {
    const auto dtype = static_cast<DType>(i);
    if (!IsOf(tensor.dtype, dtype)) continue;
    buffer->dtype = dtype;
    buffer->dims = DimsOf(tensor);
    buffer->data = DataOf(tensor);
    return buffer->data != nullptr;
  }
  return false;
}

py::object EmptyTensor(const ExchangeFunctions& functions, OutputBuffer* buffer) {
  Value value = ValueOrThrow(Value::NewTensor(buffer->dtype, buffer->dims));
  buffer->data = value.mutable_data();
  return Give(std::move(value), functions);
}

py::object ToExchange(Value value, const ExchangeFunctions& functions) {
  if (value.mutable_data() == nullptr && value.bytes() > 0)
    value = CopyOf(value.dtype(), value.dims(), value.data());
  return Give(std::move(value), functions);
}

}  // namespace relayvm::python
