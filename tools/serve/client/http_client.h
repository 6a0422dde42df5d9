// HttpClient: requests to one server over HTTP/1.1 or TLS, one at a time, on a connection that is
// kept. All that a server can send or delay is bounded: lines, headers, bodies (which grow as bytes
// come, never by what a header says), the time until an answer begins and until it is there.
//
// Not thread-safe: one for each thread; a TlsContext may be shared. Tested by
// ../tests/run_client.py.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bytecode/base/status.h"
#include "tools/serve/protocol/tls.h"

namespace relayvm::serve {

// "http://127.0.0.1:8000", "https://models.example/base", "[::1]:8000".
struct ServerUrl {
  bool is_tls = false;
  std::string host, port, base;  // base: "" or "/base"

  static Result<ServerUrl> Parse(std::string_view text);
};

struct HttpClientOptions {
  ServerUrl url;
  std::shared_ptr<TlsContext> tls;  // of an https URL
  std::string token;                // sent as a bearer's, where there is one
  size_t max_header_bytes = 64 << 10;
  size_t max_body_bytes = size_t{1} << 30;
  std::chrono::milliseconds connect_time{10'000};
  // Until the answer's first byte, for requests without a deadline.
  std::chrono::milliseconds answer_time{600'000};
  // For a request to go and an answer to come: this, and a second for each so many bytes.
  std::chrono::milliseconds transfer_time{10'000};
  size_t min_bytes_per_second = 64 << 10;
};

struct HttpRequest {
  std::string_view method = "GET", path;                          // behind the URL's base
  std::vector<std::pair<std::string, std::string>> headers;       // more of them
  std::vector<std::span<const std::byte>> body;                   // pieces, borrowed
  std::optional<std::chrono::steady_clock::time_point> deadline;  // of all of it
};

struct HttpAnswer {
  int status = 0;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;

  // Of any case; empty where there is none.
  std::string_view header(std::string_view name) const;
};

class HttpClient {
 public:
  explicit HttpClient(HttpClientOptions options);
  ~HttpClient();
  HttpClient(HttpClient&&) noexcept;
  HttpClient& operator=(HttpClient&&) noexcept;

  // A kept connection that turns out to be closed is opened anew, once. kNotFound: no such host, or
  // nobody listens; kDeadlineExceeded; kInvalidInput: what came is no HTTP, or beyond a limit.
  Result<HttpAnswer> Send(const HttpRequest& request);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace relayvm::serve
