#include "tools/python/src/values.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/python/src/arrays.h"
#include "tools/python/src/errors.h"
#include "tools/python/src/instances.h"
#include "tools/python/src/without_gil.h"

namespace relayvm::python {

namespace py = pybind11;

namespace {

using Types = std::vector<ValueType>;

// `type` with `args` for its type parameters.
ValueType Substitute(const ValueType& type, const Types& args) {
  if (type.kind == ValueType::Kind::kTypeVar)
    return type.index < args.size() ? args[type.index] : type;
  ValueType result = type;
  for (ValueType& arg : result.args) arg = Substitute(arg, args);
  return result;
}

const AdtInfo& AdtOf(const ValueType& type, const Program& program) {
  return program.adts.at(type.index);
}

bool IsAdt(const ValueType& type) { return type.kind == ValueType::Kind::kAdt; }

// What a list of Python can stand for: a constructor without fields and one of an element and the
// rest.
struct ListForm {
  uint32_t empty, link;
};
std::optional<ListForm> ListFormOf(const ValueType& type, const Program& program) {
  if (!IsAdt(type)) return std::nullopt;
  const auto& constructors = AdtOf(type, program).constructors;
  if (constructors.size() != 2) return std::nullopt;
  for (uint32_t empty : {0U, 1U}) {
    const ConstructorInfo& link = constructors[1 - empty];
    if (!constructors[empty].fields.empty() || link.fields.size() != 2) continue;
    const ValueType& rest = link.fields[1];
    if (IsAdt(rest) && rest.index == type.index) return ListForm{empty, 1 - empty};
  }
  return std::nullopt;
}

// --- Tensors in ---

void ReleaseBuffer(void* context) {
  auto* view = static_cast<Py_buffer*>(context);
  if (Py_IsInitialized() != 0) {  // else the process ends
    const WithGil gil;
    PyBuffer_Release(view);
  }
  delete view;
}

[[noreturn]] void ThrowDType(const std::string& what, DType expected, const std::string& found) {
  ThrowIfError({StatusCode::kInvalidArgument,
                fmt::format("{}: expected {}, found {}", what, DTypeName(expected), found)});
  std::abort();  // not reached
}

Value FromBuffer(py::handle object, const ValueType& type, const std::string& what) {
  auto view = std::make_unique<Py_buffer>();
  if (PyObject_GetBuffer(object.ptr(), view.get(), PyBUF_FULL_RO) != 0)
    throw py::error_already_set();
  struct Release {
    Py_buffer* view;
    ~Release() {
      if (view != nullptr) PyBuffer_Release(view);
    }
  } release{view.get()};
  DType dtype;
  if (!DTypeOfFormat(view->format, view->itemsize, &dtype)) {
    ThrowDType(what, type.dtype,
               fmt::format("elements of format '{}' and {} bytes, which Relay has not",
                           view->format != nullptr ? view->format : "B", view->itemsize));
  }
  // numpy has no bfloat16: its bits are.
  if (type.dtype == DType::kBFloat16 && dtype == DType::kUInt16) dtype = DType::kBFloat16;
  std::array<int64_t, 64> dims;
  if (view->ndim > static_cast<int>(dims.size())) throw py::value_error(what + ": too many dims");
  for (int i = 0; i < view->ndim; ++i) dims[static_cast<size_t>(i)] = view->shape[i];
  const std::span<const int64_t> shape(dims.data(), static_cast<size_t>(view->ndim));
  const bool compact = PyBuffer_IsContiguous(view.get(), 'C') != 0;
  const auto bytes = static_cast<size_t>(view->len);
  if (compact && IsShared(view->buf, bytes)) {
    release.view = nullptr;
    Py_buffer* kept = view.release();
    return ValueOrThrow(Value::WrapTensor(dtype, shape, kept->buf, ReleaseBuffer, kept));
  }
  if (compact) return CopyOf(dtype, shape, view->buf);
  if (view->suboffsets == nullptr) {
    const std::span<const int64_t> strides(view->strides, shape.size());
    if (auto copy = CopyStrided(dtype, shape, strides, view->buf)) return *std::move(copy);
  }
  Value value = ValueOrThrow(Value::NewTensor(dtype, shape));
  if (bytes > 0 && PyBuffer_ToContiguous(value.mutable_data(), view.get(), view->len, 'C') != 0)
    throw py::error_already_set();
  return value;
}

// Of the host's numbers to those of a program: a Python number without an array.
std::optional<Value> FromNumber(py::handle object, const ValueType& type, const std::string& what) {
  PyObject* o = object.ptr();
  const DType dtype = type.dtype;
  if (PyBool_Check(o)) {
    if (dtype == DType::kBool) return Value::Bool(o == Py_True);
  } else if (PyLong_Check(o)) {
    if (dtype == DType::kFloat32 || dtype == DType::kFloat64) {
      const double number = PyLong_AsDouble(o);
      if (number == -1 && PyErr_Occurred() != nullptr) throw py::error_already_set();
      return dtype == DType::kFloat32 ? Value::Float32(static_cast<float>(number))
                                      : Value::Float64(number);
    }
    if (!IsInt(dtype)) return std::nullopt;
    const int bits = DTypeBits(dtype);
    uint64_t canonical = 0;
    bool fits = false;
    if (dtype == DType::kUInt64) {
      canonical = PyLong_AsUnsignedLongLong(o);
      fits = PyErr_Occurred() == nullptr;
    } else {
      int overflow = 0;
      const int64_t number = PyLong_AsLongLongAndOverflow(o, &overflow);
      if (number == -1 && PyErr_Occurred() != nullptr) throw py::error_already_set();
      canonical = static_cast<uint64_t>(number);
      const int64_t most = bits == 64           ? INT64_MAX
                           : IsSignedInt(dtype) ? (int64_t{1} << (bits - 1)) - 1
                                                : (int64_t{1} << bits) - 1;
      fits = overflow == 0 && number <= most && number >= (IsSignedInt(dtype) ? -most - 1 : 0);
    }
    if (!fits) {
      PyErr_Clear();
      throw py::value_error(
          fmt::format("{}: {} is beyond {}", what, std::string(py::str(object)), DTypeName(dtype)));
    }
    return Value::Scalar(dtype, canonical);
  } else if (PyFloat_Check(o)) {
    if (dtype == DType::kFloat32) return Value::Float32(static_cast<float>(PyFloat_AS_DOUBLE(o)));
    if (dtype == DType::kFloat64) return Value::Float64(PyFloat_AS_DOUBLE(o));
  }
  return std::nullopt;
}

py::object Numpy() { return py::module_::import("numpy"); }

// An array of another dtype than the program's, where that loses nothing but digits of floats.
Value Converted(py::handle object, const ValueType& type, DType found, const std::string& what) {
  const py::object wanted = Numpy().attr("dtype")(py::str(std::string(DTypeName(type.dtype))));
  const py::object array = Numpy().attr("asarray")(object);
  const bool fits = IsFloat(type.dtype) || !IsFloat(found) ||
                    Numpy().attr("isfinite")(array).attr("all")().cast<bool>();
  const py::object converted = fits ? array.attr("astype")(wanted) : py::none();
  if (!fits ||
      (!IsFloat(type.dtype) && !Numpy().attr("array_equal")(converted, array).cast<bool>()))
    ThrowDType(what, type.dtype,
               fmt::format("{} with values that it does not have", DTypeName(found)));
  return FromBuffer(converted, type, what);
}

Value FromBufferOf(py::handle object, const ValueType& type, const std::string& what) {
  Value value = FromBuffer(object, type, what);
  if (value.dtype() == type.dtype || type.dtype == DType::kBFloat16) return value;
  return Converted(object, type, value.dtype(), what);
}

// An array of a dtype of ml_dtypes, which has no buffer, as one of its bytes: bfloat16, and floats
// and integers of 8 and fewer bits. Others as they are.
py::object WithBuffer(py::handle object) {
  auto same = py::reinterpret_borrow<py::object>(object);
  if (!py::hasattr(object, "dtype") || !py::hasattr(object, "view")) return same;
  const py::object dtype = object.attr("dtype");
  if (!py::hasattr(dtype, "type") || !py::hasattr(dtype, "itemsize")) return same;
  const auto module = dtype.attr("type").attr("__module__").cast<std::string>();
  if (!module.starts_with("ml_dtypes")) return same;
  const auto bytes = dtype.attr("itemsize").cast<int>();
  const auto name = dtype.attr("name").cast<std::string>();
  if (bytes == 2) return object.attr("view")("u2");
  return bytes == 1 ? object.attr("view")(name.starts_with("int") ? "i1" : "u1") : same;
}

// An array of str or bytes of any kind, or nested lists of them.
Value StringsFrom(const py::handle object, const std::string& what) {
  py::object array = py::hasattr(object, "dtype") || py::hasattr(object, "__array__")
                         ? Numpy().attr("asarray")(object)
                         : Numpy().attr("asarray")(object, "O");
  std::vector<int64_t> shape;
  for (const py::handle d : array.attr("shape")) shape.push_back(d.cast<int64_t>());
  const py::list items = array.attr("ravel")().attr("tolist")();
  std::vector<std::string_view> texts;
  texts.reserve(items.size());
  for (const py::handle item : items) {
    Py_ssize_t size = 0;
    char* text = nullptr;
    if (PyUnicode_Check(item.ptr())) {
      const char* utf8 = PyUnicode_AsUTF8AndSize(item.ptr(), &size);
      if (utf8 == nullptr) throw py::error_already_set();
      texts.emplace_back(utf8, static_cast<size_t>(size));
    } else if (PyBytes_Check(item.ptr()) &&
               PyBytes_AsStringAndSize(item.ptr(), &text, &size) == 0) {
      texts.emplace_back(text, static_cast<size_t>(size));
    } else {
      throw py::type_error(fmt::format("{}: expected a tensor of strings, element {} is of type {}",
                                       what, texts.size(), Py_TYPE(item.ptr())->tp_name));
    }
  }
  return ValueOrThrow(Value::CopyStrings(shape, texts));
}

Value TensorFrom(py::handle given, const ValueType& type, const std::string& what) {
  if (given.is_none())  // numpy would make a float of it, which is no number
    throw py::type_error(fmt::format("{}: expected a tensor, found None", what));
  if (type.kind == ValueType::Kind::kTensor && type.dtype == DType::kString)
    return StringsFrom(given, what);
  const py::object object = WithBuffer(given);
  if (auto number = FromNumber(object, type, what)) return *std::move(number);
  if (PyObject_CheckBuffer(object.ptr()) != 0 && PyBytes_Check(object.ptr()) == 0)
    return FromBufferOf(object, type, what);
  if (py::hasattr(object, "__dlpack__")) {
    // PyTorch's lazy negation, of which DLPack knows nothing.
    const py::object plain =
        py::hasattr(object, "resolve_neg") ? object.attr("resolve_neg")() : object;
    const py::object capsule = plain.attr("__dlpack__")();
    Value value = FromCapsule(capsule);
    if (value.dtype() == type.dtype || value.dtype() == DType::kBFloat16 ||
        type.dtype == DType::kBFloat16)
      return value;
    return Converted(ArrayOf(value), type, value.dtype(), what);
  }
  if (type.dtype == DType::kBFloat16)
    ThrowDType(what, type.dtype,
               fmt::format("a {}; give its bits as an array of uint16, or a tensor with DLPack",
                           Py_TYPE(object.ptr())->tp_name));
  // Nested lists of numbers, and what has __array__.
  const py::object wanted = py::str(std::string(DTypeName(type.dtype)));
  py::object array;
  try {
    array = py::hasattr(object, "__array__") ? Numpy().attr("asarray")(object)
                                             : Numpy().attr("asarray")(object, wanted);
  } catch (const py::error_already_set& e) {
    throw py::type_error(fmt::format("{}: expected a tensor of {}, found {}: {}", what,
                                     DTypeName(type.dtype), Py_TYPE(object.ptr())->tp_name,
                                     std::string(py::str(e.value()))));
  }
  return FromBufferOf(array, type, what);
}

// --- Trees in ---

// Found once: that takes a microsecond.
py::object AdtClass() {
  static PyObject* found = nullptr;
  if (found == nullptr)
    found = py::object(py::module_::import("relayvm.adt").attr("Adt")).release().ptr();
  return py::reinterpret_borrow<py::object>(found);
}

// A node of a tree that is being made: its fields are, one after the other.
struct Making {
  uint32_t tag = 0;
  Types types;                     // of the fields
  std::vector<py::object> fields;  // that are to be made
  std::vector<Value> made;
};

class Builder {
 public:
  Builder(const Program& program, const std::string& what)
      : program_(program), what_(what), adt_class_(AdtClass()) {}

