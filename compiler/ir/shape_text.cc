#include "compiler/ir/shape_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <system_error>

namespace relayvm::ir {
namespace {

std::string_view Trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

std::optional<int64_t> ParseSize(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.begin(), text.end(), value);
  if (error != std::errc() || end != text.end() || value < 0) return std::nullopt;
  return value;
}

// Models call dims as they like; a name here has no space, which leaves it free of expressions.
bool IsName(std::string_view text) {
  if (text.empty() || std::isdigit(static_cast<unsigned char>(text[0])) != 0) return false;
  return std::ranges::all_of(text, [](unsigned char c) {
    return std::isalnum(c) != 0 || c >= 0x80 ||
           std::string_view("_.:/-").find(static_cast<char>(c)) != std::string_view::npos;
  });
}

std::optional<DimText> ParseDim(std::string_view part, bool may_have_name) {
  DimText dim;
  dim.size = ParseSize(part);
  if (dim.size) return dim;
  if (const size_t at = part.find("<="); at != std::string_view::npos) {
    dim.bound = ParseSize(Trim(part.substr(at + 2)));
    if (!dim.bound) return std::nullopt;
    part = Trim(part.substr(0, at));
  }
  if (part == "?") return dim;
  if (!may_have_name || !IsName(part)) return std::nullopt;
  dim.name = part;
  return dim;
}

}  // namespace

Result<std::vector<DimText>> ParseShapeText(std::string_view text) {
  std::string_view rest = Trim(text);
  const bool is_tuple = rest.starts_with('(');
  if (is_tuple) {
    if (!rest.ends_with(')'))
      return Status(StatusCode::kInvalidArgument, "a shape that starts with ( ends with )");
    rest = Trim(rest.substr(1, rest.size() - 2));
    if (rest.empty()) return std::vector<DimText>();
    if (rest.ends_with(',')) rest.remove_suffix(1);
  }
  std::vector<DimText> dims;
  while (true) {
    const size_t end = std::min(rest.find(is_tuple ? ',' : 'x'), rest.size());
    const std::string_view part = Trim(rest.substr(0, end));
    const std::optional<DimText> dim = ParseDim(part, is_tuple);
    if (!dim) {
      return Status(
          StatusCode::kInvalidArgument,
          fmt::format("\"{}\" is not a size; write numbers, ? and ?<=N separated by x, or "
                      "with names as (n, ?, 300)",
                      part));
    }
    dims.push_back(*dim);
    if (end == rest.size()) return dims;
    rest.remove_prefix(end + 1);
  }
}

}  // namespace relayvm::ir
