#include "tools/serve/protocol/json_writer.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <type_traits>

#include "bytecode/base/utf8.h"

namespace relayvm::serve {
namespace {

template <typename T>
void AppendNumber(T value, std::string* out) {
  if constexpr (std::is_same_v<T, bool>) {
    out->append(value ? "true" : "false");
  } else {
    if constexpr (std::is_floating_point_v<T>) {
      if (!std::isfinite(value)) {
        out->append(std::isnan(value) ? "\"NaN\"" : value > 0 ? "\"Infinity\"" : "\"-Infinity\"");
        return;
      }
    }
    char digits[40];  // the longest is a double's: 24
    const auto written = std::to_chars(digits, digits + sizeof digits, value);
    out->append(digits, written.ptr);
  }
}

template <typename T>
void AppendAll(const Value& tensor, std::string* out) {
  const std::span<const T> elements = tensor.span<T>();
  for (size_t i = 0; i < elements.size(); ++i) {
    if (i > 0) out->push_back(',');
    AppendNumber(elements[i], out);
  }
}

void AppendTexts(const Value& tensor, std::string* out) {
  for (int64_t i = 0; i < tensor.num_elements(); ++i) {
    if (i > 0) out->push_back(',');
    AppendJsonText(tensor.text(i), out);
  }
}

void AppendList(const Value& tensor, std::string* out) {
  switch (tensor.dtype()) {
    case DType::kBool:
      return AppendAll<bool>(tensor, out);
    case DType::kInt8:
      return AppendAll<int8_t>(tensor, out);
    case DType::kInt16:
      return AppendAll<int16_t>(tensor, out);
    case DType::kInt32:
      return AppendAll<int32_t>(tensor, out);
    case DType::kInt64:
      return AppendAll<int64_t>(tensor, out);
    case DType::kUInt8:
      return AppendAll<uint8_t>(tensor, out);
    case DType::kUInt16:
      return AppendAll<uint16_t>(tensor, out);
    case DType::kUInt32:
      return AppendAll<uint32_t>(tensor, out);
    case DType::kUInt64:
      return AppendAll<uint64_t>(tensor, out);
    case DType::kFloat32:
      return AppendAll<float>(tensor, out);
    case DType::kFloat64:
      return AppendAll<double>(tensor, out);
    case DType::kString:
      return AppendTexts(tensor, out);
    case DType::kFloat16:
    case DType::kBFloat16:
      return;
  }
}

}  // namespace

void AppendJsonText(std::string_view text, std::string* out) {
  out->push_back('"');
  for (size_t i = 0; i < text.size();) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c == '"' || c == '\\') {
      out->append({'\\', text[i++]});
    } else if (c < 0x20) {
      fmt::format_to(std::back_inserter(*out), "\\u{:04x}", c);
      ++i;
    } else if (c < 0x80) {
      out->push_back(text[i++]);
    } else {
      const size_t length = Utf8Length(text.substr(i));
      out->append(length == 0 ? "\xef\xbf\xbd" : text.substr(i, length));
      i += length == 0 ? 1 : length;
    }
  }
  out->push_back('"');
}

void AppendJsonElements(const Value& tensor, std::string* out) {
  out->push_back('[');
  AppendList(tensor, out);
  out->push_back(']');
}

std::string JsonError(std::string_view text) {
  std::string body = "{\"error\":";
  AppendJsonText(text, &body);
  body.push_back('}');
  return body;
}

}  // namespace relayvm::serve
