#include "tools/python/src/state.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <pybind11/stl.h>

#include <algorithm>

#include "tools/python/src/arrays.h"
#include "tools/python/src/errors.h"
#include "tools/python/src/values.h"

namespace relayvm::python {

namespace py = pybind11;

namespace {

// Of the input, also where that may be left out.
const ValueType& TensorOf(const PyState& s, size_t input) {
  const ValueType& type = s.info->params[input];
  return type.kind == ValueType::Kind::kTensor ? type : type.args[0];
}

py::object Get(const PyState& s, const std::string& name) {
  s.Find(name);
  Value value = ValueOrThrow(s.state.Get(name));
  return value ? FromValue(std::move(value), {}, s.executable) : py::none();
}

void Set(PyState& s, const std::string& name, const py::object& object) {
  const size_t i = s.Find(name);
  Value value;
  if (!object.is_none()) value = ToValue(object, TensorOf(s, i), s.executable->program(), name);
  ThrowIfError(s.state.Set(name, std::move(value)));
}

py::dict All(const PyState& s) {
  py::dict all;
  for (const std::string& name : s.Names()) all[name.c_str()] = Get(s, name);
  return all;
}

// bfloat16, which files of numpy do not have, as its bits.
Value InDType(const Value& value, DType dtype) { return CopyOf(dtype, value.dims(), value.data()); }

// What a file holds: by name, without what is none.
py::dict ForFile(const PyState& s) {
  py::dict arrays;
  for (const std::string& name : s.Names()) {
    Value value = ValueOrThrow(s.state.Get(name));
    if (!value) continue;
    if (value.device() != nullptr)
      throw py::value_error(fmt::format("state {} is on device {}: copy it to the host first", name,
                                        value.device()->name()));
    if (value.dtype() == DType::kBFloat16) value = InDType(value, DType::kUInt16);
    arrays[name.c_str()] = FromValue(std::move(value), {}, s.executable);
  }
  return arrays;
}

// All of a file, or nothing.
void FromFile(PyState& s, const py::dict& arrays) {
  State before = s.state;
  s.state.Reset();
  try {
    for (const auto& [key, array] : arrays) {
      const auto name = key.cast<std::string>();
      ValueType type = TensorOf(s, s.Find(name));
      const bool is_bits = type.dtype == DType::kBFloat16;
      if (is_bits) type.dtype = DType::kUInt16;
      Value value = ToValue(array, type, s.executable->program(), name);
      if (is_bits) value = InDType(value, DType::kBFloat16);
      ThrowIfError(s.state.Set(name, std::move(value)));
    }
  } catch (...) {
    s.state = std::move(before);
    throw;
  }
}

std::string Repr(const PyState& s) {
  std::vector<std::string> kept;
  for (const std::string& name : s.Names()) {
    const Value value = ValueOrThrow(s.state.Get(name));
    kept.push_back(value.is_tensor() ? fmt::format("{}: {}({})", name, DTypeName(value.dtype()),
                                                   fmt::join(value.dims(), ", "))
                                     : name + ": none");
  }
  return fmt::format("<relayvm state of {}: {}>", s.info->name, fmt::join(kept, ", "));
}

}  // namespace

PyState PyState::Of(const std::shared_ptr<Session>& session, const std::string& function) {
  const ExportInfo& info = session->Export(function);
  return {session->executable(), &info,
          ValueOrThrow(State::Create(session->executable(), function))};
}

std::vector<std::string> PyState::Names() const {
  std::vector<std::string> names;
  for (const StateInfo& s : info->states) names.push_back(info->param_names[s.input]);
  return names;
}

size_t PyState::Find(const std::string& name) const {
  for (const StateInfo& s : info->states) {
    if (info->param_names[s.input] == name) return s.input;
  }
  throw py::key_error(
      fmt::format("{} keeps no {}; it keeps {}", info->name, name, fmt::join(Names(), ", ")));
}

void DefineState(py::module_& m) {
  py::class_<PyState>(m, "State",
                      "What a model keeps between calls: one stream's; see Model.state().")
      .def("__getitem__", Get)
      .def("__setitem__", Set)
      .def("__len__", [](const PyState& s) { return s.info->states.size(); })
      .def("__iter__", [](const PyState& s) { return py::iter(py::cast(s.Names())); })
      .def("__repr__", Repr)
      .def("keys", &PyState::Names)
      .def("items", [](const PyState& s) { return All(s).attr("items")(); })
      .def_property(
          "in_place", [](const PyState& s) { return s.state.in_place(); },
          [](PyState& s, bool in_place) { s.state.set_in_place(in_place); },
          "Whether a run writes what it changes where it lies, and not a copy: one that fails\n"
          "leaves the state as before the first run then.")
      .def("reset", [](PyState& s) { s.state.Reset(); })
      .def("copy", [](const PyState& s) { return s; })
      .def(
          "save",
          [](const PyState& s, const py::object& path) {
            py::module_::import("relayvm.state").attr("save")(path, ForFile(s));
          },
          py::arg("path"))
      .def(
          "load",
          [](PyState& s, const py::object& path) {
            FromFile(s, py::module_::import("relayvm.state").attr("load")(path));
          },
          py::arg("path"));
}

}  // namespace relayvm::python
