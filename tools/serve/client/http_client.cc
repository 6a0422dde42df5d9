#include "tools/serve/client/http_client.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "bytecode/base/printable.h"

namespace relayvm::serve {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kRead = 64 << 10;
constexpr size_t kTogether = 16 << 10;
constexpr int kMaxInterim = 8;  // answers of 1xx before the one

bool EqualsIgnoringCase(std::string_view a, std::string_view b) {
  return std::ranges::equal(
      a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

Status Malformed(std::string_view what) {
  return {StatusCode::kInvalidInput, fmt::format("the server's answer: {}", what)};
}

std::optional<size_t> ParseNumber(std::string_view text, int base) {
  size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return number;
}

}  // namespace

Result<ServerUrl> ServerUrl::Parse(std::string_view text) {
  const auto invalid = [&](std::string_view what) {
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("{}: {}; a server is http://HOST:PORT or https://HOST:PORT",
                              Printable(text), what));
  };
  ServerUrl url;
  std::string_view rest = text;
  if (const size_t scheme = rest.find("://"); scheme != std::string_view::npos) {
    const std::string_view name = rest.substr(0, scheme);
    if (name != "http" && name != "https") return invalid("no scheme that is known here");
    url.is_tls = name == "https";
    rest.remove_prefix(scheme + 3);
  }
  const size_t slash = std::min(rest.find('/'), rest.size());
  url.base = rest.substr(slash);
  while (url.base.ends_with('/')) url.base.pop_back();
  rest = rest.substr(0, slash);
  if (rest.starts_with('[')) {
    const size_t close = rest.find(']');
    if (close == std::string_view::npos) return invalid("a [ without its ]");
    url.host = rest.substr(1, close - 1);
    rest.remove_prefix(close + 1);
  } else {
    const size_t colon = std::min(rest.find(':'), rest.size());
    url.host = rest.substr(0, colon);
    rest.remove_prefix(colon);
  }
  url.port = url.is_tls ? "443" : "80";
  if (rest.starts_with(':')) {
    const auto port = ParseNumber(rest.substr(1), 10);
    if (!port || *port == 0 || *port > 65535) return invalid("no port from 1 to 65535");
    url.port = std::to_string(*port);
  } else if (!rest.empty()) {
    return invalid("no port");
  }
  const bool is_plain = std::ranges::all_of(
      url.host + url.base, [](unsigned char c) { return std::isgraph(c) != 0 && c != '@'; });
  if (url.host.empty() || !is_plain) return invalid("no host");
  return url;
}

std::string_view HttpAnswer::header(std::string_view name) const {
  for (const auto& [key, value] : headers) {
    if (EqualsIgnoringCase(key, name)) return value;
  }
  return {};
}

struct HttpClient::Impl {
  explicit Impl(HttpClientOptions o) : options(std::move(o)) {}
  ~Impl() { Close(); }

  void Close() {
    if (socket >= 0) ::close(socket);
    socket = -1;
    tls.reset();
    buffer.clear();
    at = 0;
  }

  // --- Times ---
  Status Wait(short events) {
    for (;;) {
      const auto left =
          std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
      if (left <= 0) return {StatusCode::kDeadlineExceeded, "the server takes too long"};
      pollfd file{socket, events, 0};
      const int ready = ::poll(&file, 1, static_cast<int>(std::min<int64_t>(left, 1'000'000)));
      if (ready > 0) return OkStatus();
      if (ready < 0 && errno != EINTR) return Failed("waiting");
    }
  }
  void Limit(Clock::time_point time) {
    deadline = request_deadline ? std::min(*request_deadline, time) : time;
  }
  void BeginTransfer() {
    transfer_began = Clock::now();
    transferred = 0;
    OnTransfer(0);
  }
  void OnTransfer(size_t bytes) {
    transferred += bytes;
    Limit(transfer_began + options.transfer_time +
          std::chrono::seconds(transferred / options.min_bytes_per_second));
  }

  Status Failed(std::string_view what) const {
    return {StatusCode::kNotFound, fmt::format("{}:{}: {}: {}", options.url.host, options.url.port,
                                               what, std::strerror(errno))};
  }

