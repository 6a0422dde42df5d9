#include "compiler/ir/scalar.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>

#include "kernels/te/scalar.h"

namespace relayvm::ir {
namespace {

HostTensor Scalar(DType dtype, te::Scalar value) {
  HostTensor t{dtype, {}, SharedBytes::Zeros(static_cast<size_t>(DTypeBytes(dtype)))};
  te::WriteElement(dtype, value, t.data.Mutable().data());
  return t;
}

std::string ShortestHalf(double value) {
  std::string text;
  for (int digits = 1; digits <= 6; ++digits) {
    text = fmt::format("{:.{}g}", value, digits);
    if (te::RoundToDType(std::strtod(text.c_str(), nullptr), DType::kFloat16) == value) break;
  }
  return text;
}

}  // namespace

HostTensor IntScalar(DType dtype, int64_t value) {
  if (IsFloat(dtype)) return FloatScalar(dtype, static_cast<double>(value));
  return Scalar(dtype, te::IntScalar(dtype == DType::kBool ? value != 0 : value));
}

HostTensor FloatScalar(DType dtype, double value) { return Scalar(dtype, te::FloatScalar(value)); }

double NumberAt(const HostTensor& t, int64_t i) {
  const te::Scalar x = te::ReadElement(t.dtype, t.data.data() + i * DTypeBytes(t.dtype));
  return IsFloat(t.dtype) ? x.f : static_cast<double>(x.i);
}

std::string ShortestDouble(double value) { return fmt::format("{}", value); }

std::optional<std::string> ScalarLiteral(const HostTensor& t) {
  if (!t.shape.empty()) return std::nullopt;
  const te::Scalar x = te::ReadElement(t.dtype, t.data.data());
  switch (t.dtype) {
    case DType::kBool:
      return x.i != 0 ? "True" : "False";
    case DType::kInt16:
      return fmt::format("{}i16", x.i);
    case DType::kInt32:
      return fmt::format("{}", x.i);
    case DType::kInt64:
      return fmt::format("{}i64", x.i);
    case DType::kFloat16:
      if (!std::isfinite(x.f)) return std::nullopt;
      return ShortestHalf(x.f) + "f16";
    case DType::kFloat32:
      if (std::isnan(x.f)) return std::nullopt;
      if (std::isinf(x.f)) return x.f > 0 ? "inff" : "-inff";
      return fmt::format("{}f", static_cast<float>(x.f));
    case DType::kFloat64:
      if (!std::isfinite(x.f)) return std::nullopt;
      return ShortestDouble(x.f) + "f64";
    default:
      return std::nullopt;
  }
}

}  // namespace relayvm::ir
