// OtlpExporter: sends spans of requests to a collector, as OTLP/HTTP in JSON:
//
//   POST /v1/traces   {"resourceSpans": [{"resource": ..., "scopeSpans": [{"spans": [...]}]}]}
//
// A thread sends what has come in batches, a connection each. A batch that the collector does not
// take in time, or refuses, is dropped and counted. Thread-safe. Tested by otlp_exporter_test.cc.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "bytecode/base/status.h"
#include "tools/serve/metrics.h"
#include "tools/serve/telemetry.h"

namespace relayvm::serve {

struct OtlpEndpoint {
  std::string host, port, path;
};
// http://HOST[:PORT][/PATH]; an IPv6 address stands in brackets. kInvalidArgument.
Result<OtlpEndpoint> ParseOtlpEndpoint(std::string_view url);

class OtlpExporter {
 public:
  struct Options {
    std::string endpoint;
    size_t max_spans = 2048;
    std::chrono::milliseconds interval{500};
    std::chrono::milliseconds time{5000};  // for a batch
  };
  // The counters are borrowed.
  static Result<std::unique_ptr<OtlpExporter>> Create(const Options& options, Counter& sent,
                                                      Counter& dropped);
  // Sends what is left, and waits for that for Options::time at the most.
  ~OtlpExporter();
  OtlpExporter(const OtlpExporter&) = delete;
  OtlpExporter& operator=(const OtlpExporter&) = delete;

  void Add(const EndedRequest& request);

 private:
  // What is kept of a request.
  struct Span {
    TraceContext trace;
    std::string method, path, model, version;
    int code;
    uint64_t bytes_in, bytes_out;
    int64_t begin_ns, end_ns;  // of Unix time
    int64_t queued_ns, run_ns;
  };
  // Of the thread too, which may be the last to leave.
  struct Queue {
    Options options;
    OtlpEndpoint endpoint;
    std::mutex mutex;
    std::condition_variable wake, gone;
    std::vector<Span> spans;
    bool stopping = false, has_ended = false;
    Counter* sent = nullptr;  // null: nobody counts any more
    Counter* dropped = nullptr;
  };
  static void AppendSpan(const Span& span, std::string* json);
  static std::string BatchJson(const std::vector<Span>& spans);
  static void Work(const std::shared_ptr<Queue>& queue);

  OtlpExporter() = default;
  std::shared_ptr<Queue> queue_ = std::make_shared<Queue>();
};

}  // namespace relayvm::serve