  Value Make(py::handle root, const ValueType& type) {
    std::optional<Value> done = Begin(root, type);
    while (!stack_.empty()) {
      Making& top = stack_.back();
      if (done) {
        top.made.push_back(*std::exchange(done, std::nullopt));
        continue;
      }
      if (top.made.size() < top.fields.size()) {
        const size_t next = top.made.size();
        const py::object field = std::move(top.fields[next]);
        const ValueType field_type = top.types[next];
        done = Begin(field, field_type);  // may move `top`
        continue;
      }
      done = Value::Adt(top.tag, std::move(top.made));
      stack_.pop_back();
    }
    return *std::move(done);
  }

 private:
  // The value, where it has no fields to make; else it is on the stack.
  std::optional<Value> Begin(py::handle object, const ValueType& type) {
    if (IsInstance<Opaque>(object)) return object.cast<const Opaque&>().value;
    switch (type.kind) {
      case ValueType::Kind::kTensor:
        if (auto array = FromArray(object, type.dtype)) return array;
        return TensorFrom(object, type, what_);
      case ValueType::Kind::kTuple:
        return BeginTuple(object, type);
      case ValueType::Kind::kAdt:
        return BeginAdt(object, type);
      case ValueType::Kind::kTypeVar:
        return BeginOpen(object);
      default:
        throw py::type_error(
            fmt::format("{}: expected a {} that a program has given, found {}", what_,
                        type.kind == ValueType::Kind::kRef ? "reference" : "function",
                        Py_TYPE(object.ptr())->tp_name));
    }
  }

