#include "tools/python/src/program.h"

#include "bytecode/base/dtype.h"

namespace relayvm::python {

namespace py = pybind11;

namespace {

py::tuple ShapeOf(const TypeInfo& type) {
  py::tuple shape(type.dims.size());
  for (size_t i = 0; i < type.dims.size(); ++i) {
    const TypeInfo::Dim& dim = type.dims[i];
    if (dim.size >= 0) {
      shape[i] = dim.size;
    } else if (!dim.name.empty()) {
      shape[i] = dim.name;
    } else {
      shape[i] = py::none();
    }
  }
  return shape;
}

}  // namespace

py::list Describe(const std::vector<NamedType>& parts) {
  py::list described;
  for (const auto& [name, type, is_optional] : parts) {
    const bool tensor = type.kind == TypeInfo::Kind::kTensor;
    described.append(py::make_tuple(
        name, type.text,
        tensor ? py::object(py::str(std::string(DTypeName(type.dtype)))) : py::object(py::none()),
        tensor ? py::object(ShapeOf(type)) : py::object(py::none())));
  }
  return described;
}

}  // namespace relayvm::python
