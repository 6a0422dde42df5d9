#include "tools/lib/tune_flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "bytecode/base/file_mapping.h"
#include "bytecode/base/file_replacement.h"
#include "compiler/regions/region_options.h"

namespace relayvm::tools {
namespace {

constexpr std::chrono::hours kLongest{24};

std::string Time(double ns) {
  constexpr double kKilo = 1e3;
  if (ns < kKilo) return fmt::format("{:.0f} ns", ns);
  if (ns < kKilo * kKilo) return fmt::format("{:.1f} us", ns / kKilo);
  return fmt::format("{:.2f} ms", ns / (kKilo * kKilo));
}

std::string SizesAt(const tuner::ScheduleRecord& record, size_t sample) {
  std::string sizes;
  for (const auto& [name, values] : record.extents)
    sizes += fmt::format("{}{}={}", sizes.empty() ? "" : " ", name, values[sample]);
  return sizes;
}

}  // namespace

Result<std::chrono::milliseconds> ParseDuration(const std::string& text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string_view unit(end, static_cast<size_t>(text.data() + text.size() - end));
  const int64_t scale = unit == "ms"  ? 1
                        : unit == "s" ? 1000
                        : unit == "m" ? 60'000
                        : unit == "h" ? 3'600'000
                                      : 0;
  const int64_t most = std::chrono::milliseconds(kLongest).count();
  if (error != std::errc() || scale == 0 || value < 1 || value > most / scale) {
    return {StatusCode::kInvalidArgument,
            fmt::format("--tune {}: expected a time such as 500ms, 60s or 2m, above 0 and at most "
                        "{}h",
                        text, kLongest.count())};
  }
  return std::chrono::milliseconds(value * scale);
}

void TuneFlags::AddTo(CLI::App& app) {
  app.add_option(
      "--tune", budget,
      "60s, 500ms, 2m: measures other schedules for the kernels that matter most, for so "
      "long, and compiles with what is faster");
  app.add_option("--tune-log", log,
                 "with --tune: the file that what was measured is added to, for --schedules");
  app.add_option(
      "--shape-samples", samples,
      "with --tune or --byoc auto: n=1,16,128: the sizes of an open dimension that is measured "
      "with "
      "(default: 1,16,128; of images 64,224, of a batch of them 1,8; of a batch before other "
      "open dimensions 1)");
}

Status TuneFlags::Finish(bool compiles, CompileFlags* flags) {
  const auto wrong = [](std::string why) {
    return Status(StatusCode::kInvalidArgument, std::move(why));
  };
  if (budget.empty()) {
    if (!log.empty()) return wrong("--tune-log: only with --tune");
    const auto byoc = flags->options.pipeline.options.find("byoc");
    const bool measures = byoc != flags->options.pipeline.options.end() &&
                          std::ranges::count(byoc->second, regions::kAutoEngine) > 0;
    if (!samples.empty() && !measures)
      return wrong("--shape-samples: only with --tune or --byoc auto");
    for (const std::string& s : samples)
      RELAYVM_RETURN_IF_ERROR(tuner::ParseSampleSizes(s, &flags->options.tune.samples));
    return OkStatus();
  }
  CompileOptions& options = flags->options;
  RELAYVM_ASSIGN_OR_RETURN(options.tune.budget, ParseDuration(budget));
  for (const std::string& s : samples)
    RELAYVM_RETURN_IF_ERROR(tuner::ParseSampleSizes(s, &options.tune.samples));
  if (!compiles) return wrong("--tune: nothing is compiled that could be measured");
  if (!options.more_machines.empty()) {
    return wrong(
        fmt::format("--tune: expected one --target, found {}", options.more_machines.size() + 1));
  }
  if (Status s = tuner::CheckMachine(options.kernels); !s.ok()) return s.WithContext("--tune");
  if (log.empty()) return OkStatus();
  auto file = FileMapping::Open(log);
  if (!file.ok() && file.status().code() != StatusCode::kNotFound) return file.status();
  if (file.ok()) {
    RELAYVM_RETURN_IF_ERROR(tuner::ReadScheduleLog(log).status());
    log_text.assign((*file)->bytes().begin(), (*file)->bytes().end());
    if (!log_text.empty() && log_text.back() != '\n') log_text += '\n';
  }
  // Told now, not after a minute.
  return FileReplacement::Create(log).status();
}

Status TuneFlags::WriteLog(const tuner::TuneReport& report) {
  if (log.empty()) return OkStatus();
  for (const tuner::ScheduleRecord& record : report.measured) log_text += FormatRecord(record);
  return WriteFile(log, log_text);
}

std::string TuneTable(const tuner::TuneReport& report) {
  using tuner::ScheduleRecord;
  const auto faster = std::ranges::count_if(
      report.measured, [](const ScheduleRecord& r) { return r.schedule != TileSchedule(); });
  std::string table = fmt::format(
      "  tuning: {} kernels have alternatives, {} are known, {} were measured, {} are faster\n",
      report.with_alternatives, report.known, report.measured.size(), faster);
  for (const std::string& why : report.left_out) table += fmt::format("    left out: {}\n", why);
  if (report.measured.empty()) return table;
  size_t names = 6, sizes = 5;
  for (const ScheduleRecord& r : report.measured) {
    names = std::max(names, r.kernel.size());
    for (size_t i = 0; i < r.ns.size(); ++i) sizes = std::max(sizes, SizesAt(r, i).size());
  }
  const auto line = [&](const std::string& name, const std::string& at, const std::string& before,
                        const std::string& after, const std::string& ratio,
                        const std::string& schedule) {
    table += fmt::format("    {:<{}}  {:<{}}  {:>10}  {:>10}  {:>5}  {}\n", name, names, at, sizes,
                         before, after, ratio, schedule);
  };
  line("kernel", "sizes", "before", "after", "ratio", "schedule");
  for (const ScheduleRecord& r : report.measured) {
    const bool is_own = r.schedule == TileSchedule();
    for (size_t i = 0; i < r.ns.size(); ++i) {
      line(i == 0 ? r.kernel : "", SizesAt(r, i), Time(r.base_ns[i]), Time(r.ns[i]),
           fmt::format("{:.2f}", r.base_ns[i] / r.ns[i]),
           i > 0    ? ""
           : is_own ? "as the compiler chooses"
                    : ToString(r.schedule));
    }
  }
  return table;
}

}  // namespace relayvm::tools
