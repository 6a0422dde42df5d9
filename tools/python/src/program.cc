#include "tools/python/src/program.h"

#include <fmt/format.h>

#include <vector>

#include "bytecode/base/dtype.h"

namespace relayvm::python {

namespace py = pybind11;

namespace {

py::tuple ShapeOf(const ValueType& type) {
  py::tuple shape(type.dims.size());
  for (size_t i = 0; i < type.dims.size(); ++i) {
    if (type.dims[i] >= 0) {
      shape[i] = type.dims[i];
    } else if (i < type.dim_names.size() && !type.dim_names[i].empty()) {
      shape[i] = type.dim_names[i];
    } else {
      shape[i] = py::none();
    }
  }
  return shape;
}

// (name, Relay type, dtype or None, shape or None)
py::tuple Describe(const Program& program, const std::string& name, const ValueType& type) {
  const bool tensor = type.kind == ValueType::Kind::kTensor;
  return py::make_tuple(
      name, RelayTypeToString(program, type),
      tensor ? py::object(py::str(std::string(DTypeName(type.dtype)))) : py::object(py::none()),
      tensor ? py::object(ShapeOf(type)) : py::object(py::none()));
}

void CollectTensors(const ValueType& type, std::vector<const ValueType*>* tensors) {
  if (type.kind == ValueType::Kind::kTuple) {
    for (const ValueType& field : type.args) CollectTensors(field, tensors);
  } else {
    tensors->push_back(&type);
  }
}

}  // namespace

py::list DescribeInputs(const Program& program, const ExportInfo& info) {
  py::list inputs;
  for (size_t i = 0; i < info.params.size(); ++i)
    inputs.append(Describe(program, info.param_names[i], info.params[i]));
  return inputs;
}

py::list DescribeOutputs(const Program& program, const ExportInfo& info) {
  std::vector<const ValueType*> parts;
  CollectTensors(info.result, &parts);
  py::list outputs;
  for (size_t i = 0; i < parts.size(); ++i) {
    const bool named = parts.size() == info.output_names.size();
    outputs.append(
        Describe(program, named ? info.output_names[i] : fmt::format("output_{}", i), *parts[i]));
  }
  return outputs;
}

}  // namespace relayvm::python
