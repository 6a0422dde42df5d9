#include "compiler/ir/scalar.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <cstring>

namespace relayvm::ir {
namespace {

// An IEEE-like 16-bit format: `mantissa` stored bits, exponent bias `bias`.
struct Format16 {
  int mantissa;
  int bias;
};
constexpr Format16 kFloat16Format = {10, 15};
constexpr Format16 kBFloat16Format = {7, 127};

uint16_t Encode(Format16 f, double value) {
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const uint16_t infinity = static_cast<uint16_t>((2 * f.bias + 1) << f.mantissa);
  if (std::isnan(value)) return sign | infinity | static_cast<uint16_t>(1 << (f.mantissa - 1));
  const double magnitude = std::fabs(value);
  if (std::isinf(magnitude)) return sign | infinity;
  const int min_exponent = 1 - f.bias;
  const int exponent =
      magnitude == 0 ? min_exponent : std::max(std::ilogb(magnitude), min_exponent);
  if (exponent > f.bias) return sign | infinity;
  // In units of the last place. A subnormal has fewer than 1 << mantissa of them, and a carry out
  // of the mantissa moves into the exponent by itself.
  const double units = std::nearbyint(std::ldexp(magnitude, f.mantissa - exponent));
  const int biased = exponent - min_exponent;  // exponent field minus 1
  const uint32_t bits =
      (static_cast<uint32_t>(biased) << f.mantissa) + static_cast<uint32_t>(units);
  return sign | static_cast<uint16_t>(std::min<uint32_t>(bits, infinity));
}

double Decode(Format16 f, uint16_t bits) {
  const double sign = (bits & 0x8000) != 0 ? -1.0 : 1.0;
  const int exponent = (bits & 0x7FFF) >> f.mantissa;
  const int fraction = bits & ((1 << f.mantissa) - 1);
  if (exponent == 2 * f.bias + 1) return fraction != 0 ? NAN : sign * INFINITY;
  if (exponent == 0) return sign * std::ldexp(fraction, 1 - f.bias - f.mantissa);
  return sign * std::ldexp(fraction + (1 << f.mantissa), exponent - f.bias - f.mantissa);
}

template <typename T>
HostTensor Scalar(DType dtype, T value) {
  return {dtype, {}, SharedBytes::Copy(std::as_bytes(std::span(&value, 1)))};
}

template <typename T>
T Load(const HostTensor& t) {
  T value;
  std::memcpy(&value, t.data.data(), sizeof(T));
  return value;
}

std::string ShortestHalf(uint16_t bits) {
  std::string text;
  for (int digits = 1; digits <= 6; ++digits) {
    text = fmt::format("{:.{}g}", Float16Value(bits), digits);
    if (Float16Bits(std::strtod(text.c_str(), nullptr)) == bits) break;
  }
  return text;
}

}  // namespace

uint16_t Float16Bits(double value) { return Encode(kFloat16Format, value); }
uint16_t BFloat16Bits(double value) { return Encode(kBFloat16Format, value); }
double Float16Value(uint16_t bits) { return Decode(kFloat16Format, bits); }
double BFloat16Value(uint16_t bits) { return Decode(kBFloat16Format, bits); }

HostTensor IntScalar(DType dtype, int64_t value) {
  switch (dtype) {
    case DType::kBool:
      return Scalar<uint8_t>(dtype, value != 0);
    case DType::kInt8:
    case DType::kUInt8:
      return Scalar(dtype, static_cast<uint8_t>(value));
    case DType::kInt16:
    case DType::kUInt16:
      return Scalar(dtype, static_cast<uint16_t>(value));
    case DType::kInt32:
    case DType::kUInt32:
      return Scalar(dtype, static_cast<uint32_t>(value));
    case DType::kInt64:
    case DType::kUInt64:
    case DType::kString:
      return Scalar(dtype, static_cast<uint64_t>(value));
    default:
      return FloatScalar(dtype, static_cast<double>(value));
  }
}

HostTensor FloatScalar(DType dtype, double value) {
  switch (dtype) {
    case DType::kFloat16:
      return Scalar(dtype, Float16Bits(value));
    case DType::kBFloat16:
      return Scalar(dtype, BFloat16Bits(value));
    case DType::kFloat32:
      return Scalar(dtype, static_cast<float>(value));
    default:
      return Scalar(DType::kFloat64, value);
  }
}

std::string ShortestDouble(double value) { return fmt::format("{}", value); }

std::optional<std::string> ScalarLiteral(const HostTensor& t) {
  if (!t.shape.empty()) return std::nullopt;
  switch (t.dtype) {
    case DType::kBool:
      return Load<uint8_t>(t) != 0 ? "True" : "False";
    case DType::kInt16:
      return fmt::format("{}i16", Load<int16_t>(t));
    case DType::kInt32:
      return fmt::format("{}", Load<int32_t>(t));
    case DType::kInt64:
      return fmt::format("{}i64", Load<int64_t>(t));
    case DType::kFloat16: {
      uint16_t bits = Load<uint16_t>(t);
      if (!std::isfinite(Float16Value(bits))) return std::nullopt;
      return ShortestHalf(bits) + "f16";
    }
    case DType::kFloat32: {
      float value = Load<float>(t);
      if (std::isnan(value)) return std::nullopt;
      if (std::isinf(value)) return value > 0 ? "inff" : "-inff";
      return fmt::format("{}f", value);
    }
    case DType::kFloat64: {
      double value = Load<double>(t);
      if (!std::isfinite(value)) return std::nullopt;
      return ShortestDouble(value) + "f64";
    }
    default:
      return std::nullopt;
  }
}

}  // namespace relayvm::ir
