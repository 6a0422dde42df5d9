#include "compiler/tuner/schedule_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "bytecode/base/file_mapping.h"
#include "kernels/codegen/schedule_space.h"

namespace relayvm::tuner {
namespace {

using Json = nlohmann::json;

constexpr int kVersion = 1;
constexpr const char* kCompiler = "relayvm " RELAYVM_VERSION;
// Of what is read.
constexpr size_t kMostLogBytes = size_t{256} << 20, kMostLine = size_t{64} << 10;
constexpr size_t kKeyLength = 32, kMostText = 128;

// --- Reading ---

Status Damaged(const std::string& why) { return {StatusCode::kInvalidInput, why}; }

const Json* Find(const Json& object, const char* field) {
  const auto found = object.find(field);
  return found == object.end() ? nullptr : &*found;
}

bool IsKey(const std::string& text) {
  return text.size() == kKeyLength && std::ranges::all_of(text, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

// It may be printed.
bool IsText(const std::string& text) {
  return !text.empty() && text.size() <= kMostText &&
         std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; });
}

Result<std::string> TextField(const Json& line, const char* field,
                              bool (*is_right)(const std::string&), const char* expected) {
  const Json* value = Find(line, field);
  const auto* text = value == nullptr ? nullptr : value->get_ptr<const std::string*>();
  if (text == nullptr || !is_right(*text))
    return Damaged(fmt::format("expected \"{}\", {}", field, expected));
  return *text;
}

// A number of a schedule; 0 where it is none.
int64_t Number(const Json& value) {
  const auto* number = value.get_ptr<const Json::number_unsigned_t*>();
  return number == nullptr || *number > kMostOfSchedule ? 0 : static_cast<int64_t>(*number);
}

Result<TileSchedule> ScheduleOf(const Json* value) {
  const auto fail = [] {
    return Damaged(fmt::format(
        "expected \"schedule\", an object with \"tile\": [ROWS, COLUMNS], \"block\": ROWS, both or "
        "none, of numbers from 1 to {}",
        kMostOfSchedule));
  };
  if (value == nullptr || !value->is_object()) return fail();
  TileSchedule schedule;
  for (const auto& [field, number] : value->items()) {
    if (field == "tile" && number.is_array() && number.size() == 2) {
      schedule.rows = Number(number[0]);
      schedule.columns = Number(number[1]);
      if (schedule.rows == 0 || schedule.columns == 0) return fail();
    } else if (field == "block") {
      schedule.block = Number(number);
      if (schedule.block == 0) return fail();
    } else {
      return fail();
    }
  }
  return schedule;
}

Result<ScheduleRecord> ParseLine(std::string_view text) {
  if (text.size() > kMostLine) return Damaged(fmt::format("the line has {} bytes", text.size()));
  const Json line = Json::parse(text, /*cb=*/nullptr, /*allow_exceptions=*/false);
  if (!line.is_object()) return Damaged("expected an object of JSON");
  const Json* version = Find(line, "v");
  if (version == nullptr || *version != kVersion)
    return Damaged(fmt::format("expected \"v\": {}, the version that this relayc reads", kVersion));
  ScheduleRecord record;
  RELAYVM_ASSIGN_OR_RETURN(record.key,
                           TextField(line, "key", IsKey, "32 hexadecimal digits in lower case"));
  RELAYVM_ASSIGN_OR_RETURN(record.target,
                           TextField(line, "target", IsText, "what kernels are compiled for"));
  RELAYVM_ASSIGN_OR_RETURN(record.machine, TextField(line, "machine", IsText, "a name"));
  RELAYVM_ASSIGN_OR_RETURN(record.schedule, ScheduleOf(Find(line, "schedule")));
  return record;
}

}  // namespace

Result<std::vector<ScheduleRecord>> ParseScheduleLog(std::string_view text,
                                                     const std::string& name) {
  std::vector<ScheduleRecord> records;
  for (size_t number = 1; !text.empty(); ++number) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    auto record = ParseLine(line);
    if (!record.ok()) return record.status().WithContext(fmt::format("{}:{}", name, number));
    records.push_back(std::move(*record));
  }
  return records;
}

