#include "tools/values/numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <utility>

#include "kernels/te/scalar.h"

namespace relayvm::tools {
namespace {

constexpr std::string_view kShortNames[kNumDTypes + 1] = {"bool", "i8",  "i16", "i32",   "i64",
                                                          "u8",   "u16", "u32", "u64",   "f16",
                                                          "bf16", "f32", "f64", "string"};

// Takes a Relay suffix off: "2.5f" -> float32, "3i64" -> int64, "3u8". Nothing when there is none.
std::optional<DType> TakeSuffix(std::string_view& text) {
  size_t at = text.find_first_not_of("+-0123456789.");
  if (at != std::string_view::npos && (text[at] == 'e' || text[at] == 'E')) {
    size_t digits = text.find_first_not_of("+-0123456789", at + 1);
    if (digits == at + 1) return std::nullopt;
    at = digits;
  }
  bool named = text.starts_with("inf") || text.starts_with("nan") || text.starts_with("-inf") ||
               text.starts_with("-nan");
  if (named) at = text.find('n') == std::string_view::npos ? at : (text[0] == '-' ? 4 : 3);
  if (at == std::string_view::npos || at >= text.size() || at == 0) return std::nullopt;
  std::string_view suffix = text.substr(at);
  std::optional<DType> dtype = ParseShortDType(suffix == "f"   ? "f32"
                                               : suffix == "i" ? "i32"
                                               : suffix == "u" ? "u32"
                                                               : suffix);
  if (dtype) text = text.substr(0, at);
  return dtype;
}

template <typename T>
Status ParseInt(std::string_view text, DType dtype, void* out) {
  std::string_view digits = text.starts_with('+') ? text.substr(1) : text;
  T value{};
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  // "-1" for an unsigned type is a number, but no digit for from_chars.
  bool negative = std::is_unsigned_v<T> && digits.starts_with('-') && digits.size() > 1 &&
                  digits.find_first_not_of("0123456789", 1) == std::string_view::npos;
  if (error == std::errc::result_out_of_range || negative) {
    return InvalidInput(fmt::format("{} is out of the range of {}", text, DTypeName(dtype)));
  }
  if (error != std::errc() || end != digits.data() + digits.size()) {
    return InvalidInput(
        fmt::format("{} is not an integer, and {} is wanted", text, DTypeName(dtype)));
  }
  std::memcpy(out, &value, sizeof value);
  return OkStatus();
}

template <typename T>
Status ParseReal(std::string_view text, DType dtype, T* out) {
  std::string_view digits = text.starts_with('+') ? text.substr(1) : text;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), *out);
  if (error == std::errc::result_out_of_range) {
    double value = std::strtod(std::string(digits).c_str(), nullptr);
    if (std::abs(value) > 1) {
      return InvalidInput(fmt::format("{} is out of the range of {}", text, DTypeName(dtype)));
    }
    *out = static_cast<T>(value);  // below the smallest number: zero, or a subnormal
    return OkStatus();
  }
  if (error != std::errc() || end != digits.data() + digits.size()) {
    return InvalidInput(fmt::format("{} is not a number", text));
  }
  return OkStatus();
}

// The shortest decimal of at most `max_digits` digits that rounds to `value` in a 16-bit type.
template <typename Round>
double ShortestOf16Bits(double value, int max_digits, const Round& round) {
  for (int digits = 1; digits < max_digits; ++digits) {
    double candidate = std::strtod(fmt::format("{:.{}e}", value, digits - 1).c_str(), nullptr);
    if (round(candidate) == round(value)) return candidate;
  }
  return std::strtod(fmt::format("{:.{}e}", value, max_digits - 1).c_str(), nullptr);
}

// A finite float: "1.25", "1e-05" as fmt writes it.
std::string ShortestFloat(DType dtype, const void* data) {
  switch (dtype) {
    case DType::kFloat32: {
      float value;
      std::memcpy(&value, data, sizeof value);
      return fmt::format("{}", value);
    }
    case DType::kFloat16:
      return fmt::format("{}", ShortestOf16Bits(ElementAsDouble(dtype, data), 5, te::DoubleToHalf));
    case DType::kBFloat16:
      return fmt::format("{}",
                         ShortestOf16Bits(ElementAsDouble(dtype, data), 4, te::DoubleToBFloat16));
    default:
      return fmt::format("{}", ElementAsDouble(dtype, data));
  }
}

// Digits without trailing zeros, keeping the point: "1.500" -> "1.5", "2.000" -> "2.".
std::string TrimZeros(std::string text) {
  text.erase(text.find_last_not_of('0') + 1);
  return text;
}

}  // namespace

std::optional<DType> ParseShortDType(std::string_view name) {
  for (int i = 0; i < kNumDTypes; ++i) {
    if (kShortNames[i] == name) return static_cast<DType>(i);
  }
  return ParseDType(name);
}

std::string_view ShortDTypeName(DType dtype) { return kShortNames[static_cast<int>(dtype)]; }