  // --- The connection ---
  Status Connect() {
    Close();
    addrinfo hints{}, *found = nullptr;
    hints.ai_socktype = SOCK_STREAM;
    const std::string& host = options.url.host;
    if (const int error = ::getaddrinfo(host.c_str(), options.url.port.c_str(), &hints, &found);
        error != 0) {
      return {StatusCode::kNotFound, fmt::format("{}: {}", Printable(host), gai_strerror(error))};
    }
    const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(found, ::freeaddrinfo);
    Status status(StatusCode::kNotFound, host + ": no address");
    for (const addrinfo* a = found; a != nullptr; a = a->ai_next) {
      Limit(Clock::now() + options.connect_time);
      status = ConnectTo(*a);
      if (status.ok()) break;
      Close();
    }
    RELAYVM_RETURN_IF_ERROR(status);
    const int on = 1;
    ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return options.url.is_tls ? Handshake() : OkStatus();
  }

  Status ConnectTo(const addrinfo& to) {
    socket = ::socket(to.ai_family, to.ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, to.ai_protocol);
    if (socket < 0) return Failed("socket");
    if (::connect(socket, to.ai_addr, to.ai_addrlen) == 0) return OkStatus();
    if (errno != EINPROGRESS) return Failed("no connection");
    RELAYVM_RETURN_IF_ERROR(Wait(POLLOUT));
    int error = 0;
    socklen_t size = sizeof error;
    ::getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size);
    errno = error;
    return error == 0 ? OkStatus() : Failed("no connection");
  }

  Status Handshake() {
    BeginTransfer();
    tls = std::make_unique<TlsSession>(options.tls, options.url.host);
    while (!tls->is_ready()) {
      RELAYVM_RETURN_IF_ERROR(tls->failure());
      RELAYVM_RETURN_IF_ERROR(FlushTls());
      RELAYVM_ASSIGN_OR_RETURN(const bool more, Read());
      if (!more && !tls->is_ready()) return Malformed("it ended in TLS's handshake");
    }
    return FlushTls();
  }

