#include "tools/values/expect.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

#include "tools/values/numbers.h"
#include "tools/values/print.h"
#include "tools/values/tensor_file.h"

namespace relayvm::tools {
namespace {

std::string IndexText(const Value& tensor, int64_t position) {
  std::vector<int64_t> index(tensor.dims().size());
  for (size_t i = index.size(); i-- > 0;) {
    index[i] = position % tensor.dims()[i];
    position /= tensor.dims()[i];
  }
  return fmt::format("[{}]", fmt::join(index, ", "));
}

// How far apart two floats are; infinite when only one of them is finite, 0 when both are the same
// infinity or NaN.
double Distance(double a, double b) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return 0;
  double d = std::abs(a - b);
  return std::isnan(d) ? std::numeric_limits<double>::infinity() : d;
}

// Of tensors of one shape.
std::string CompareTexts(const std::string& name, const Value& found, const Value& expected) {
  int64_t wrong = 0, at = -1;
  for (int64_t i = 0; i < found.num_elements(); ++i) {
    if (found.text(i) == expected.text(i)) continue;
    ++wrong;
    if (at < 0) at = i;
  }
  if (wrong == 0) return "";
  return fmt::format("{}: values differ in {} of {} places, first at {}: found {}, expected {}",
                     name, wrong, found.num_elements(), IndexText(found, at),
                     JsonString(found.text(at)), JsonString(expected.text(at)));
}

}  // namespace

std::string CompareTensors(const std::string& name, const Value& found, const Value& expected,
                           const Tolerance& tolerance) {
  if (found.dtype() == DType::kBFloat16 &&
      expected.dtype() == DType::kUInt16) {  // as files hold it
    Result<Value> bits = ConvertTensor(expected, DType::kBFloat16);
    if (bits.ok()) return CompareTensors(name, found, *bits, tolerance);
  }
  std::string type = TensorTypeOf(found);
  if (std::string wanted = TensorTypeOf(expected); type != wanted) {
    return fmt::format("{}: found {}, expected {}", name, type, wanted);
  }
  if (found.dtype() == DType::kString) return CompareTexts(name, found, expected);
  DType dtype = found.dtype();
  auto width = static_cast<int64_t>(DTypeBytes(dtype));
  const char* a = static_cast<const char*>(found.data());
  const char* b = static_cast<const char*>(expected.data());
  int64_t wrong = 0, at = -1;
  double most = -1;
  for (int64_t i = 0; i < found.num_elements(); ++i, a += width, b += width) {
    if (std::memcmp(a, b, static_cast<size_t>(width)) == 0) continue;
    double x = ElementAsDouble(dtype, a);
    double y = ElementAsDouble(dtype, b);
    double d = Distance(x, y);
    if (IsFloat(dtype) &&
        d <= tolerance.atol + (std::isfinite(y) ? tolerance.rtol * std::abs(y) : 0)) {
      continue;
    }
    ++wrong;
    if (d > most) {
      most = d;
      at = i;
    }
  }
  if (wrong == 0) return "";
  a = static_cast<const char*>(found.data()) + at * width;
  b = static_cast<const char*>(expected.data()) + at * width;
  std::string message = fmt::format(
      "{}: values differ in {} of {} places, most at {}: found {}, expected {} (difference {:.3g}",
      name, wrong, found.num_elements(), IndexText(found, at), ShortestElement(dtype, a),
      ShortestElement(dtype, b), most);
  if (IsFloat(dtype))
    message += fmt::format("; rtol {:g}, atol {:g}", tolerance.rtol, tolerance.atol);
  return message + ")";
}

Result<std::string> CompareWithFile(const std::string& path, const std::vector<std::string>& names,
                                    const std::vector<Value>& found, const Tolerance& tolerance) {
  std::vector<std::pair<std::string, Value>> expected;
  if (path.ends_with(".npz")) {
    RELAYVM_ASSIGN_OR_RETURN(NamedTensors tensors, ReadNpz(path));
    std::map<std::string, const HostTensor*> by_name;
    for (const auto& [name, tensor] : tensors) by_name[name] = &tensor;
    bool named =
        std::any_of(names.begin(), names.end(), [&](auto& n) { return by_name.contains(n); });
    if (named) {
      for (const std::string& name : names) {
        auto at = by_name.find(name);
        if (at == by_name.end()) return fmt::format("{}: not in {}", name, path);
        RELAYVM_ASSIGN_OR_RETURN(Value value, ToValue(*at->second));
        expected.emplace_back(name, std::move(value));
      }
      std::string next = fmt::format("out{}", found.size());
      if (by_name.contains(next)) {
        return fmt::format("the result has {} tensors, and {} has {} too", found.size(), path,
                           next);
      }
    } else {
      for (const auto& [name, tensor] : tensors) {
        RELAYVM_ASSIGN_OR_RETURN(Value value, ToValue(tensor));
        expected.emplace_back(name, std::move(value));
      }
    }
  } else {
    RELAYVM_ASSIGN_OR_RETURN(Value value, LoadNpy(path));
    expected.emplace_back(names.size() == 1 ? names[0] : "out0", std::move(value));
  }
  if (expected.size() != found.size()) {
    return fmt::format("the result has {} tensor{}, {} has {}", found.size(),
                       found.size() == 1 ? "" : "s", path, expected.size());
  }
  std::string message;
  for (size_t i = 0; i < found.size(); ++i) {
    std::string one = CompareTensors(expected[i].first, found[i], expected[i].second, tolerance);
    if (!one.empty()) message += (message.empty() ? "" : "\n") + one;
  }
  return message;
}

}  // namespace relayvm::tools
