#include "tools/python/src/arguments.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>

#include "bytecode/disassembler.h"
#include "tools/python/src/arrays.h"
#include "tools/python/src/errors.h"
#include "tools/python/src/exchange.h"
#include "tools/python/src/instances.h"
#include "tools/python/src/numbers.h"
#include "tools/python/src/runtime.h"
#include "tools/python/src/state.h"
#include "tools/python/src/values.h"
#include "vm/border/optional_inputs.h"

namespace relayvm::python {

namespace py = pybind11;

namespace {

std::string_view TextOf(PyObject* str) {
  Py_ssize_t size = 0;
  const char* text = PyUnicode_AsUTF8AndSize(str, &size);
  if (text == nullptr) throw py::error_already_set();
  return {text, static_cast<size_t>(size)};
}

}  // namespace

ArgumentsOf::ArgumentsOf(const py::tuple& args, const py::dict& kwargs) {
  arguments_.positional = {PySequence_Fast_ITEMS(args.ptr()), args.size()};
  if (!kwargs) return;
  for (const auto& [name, value] : kwargs) {
    held_.push_back(py::reinterpret_borrow<py::object>(name));
    held_.push_back(py::reinterpret_borrow<py::object>(value));
    names_.push_back(name.ptr());
    named_.push_back(value.ptr());
  }
  arguments_.names = names_;
  arguments_.named = named_.data();
}

// --- Options ---

bool CallOptions::Take(std::string_view name, py::handle value, bool is_input) {
  // What keeps a state is no input, whatever inputs are called.
  if (is_input && !(name == "state" && IsInstance<PyState>(value))) return false;
  if (name == "out") {
    out = py::reinterpret_borrow<py::object>(value);
  } else if (name == "state") {
    state = py::reinterpret_borrow<py::object>(value);
  } else if (name == "timeout") {
    timeout = Seconds(value, "timeout");
  } else if (name == "memory_limit") {
    memory_limit = Count(value, "memory_limit");
  } else if (name == "tag") {
    tag = Count(value, "tag").value_or(0);
  } else if (is_scheduled && name == "priority") {
    priority = py::reinterpret_borrow<py::object>(value);
  } else if (is_scheduled && name == "group") {
    group = py::reinterpret_borrow<py::object>(value);
  } else {
    return false;
  }
  return true;
}

// --- Inputs ---

std::vector<Value> ReadInputs(const Program& program, const ExportInfo& function,
                              const CallArguments& given, CallOptions* options,
                              const ReadingInputs& how) {
  const std::vector<std::string>& names = function.param_names;
  const size_t count = function.params.size();
  if (given.positional.size() > count)
    throw py::type_error(
        fmt::format("{} takes {} inputs, found {}", function.name, count, given.positional.size()));
  std::vector<Value>* const spares = how.spares;
  if (spares != nullptr && spares->size() < count) spares->resize(count);
  std::vector<Value> inputs(count);
  const auto set = [&](size_t i, PyObject* object) {
    inputs[i] = ToValue(object, function.params[i], program, names[i],
                        spares != nullptr ? &(*spares)[i] : nullptr, how.with_gradients);
  };
  for (size_t i = 0; i < given.positional.size(); ++i) set(i, given.positional[i]);
  for (size_t k = 0; k < given.names.size(); ++k) {
    const std::string_view name = TextOf(given.names[k]);
    const auto found = std::ranges::find(names, name);
    if (options != nullptr && options->Take(name, given.named[k], found != names.end())) continue;
    if (found == names.end())
      throw py::type_error(fmt::format("{} has no input {}; inputs: {}", function.name, name,
                                       fmt::join(names, ", ")));
    const auto i = static_cast<size_t>(found - names.begin());
    if (inputs[i]) throw py::type_error(fmt::format("input {} is given twice", name));
    set(i, given.named[k]);
  }
  return inputs;
}

void DropShared(std::vector<Value>& spares) {
  for (Value& spare : spares) {
    if (spare && spare.mutable_data() == nullptr) spare = Value();
  }
}

void CheckMissing(const Program& program, const ExportInfo& function,
                  const std::vector<Value>& inputs, bool without_states) {
  const auto is_state = [&](size_t i) {
    return std::ranges::find(function.states, i, &StateInfo::input) != function.states.end();
  };
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i] || (without_states && is_state(i))) continue;
    if (!vm::OptionalFormOf(program, function.params[i]))
      throw py::type_error(fmt::format("{}: input {} ({}) is missing", function.name,
                                       function.param_names[i],
                                       TypeToString(program, function.params[i])));
  }
}

std::vector<Value> InputsOf(const Program& program, const ExportInfo& function,
                            const py::tuple& args, const py::dict& kwargs) {
  std::vector<Value> inputs = ReadInputs(program, function, ArgumentsOf(args, kwargs), nullptr, {});
  CheckMissing(program, function, inputs, false);
  return inputs;
}

// --- Outputs ---

void Outputs::Read(const Executable& executable, const ExportInfo& function,
                   const py::object& out) {
  if (out.is_none()) return;
  if (PyDict_Check(out.ptr())) {
    AddNamed(*ValueOrThrow(executable.info().FindFunction(function.name)), out.cast<py::dict>());
  } else if (PyTuple_Check(out.ptr()) || PyList_Check(out.ptr())) {
    for (const py::handle one : out) Add(py::reinterpret_borrow<py::object>(one));
  } else {
    Add(out);
  }
}

void Outputs::AddNamed(const FunctionSignature& function, const py::dict& out) {
  std::vector<std::string_view> names;  // of those that may have buffers
  for (const NamedType& one : function.outputs) {
    if (one.type.kind == TypeInfo::Kind::kTensor) names.push_back(one.name);
  }
  std::vector<py::object> all(names.size(), py::none());
  for (const auto& [name, buffer] : out) {
    const auto found = std::ranges::find(names, name.cast<std::string>());
    if (found == names.end())
      throw py::value_error(fmt::format("out: there is no output {}; outputs: {}",
                                        name.cast<std::string>(), fmt::join(names, ", ")));
    all[static_cast<size_t>(found - names.begin())] = py::reinterpret_borrow<py::object>(buffer);
  }
  for (py::object& one : all) Add(std::move(one));
}

void Outputs::Add(py::object object) {
  OutputBuffer buffer;
  if (IsInstance<PyDevice>(object)) {
    devices_.push_back(object.cast<const PyDevice&>().device);
    buffer.device = devices_.back().get();
    object = py::none();  // what is left there is in the result
  } else if (!object.is_none() && !IsOutputArray(object, &buffer) &&
             !IsOutputTensor(object, &buffer)) {
    Py_buffer& view = views_.emplace_back();
    if (PyObject_GetBuffer(object.ptr(), &view,
                           PyBUF_WRITABLE | PyBUF_FORMAT | PyBUF_C_CONTIGUOUS) != 0) {
      views_.pop_back();
      throw py::error_already_set();
    }
    if (!DTypeOfFormat(view.format, view.itemsize, &buffer.dtype))
      throw py::type_error(
          fmt::format("out: buffer {} has elements that Relay has not", buffers_.size()));
    buffer.dims = {view.shape, static_cast<size_t>(view.ndim)};
    buffer.data = view.buf;
  }
  Add(std::move(object), buffer);
}

void Outputs::Add(py::object object, const OutputBuffer& buffer) {
  const size_t index = buffers_.size();
  buffers_.push_back(buffer);
  if (index == 0) {
    only_ = std::move(object);
    return;
  }
  if (index == 1) several_.push_back(std::move(only_));
  several_.push_back(std::move(object));
}

}  // namespace relayvm::python