  Status WriteRaw(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent < 0 && errno == EINTR) continue;
      if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
        RELAYVM_RETURN_IF_ERROR(Wait(POLLOUT));
        continue;
      }
      if (sent < 0) return Failed("sending");
      OnTransfer(static_cast<size_t>(sent));
      bytes.remove_prefix(static_cast<size_t>(sent));
    }
    return OkStatus();
  }
  Status FlushTls() {
    const Status sent = WriteRaw(tls->outgoing());
    tls->outgoing().clear();
    return sent;
  }
  Status Write(std::string_view bytes) {
    if (tls == nullptr) return WriteRaw(bytes);
    constexpr size_t kSome = 256 << 10;
    while (!bytes.empty()) {
      const std::string_view some = bytes.substr(0, kSome);
      if (!tls->Send(some)) return tls->failure();
      RELAYVM_RETURN_IF_ERROR(FlushTls());
      bytes.remove_prefix(some.size());
    }
    return OkStatus();
  }

  // More in the buffer; false at the end of what the server sends.
  Result<bool> Read() {
    if (at > 0) {
      buffer.erase(0, at);
      at = 0;
    }
    std::array<char, kRead> bytes;
    for (;;) {
      const ssize_t came = ::recv(socket, bytes.data(), bytes.size(), 0);
      if (came < 0 && errno == EINTR) continue;
      if (came < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
        RELAYVM_RETURN_IF_ERROR(Wait(POLLIN));
        continue;
      }
      if (came < 0) return Failed("receiving");
      if (came == 0) return false;
      const std::string_view text(bytes.data(), static_cast<size_t>(came));
      any_received = true;
      if (tls == nullptr) {
        buffer += text;
        return true;
      }
      const bool goes_on = tls->Receive(text, [&](std::string_view plain) { buffer += plain; });
      if (!tls->failure().ok()) {
        FlushTls().ok();
        return tls->failure();
      }
      return goes_on || at < buffer.size();
    }
  }

  // --- An answer ---
  Result<std::string> ReadLine(size_t* budget) {
    for (;;) {
      const size_t end = buffer.find('\n', at);
      const size_t length = (end == std::string::npos ? buffer.size() : end) - at;
      if (length > *budget) return Malformed("a header that is too large");
      if (end != std::string::npos) {
        *budget -= length;
        std::string line = buffer.substr(at, length);
        at = end + 1;
        if (line.ends_with('\r')) line.pop_back();
        return line;
      }
      RELAYVM_ASSIGN_OR_RETURN(const bool more, Read());
      if (!more) return Malformed("it ends in the header");
    }
  }

  Status ReadHeader(HttpAnswer* answer) {
    size_t budget = options.max_header_bytes;
    RELAYVM_ASSIGN_OR_RETURN(const std::string first, ReadLine(&budget));
    const std::string_view line = first;
    const auto code = line.starts_with("HTTP/1.") && line.size() >= 12 && line[8] == ' '
                          ? ParseNumber(line.substr(9, 3), 10)
                          : std::nullopt;
    if (!code || *code < 100) return Malformed("no HTTP/1.1: " + Printable(first.substr(0, 60)));
    answer->status = static_cast<int>(*code);
    is_old = line[7] == '0';
    answer->headers.clear();
    for (;;) {
      RELAYVM_ASSIGN_OR_RETURN(const std::string header, ReadLine(&budget));
      if (header.empty()) return OkStatus();
      const size_t colon = header.find(':');
      if (colon == std::string::npos || colon == 0) return Malformed("a header without a name");
      answer->headers.emplace_back(header.substr(0, colon),
                                   Trimmed(std::string_view(header).substr(colon + 1)));
      budget -= std::min<size_t>(budget, 32);  // what it takes here
    }
  }

  // Moves what comes to the body: `size` bytes, or with none all until the end.
  Status ReadBody(std::optional<size_t> size, std::string* body) {
    const auto too_large = [&] {
      return Malformed(fmt::format("a body above {} bytes", options.max_body_bytes));
    };
    if (size && *size > options.max_body_bytes - std::min(options.max_body_bytes, body->size()))
      return too_large();
    size_t left = size.value_or(SIZE_MAX);
    for (;;) {
      const size_t some = std::min(left, buffer.size() - at);
      if (body->size() + some > options.max_body_bytes) return too_large();
      body->append(buffer, at, some);
      at += some;
      left -= some;
      if (left == 0) return OkStatus();
      RELAYVM_ASSIGN_OR_RETURN(const bool more, Read());
      if (!more && size) return Malformed(fmt::format("it ends {} bytes early", left));
      if (!more) return OkStatus();
      OnTransfer(buffer.size());
    }
  }

  Status ReadChunks(std::string* body) {
    constexpr size_t kLine = 1024;
    for (;;) {
      size_t budget = kLine;
      RELAYVM_ASSIGN_OR_RETURN(const std::string line, ReadLine(&budget));
      const auto size = ParseNumber(Trimmed(std::string_view(line).substr(0, line.find(';'))), 16);
      if (!size) return Malformed("a chunk without a size");
      if (*size == 0) break;
      RELAYVM_RETURN_IF_ERROR(ReadBody(*size, body));
      RELAYVM_ASSIGN_OR_RETURN(const std::string end, ReadLine(&budget));
      if (!end.empty()) return Malformed("a chunk longer than its size");
    }
    size_t budget = options.max_header_bytes;
    for (;;) {
      RELAYVM_ASSIGN_OR_RETURN(const std::string line, ReadLine(&budget));
      if (line.empty()) return OkStatus();
    }
  }

  Status ReadAnswer(bool is_head, HttpAnswer* answer) {
    for (int interim = 0;; ++interim) {
      if (interim == kMaxInterim) return Malformed("it does not begin");
      RELAYVM_RETURN_IF_ERROR(ReadHeader(answer));
      if (answer->status >= 200) break;
    }
    BeginTransfer();
    std::optional<size_t> length;
    bool is_chunked = false, closes = is_old;
    for (const auto& [name, value] : answer->headers) {
      if (EqualsIgnoringCase(name, "Content-Length")) {
        const auto number = ParseNumber(value, 10);
        if (!number || (length && *length != *number)) return Malformed("no Content-Length");
        length = number;
      } else if (EqualsIgnoringCase(name, "Transfer-Encoding")) {
        if (!EqualsIgnoringCase(value, "chunked")) return Malformed("a Transfer-Encoding");
        is_chunked = true;
      } else if (EqualsIgnoringCase(name, "Connection")) {
        closes = EqualsIgnoringCase(value, "close") ||
                 (is_old && !EqualsIgnoringCase(value, "keep-alive"));
      }
    }
    const bool has_body = !is_head && answer->status != 204 && answer->status != 304;
    if (has_body && is_chunked) {
      RELAYVM_RETURN_IF_ERROR(ReadChunks(&answer->body));
    } else if (has_body) {
      RELAYVM_RETURN_IF_ERROR(ReadBody(length, &answer->body));
      closes = closes || !length;
    }
    if (closes || at < buffer.size()) Close();  // bytes behind an answer belong to none
    return OkStatus();
  }

  Status SendOnce(const HttpRequest& request, const std::string& head, HttpAnswer* answer) {
    if (socket < 0) RELAYVM_RETURN_IF_ERROR(Connect());
    any_received = false;
    BeginTransfer();
    std::string pending = head;  // small pieces go with it, in one packet
    for (const auto& piece : request.body) {
      const std::string_view bytes(reinterpret_cast<const char*>(piece.data()), piece.size());
      if (pending.size() + bytes.size() <= kTogether) {
        pending += bytes;
        continue;
      }
      RELAYVM_RETURN_IF_ERROR(Write(pending));
      pending.clear();
      RELAYVM_RETURN_IF_ERROR(Write(bytes));
    }
    RELAYVM_RETURN_IF_ERROR(Write(pending));
    Limit(Clock::now() + options.answer_time);
    return ReadAnswer(request.method == "HEAD", answer);
  }

  HttpClientOptions options;
  int socket = -1;
  std::unique_ptr<TlsSession> tls;
  std::string buffer;  // from `at` on it is not read yet
  size_t at = 0;
  bool any_received = false, is_old = false;
  Clock::time_point deadline, transfer_began;
  std::optional<Clock::time_point> request_deadline;
  size_t transferred = 0;
};

