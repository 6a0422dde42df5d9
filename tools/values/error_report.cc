#include "tools/values/error_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "tools/values/numbers.h"
#include "tools/values/tensor_file.h"

namespace relayvm::tools {

TensorError ErrorOf(const Value& found, const Value& exact) {
  TensorError error;
  error.elements = exact.num_elements();
  const DType dtype = exact.dtype();
  const auto width = static_cast<int64_t>(DTypeBytes(dtype));
  const char* a = static_cast<const char*>(found.data());
  const char* b = static_cast<const char*>(exact.data());
  double squares = 0, squared_errors = 0;
  int64_t finite = 0;
  for (int64_t i = 0; i < error.elements; ++i, a += width, b += width) {
    const double x = ElementAsDouble(dtype, a), y = ElementAsDouble(dtype, b);
    if (!std::isfinite(x) || !std::isfinite(y)) {
      if (x != y && !(std::isnan(x) && std::isnan(y))) ++error.not_finite;
      continue;
    }
    ++finite;
    const double d = std::abs(x - y);
    error.max_abs = std::max(error.max_abs, d);
    if (d != 0) error.max_rel = std::max(error.max_rel, d / std::abs(y));
    error.mean_abs += d;
    squares += y * y;
    squared_errors += d * d;
  }
  if (finite > 0) error.mean_abs /= static_cast<double>(finite);
  if (squared_errors > 0) error.of_norm = std::sqrt(squared_errors / squares);
  return error;
}

Result<std::string> ErrorReport(const ExportInfo& function, const FlatValue& found,
                                const FlatValue& exact) {
  const std::vector<Value> a = TensorsOf(found), b = TensorsOf(exact);
  if (a.size() != b.size()) {
    return {StatusCode::kFailedPrecondition,
            fmt::format("the result has {} tensors, that of the program it is compared with {}",
                        a.size(), b.size())};
  }
  const std::vector<std::string> names = TensorNames(function, b.size());
  size_t longest = std::string("output").size();
  for (const std::string& name : names) longest = std::max(longest, name.size());
  std::string out = fmt::format("{:<{}} {:>16} {:>11} {:>11} {:>11} {:>12}\n", "output", longest,
                                "elements", "max abs", "max rel", "mean abs", "of the norm");
  for (size_t i = 0; i < b.size(); ++i) {
    if (std::string x = TensorTypeOf(a[i]), y = TensorTypeOf(b[i]); x != y) {
      return {
          StatusCode::kFailedPrecondition,
          fmt::format("{}: found {}, the program it is compared with gives {}", names[i], x, y)};
    }
    const TensorError e = ErrorOf(a[i], b[i]);
    out += fmt::format("{:<{}} {:>16} {:>11.3g} {:>11.3g} {:>11.3g} {:>12.3g}", names[i], longest,
                       b[i].dims().empty() ? "1" : fmt::format("{}", fmt::join(b[i].dims(), "x")),
                       e.max_abs, e.max_rel, e.mean_abs, e.of_norm);
    if (e.not_finite > 0) {
      out += fmt::format("  {} of {} are infinite or NaN in one of the two only", e.not_finite,
                         e.elements);
    }
    out += "\n";
  }
  return out;
}

}  // namespace relayvm::tools
