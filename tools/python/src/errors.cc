#include "tools/python/src/errors.h"

#include <cerrno>
#include <cstring>
#include <string>

namespace relayvm::python {

namespace py = pybind11;

namespace {

py::tuple TupleOf(const std::vector<int64_t>& numbers) {
  py::tuple t(numbers.size());
  for (size_t i = 0; i < numbers.size(); ++i) t[i] = numbers[i];
  return t;
}

// "ResourceExhausted" of "resource exhausted".
std::string ClassName(const Status& status) {
  const StatusCode code = status.code();
  // As the system says it of files, and nothing else does.
  if (code == StatusCode::kNotFound && (status.message().ends_with(std::strerror(ENOENT)) ||
                                        status.message().ends_with(std::strerror(ENOTDIR))))
    return "FileNotFound";
  std::string name;
  bool up = true;
  for (const char c : StatusCodeName(code)) {
    if (c == ' ') {
      up = true;
      continue;
    }
    name += up ? static_cast<char>(c - 'a' + 'A') : c;
    up = false;
  }
  return name;
}

}  // namespace

py::dict PlaceOf(const StatusPlace& place) {
  py::dict d;
  d["function"] = place.function;
  d["file"] = place.file;
  d["line"] = place.line;
  d["column"] = place.column;
  d["length"] = place.length;
  d["source_line"] = place.source_line;
  d["instruction"] = place.instruction;
  return d;
}

py::object ErrorOf(const Status& status) {
  const py::object type = py::module_::import("relayvm.errors").attr(ClassName(status).c_str());
  py::dict fields;
  if (const StatusDetail* detail = status.detail()) {
    py::list places;
    for (const StatusPlace& place : detail->places) places.append(PlaceOf(place));
    fields["places"] = places;
    fields["subject"] = detail->subject;
    fields["expected"] = TupleOf(detail->expected);
    fields["found"] = TupleOf(detail->found);
    fields["expected_text"] = detail->expected_text;
    fields["found_text"] = detail->found_text;
    fields["numbers"] = TupleOf(detail->numbers);
  }
  return type(status.message(), fields);
}

void Throw(const Status& status) {
  const py::object error = ErrorOf(status);
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())), error.ptr());
  throw py::error_already_set();
}

}  // namespace relayvm::python
