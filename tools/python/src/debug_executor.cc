#include "tools/python/src/debug_executor.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/api/reference_program.h"
#include "compiler/reference/value_summary.h"
#include "tools/python/src/errors.h"
#include "tools/python/src/interruptible.h"
#include "tools/python/src/module.h"
#include "tools/python/src/program.h"
#include "tools/python/src/values.h"
#include "tools/python/src/without_gil.h"

namespace relayvm::python {

namespace py = pybind11;

namespace {

struct DebugProgram {
  std::shared_ptr<const ReferenceProgram> program;
};

DebugProgram Make(const PyModule& module, const std::string& entry) {
  LoadedModel model = module.model;
  if (!model.module.functions.contains(entry))
    Throw({StatusCode::kNotFound, fmt::format("there is no function @{}", entry)});
  model.module.entry = entry;
  return {Interruptible<std::shared_ptr<const ReferenceProgram>>(
      [&](const std::stop_token&) { return ReferenceProgram::Make(model); })};
}

// What Python sees of a value inside a run: arrays, tuples, Adt; None for functions and references.
py::object ResultOf(const reference::Value& root, const DebugProgram& self) {
  struct Frame {
    const reference::Data* data;
    py::list fields;
  };
  std::vector<Frame> stack;
  std::optional<py::object> made;
  auto begin = [&](const reference::Value& value) {
    const HostTensor* tensor = reference::TensorOf(value);
    if (tensor != nullptr && tensor->dtype == DType::kString) {
      made = py::none();  // its texts are the run's
    } else if (tensor != nullptr) {
      made = FromValue(ValueOrThrow(FromReference(value)), ValueType(), self.program->signature());
    } else if (const auto* data = value->As<reference::Data>()) {
      stack.push_back({data, py::list()});
    } else {
      made = py::none();
    }
  };
  begin(root);
  while (!stack.empty()) {
    Frame& top = stack.back();
    if (made) top.fields.append(*std::exchange(made, std::nullopt));
    if (const size_t i = top.fields.size(); i < top.data->fields.size()) {
      begin(top.data->fields[i]);
      continue;
    }
    py::tuple fields(top.fields);
    if (top.data->constructor == nullptr) {
      made = std::move(fields);
    } else {
      made = py::module_::import("relayvm.adt")
                 .attr("Adt")
                 .attr("_make")(top.data->constructor->name, std::move(fields));
    }
    stack.pop_back();
  }
  return *std::move(made);
}

py::dict EventOf(const reference::ValueEvent& event, const DebugProgram& self) {
  py::dict d;
  d["name"] = event.Name();
  d["operator"] = event.Operation();
  d["function"] = event.function.name;
  d["relay_type"] = event.var.type == nullptr ? "?" : ir::TypeToString(event.var.type);
  const Status at = self.program->module().sources->Error(StatusCode::kInternal, event.span(), "");
  d["place"] = at.detail()->places.empty() ? py::dict() : PlaceOf(at.detail()->places[0]);
  d["summary"] = reference::SummaryText(event.value);
  d["value"] = ResultOf(event.value, self);
  return d;
}

// `args` is no py::args, after which pybind11 lets nothing come by position.
py::object RunDebug(const DebugProgram& self, const py::tuple& args, const py::dict& kwargs,
                    const py::object& on_value) {
  const std::shared_ptr<const Executable>& signature = self.program->signature();
  const ExportInfo& main = signature->program().exports.at(0);
  const std::vector<Value> inputs = InputsOf(signature->program(), main, args, kwargs);
  py::object raised;
  reference::Options options;
  if (!on_value.is_none()) {
    options.observe = [&](const reference::ValueEvent& event) -> Status {
      const GilAcquire gil;
      try {
        on_value(EventOf(event, self));
        return OkStatus();
      } catch (py::error_already_set& e) {
        raised = e.value();
        return {StatusCode::kCancelled, "on_value raised an exception"};
      }
    };
  }
  try {
    Value result = Interruptible<Value>([&](std::stop_token stop) {
      options.stop = std::move(stop);
      return self.program->Run(inputs, options);
    });
    return FromValue(std::move(result), main.result, signature);
  } catch (py::error_already_set&) {
    if (!raised) throw;
  }
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(raised.ptr())), raised.ptr());
  throw py::error_already_set();
}

}  // namespace

void AddDebugExecutor(py::module_& m) {
  py::class_<DebugProgram>(m, "DebugProgram")
      .def(py::init(&Make))
      .def("run", RunDebug)
      .def("inputs",
           [](const DebugProgram& p) {
             return Describe(p.program->signature()->info().functions.at(0).inputs);
           })
      .def("outputs", [](const DebugProgram& p) {
        return Describe(p.program->signature()->info().functions.at(0).outputs);
      });
}

}  // namespace relayvm::python
