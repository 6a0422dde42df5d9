#include "tools/serve/otlp_exporter.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <thread>
#include <utility>

#include "bytecode/base/printable.h"
#include "tools/serve/protocol/json_writer.h"

namespace relayvm::serve {
namespace {

using SteadyTime = std::chrono::steady_clock::time_point;

constexpr size_t kMaxSpanText = 256;
constexpr size_t kMaxBatch = 512;

bool WaitFor(int fd, short events, SteadyTime deadline) {
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) return false;
    pollfd poll{fd, events, 0};
    const int ready = ::poll(&poll, 1, static_cast<int>(left.count()));
    if (ready < 0 && errno == EINTR) continue;
    return ready == 1;
  }
}

class Socket {
 public:
  Socket() = default;
  ~Socket() { Close(); }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  bool Connect(const OtlpEndpoint& endpoint, SteadyTime deadline) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* addresses = nullptr;
    if (::getaddrinfo(endpoint.host.c_str(), endpoint.port.c_str(), &hints, &addresses) != 0)
      return false;
    const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owned(addresses, ::freeaddrinfo);
    for (const addrinfo* at = addresses; at != nullptr; at = at->ai_next) {
      Close();
      fd_ = ::socket(at->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
      if (fd_ < 0) continue;
      if (::connect(fd_, at->ai_addr, at->ai_addrlen) == 0) return true;
      if (errno != EINPROGRESS || !WaitFor(fd_, POLLOUT, deadline)) continue;
      int error = 0;
      socklen_t size = sizeof error;
      if (::getsockopt(fd_, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == 0) return true;
    }
    return false;
  }
  bool Send(std::string_view bytes, SteadyTime deadline) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent > 0) {
        bytes.remove_prefix(static_cast<size_t>(sent));
        continue;
      }
      if (errno != EAGAIN && errno != EINTR) return false;
      if (!WaitFor(fd_, POLLOUT, deadline)) return false;
    }
    return true;
  }
  // The code of the answer's first line; 0: none came.
  int ReadCode(SteadyTime deadline) {
    constexpr std::string_view kStart = "HTTP/1.1 200";
    std::string line;
    while (line.size() < kStart.size()) {
      char bytes[64];
      const ssize_t received = ::recv(fd_, bytes, sizeof bytes, 0);
      if (received == 0) return 0;
      if (received > 0) {
        line.append(bytes, static_cast<size_t>(received));
        continue;
      }
      if (errno != EAGAIN && errno != EINTR) return 0;
      if (!WaitFor(fd_, POLLIN, deadline)) return 0;
    }
    if (!line.starts_with("HTTP/1.")) return 0;
    int code = 0;
    for (size_t i = kStart.size() - 3; i < kStart.size(); ++i) {
      if (line[i] < '0' || line[i] > '9') return 0;
      code = code * 10 + (line[i] - '0');
    }
    return code;
  }

 private:
  void Close() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }
  int fd_ = -1;
};

bool SendBatch(const OtlpEndpoint& endpoint, const std::string& json, SteadyTime deadline) {
  Socket socket;
  if (!socket.Connect(endpoint, deadline)) return false;
  const std::string head = fmt::format(
      "POST {} HTTP/1.1\r\nHost: {}:{}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n"
      "Connection: close\r\n\r\n",
      endpoint.path, endpoint.host, endpoint.port, json.size());
  if (!socket.Send(head, deadline) || !socket.Send(json, deadline)) return false;
  const int code = socket.ReadCode(deadline);
  return code >= 200 && code < 300;
}

void AppendText(std::string_view key, std::string_view text, std::string* json) {
  fmt::format_to(std::back_inserter(*json), "{{\"key\":\"{}\",\"value\":{{\"stringValue\":", key);
  AppendJsonText(text, json);
  json->append("}},");
}

void AppendNumber(std::string_view key, int64_t number, std::string* json) {
  // OTLP's JSON has 64-bit integers as texts.
  fmt::format_to(std::back_inserter(*json), "{{\"key\":\"{}\",\"value\":{{\"intValue\":\"{}\"}}}},",
                 key, number);
}

}  // namespace

Result<OtlpEndpoint> ParseOtlpEndpoint(std::string_view url) {
  constexpr std::string_view kScheme = "http://";
  const auto invalid = [&] {
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("expected http://HOST:PORT/v1/traces, found {}", Printable(url)));
  };
  const bool is_plain = std::ranges::all_of(url, [](char c) { return c > ' ' && c < 0x7F; });
  if (!url.starts_with(kScheme) || !is_plain) return invalid();
  url.remove_prefix(kScheme.size());
  OtlpEndpoint endpoint;
  const size_t slash = std::min(url.find('/'), url.size());
  endpoint.path = slash < url.size() ? std::string(url.substr(slash)) : "/v1/traces";
  std::string_view place = url.substr(0, slash);
  if (place.find('@') != std::string_view::npos) return invalid();
  size_t colon = place.find(':');
  if (place.starts_with('[')) {
    const size_t end = place.find(']');
    if (end == std::string_view::npos) return invalid();
    endpoint.host = place.substr(1, end - 1);
    place.remove_prefix(end + 1);
    if (!place.empty() && place.front() != ':') return invalid();
    colon = place.empty() ? std::string_view::npos : 0;
  } else {
    endpoint.host = place.substr(0, colon);
  }
  endpoint.port = colon == std::string_view::npos ? "4318" : std::string(place.substr(colon + 1));
  const bool is_number =
      !endpoint.port.empty() && endpoint.port.size() <= 5 &&
      std::ranges::all_of(endpoint.port, [](char c) { return c >= '0' && c <= '9'; });
  if (endpoint.host.empty() || !is_number || std::stoi(endpoint.port) > 0xFFFF) return invalid();
  return endpoint;
}