  std::optional<Value> BeginTuple(py::handle object, const ValueType& type) {
    if (!PyTuple_Check(object.ptr()) && !PyList_Check(object.ptr()))
      Refuse(object, fmt::format("a tuple of {}", type.args.size()));
    std::vector<py::object> fields;
    for (py::handle field : object) fields.push_back(py::reinterpret_borrow<py::object>(field));
    if (fields.size() != type.args.size())
      throw py::value_error(fmt::format("{}: expected a tuple of {}, found one of {}", what_,
                                        type.args.size(), fields.size()));
    return Push(0, std::move(fields), type.args);
  }

  // What a type parameter of the function leaves open: by the value itself.
  std::optional<Value> BeginOpen(py::handle object) {
    if (py::isinstance(object, adt_class_)) {
      const auto name = object.attr("constructor").cast<std::string>();
      for (size_t i = 0; i < program_.adts.size(); ++i) {
        if (std::ranges::find(program_.adts[i].constructors, name, &ConstructorInfo::name) ==
            program_.adts[i].constructors.end())
          continue;
        ValueType adt;
        adt.kind = ValueType::Kind::kAdt;
        adt.index = static_cast<uint32_t>(i);
        return BeginAdt(object, adt);
      }
      throw py::value_error(fmt::format("{}: the program has no constructor {}", what_, name));
    }
    if (PyTuple_Check(object.ptr())) {
      ValueType tuple;
      tuple.kind = ValueType::Kind::kTuple;
      ValueType open;
      open.kind = ValueType::Kind::kTypeVar;
      open.index = UINT32_MAX;
      tuple.args.assign(py::len(object), open);
      return BeginTuple(object, tuple);
    }
    return TensorFrom(object, GuessType(object), what_);
  }

