// The C API: profiles and Chrome traces.
#include "vm/api/c_api_trace.h"

#include "vm/api/c_api_internal.h"

using relayvm::ChromeTrace;
using relayvm::Profile;
using relayvm::Status;
using relayvm::c_api::CheckStructSize;
using relayvm::c_api::Fail;
using relayvm::c_api::Guarded;

struct relayvm_profile_report {
  std::vector<Profile::Row> kernels, places;
  Profile::Totals totals;
};

namespace {

// The first versions of the structs.
constexpr size_t kProfileOptionsSize = 8, kProfileRowSize = 80, kProfileTotalsSize = 40;
constexpr size_t kChromeTraceOptionsSize = 16;
static_assert(sizeof(relayvm_profile_options) >= kProfileOptionsSize);
static_assert(sizeof(relayvm_profile_row) >= kProfileRowSize);
static_assert(sizeof(relayvm_profile_totals) >= kProfileTotalsSize);
static_assert(sizeof(relayvm_chrome_trace_options) >= kChromeTraceOptionsSize);

}  // namespace

extern "C" {

relayvm_status* relayvm_profile_create(const relayvm_profile_options* options,
                                       relayvm_profile** out) {
  RELAYVM_REQUIRE(out);
  *out = nullptr;
  return Guarded([&]() -> relayvm_status* {
    auto read = RELAYVM_READ_OPTIONS(options, relayvm_profile_options, kProfileOptionsSize);
    if (!read.ok()) return Fail(read.status());
    Profile::Options made;
    made.kernel_interval = std::max(read->kernel_interval, 1U);
    *out = new relayvm_profile{std::make_shared<Profile>(made)};
    return nullptr;
  });
}
void relayvm_profile_free(relayvm_profile* profile) { delete profile; }

relayvm_status* relayvm_profile_clear(relayvm_profile* profile) {
  RELAYVM_REQUIRE(profile);
  return Guarded([&]() -> relayvm_status* {
    profile->profile->Clear();
    return nullptr;
  });
}

relayvm_status* relayvm_profile_read(const relayvm_profile* profile, relayvm_profile_report** out) {
  RELAYVM_REQUIRE(out);
  *out = nullptr;
  RELAYVM_REQUIRE(profile);
  return Guarded([&]() -> relayvm_status* {
    const Profile& from = *profile->profile;
    *out = new relayvm_profile_report{from.ByKernel(), from.ByPlace(), from.totals()};
    return nullptr;
  });
}
void relayvm_profile_report_free(relayvm_profile_report* report) { delete report; }

int relayvm_profile_report_row(const relayvm_profile_report* report, int by_place, size_t index,
                               relayvm_profile_row* row) {
  if (report == nullptr || row == nullptr) return 0;
  const std::vector<Profile::Row>& rows = by_place != 0 ? report->places : report->kernels;
  const uint32_t size = row->struct_size;
  if (index >= rows.size() || size < kProfileRowSize) return 0;
  const Profile::Row& from = rows[index];
  relayvm_profile_row all{};
  all.struct_size = size;
  all.name = from.name.c_str();
  all.place = {from.place.function.c_str(), from.place.file.c_str(), from.place.line,
               from.place.column, from.place.instruction};
  all.calls = from.calls;
  all.total_ns = from.total_ns;
  all.longest_ns = from.longest_ns;
  all.samples = from.samples;
  std::memcpy(row, &all, std::min<size_t>(size, sizeof(all)));
  return 1;
}

relayvm_status* relayvm_profile_report_totals(const relayvm_profile_report* report,
                                              relayvm_profile_totals* totals) {
  RELAYVM_REQUIRE(totals);
  RELAYVM_REQUIRE(report);
  return Guarded([&]() -> relayvm_status* {
    const uint32_t size = totals->struct_size;
    Status bad =
        CheckStructSize(size, kProfileTotalsSize, sizeof(*totals), "relayvm_profile_totals");
    if (!bad.ok()) return Fail(std::move(bad));
    const relayvm_profile_totals all{size, report->totals.runs, report->totals.run_ns,
                                     report->totals.wait_ns, report->totals.kernel_ns};
    std::memcpy(totals, &all, std::min<size_t>(size, sizeof(all)));
    return nullptr;
  });
}

relayvm_status* relayvm_chrome_trace_create(const relayvm_chrome_trace_options* options,
                                            relayvm_chrome_trace** out) {
  RELAYVM_REQUIRE(out);
  *out = nullptr;
  return Guarded([&]() -> relayvm_status* {
    auto read =
        RELAYVM_READ_OPTIONS(options, relayvm_chrome_trace_options, kChromeTraceOptionsSize);
    if (!read.ok()) return Fail(read.status());
    ChromeTrace::Options made;
    made.kernel_interval = std::max(read->kernel_interval, 1U);
    if (read->max_events != 0) made.max_events = read->max_events;
    *out = new relayvm_chrome_trace{std::make_shared<ChromeTrace>(made)};
    return nullptr;
  });
}
void relayvm_chrome_trace_free(relayvm_chrome_trace* trace) { delete trace; }

relayvm_status* relayvm_chrome_trace_clear(relayvm_chrome_trace* trace) {
  RELAYVM_REQUIRE(trace);
  return Guarded([&]() -> relayvm_status* {
    trace->trace->Clear();
    return nullptr;
  });
}

relayvm_status* relayvm_chrome_trace_write(const relayvm_chrome_trace* trace, const char* path) {
  RELAYVM_REQUIRE(trace);
  RELAYVM_REQUIRE(path);
  return Guarded([&]() -> relayvm_status* {
    Status written = trace->trace->Write(path);
    return written.ok() ? nullptr : Fail(std::move(written));
  });
}

relayvm_status* relayvm_chrome_trace_json(const relayvm_chrome_trace* trace,
                                          void (*take)(void* context, const char* json,
                                                       size_t size),
                                          void* context) {
  RELAYVM_REQUIRE(trace);
  RELAYVM_REQUIRE(take);
  return Guarded([&]() -> relayvm_status* {
    const std::string json = trace->trace->Json();
    take(context, json.c_str(), json.size());
    return nullptr;
  });
}

uint64_t relayvm_chrome_trace_num_events(const relayvm_chrome_trace* trace) {
  return trace == nullptr ? 0 : trace->trace->num_events();
}
uint64_t relayvm_chrome_trace_dropped(const relayvm_chrome_trace* trace) {
  return trace == nullptr ? 0 : trace->trace->dropped();
}

}  // extern "C"
