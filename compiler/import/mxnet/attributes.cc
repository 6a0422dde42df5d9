#include "compiler/import/mxnet/attributes.h"

#include <charconv>
#include <cmath>
#include <string>

namespace relayvm::import::mxnet {

namespace {

std::string_view Stripped(std::string_view s) {
  constexpr std::string_view kSpace = " \t\r\n";
  const size_t first = s.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return "";
  return s.substr(first, s.find_last_not_of(kSpace) - first + 1);
}

template <typename T>
std::optional<T> ParseWhole(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

std::optional<bool> ParseBool(std::string_view text) {
  text = Stripped(text);
  if (text == "True" || text == "true" || text == "1") return true;
  if (text == "False" || text == "false" || text == "0") return false;
  return std::nullopt;
}

std::optional<int64_t> ParseInt(std::string_view text) {
  text = Stripped(text);
  if (text.ends_with('L')) text.remove_suffix(1);
  if (text == "True" || text == "False") return text == "True" ? 1 : 0;
  if (auto whole = ParseWhole<int64_t>(text)) return whole;
  const auto real = ParseWhole<double>(text);  // 2.0
  if (!real || *real != std::floor(*real) || std::abs(*real) > 9e15) return std::nullopt;
  return static_cast<int64_t>(*real);
}

std::optional<double> ParseFloat(std::string_view text) {
  text = Stripped(text);
  if (text.ends_with('L') || text.ends_with('f')) {
    // inf ends in f.
    if (!text.ends_with("inf")) text.remove_suffix(1);
  }
  if (text == "True" || text == "False") return text == "True" ? 1 : 0;
  return ParseWhole<double>(text);
}

std::optional<DType> TypeOfFlag(int64_t flag) {
  constexpr DType kTypes[] = {DType::kFloat32, DType::kFloat64, DType::kFloat16, DType::kUInt8,
                              DType::kInt32,   DType::kInt8,    DType::kInt64,   DType::kBool};
  constexpr int64_t kBFloat16 = 12;
  if (flag == kBFloat16) return DType::kBFloat16;
  if (flag < 0 || flag >= static_cast<int64_t>(std::size(kTypes))) return std::nullopt;
  return kTypes[flag];
}

std::optional<DType> ParseType(std::string_view text) {
  text = Stripped(text);
  if (text == "bfloat16") return DType::kBFloat16;
  for (int64_t flag = 0; flag < 8; ++flag) {
    if (text == DTypeName(*TypeOfFlag(flag))) return TypeOfFlag(flag);
  }
  if (const auto flag = ParseWhole<int64_t>(text)) return TypeOfFlag(*flag);
  return std::nullopt;
}

std::optional<std::vector<std::string_view>> ParseTuple(std::string_view text) {
  text = Stripped(text);
  std::vector<std::string_view> out;
  std::string open;  // brackets that wait for their end
  size_t at = 0;
  bool takes = true;  // an element may begin here
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') continue;
    if (c == '(' || c == '[') {
      if (!takes || (open.empty() && at != 0) || open.size() > 2) return std::nullopt;
      open.push_back(c == '(' ? ')' : ']');
    } else if (c == ')' || c == ']') {
      if (open.empty() || open.back() != c) return std::nullopt;
      open.pop_back();
      takes = false;
      if (open.empty()) return at + 1 == text.size() ? std::optional(out) : std::nullopt;
    } else if (c == ',') {
      if (takes || open.empty()) return std::nullopt;
      takes = true;
    } else {
      if (!takes) return std::nullopt;
      const size_t end = std::min(text.find_first_of(",()[]", at), text.size());
      out.push_back(Stripped(text.substr(at, end - at)));
      takes = false;
      at = end - 1;
    }
  }
  // A number without brackets.
  if (!open.empty() || out.size() != 1) return std::nullopt;
  return out;
}

}  // namespace relayvm::import::mxnet
