#include "compiler/reference/value_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/te/scalar.h"

namespace relayvm::reference {
namespace {

double ElementAt(const HostTensor& t, int64_t index) {
  const te::Scalar x = te::ReadElement(t.dtype, t.data.data() + index * DTypeBytes(t.dtype));
  if (IsFloat(t.dtype)) return x.f;
  return t.dtype == DType::kUInt64 ? static_cast<double>(static_cast<uint64_t>(x.i))
                                   : static_cast<double>(x.i);
}

std::string TensorText(const HostTensor& t) {
  if (t.shape.empty() && IsFloat(t.dtype))
    return fmt::format("{} {:.6g}", DTypeName(t.dtype), ElementAt(t, 0));
  if (t.shape.empty()) {
    const int64_t i = te::ReadElement(t.dtype, t.data.data()).i;
    if (t.dtype == DType::kBool) return i != 0 ? "bool True" : "bool False";
    return t.dtype == DType::kUInt64 ? fmt::format("uint64 {}", static_cast<uint64_t>(i))
                                     : fmt::format("{} {}", DTypeName(t.dtype), i);
  }
  std::string text = fmt::format("Tensor[({}), {}]", fmt::join(t.shape, ", "), DTypeName(t.dtype));
  if (t.size() == 0) return text + "  empty";
  const TensorSummary s = Summarise(t);
  if (s.finite > 0)
    text += fmt::format("  min {:.6g}  max {:.6g}  mean {:.6g}", s.min, s.max, s.mean);
  if (IsFloat(t.dtype)) text += fmt::format("  NaN {}  Inf {}", s.nan, s.inf);
  return text;
}

}  // namespace

TensorSummary Summarise(const HostTensor& tensor) {
  TensorSummary s;
  double sum = 0;
  for (int64_t i = 0; i < tensor.size(); ++i) {
    const double x = ElementAt(tensor, i);
    if (std::isnan(x)) {
      ++s.nan;
    } else if (std::isinf(x)) {
      ++s.inf;
    } else {
      s.min = s.finite == 0 ? x : std::min(s.min, x);
      s.max = s.finite == 0 ? x : std::max(s.max, x);
      sum += x;
      ++s.finite;
    }
  }
  if (s.finite > 0) s.mean = sum / static_cast<double>(s.finite);
  return s;
}

std::string SummaryText(const Value& value, size_t most_bytes) {
  // What is still to be written, the next one last: values, and text between them.
  struct Part {
    const Object* object;
    const char* text = nullptr;
  };
  std::string out;
  std::vector<Part> work{{value.get()}};
  while (!work.empty()) {
    const Part part = work.back();
    work.pop_back();
    if (out.size() > most_bytes) return out + " ...";
    if (part.text != nullptr) {
      out += part.text;
    } else if (part.object == nullptr) {
      out += "nothing";
    } else if (const auto* tensor = part.object->As<Tensor>()) {
      out += TensorText(*tensor->data);
    } else if (const auto* data = part.object->As<Data>()) {
      if (data->constructor != nullptr) out += data->constructor->name;
      if (data->constructor != nullptr && data->fields.empty()) continue;
      out += "(";
      work.push_back({nullptr, ")"});
      // More than these do not fit.
      const size_t shown = std::min(data->fields.size(), most_bytes);
      for (size_t i = shown; i-- > 0;) {
        work.push_back({data->fields[i].get()});
        if (i > 0) work.push_back({nullptr, ", "});
      }
    } else if (const auto* closure = part.object->As<Closure>()) {
      out += "fn " +
             (closure->function != nullptr ? closure->function->name : closure->constructor->name);
    } else {
      out += "ref";
    }
  }
  return out;
}

}  // namespace relayvm::reference
