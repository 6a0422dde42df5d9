#include "tools/python/src/arrays.h"

#include <pybind11/numpy.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "tools/python/src/errors.h"
#include "tools/python/src/without_gil.h"

namespace relayvm::python {

namespace py = pybind11;

namespace {

using Api = py::detail::npy_api;

constexpr size_t kAlignment = 64;

static_assert(std::is_same_v<py::ssize_t, int64_t> && std::is_same_v<Py_intptr_t, int64_t>);

// numpy's number of a dtype's elements.
constexpr int kHalf = 23;
constexpr std::array<int, kNumDTypes> kTypeNumbers = {
    Api::NPY_BOOL_,   Api::NPY_INT8_,   Api::NPY_INT16_,  Api::NPY_INT32_,  Api::NPY_INT64_,
    Api::NPY_UINT8_,  Api::NPY_UINT16_, Api::NPY_UINT32_, Api::NPY_UINT64_, kHalf,
    Api::NPY_UINT16_, Api::NPY_FLOAT_,  Api::NPY_DOUBLE_};
int TypeNumber(DType dtype) { return kTypeNumbers[static_cast<size_t>(dtype)]; }

Api& NumpyApi() {
  LoadNumpy();
  return Api::get();
}

// Exactly numpy.ndarray. Where numpy is not there, nothing is.
bool IsPlainArray(py::handle object) {
  static const PyTypeObject* array_type = nullptr;
  const PyTypeObject* type = Py_TYPE(object.ptr());
  if (array_type == nullptr && std::string_view(type->tp_name) == "numpy.ndarray")
    array_type = NumpyApi().PyArray_Type_;
  return type == array_type;
}

// In the order of rows, of the processor's bytes.
bool IsCompactArray(const py::detail::PyArray_Proxy& array) {
  const char order = py::detail::array_descriptor_proxy(array.descr)->byteorder;
  return (array.flags & Api::NPY_ARRAY_C_CONTIGUOUS_) != 0 && (order == '=' || order == '|');
}
int TypeNumber(const py::detail::PyArray_Proxy& array) {
  return py::detail::array_descriptor_proxy(array.descr)->type_num;
}

size_t BytesOf(DType dtype, std::span<const int64_t> dims) {
  size_t bytes = static_cast<size_t>(DTypeBytes(dtype));
  for (const int64_t d : dims) bytes *= static_cast<size_t>(d);
  return bytes;
}

void ReleaseOwner(void* owner) {
  if (Py_IsInitialized() == 0) return;  // the process ends
  const WithGil gil;
  Py_DECREF(static_cast<PyObject*>(owner));
}

// Of str objects.
py::object ArrayOfStrings(const Value& value) {
  const std::span<const int64_t> dims = value.dims();
  py::list items;
  for (int64_t i = 0; i < value.num_elements(); ++i) {
    const std::string_view text = value.text(i);
    items.append(py::str(text.data(), text.size()));
  }
  const py::object numpy = py::module_::import("numpy");
  py::object flat = numpy.attr("empty")(value.num_elements(), "O");
  flat.attr("__setitem__")(py::ellipsis(), items);
  py::tuple shape(dims.size());
  for (size_t i = 0; i < dims.size(); ++i) shape[i] = dims[i];
  return flat.attr("reshape")(shape);
}

// An array of `data` (null: memory of its own), or an exception.
py::object NewArray(DType dtype, std::span<const int64_t> dims, void* data, int flags) {
  Api& api = NumpyApi();
  PyObject* descr = api.PyArray_DescrFromType_(TypeNumber(dtype));
  if (descr == nullptr) throw py::error_already_set();
  auto array = py::reinterpret_steal<py::object>(
      api.PyArray_NewFromDescr_(api.PyArray_Type_, descr, static_cast<int>(dims.size()),
                                dims.data(), nullptr, data, flags, nullptr));  // takes descr
  if (!array) throw py::error_already_set();
  return array;
}

}  // namespace

void LoadNumpy() {
  static bool is_loaded = false;
  if (is_loaded) return;
  // Importing lets other threads run. Were it left to pybind11, which imports while it makes a
  // static variable, one of them could wait for that with the GIL, which the import needs.
  py::module_::import("numpy.core.multiarray");
  is_loaded = true;
}

bool DTypeOfFormat(const char* format, py::ssize_t item_bytes, DType* dtype) {
  std::string_view f = format != nullptr ? format : "B";
  if (!f.empty() && (f[0] == '@' || f[0] == '=' || f[0] == '<' || (f[0] == '>' && item_bytes == 1)))
    f.remove_prefix(1);
  if (f.size() != 1) return false;
  auto pick = [&](DType one, DType two, DType four, DType eight) {
    if (item_bytes != 1 && item_bytes != 2 && item_bytes != 4 && item_bytes != 8) return false;
    *dtype = item_bytes == 1 ? one : item_bytes == 2 ? two : item_bytes == 4 ? four : eight;
    return true;
  };
  switch (f[0]) {
    case '?':
      *dtype = DType::kBool;
      return item_bytes == 1;
    case 'b':
    case 'h':
    case 'i':
    case 'l':
    case 'q':
    case 'n':
      return pick(DType::kInt8, DType::kInt16, DType::kInt32, DType::kInt64);
    case 'B':
    case 'H':
    case 'I':
    case 'L':
    case 'Q':
    case 'N':
      return pick(DType::kUInt8, DType::kUInt16, DType::kUInt32, DType::kUInt64);
    case 'e':
    case 'f':
    case 'd':
      return item_bytes != 1 &&
             pick(DType::kFloat16, DType::kFloat16, DType::kFloat32, DType::kFloat64);
    default:
      return false;
  }
}

bool IsOutputArray(py::handle object, OutputBuffer* buffer) {
  if (!IsPlainArray(object)) return false;
  const auto* array = py::detail::array_proxy(object.ptr());
  if (!IsCompactArray(*array) || (array->flags & Api::NPY_ARRAY_WRITEABLE_) == 0) return false;
  const auto* const number = std::ranges::find(kTypeNumbers, TypeNumber(*array));
  if (number == kTypeNumbers.end()) return false;
  buffer->dtype = static_cast<DType>(number - kTypeNumbers.begin());
  buffer->dims = {array->dimensions, static_cast<size_t>(array->nd)};
  buffer->data = array->data;
  return true;
}

bool IsShared(const void* data, size_t bytes) {
  return bytes >= kLeastShared && reinterpret_cast<uintptr_t>(data) % kAlignment == 0;
}

bool HasArrays(DType dtype) { return dtype != DType::kString && dtype != DType::kBFloat16; }

py::object EmptyArray(DType dtype, std::span<const int64_t> dims) {
  return NewArray(dtype, dims, nullptr, 0);
}

Value CopyOf(DType dtype, std::span<const int64_t> dims, const void* data, Value* spare) {
  const size_t bytes = BytesOf(dtype, dims);
  if (spare == nullptr || bytes >= kLeastShared) {
    const std::vector<int64_t> held(dims.begin(), dims.end());  // an array's shape may be set
    Result<Value> copy = Value();
    {
      const GilReleaseFor no_gil(bytes);
      copy = Value::CopyTensor(dtype, held, data);
    }
    return ValueOrThrow(std::move(copy));
  }
  void* memory = nullptr;
  if (*spare && spare->dtype() == dtype && std::ranges::equal(spare->dims(), dims))
    memory = spare->mutable_data();
  if (memory == nullptr) {
    *spare = ValueOrThrow(Value::CopyTensor(dtype, dims, data));
  } else if (bytes > 0) {
    std::memcpy(memory, data, bytes);
  }
  return *spare;
}

std::optional<Value> FromArray(py::handle object, DType dtype, Value* spare) {
  if (dtype == DType::kString || !IsPlainArray(object)) return std::nullopt;
  const auto* array = py::detail::array_proxy(object.ptr());
  if (!IsCompactArray(*array) || TypeNumber(*array) != TypeNumber(dtype)) return std::nullopt;
  return FromMemory(object, dtype, {array->dimensions, static_cast<size_t>(array->nd)}, array->data,
                    spare);
}

Value FromMemory(py::handle owner, DType dtype, std::span<const int64_t> dims, void* data,
                 Value* spare) {
  if (!IsShared(data, BytesOf(dtype, dims))) return CopyOf(dtype, dims, data, spare);
  Py_INCREF(owner.ptr());
  return ValueOrThrow(Value::WrapTensor(dtype, dims, data, ReleaseOwner, owner.ptr()));
}

py::object ArrayOf(Value value) {
  if (value.dtype() == DType::kString) return ArrayOfStrings(value);
  const std::span<const int64_t> dims = value.dims();
  const bool mine = value.mutable_data() != nullptr;
  const size_t bytes = value.bytes();
  if (bytes == 0) return NewArray(value.dtype(), dims, nullptr, 0);
  if (mine && bytes < kLeastShared) {  // a copy takes less than an owner
    py::object array = NewArray(value.dtype(), dims, nullptr, 0);
    std::memcpy(py::detail::array_proxy(array.ptr())->data, value.data(), bytes);
    return array;
  }
  auto kept = std::make_unique<Value>(std::move(value));
  const int writeable = mine ? Api::NPY_ARRAY_WRITEABLE_ : 0;
  py::object array = NewArray(kept->dtype(), kept->dims(), const_cast<void*>(kept->data()),
                              Api::NPY_ARRAY_C_CONTIGUOUS_ | Api::NPY_ARRAY_ALIGNED_ | writeable);
  py::capsule owner(kept.get(), [](void* v) { delete static_cast<Value*>(v); });
  static_cast<void>(kept.release());
  if (NumpyApi().PyArray_SetBaseObject_(array.ptr(), owner.release().ptr()) != 0)  // takes it
    throw py::error_already_set();
  return array;
}

}  // namespace relayvm::python