  // As Relay's own literals are: float32, int32, bool; an array's is its own.
  static ValueType GuessType(py::handle object) {
    ValueType type;
    if (PyBool_Check(object.ptr())) {
      type.dtype = DType::kBool;
    } else if (PyLong_Check(object.ptr())) {
      type.dtype = DType::kInt32;
    } else if (py::hasattr(object, "dtype")) {
      const auto name = py::str(object.attr("dtype")).cast<std::string>();
      const auto dtype = ParseDType(name);
      if (dtype) type.dtype = *dtype;
      // numpy's: "<U5", "|S5", and objects, which can be nothing else.
      if (name.starts_with("<U") || name.starts_with(">U") || name.starts_with("|S") ||
          name == "object")
        type.dtype = DType::kString;
    }
    return type;
  }

  std::optional<Value> BeginAdt(py::handle object, const ValueType& type) {
    const AdtInfo& adt = AdtOf(type, program_);
    if (py::isinstance(object, adt_class_)) {
      const auto name = object.attr("constructor").cast<std::string>();
      const auto found = std::ranges::find(adt.constructors, name, &ConstructorInfo::name);
      if (found == adt.constructors.end())
        throw py::value_error(fmt::format("{}: {} has no constructor {}; it has {}", what_,
                                          adt.name, name, Names(adt)));
      return Fields(object.attr("fields"), *found,
                    static_cast<uint32_t>(found - adt.constructors.begin()), type);
    }
    if (const auto list = ListFormOf(type, program_);
        list && (PyList_Check(object.ptr()) || PyTuple_Check(object.ptr())))
      return BeginList(object, *list, type);
    // By the number of fields, where that tells.
    const bool is_tuple = PyTuple_Check(object.ptr()) != 0;  // a list may be a tensor
    const size_t count = object.is_none() ? 0 : is_tuple ? py::len(object) : 1;
    const ConstructorInfo* chosen = nullptr;
    for (const ConstructorInfo& c : adt.constructors) {
      if (c.fields.size() != count) continue;
      if (chosen != nullptr) {
        chosen = nullptr;
        break;
      }
      chosen = &c;
    }
    if (chosen == nullptr)
      Refuse(object, fmt::format("a {}: rvm.Adt(name, ...), of {}", adt.name, Names(adt)));
    const auto tag = static_cast<uint32_t>(chosen - adt.constructors.data());
    if (object.is_none()) return Value::Adt(tag, {});
    if (is_tuple) return Fields(py::reinterpret_borrow<py::object>(object), *chosen, tag, type);
    return Push(tag, {py::reinterpret_borrow<py::object>(object)}, FieldTypes(*chosen, type));
  }