HttpClient::HttpClient(HttpClientOptions options)
    : impl_(std::make_unique<Impl>(std::move(options))) {}
HttpClient::~HttpClient() = default;
HttpClient::HttpClient(HttpClient&&) noexcept = default;
HttpClient& HttpClient::operator=(HttpClient&&) noexcept = default;

Result<HttpAnswer> HttpClient::Send(const HttpRequest& request) {
  const ServerUrl& url = impl_->options.url;
  size_t length = 0;
  for (const auto& piece : request.body) length += piece.size();
  const bool is_v6 = url.host.find(':') != std::string::npos;
  std::string head =
      fmt::format("{} {}{} HTTP/1.1\r\nHost: {}{}{}:{}\r\n", request.method, url.base, request.path,
                  is_v6 ? "[" : "", url.host, is_v6 ? "]" : "", url.port);
  if (request.method != "GET" && request.method != "HEAD")
    head += fmt::format("Content-Length: {}\r\n", length);
  if (!impl_->options.token.empty())
    head += fmt::format("Authorization: Bearer {}\r\n", impl_->options.token);
  for (const auto& [name, value] : request.headers) head += fmt::format("{}: {}\r\n", name, value);
  head += "\r\n";
  impl_->request_deadline = request.deadline;
  const bool was_kept = impl_->socket >= 0;
  HttpAnswer answer;
  Status status = impl_->SendOnce(request, head, &answer);
  const bool is_stale =
      was_kept && !impl_->any_received && status.code() != StatusCode::kDeadlineExceeded;
  if (!status.ok()) impl_->Close();
  if (!status.ok() && is_stale) {
    answer = {};
    status = impl_->SendOnce(request, head, &answer);
    if (!status.ok()) impl_->Close();
  }
  RELAYVM_RETURN_IF_ERROR(status);
  return answer;
}

}  // namespace relayvm::serve
