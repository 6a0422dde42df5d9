#include "compiler/transforms/pass_option.h"

#include <fmt/format.h>

#include <charconv>

namespace relayvm {
namespace {

Status Expected(std::string what) {
  return {StatusCode::kInvalidArgument, "expected " + std::move(what)};
}

}  // namespace

std::string PassOption::Form() const {
  return !form.empty() ? form : fmt::format("{}", fmt::join(values, "|"));
}

OptionOf<bool> FlagOption(PassOption row) {
  row.values = {"true", "false"};
  return {std::move(row), [](std::string_view text, bool* flag) {
            if (text != "true" && text != "false" && !text.empty())
              return Expected("true or false");
            *flag = text != "false";
            return OkStatus();
          }};
}

OptionOf<int64_t> NumberOption(PassOption row, int64_t least, int64_t most, int64_t initial) {
  row.form = "N";
  row.initial = std::to_string(initial);
  return {std::move(row),
          [least, most](std::string_view text, int64_t* number) {
            const char* end = text.data() + text.size();
            const auto [stop, error] = std::from_chars(text.data(), end, *number);
            if (error == std::errc() && stop == end && *number >= least && *number <= most)
              return OkStatus();
            return Expected(fmt::format("a whole number from {} to {}", least, most));
          },
          initial};
}

Status CheckPassOption(const PassOption& option, std::string_view text) {
  const Status wrong = option.check(text);
  if (wrong.ok()) return wrong;
  return wrong.WithContext(fmt::format("--{} {}", option.name, text));
}

}  // namespace relayvm