Result<std::unique_ptr<OtlpExporter>> OtlpExporter::Create(const Options& options, Counter& sent,
                                                           Counter& dropped) {
  std::unique_ptr<OtlpExporter> exporter(new OtlpExporter());
  Queue& queue = *exporter->queue_;
  queue.options = options;
  RELAYVM_ASSIGN_OR_RETURN(queue.endpoint, ParseOtlpEndpoint(options.endpoint));
  queue.sent = &sent;
  queue.dropped = &dropped;
  std::thread([shared = exporter->queue_] { Work(shared); }).detach();
  return exporter;
}

OtlpExporter::~OtlpExporter() {
  std::unique_lock lock(queue_->mutex);
  queue_->stopping = true;
  queue_->wake.notify_one();
  // A resolver of names knows no deadline: the thread is left to itself then.
  queue_->gone.wait_for(lock, queue_->options.time, [&] { return queue_->has_ended; });
  queue_->sent = queue_->dropped = nullptr;
}

void OtlpExporter::Add(const EndedRequest& request) {
  using std::chrono::nanoseconds;
  const auto cut = [](std::string_view text) { return std::string(text.substr(0, kMaxSpanText)); };
  const int64_t begin = nanoseconds(request.begin.time_since_epoch()).count();
  Span span{request.trace,
            cut(request.method),
            cut(request.path),
            cut(request.model),
            cut(request.version),
            request.code,
            request.bytes_in,
            request.bytes_out,
            begin,
            begin + request.took.count(),
            request.queued_ns,
            request.run_ns};
  const std::lock_guard lock(queue_->mutex);
  if (queue_->spans.size() >= queue_->options.max_spans) return queue_->dropped->Add();
  queue_->spans.push_back(std::move(span));
  if (queue_->spans.size() == kMaxBatch) queue_->wake.notify_one();
}

void OtlpExporter::AppendSpan(const Span& span, std::string* json) {
  json->append("{\"traceId\":\"");
  AppendHex(span.trace.trace_high, json);
  AppendHex(span.trace.trace_low, json);
  json->append("\",\"spanId\":\"");
  AppendHex(span.trace.span, json);
  if (span.trace.parent != 0) {
    json->append("\",\"parentSpanId\":\"");
    AppendHex(span.trace.parent, json);
  }
  json->append("\",\"name\":");
  AppendJsonText(span.model.empty() ? span.method : span.method + " " + span.model, json);
  fmt::format_to(std::back_inserter(*json),
                 ",\"kind\":2,\"startTimeUnixNano\":\"{}\",\"endTimeUnixNano\":\"{}\","
                 "\"attributes\":[",
                 span.begin_ns, span.end_ns);
  if (span.method == "gRPC") {
    AppendText("rpc.system", "grpc", json);
  } else {
    AppendText("http.request.method", span.method, json);
  }
  AppendText("url.path", span.path, json);
  if (!span.model.empty()) {
    AppendText("relayvm.model", span.model, json);
    AppendText("relayvm.version", span.version, json);
  }
  if (span.queued_ns >= 0) {
    AppendNumber("relayvm.queued_ns", span.queued_ns, json);
    AppendNumber("relayvm.run_ns", span.run_ns, json);
  }
  AppendNumber("http.request.body.size", static_cast<int64_t>(span.bytes_in), json);
  AppendNumber("http.response.body.size", static_cast<int64_t>(span.bytes_out), json);
  AppendNumber("http.response.status_code", span.code, json);
  json->pop_back();
  json->append(span.code >= 500 ? "],\"status\":{\"code\":2}}" : "],\"status\":{}}");
}

std::string OtlpExporter::BatchJson(const std::vector<Span>& spans) {
  std::string json =
      "{\"resourceSpans\":[{\"resource\":{\"attributes\":[{\"key\":\"service.name\",\"value\":"
      "{\"stringValue\":\"vmserve\"}}]},\"scopeSpans\":[{\"scope\":{\"name\":\"vmserve\","
      "\"version\":\"" RELAYVM_VERSION "\"},\"spans\":[";
  for (const Span& span : spans) {
    AppendSpan(span, &json);
    json.push_back(',');
  }
  json.back() = ']';
  return json + "}]}]}";
}

void OtlpExporter::Work(const std::shared_ptr<Queue>& queue) {
  std::unique_lock lock(queue->mutex);
  while (!queue->stopping || !queue->spans.empty()) {
    queue->wake.wait_for(lock, queue->options.interval,
                         [&] { return queue->stopping || queue->spans.size() >= kMaxBatch; });
    while (!queue->spans.empty()) {
      const auto end =
          queue->spans.begin() + static_cast<ptrdiff_t>(std::min(queue->spans.size(), kMaxBatch));
      std::vector<Span> batch(std::make_move_iterator(queue->spans.begin()),
                              std::make_move_iterator(end));
      queue->spans.erase(queue->spans.begin(), end);
      lock.unlock();
      const bool is_taken = SendBatch(queue->endpoint, BatchJson(batch),
                                      std::chrono::steady_clock::now() + queue->options.time);
      lock.lock();
      if (Counter* counter = is_taken ? queue->sent : queue->dropped; counter != nullptr)
        counter->Add(batch.size());
      // Whoever ends waits for one batch that is not taken, not for all.
      if (!is_taken && queue->stopping) {
        if (queue->dropped != nullptr) queue->dropped->Add(queue->spans.size());
        queue->spans.clear();
      }
    }
  }
  queue->has_ended = true;
  queue->gone.notify_all();
}

}  // namespace relayvm::serve
