// ChromeTrace: keeps what runs do, for chrome://tracing and ui.perfetto.dev.
//
//   ChromeTrace trace;
//   auto runtime = Runtime::Create({.trace = &trace});
//   ...
//   Status written = trace.Write("trace.json");
//
// A track for each thread: its slices of runs, with kernels in them, and batches. A track for each
// invocation: its runs, with calls of host functions and waits in them, and kernels that ran in a
// batch or in several slices. Thread-safe; may be written at any time. Tested by trace_test.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "bytecode/base/status.h"
#include "vm/trace/trace.h"

namespace relayvm {

class ChromeTrace : public TraceSink {
 public:
  struct Options {
    // Later ones are dropped, and counted; one takes about 100 bytes.
    size_t max_events = 1'000'000;
    uint32_t kernel_interval = 1;  // of TraceSink
  };
  ChromeTrace();
  explicit ChromeTrace(const Options& options);
  ~ChromeTrace() override;

  // One JSON object of the Trace Event Format. Times count from the first event.
  std::string Json() const;
  // kInvalidInput when the file cannot be written.
  Status Write(const std::string& path) const;
  size_t num_events() const;
  uint64_t dropped() const;
  // Forgets all, and lets go of the programs, which it keeps until then.
  void Clear();

  void OnKernel(const KernelEvent& event) override;
  void OnRunEnd(const RunEvent& event) override;
  void OnSlice(const SliceEvent& event) override;
  void OnWait(const WaitEvent& event) override;
  void OnHostCall(const HostCallEvent& event) override;
  void OnBatch(const BatchEvent& event) override;
  uint32_t kernel_interval() const override { return options_.kernel_interval; }

 private:
  struct Event;
  class Lines;
  struct Impl;
  void Add(Event event, std::string_view device = {});

  Options options_;
  std::unique_ptr<Impl> impl_;
};

}  // namespace relayvm
