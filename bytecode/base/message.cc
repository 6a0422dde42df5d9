#include "bytecode/base/message.h"

#include <fmt/format.h>

#include <charconv>

namespace relayvm {

std::string FillMessage(std::string_view text, std::span<const int64_t> values) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '{' && i + 1 < text.size() && text[i + 1] == '{') {
      out += '{';
      ++i;
      continue;
    }
    size_t index = 0;
    const char* end = text.data() + text.size();
    if (text[i] == '{') {
      auto [after, error] = std::from_chars(text.data() + i + 1, end, index);
      if (error == std::errc() && after != end && *after == '}' && index < values.size()) {
        out += std::to_string(values[index]);
        i = static_cast<size_t>(after - text.data());
        continue;
      }
    }
    out += text[i];
  }
  return out;
}

std::string OutOfRangeText(int64_t found, int64_t least, int64_t end) {
  return end <= least ? fmt::format(": {}, where there is no number that fits", found)
         : end == INT64_MAX  // no index is that
             ? fmt::format(": {}, expected {} or more", found, least)
             : fmt::format(": {}, expected {} to {}", found, least, end - 1);
}

std::string OutOfRangeText(const RelayvmKernelFault& fault) {
  if (fault.given == 0) return "";
  return fault.most == INT64_MAX ? OutOfRangeText(fault.found, fault.least, INT64_MIN)  // wrapped
                                 : OutOfRangeText(fault.found, fault.least, fault.most + 1);
}

std::string EscapeMessage(std::string_view text) {
  std::string out;
  for (char c : text) out.append(c == '{' ? 2 : 1, c);
  return out;
}

std::string Joined(std::span<const int64_t> numbers, std::string_view between) {
  std::string out;
  for (size_t i = 0; i < numbers.size(); ++i)
    out.append(i == 0 ? "" : between) += std::to_string(numbers[i]);
  return out;
}

std::string Joined(std::span<const std::string> texts, std::string_view between) {
  std::string out;
  for (size_t i = 0; i < texts.size(); ++i) out.append(i == 0 ? "" : between) += texts[i];
  return out;
}

}  // namespace relayvm
