#include "kernels/codegen/tile_schedule.h"

#include <fmt/format.h>

#include <charconv>
#include <string_view>

namespace relayvm {
namespace {

// A number from 1 to kMostOfSchedule; 0 where it is none.
int64_t Number(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && value >= 1 && value <= kMostOfSchedule ? value : 0;
}

}  // namespace

Result<TileSchedule> ParseTileSchedule(const std::string& text) {
  const auto fail = [&] {
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("schedule \"{}\": expected tile=ROWSxCOLUMNS, block=ROWS or both "
                              "separated by a comma, of numbers from 1 to {}",
                              text, kMostOfSchedule));
  };
  TileSchedule schedule;
  std::string_view rest = text;
  while (!rest.empty()) {
    const size_t comma = rest.find(',');
    const std::string_view part = rest.substr(0, comma);
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
    const size_t equals = part.find('=');
    const std::string_view key = part.substr(0, equals);
    const std::string_view value = equals == std::string_view::npos ? "" : part.substr(equals + 1);
    if (key == "tile" && schedule.rows == 0) {
      const size_t by = value.find('x');
      if (by == std::string_view::npos) return fail();
      schedule.rows = Number(value.substr(0, by));
      schedule.columns = Number(value.substr(by + 1));
      if (schedule.rows == 0 || schedule.columns == 0) return fail();
    } else if (key == "block" && schedule.block == 0) {
      schedule.block = Number(value);
      if (schedule.block == 0) return fail();
    } else {
      return fail();
    }
    if (comma != std::string_view::npos && rest.empty()) return fail();
  }
  if (schedule == TileSchedule()) return fail();
  return schedule;
}

std::string ToString(const TileSchedule& s) {
  std::string text;
  if (s.rows > 0) text = fmt::format("tile={}x{}", s.rows, s.columns);
  if (s.block > 0) text += fmt::format("{}block={}", text.empty() ? "" : ",", s.block);
  return text;
}

}  // namespace relayvm
