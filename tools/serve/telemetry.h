// Telemetry: what is said of each request when it has ended: a line of the access log, a span to a
// collector. Protocols call Begin where a request has come, and End where its answer has gone.
//
// A request waits for neither: both keep a bounded queue, which a thread of theirs empties; what
// finds it full is dropped and counted (vmserve_access_log_dropped_total,
// vmserve_spans_dropped_total). Thread-safe. Tested by telemetry_test.cc.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "bytecode/base/status.h"
#include "tools/serve/metrics.h"
#include "tools/serve/trace_context.h"

namespace relayvm::serve {

// A request that has ended. Texts are as a stranger sent them, and valid for the call.
struct EndedRequest {
  std::string_view method, path;  // of gRPC: "gRPC", the method
  std::string_view model, version;
  int code = 0;  // of HTTP; 499: the client went
  size_t bytes_in = 0, bytes_out = 0;
  int64_t queued_ns = -1, run_ns = -1;  // -1: nothing was run
  std::chrono::system_clock::time_point begin;
  std::chrono::nanoseconds took{0};
  TraceContext trace;
};

class RequestObserver {
 public:
  virtual ~RequestObserver() = default;
  // `traceparent`: the request's, or empty.
  virtual TraceContext Begin(std::string_view traceparent) = 0;
  // Whether End is to be called, and times to be taken for it.
  virtual bool wants_ends() const = 0;
  virtual void End(const EndedRequest& request) = 0;
};

// A request under way, for protocols: what it says to the observer, which may be null.
class ObservedRequest {
 public:
  void Begin(RequestObserver* observer, std::string_view traceparent);
  // Adds its trace and times.
  void End(EndedRequest ended);
  const TraceContext& trace() const { return trace_; }
  bool has_trace() const { return observer_ != nullptr; }

 private:
  RequestObserver* observer_ = nullptr;
  TraceContext trace_;
  std::chrono::system_clock::time_point began_;
  std::chrono::steady_clock::time_point began_steady_;
};

struct TelemetryOptions {
  std::string access_log;     // a file that is appended to, - for standard output; empty: none
  std::string otlp_endpoint;  // http://HOST:PORT/v1/traces; empty: none
  double sample = 1;          // the part of the traces that begin here which is exported
  size_t max_spans = 2048;    // that wait for the collector
  size_t max_log_bytes = size_t{1} << 20;          // that wait to be written
  std::chrono::milliseconds interval{500};         // how long they may wait
  std::chrono::milliseconds collector_time{5000};  // for it to take a batch
};

class AccessLog;
class OtlpExporter;

class Telemetry : public RequestObserver {
 public:
  // kInvalidArgument: no such endpoint; kInvalidInput: the file cannot be opened. `metrics` is
  // borrowed.
  static Result<std::unique_ptr<Telemetry>> Create(const TelemetryOptions& options,
                                                   Metrics& metrics);
  // Writes and sends what is left, for collector_time at the most.
  ~Telemetry() override;

  TraceContext Begin(std::string_view traceparent) override;
  bool wants_ends() const override { return log_ != nullptr || exporter_ != nullptr; }
  void End(const EndedRequest& request) override;
  // Opens the access log's file again: it may have been renamed.
  void Reopen();

 private:
  Telemetry();
  double sample_ = 0;
  std::unique_ptr<AccessLog> log_;
  std::unique_ptr<OtlpExporter> exporter_;
};

}  // namespace relayvm::serve
