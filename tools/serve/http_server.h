// HttpServer: HTTP/1.1 on TCP, with bounds on all that a stranger can send, hold or delay.
//
// Each of a few threads has connections of its own. A request's handler is called on one of them
// and answers there or later, from any thread; meanwhile the connection waits, and is watched: the
// handler is told where its client goes away. Connections are kept alive; requests that are sent
// before an answer came are answered in order. Handlers must not block. Thread-safe. Tested by
// http_server_test.cc.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "bytecode/base/status.h"
#include "tools/serve/protocol/http_message.h"
#include "tools/serve/protocol/tls.h"
#include "tools/serve/telemetry.h"

namespace relayvm::serve {

struct HttpOptions {
  uint32_t threads = 2;
  size_t max_header_bytes = 16 << 10;
  size_t max_body_bytes = size_t{64} << 20;
  size_t max_all_bodies = size_t{1} << 30;  // bytes of all requests that are read or answered
  size_t max_connections = 20'000;          // above that, new ones are answered with 503
  // Requests of one address (of IPv6, its first 64 bits) that are not answered; more are answered
  // with 429. 0: no limit. Behind a proxy, all have its address.
  size_t max_client_requests = 0;
  // For a request's header to come, from its first byte on; and for a kept connection to be idle.
  std::chrono::milliseconds header_time{10'000}, idle_time{75'000};
  // For a body to come, or an answer to be taken: this, and a second for each so many bytes.
  std::chrono::milliseconds transfer_time{10'000};
  size_t min_bytes_per_second = 64 << 10;
  // How long a thread that has nothing more to do looks for more before it sleeps: being woken
  // takes as long as a short run. Others that want its processor get it meanwhile.
  std::chrono::microseconds spin{50};
  // Told of each request (borrowed): its traces' ids go into the answers; null: they have none.
  RequestObserver* observer = nullptr;
  std::shared_ptr<TlsContext> tls;  // none: plain HTTP
};

// A request, and the way to answer it. The views are valid until it is answered.
class HttpExchange {
 public:
  virtual ~HttpExchange() = default;
  virtual std::string_view method() const = 0;
  virtual std::string_view target() const = 0;  // as it was sent: "/v2/models/m?x=1"
  virtual std::string_view body() const = 0;    // of gzip and deflate, what they come to
  // The value of a header, by its name in any case; empty where there is none.
  virtual std::string_view header(std::string_view name) const = 0;
  // Counts so many bytes more toward max_all_bodies, as long as the exchange is there: of what is
  // made of the body and takes more than that. False: there is no such room. Any thread.
  virtual bool CountMemory(size_t) { return true; }
  // The trace that it belongs to.
  virtual TraceContext trace() const { return {}; }
  // Called once, on the connection's thread, where the client goes before it is answered.
  // REQUIRES: called by the handler, before it returns.
  virtual void set_on_disconnect(std::function<void()> on_disconnect) = 0;
  // REQUIRES: called once.
  virtual void Respond(HttpResponse response) = 0;

  // --- Instead of Respond: an answer whose end is not known yet, in chunks ---

  // From any thread, in this order; its body and pieces are not used. `on_sent` is called on the
  // connection's thread whenever all that was written has been sent: who writes more than the
  // client takes waits for it. The client's going is told until EndStream.
  virtual void BeginStream(HttpResponse head, std::function<void()> on_sent) = 0;
  virtual void WriteStream(std::string bytes) = 0;
  virtual void EndStream() = 0;
};
using HttpHandler = std::function<void(std::shared_ptr<HttpExchange>)>;

struct HttpStats {
  uint64_t accepted = 0, refused = 0, requests = 0, bad_requests = 0, timeouts = 0;
  size_t connections = 0, body_bytes = 0;  // now
};

class HttpServer {
 public:
  explicit HttpServer(const HttpOptions& options);
  // Closes all connections. REQUIRES: exchanges that are not answered are not used any more but to
  // be dropped.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // Listens on one more port; 0: any. Gives the port. kInvalidArgument: no such address;
  // kFailedPrecondition: it is in use. REQUIRES: before Start.
  Result<uint16_t> Listen(const std::string& host, uint16_t port, HttpHandler handler);
  void Start();
  // Accepts no more connections, closes those that are idle, others after their answer; true when
  // all are closed.
  bool Drain(std::chrono::steady_clock::time_point deadline);
  HttpStats stats() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace relayvm::serve
