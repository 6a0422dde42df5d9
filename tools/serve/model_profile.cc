#include "tools/serve/model_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "tools/serve/metrics.h"
#include "tools/serve/protocol/json_writer.h"
#include "vm/run/executable.h"

namespace relayvm::serve {
namespace {

void AppendPlace(const StatusPlace& place, std::string* json) {
  AppendJsonText(place.line == 0 ? place.file : fmt::format("{}:{}", place.file, place.line), json);
}

void AppendProfileRows(const std::vector<Profile::Row>& rows, bool with_places, std::string* json) {
  json->push_back('[');
  for (size_t i = 0; i < std::min(rows.size(), ModelProfiler::kMaxRows); ++i) {
    const Profile::Row& row = rows[i];
    json->append(i > 0 ? ",{" : "{");
    if (with_places) {
      json->append("\"place\":");
      AppendPlace(row.place, json);
      json->push_back(',');
    }
    json->append("\"name\":");
    AppendJsonText(row.name, json);
    fmt::format_to(std::back_inserter(*json),
                   ",\"calls\":{},\"samples\":{},\"total_ns\":{},\"longest_ns\":{}}}", row.calls,
                   row.samples, row.total_ns, row.longest_ns);
  }
  json->push_back(']');
}

// Members of an object.
void AppendProfile(const Profile& profile, std::string* json) {
  const Profile::Totals totals = profile.totals();
  const std::vector<Profile::Row> kernels = profile.ByKernel(), places = profile.ByPlace();
  fmt::format_to(std::back_inserter(*json),
                 "\"runs\":{},\"run_ns\":{},\"wait_ns\":{},\"kernel_ns\":{},\"left_out\":{},"
                 "\"kernels\":",
                 totals.runs, totals.run_ns, totals.wait_ns, totals.kernel_ns,
                 std::max(kernels.size(), places.size()) > ModelProfiler::kMaxRows);
  AppendProfileRows(kernels, /*with_places=*/false, json);
  json->append(",\"nodes\":");
  AppendProfileRows(places, /*with_places=*/true, json);
}

Status NotWatched() { return {StatusCode::kNotFound, "there is no profile of this model"}; }

}  // namespace

ModelProfiler::~ModelProfiler() = default;

std::shared_ptr<const void> ModelProfiler::Watch(std::string model, std::string version,
                                                 const Executable& executable) {
  auto entry = std::make_shared<Entry>();
  entry->model = std::move(model);
  entry->version = std::move(version);
  // What the handle deletes: the watching.
  std::shared_ptr<const void> handle(&executable, [this](const Executable* e) { Forget(e); });
  const std::lock_guard lock(mutex_);
  entries_[&executable] = std::move(entry);
  return handle;
}

void ModelProfiler::Forget(const Executable* executable) {
  std::shared_ptr<Entry> entry;  // ends, and with it a program maybe, outside the locks
  std::shared_ptr<Recording> recording;
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = entries_.find(executable); found != entries_.end()) {
      entry = std::move(found->second);
      entries_.erase(found);
    }
  }
  const std::lock_guard lock(recording_mutex_);
  if (recording_ == nullptr || recording_->executable != executable) return;
  is_recording_ = false;
  recording.swap(recording_);
}

std::shared_ptr<ModelProfiler::Entry> ModelProfiler::Find(const Executable* executable) const {
  const std::shared_lock lock(mutex_);
  const auto found = entries_.find(executable);
  return found == entries_.end() ? nullptr : found->second;
}

Status ModelProfiler::Record(const Executable& executable, int64_t runs) {
  if (runs < 1 || runs > kMaxRecorded) {
    return {StatusCode::kInvalidArgument,
            fmt::format("requests: expected 1 to {}, found {}", kMaxRecorded, runs)};
  }
  if (Find(&executable) == nullptr) return NotWatched();
  auto recording = std::make_shared<Recording>();
  recording->executable = &executable;
  recording->asked = static_cast<uint32_t>(runs);
  const std::lock_guard lock(recording_mutex_);
  recording_.swap(recording);
  is_recording_ = true;
  return OkStatus();
}

Result<std::string> ModelProfiler::Json(const Executable& executable) const {
  const auto entry = Find(&executable);
  if (entry == nullptr) return NotWatched();
  std::string json = "{\"name\":";
  AppendJsonText(entry->model, &json);
  json.append(",\"version\":");
  AppendJsonText(entry->version, &json);
  fmt::format_to(std::back_inserter(json), ",\"sampled\":{{\"interval\":{},", interval_);
  AppendProfile(entry->sampled, &json);
  json.append("},\"recording\":");
  std::shared_ptr<Recording> recording;
  bool is_over = false;
  uint32_t asked = 0;
  {
    const std::lock_guard lock(recording_mutex_);
    if (recording_ != nullptr && recording_->executable == &executable) {
      recording = recording_;
      asked = recording->asked;
      is_over = recording->ended == asked;
    }
  }
  if (recording == nullptr) return json + "null}";
  fmt::format_to(std::back_inserter(json), "{{\"asked\":{},\"done\":{},", asked, is_over);
  AppendProfile(recording->profile, &json);
  return json + "}}";
}

