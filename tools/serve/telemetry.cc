#include "tools/serve/telemetry.h"

#include <utility>

#include "tools/serve/access_log.h"
#include "tools/serve/otlp_exporter.h"

namespace relayvm::serve {

void ObservedRequest::Begin(RequestObserver* observer, std::string_view traceparent) {
  observer_ = observer;
  if (observer == nullptr) return;
  trace_ = observer->Begin(traceparent);
  if (!observer->wants_ends()) return;
  began_ = std::chrono::system_clock::now();
  began_steady_ = std::chrono::steady_clock::now();
}

void ObservedRequest::End(EndedRequest ended) {
  if (observer_ == nullptr || !observer_->wants_ends()) return;
  ended.begin = began_;
  ended.took = std::chrono::steady_clock::now() - began_steady_;
  ended.trace = trace_;
  observer_->End(ended);
}

Telemetry::Telemetry() = default;
Telemetry::~Telemetry() = default;

Result<std::unique_ptr<Telemetry>> Telemetry::Create(const TelemetryOptions& options,
                                                     Metrics& metrics) {
  std::unique_ptr<Telemetry> telemetry(new Telemetry());
  if (!options.otlp_endpoint.empty()) {
    telemetry->sample_ = options.sample;
    RELAYVM_ASSIGN_OR_RETURN(
        telemetry->exporter_,
        OtlpExporter::Create(
            {options.otlp_endpoint, options.max_spans, options.interval, options.collector_time},
            metrics.counter("vmserve_spans_sent_total", "Spans that the collector has taken"),
            metrics.counter("vmserve_spans_dropped_total",
                            "Spans that found the queue full, or the collector did not take")));
  }
  if (!options.access_log.empty()) {
    RELAYVM_ASSIGN_OR_RETURN(
        telemetry->log_,
        AccessLog::Open({options.access_log, options.max_log_bytes, options.interval},
                        metrics.counter("vmserve_access_log_dropped_total",
                                        "Lines that could not be written to the access log")));
  }
  return telemetry;
}

TraceContext Telemetry::Begin(std::string_view traceparent) {
  if (auto context = ParseTraceparent(traceparent)) return *context;
  TraceContext trace = NewTrace(false);
  // The id is random, so that it chooses.
  trace.is_sampled = static_cast<double>(trace.trace_low >> 11) * 0x1p-53 < sample_;
  return trace;
}

void Telemetry::End(const EndedRequest& request) {
  if (log_ != nullptr) log_->Write(request);
  if (exporter_ != nullptr && request.trace.is_sampled) exporter_->Add(request);
}

void Telemetry::Reopen() {
  if (log_ != nullptr) log_->Reopen();
}

}  // namespace relayvm::serve
