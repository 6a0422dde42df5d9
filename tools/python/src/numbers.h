// Numbers that Python gives as keywords. Throw TypeError and ValueError, which name them.
#pragma once

#include <fmt/format.h>
#include <pybind11/pybind11.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>

namespace relayvm::python {

// No error set: what the number is that Python has made.
template <typename T>
T NumberOr(T number, pybind11::handle value, const char* name, const char* wanted) {
  if (PyErr_Occurred() == nullptr) return number;
  const bool is_type = PyErr_ExceptionMatches(PyExc_TypeError) != 0;
  PyErr_Clear();
  const std::string message = fmt::format("{}: expected {}, found {}", name, wanted,
                                          pybind11::repr(value).cast<std::string>());
  if (is_type) throw pybind11::type_error(message);
  throw pybind11::value_error(message);
}

// Null where it is None.
inline std::optional<uint64_t> Count(pybind11::handle value, const char* name) {
  if (value.is_none()) return std::nullopt;
  constexpr const char* kWanted = "an int from 0 to 2^64 - 1";
  const auto index = pybind11::reinterpret_steal<pybind11::object>(PyNumber_Index(value.ptr()));
  if (!index) NumberOr(0, value, name, kWanted);
  return NumberOr(PyLong_AsUnsignedLongLong(index.ptr()), value, name, kWanted);
}

// None where it is None.
inline std::optional<std::chrono::nanoseconds> Seconds(pybind11::handle value, const char* name) {
  if (value.is_none()) return std::nullopt;
  constexpr const char* kWanted = "seconds from 0 to 1e9";
  const double seconds = NumberOr(PyFloat_AsDouble(value.ptr()), value, name, kWanted);
  if (!(seconds >= 0) || seconds > 1e9)
    throw pybind11::value_error(fmt::format("{}: expected {}, found {}", name, kWanted, seconds));
  // A timeout of nothing has passed at once; 0 would be none.
  return std::chrono::nanoseconds(std::max<int64_t>(1, std::llround(seconds * 1e9)));
}

}  // namespace relayvm::python