Result<std::vector<ScheduleRecord>> ReadScheduleLog(const std::string& path) {
  RELAYVM_ASSIGN_OR_RETURN(const auto file, FileMapping::Open(path));
  if (file->bytes().size() > kMostLogBytes) {
    return {StatusCode::kInvalidInput,
            fmt::format("{}: expected a log of schedules, found {} bytes, more than {}", path,
                        file->bytes().size(), kMostLogBytes)};
  }
  return ParseScheduleLog(
      {reinterpret_cast<const char*>(file->bytes().data()), file->bytes().size()}, path);
}

std::string FormatRecord(const ScheduleRecord& record) {
  nlohmann::ordered_json schedule = nlohmann::ordered_json::object();
  if (record.schedule.rows > 0) schedule["tile"] = {record.schedule.rows, record.schedule.columns};
  if (record.schedule.block > 0) schedule["block"] = record.schedule.block;
  nlohmann::ordered_json extents = nlohmann::ordered_json::object();
  for (const auto& [dim, values] : record.extents) extents[dim] = values;
  const auto rounded = [](const std::vector<double>& ns) {
    std::vector<int64_t> whole;
    whole.reserve(ns.size());
    for (const double n : ns) whole.push_back(std::llround(n));
    return whole;
  };
  nlohmann::ordered_json line;
  line["v"] = kVersion;
  line["key"] = record.key;
  line["target"] = record.target;
  line["machine"] = record.machine;
  line["kernel"] = record.kernel;
  line["extents"] = extents;
  line["schedule"] = schedule;
  line["ns"] = rounded(record.ns);
  line["base_ns"] = rounded(record.base_ns);
  line["compiler"] = kCompiler;
  // Names of dims may hold anything.
  return line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

// --- ScheduleBook ---

ScheduleBook::ScheduleBook(const std::vector<ScheduleRecord>& records, const KernelOptions& options,
                           WarnFn warn)
    : options_(options), warn_(std::move(warn)) {
  options_.schedule_for = nullptr;
  target_ = ScheduleTarget(options);
  // Kernels for a named level are for whatever machine the log is of.
  const bool is_native = options.machine.is_native();
  const std::string machine = MachineName();
  for (const ScheduleRecord& r : records) {
    if (r.target == target_ && (!is_native || r.machine == machine)) {
      Set(r.key, r.schedule);
    } else {
      schedules_.try_emplace(r.key,
                             Known{r.schedule, fmt::format("{} ({})", r.target, r.machine), false});
    }
  }
  if (is_native) target_ += fmt::format(" ({})", machine);
}

bool ScheduleBook::Knows(const KernelSpec& spec) const {
  if (schedules_.empty()) return false;
  const auto found = schedules_.find(ScheduleKey(spec, options_));
  return found != schedules_.end() && found->second.other_target.empty();
}

void ScheduleBook::Set(const std::string& key, const TileSchedule& schedule) {
  schedules_[key] = {schedule, "", false};
}

void ScheduleBook::Warn(Known& known, const KernelSpec& spec, const std::string& why) {
  if (!std::exchange(known.warned, true) && warn_)
    warn_(fmt::format("kernel {}: a schedule of --schedules is left out: {}", spec.name, why));
}

TileSchedule ScheduleBook::ScheduleFor(const KernelSpec& spec) {
  if (schedules_.empty()) return {};
  const auto found = schedules_.find(ScheduleKey(spec, options_));
  if (found == schedules_.end()) return {};
  Known& known = found->second;
  if (!known.other_target.empty()) {
    Warn(known, spec, fmt::format("it is for {}, not {}", known.other_target, target_));
    return {};
  }
  const std::string why = WhyNoSchedule(spec, options_, known.schedule);
  if (why.empty()) return known.schedule;
  Warn(known, spec, fmt::format("{}: {}", ToString(known.schedule), why));
  return {};
}

}  // namespace relayvm::tuner