DType GuessDType(std::string_view text) {
  constexpr std::string_view kBetween = "[], \t\r\n";
  bool real = false, truth = true, any = false;
  for (size_t at = text.find_first_not_of(kBetween); at != std::string_view::npos;
       at = text.find_first_not_of(kBetween, at)) {
    size_t end = std::min(text.find_first_of(kBetween, at), text.size());
    std::string_view word = text.substr(at, end - at);
    at = end;
    if (std::optional<DType> suffix = TakeSuffix(word)) return *suffix;
    any = true;
    truth &= word == "true" || word == "True" || word == "false" || word == "False";
    real |= word.find_first_of(".eEn") != std::string_view::npos;
  }
  if (any && truth) return DType::kBool;
  return real && !truth ? DType::kFloat32 : DType::kInt32;
}

Status ParseElement(std::string_view text, DType dtype, void* out) {
  std::string_view all = text;
  std::optional<DType> suffix = TakeSuffix(text);
  if (suffix && *suffix != dtype) {
    return InvalidInput(
        fmt::format("{} is {}, and {} is wanted", all, DTypeName(*suffix), DTypeName(dtype)));
  }
  switch (dtype) {
    case DType::kBool: {
      bool yes = text == "true" || text == "True" || text == "1";
      if (!yes && text != "false" && text != "False" && text != "0") {
        return InvalidInput(fmt::format("{} is neither true nor false", text));
      }
      *static_cast<uint8_t*>(out) = yes;
      return OkStatus();
    }
    case DType::kInt8:
      return ParseInt<int8_t>(text, dtype, out);
    case DType::kInt16:
      return ParseInt<int16_t>(text, dtype, out);
    case DType::kInt32:
      return ParseInt<int32_t>(text, dtype, out);
    case DType::kInt64:
      return ParseInt<int64_t>(text, dtype, out);
    case DType::kUInt8:
      return ParseInt<uint8_t>(text, dtype, out);
    case DType::kUInt16:
      return ParseInt<uint16_t>(text, dtype, out);
    case DType::kUInt32:
      return ParseInt<uint32_t>(text, dtype, out);
    case DType::kUInt64:
      return ParseInt<uint64_t>(text, dtype, out);
    case DType::kFloat32: {
      float value;
      RELAYVM_RETURN_IF_ERROR(ParseReal(text, dtype, &value));
      std::memcpy(out, &value, sizeof value);
      return OkStatus();
    }
    case DType::kFloat16:
    case DType::kBFloat16:
    case DType::kFloat64: {
      double value;
      RELAYVM_RETURN_IF_ERROR(ParseReal(text, dtype, &value));
      te::WriteElement(dtype, te::FloatScalar(te::RoundToDType(value, dtype)), out);
      return OkStatus();
    }
    case DType::kString:
      return InvalidInput(fmt::format("{} is a number, and a string is wanted", all));
  }
  return OkStatus();
}

double ElementAsDouble(DType dtype, const void* data) {
  te::Scalar s = te::ReadElement(dtype, data);
  if (IsFloat(dtype)) return s.f;
  return dtype == DType::kUInt64 ? static_cast<double>(static_cast<uint64_t>(s.i))
                                 : static_cast<double>(s.i);
}

std::string ShortestElement(DType dtype, const void* data) {
  te::Scalar s = te::ReadElement(dtype, data);
  if (dtype == DType::kBool) return s.i != 0 ? "true" : "false";
  if (dtype == DType::kUInt64) return fmt::format("{}", static_cast<uint64_t>(s.i));
  if (!IsFloat(dtype)) return fmt::format("{}", s.i);
  if (std::isnan(s.f)) return "nan";
  if (std::isinf(s.f)) return s.f > 0 ? "inf" : "-inf";
  return ShortestFloat(dtype, data);
}

std::string JsonElement(DType dtype, const void* data) {
  if (IsFloat(dtype)) {
    double value = ElementAsDouble(dtype, data);
    if (std::isnan(value)) return "\"NaN\"";
    if (std::isinf(value)) return value > 0 ? "\"Infinity\"" : "\"-Infinity\"";
  }
  return ShortestElement(dtype, data);
}

std::string RelayElement(DType dtype, const void* data) {
  std::string text = ShortestElement(dtype, data);
  switch (dtype) {
    case DType::kBool:
      return text == "true" ? "True" : "False";
    case DType::kInt32:
      return text;
    case DType::kFloat32:
      return text + "f";
    default:
      return text + std::string(ShortDTypeName(dtype));
  }
}

std::string NumpyFloat(DType dtype, const void* data, bool scientific) {
  constexpr int kPrecision = 8;
  double value = ElementAsDouble(dtype, data);
  if (!std::isfinite(value)) return ShortestElement(dtype, data);
  // The exact value, or the decimal that is meant where fewer digits do.
  double meant = std::strtod(ShortestFloat(dtype, data).c_str(), nullptr);
  if (!scientific) return TrimZeros(fmt::format("{:.{}f}", meant, kPrecision));
  std::string text = fmt::format("{:.{}e}", meant, kPrecision);
  size_t exponent = text.find('e');
  return TrimZeros(text.substr(0, exponent)) + text.substr(exponent);
}

}  // namespace relayvm::tools