Result<std::string> ModelProfiler::ChromeJson(const Executable& executable) const {
  std::shared_ptr<Recording> recording;
  {
    const std::lock_guard lock(recording_mutex_);
    recording = recording_;
  }
  if (recording == nullptr || recording->executable != &executable) {
    return Status(StatusCode::kNotFound,
                  "nothing of this model was recorded: POST .../profile?requests=N comes first");
  }
  return recording->trace.Json();
}

void ModelProfiler::AppendMetrics(std::string* text) const {
  std::vector<std::shared_ptr<Entry>> entries;
  {
    const std::shared_lock lock(mutex_);
    for (const auto& [executable, entry] : entries_) entries.push_back(entry);
  }
  std::string seconds, calls;
  for (const auto& entry : entries) {
    const std::vector<Profile::Row> rows = entry->sampled.ByKernel();  // the longest first
    const std::lock_guard lock(entry->mutex);
    for (const Profile::Row& row : rows) {
      if (entry->shown.size() >= kMaxMetricKernels && !entry->shown.contains(row.name)) continue;
      entry->shown.insert(row.name);
      const std::string labels =
          LabelText({{"model", entry->model}, {"version", entry->version}, {"kernel", row.name}});
      fmt::format_to(std::back_inserter(seconds), "vmserve_kernel_seconds_total{{{}}} {}\n", labels,
                     static_cast<double>(row.total_ns) / 1e9);
      fmt::format_to(std::back_inserter(calls), "vmserve_kernel_calls_total{{{}}} {}\n", labels,
                     row.calls);
    }
  }
  if (seconds.empty()) return;
  text->append(
      "# HELP vmserve_kernel_seconds_total Time of kernels, estimated from samples\n"
      "# TYPE vmserve_kernel_seconds_total counter\n");
  text->append(seconds);
  text->append(
      "# HELP vmserve_kernel_calls_total Calls of kernels, estimated from samples\n"
      "# TYPE vmserve_kernel_calls_total counter\n");
  text->append(calls);
}

// --- What the runtime tells ---

std::shared_ptr<ModelProfiler::Recording> ModelProfiler::RecordingOf(const TracedRun& run) const {
  if (!IsRecording()) return nullptr;
  const std::lock_guard lock(recording_mutex_);
  const bool is_in = recording_ != nullptr && recording_->executable == run.executable &&
                     recording_->runs.contains(run.invocation);
  return is_in ? recording_ : nullptr;
}

void ModelProfiler::OnRunBegin(const RunEvent& event) {
  if (!IsRecording()) return;
  const std::lock_guard lock(recording_mutex_);
  if (recording_ == nullptr || recording_->executable != event.run.executable) return;
  if (recording_->runs.size() < recording_->asked) recording_->runs.insert(event.run.invocation);
}

void ModelProfiler::OnRunEnd(const RunEvent& event) {
  if (const auto entry = Find(event.run.executable)) entry->sampled.OnRunEnd(event);
  const auto recording = RecordingOf(event.run);
  if (recording == nullptr) return;
  recording->profile.OnRunEnd(event);
  recording->trace.OnRunEnd(event);
  const std::lock_guard lock(recording_mutex_);
  if (++recording->ended == recording->asked && recording == recording_) is_recording_ = false;
}

void ModelProfiler::OnKernel(const KernelEvent& event) {
  if (const auto entry = Find(event.run.executable)) entry->sampled.OnKernel(event);
  const auto recording = RecordingOf(event.run);
  if (recording == nullptr) return;
  recording->profile.OnKernel(event);
  recording->trace.OnKernel(event);
}

void ModelProfiler::OnSlice(const SliceEvent& event) {
  if (const auto recording = RecordingOf(event.run)) recording->trace.OnSlice(event);
}

void ModelProfiler::OnWait(const WaitEvent& event) {
  const auto recording = RecordingOf(event.run);
  if (recording == nullptr) return;
  recording->profile.OnWait(event);
  recording->trace.OnWait(event);
}

void ModelProfiler::OnHostCall(const HostCallEvent& event) {
  if (const auto recording = RecordingOf(event.run)) recording->trace.OnHostCall(event);
}

}  // namespace relayvm::serve