  // The elements first, then the links from the last one on: no depth for a long list.
  std::optional<Value> BeginList(py::handle object, const ListForm& form, const ValueType& type) {
    const Types fields = FieldTypes(AdtOf(type, program_).constructors[form.link], type);
    std::vector<Value> elements;
    for (py::handle element : object) {
      Builder one(program_, what_);
      elements.push_back(one.Make(element, fields[0]));
    }
    Value list = Value::Adt(form.empty, {});
    for (size_t i = elements.size(); i-- > 0;)
      list = Value::Adt(form.link, {std::move(elements[i]), std::move(list)});
    return list;
  }

  std::optional<Value> Fields(const py::object& given, const ConstructorInfo& constructor,
                              uint32_t tag, const ValueType& type) {
    std::vector<py::object> fields;
    for (py::handle field : given) fields.push_back(py::reinterpret_borrow<py::object>(field));
    if (fields.size() != constructor.fields.size())
      throw py::value_error(fmt::format("{}: constructor {} has {} fields, found {}", what_,
                                        constructor.name, constructor.fields.size(),
                                        fields.size()));
    return Push(tag, std::move(fields), FieldTypes(constructor, type));
  }

  static Types FieldTypes(const ConstructorInfo& constructor, const ValueType& type) {
    Types types;
    for (const ValueType& field : constructor.fields) types.push_back(Substitute(field, type.args));
    return types;
  }

  std::optional<Value> Push(uint32_t tag, std::vector<py::object> fields, Types types) {
    if (fields.empty()) return Value::Adt(tag, {});
    Making making;
    making.tag = tag;
    making.types = std::move(types);
    making.fields = std::move(fields);
    stack_.push_back(std::move(making));
    return std::nullopt;
  }

  [[noreturn]] void Refuse(py::handle object, const std::string& expected) const {
    throw py::type_error(
        fmt::format("{}: expected {}, found {}", what_, expected, Py_TYPE(object.ptr())->tp_name));
  }

