// ModelProfiler: where the models that are served spend their time, by kernel and by node. It is
// the trace sink of the runtime that they run on.
//
// Some calls of kernels, chosen at random, are always timed and stand for the others. The next runs
// of a model can be recorded, each call and with its times for a Chrome trace: one recording at a
// time, a new one takes its place; while it goes on all calls are timed. Holds no program longer
// than Watch says. Thread-safe. Tested by model_profile_test.cc.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "bytecode/base/status.h"
#include "vm/trace/chrome_trace.h"
#include "vm/trace/profile.h"
#include "vm/trace/trace.h"

namespace relayvm::serve {

class ModelProfiler : public TraceSink {
 public:
  static constexpr uint32_t kMaxRecorded = 1000;   // runs
  static constexpr size_t kMaxEvents = 200'000;    // of a recording's Chrome trace
  static constexpr size_t kMaxRows = 1000;         // of a table
  static constexpr size_t kMaxMetricKernels = 64;  // of a model, in Prometheus' text

  // Times one call of a kernel in so many; 0: none but of recordings.
  explicit ModelProfiler(uint32_t kernel_interval) : interval_(kernel_interval) {}
  ~ModelProfiler() override;

  // From here on, until the handle is given up, there is a profile of it. The profiler must be
  // older than the handle.
  std::shared_ptr<const void> Watch(std::string model, std::string version,
                                    const Executable& executable);
  // Records its next runs. kInvalidArgument: not 1 to kMaxRecorded; kNotFound: it is not watched.
  Status Record(const Executable& executable, int64_t runs);
  // {"name":...,"version":...,"sampled":{...},"recording":{...} or null}. kNotFound.
  Result<std::string> Json(const Executable& executable) const;
  // Of the recording, in the Trace Event Format. kNotFound where there is none.
  Result<std::string> ChromeJson(const Executable& executable) const;
  // vmserve_kernel_seconds_total and vmserve_kernel_calls_total, as Prometheus reads them.
  void AppendMetrics(std::string* text) const;

  void OnRunBegin(const RunEvent& event) override;
  void OnRunEnd(const RunEvent& event) override;
  void OnKernel(const KernelEvent& event) override;
  void OnSlice(const SliceEvent& event) override;
  void OnWait(const WaitEvent& event) override;
  void OnHostCall(const HostCallEvent& event) override;
  bool wants_slices() const override { return IsRecording(); }
  uint32_t kernel_interval() const override { return IsRecording() ? 1 : interval_; }

 private:
  struct Entry {
    std::string model, version;
    Profile sampled;
    std::mutex mutex;
    std::set<std::string> shown;  // kernels in the metrics: once there, they stay
  };
  struct Recording {
    const Executable* executable = nullptr;
    uint32_t asked = 0, ended = 0;
    std::unordered_set<uint64_t> runs;  // by their invocations
    Profile profile;
    ChromeTrace trace{{.max_events = kMaxEvents}};
  };
  bool IsRecording() const { return is_recording_.load(std::memory_order_relaxed); }
  std::shared_ptr<Entry> Find(const Executable* executable) const;
  void Forget(const Executable* executable);
  // The recording that the run is in, which is not over; null: none.
  std::shared_ptr<Recording> RecordingOf(const TracedRun& run) const;

  const uint32_t interval_;
  mutable std::shared_mutex mutex_;  // of entries_
  std::unordered_map<const Executable*, std::shared_ptr<Entry>> entries_;
  std::atomic<bool> is_recording_{false};
  mutable std::mutex recording_mutex_;  // of what it points to, but for profile and trace
  std::shared_ptr<Recording> recording_;
};

}  // namespace relayvm::serve
