// A time that Python gives, as `timeout`.
#pragma once

#include <fmt/format.h>
#include <pybind11/pybind11.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <optional>

namespace relayvm::python {

// None where it is None. Throws ValueError, which names it.
inline std::optional<std::chrono::nanoseconds> Seconds(pybind11::handle value, const char* name) {
  if (value.is_none()) return std::nullopt;
  const double seconds = value.cast<double>();
  if (!(seconds >= 0) || seconds > 1e9)
    throw pybind11::value_error(
        fmt::format("{}: expected seconds from 0 to 1e9, found {}", name, seconds));
  // A timeout of nothing has passed at once; 0 would be none.
  return std::chrono::nanoseconds(std::max<int64_t>(1, std::llround(seconds * 1e9)));
}

}  // namespace relayvm::python