  static std::string Names(const AdtInfo& adt) {
    std::vector<std::string> names;
    for (const ConstructorInfo& c : adt.constructors)
      names.push_back(
          fmt::format("{} ({} field{})", c.name, c.fields.size(), c.fields.size() == 1 ? "" : "s"));
    return fmt::format("{}", fmt::join(names, ", "));
  }

  const Program& program_;
  const std::string& what_;
  py::object adt_class_;
  std::vector<Making> stack_;
};

// --- Out ---

py::object LeafOf(Value value, const std::shared_ptr<const Executable>& executable,
                  const ExchangeFunctions* library) {
  // An argument that was passed through: its memory is that of an array, which may be filled anew.
  if (value.is_borrowed() && value.bytes() > 0)
    value = CopyOf(value.dtype(), value.dims(), value.data());
  const bool is_plain = value.is_tensor() && value.device() == nullptr;
  if (library != nullptr && is_plain && value.dtype() != DType::kString)
    return ToExchange(std::move(value), *library);
  if (is_plain && value.dtype() != DType::kBFloat16) return ArrayOf(std::move(value));
  return py::cast(Opaque{std::move(value), executable});
}

// A node whose fields are being turned into objects.
struct Reading {
  const ConstructorInfo* constructor = nullptr;  // null: a tuple
  Types made;                                    // of the fields, where `types` are not others'
  std::span<const ValueType> types;              // of the first fields; the others' are open
  std::vector<Value> fields;
  py::tuple objects;
  size_t next = 0;
};

}  // namespace

Value ToValue(py::handle object, const ValueType& type, const Program& program,
              const std::string& what, Value* spare, bool with_gradients) {
  if (type.kind == ValueType::Kind::kTensor) {
    if (auto array = FromArray(object, type.dtype, spare)) return *std::move(array);
    if (auto tensor = FromExchange(object, type.dtype, spare, with_gradients))
      return *std::move(tensor);
    if (!IsInstance<Opaque>(object)) return TensorFrom(object, type, what);
  }
  return Builder(program, what).Make(object, type);
}

py::object FromValue(Value value, const ValueType& type,
                     const std::shared_ptr<const Executable>& executable,
                     std::span<const py::object> given, const ExchangeFunctions* library) {
  const Program& program = executable->program();
  static const ValueType open;
  std::vector<Reading> stack;
  py::object done;
  auto begin = [&](Value v, const ValueType& t) {
    if (v.kind() == Value::Kind::kNone) {  // it went to the caller's buffer
      while (!given.empty() && given[0].is_none()) given = given.subspan(1);
      done = given.empty() ? py::none() : given[0];
      if (!given.empty()) given = given.subspan(1);
      return;
    }
    if (v.kind() != Value::Kind::kAdt) {
      done = LeafOf(std::move(v), executable, library);
      return;
    }
    Reading reading;
    if (t.kind == ValueType::Kind::kTuple) {
      reading.types = t.args;
    } else if (IsAdt(t)) {
      reading.constructor = &AdtOf(t, program).constructors.at(v.tag());
      for (const ValueType& f : reading.constructor->fields)
        reading.made.push_back(Substitute(f, t.args));
      reading.types = reading.made;
    }
    const size_t count = v.num_fields();
    reading.fields.reserve(count);
    for (size_t i = 0; i < count; ++i) reading.fields.push_back(v.field(i));
    reading.objects = py::tuple(count);
    stack.push_back(std::move(reading));  // and `v` goes: fields have one owner less
  };
  begin(std::exchange(value, Value()), type);
  while (!stack.empty()) {
    Reading& top = stack.back();
    if (done) PyTuple_SET_ITEM(top.objects.ptr(), top.next++, done.release().ptr());
    if (top.next < top.fields.size()) {
      const ValueType& field_type = top.next < top.types.size() ? top.types[top.next] : open;
      begin(std::move(top.fields[top.next]), field_type);  // may move `top`
      continue;
    }
    done = top.constructor == nullptr
               ? py::object(std::move(top.objects))
               : AdtClass().attr("_make")(top.constructor->name, std::move(top.objects));
    stack.pop_back();
  }
  return done;
}

}  // namespace relayvm::python
