// A connection of the HTTP server, and the thread that it belongs to: its requests are parsed,
// handed to the handler, and answered one after the other. Part of http_server.cc alone, which
// tests it: with Beast it is too much for others to include.
#pragma once

#include <fmt/format.h>

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <cerrno>
#include <exception>
#include <iterator>
#include <new>
#include <optional>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tools/serve/client_shares.h"
#include "tools/serve/http_body.h"
#include "tools/serve/http_server.h"
#include "tools/serve/http_socket.h"
#include "tools/serve/protocol/json_writer.h"
#include "tools/serve/slot_pool.h"

namespace relayvm::serve {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;
using Clock = std::chrono::steady_clock;

class HttpConnection;

// What all threads share.
struct HttpShared {
  explicit HttpShared(const HttpOptions& from);
  const HttpOptions options;
  ByteBudget bodies;
  ClientShares shares{options.max_client_requests};
  std::atomic<uint64_t> accepted{0}, refused{0}, requests{0}, bad_requests{0}, timeouts{0};
  std::atomic<size_t> connections{0};
  std::atomic<bool> draining{false};
  // Of connections, and of what idle ones have a buffer for.
  SlotPool connection_slots, buffer_slots;
};

// A thread with its connections, which nobody else touches.
struct HttpLoop {
  explicit HttpLoop(HttpShared& s) : shared(s), context(1), timer(context) {}
  void Sweep();
  void Run();

  HttpShared& shared;
  asio::io_context context;
  asio::steady_timer timer;
  std::atomic<size_t> load{0};
  std::unordered_map<HttpConnection*, std::shared_ptr<HttpConnection>> connections;
  std::thread thread;
};

// The loop that this thread is; null: it is none.
inline thread_local const HttpLoop* current_http_loop = nullptr;

class HttpConnection : public HttpExchange, public std::enable_shared_from_this<HttpConnection> {
 public:
  static constexpr size_t kFirstRead = 2048;  // what idle connections have a buffer for

  HttpConnection(HttpLoop& loop, const HttpHandler& handler, tcp::socket socket)
      : loop_(loop),
        handler_(handler),
        socket_(std::move(socket), loop.shared.options.tls),
        buffer_(SlotAllocator<char>(loop.shared.buffer_slots)) {}

  void Start() {
    beast::error_code ignored;
    socket_.set_option(tcp::no_delay(true), ignored);
    socket_.non_blocking(true, ignored);
    Next();
  }
  ~HttpConnection() override {
    GiveBack();
    GiveBackMade();
  }
  void Close() {
    if (state_ == State::kClosed) return;
    // A request that is handled is ended by its answer, which nobody gets.
    if (state_ == State::kWriting || state_ == State::kStreaming) EndRequest(kClientGone);
    was_handling_ = state_ == State::kHandling;
    state_ = State::kClosed;
    GiveBack();
    beast::error_code ignored;
    socket_.close(ignored);
    const auto self = shared_from_this();
    if (auto gone = std::exchange(on_disconnect_, nullptr); gone && is_stream_) gone();
    on_sent_ = nullptr;
    loop_.load.fetch_sub(1, std::memory_order_relaxed);
    loop_.shared.connections.fetch_sub(1, std::memory_order_relaxed);
    loop_.connections.erase(this);  // may be the last to hold this
  }
  bool IsIdle() const { return state_ == State::kIdle; }
  void EndAfterAnswer() { keep_alive_ = false; }
  // At `now`; whether it was closed because its time is over.
  bool IsLate(Clock::time_point now) const { return now > deadline_ || is_lost_; }

  std::string_view method() const override { return View(parser_->get().method_string()); }
  std::string_view target() const override { return View(parser_->get().target()); }
  std::string_view body() const override { return parser_->get().body().bytes; }
  std::string_view header(std::string_view name) const override {
    return View(parser_->get()[beast::string_view(name.data(), name.size())]);
  }
  bool CountMemory(size_t bytes) override {
    if (!loop_.shared.bodies.Take(bytes)) return false;
    made_bytes_.fetch_add(bytes, std::memory_order_relaxed);
    return true;
  }
  TraceContext trace() const override { return observed_.trace(); }
  void set_on_disconnect(std::function<void()> on_disconnect) override {
    on_disconnect_ = std::move(on_disconnect);
  }
  void Respond(HttpResponse response) override {
    if (current_http_loop == &loop_) return OnResponse(std::move(response));
    try {
      asio::post(loop_.context,
                 [self = shared_from_this(), response = std::move(response)]() mutable {
                   self->OnResponse(std::move(response));
                 });
    } catch (const std::bad_alloc&) {
      is_lost_ = true;  // and closed before long
    }
  }
  void BeginStream(HttpResponse head, std::function<void()> on_sent) override {
    OnLoop([this, head = std::move(head), on_sent = std::move(on_sent)]() mutable {
      if (state_ != State::kHandling || response_) return;
      is_stream_ = true;
      on_sent_ = std::move(on_sent);
      OnResponse({head.status, head.content_type, std::move(head.headers), {}, {}});
    });
  }
  void WriteStream(std::string bytes) override {
    OnLoop([this, bytes = std::move(bytes)] {
      if (state_ == State::kClosed || bytes.empty()) return;
      stream_ += is_old_ ? bytes : fmt::format("{:x}\r\n{}\r\n", bytes.size(), bytes);
      if (state_ == State::kStreaming) SendStream();
    });
  }
  void EndStream() override {
    OnLoop([this] {
      stream_ended_ = true;
      on_disconnect_ = nullptr;
      if (!is_old_) stream_ += "0\r\n\r\n";
      if (state_ == State::kStreaming) SendStream();
    });
  }

 private:
  static constexpr size_t kBodyRead = 64 << 10;
  static constexpr size_t kCountedAnswer = 64 << 10;  // smaller ones are as bounded as connections
  static constexpr int kClientGone = 499;
  static constexpr auto kLinger = std::chrono::seconds(2);
  enum class State : uint8_t {
    kIdle,
    kHeader,
    kBody,
    kHandling,
    kWriting,
    kStreaming,
    kLingering,
    kClosed
  };

  const HttpOptions& options() const { return loop_.shared.options; }
  bool IsWatched() const {
    return state_ == State::kStreaming || (state_ == State::kHandling && !response_);
  }

  // At once, or on the thread of the connection.
  template <typename Job>
  void OnLoop(Job job) {
    if (current_http_loop == &loop_) return job();
    asio::post(loop_.context,
               [self = shared_from_this(), job = std::move(job)]() mutable { job(); });
  }

  // The next request.
  void Next() {
    if (loop_.shared.draining.load(std::memory_order_relaxed) && buffer_.size() == 0)
      return Close();
    parser_.emplace();
    parser_->eager(true);
    parser_->header_limit(static_cast<uint32_t>(options().max_header_bytes));
    parser_->body_limit(options().max_body_bytes);
    parser_->get().body().budget = &loop_.shared.bodies;
    parser_->get().body().limit = options().max_body_bytes;
    if (buffer_.size() == 0 && buffer_.capacity() > kFirstRead) buffer_.shrink_to_fit();
    transferred_ = 0;
    state_ = buffer_.size() > 0 ? State::kHeader : State::kIdle;
    deadline_ = Clock::now() + (buffer_.size() > 0 ? options().header_time : options().idle_time);
    Pump();
  }

  // Requests that are in the buffer already, one after the other: without recursion.
  void Pump() {
    again_ = true;
    if (pumping_) return;
    pumping_ = true;
    const auto self = shared_from_this();
    while (std::exchange(again_, false) && state_ != State::kClosed) Parse();
    pumping_ = false;
  }

  void Parse() {
    while (buffer_.size() > 0) {
      beast::error_code error;
      const bool had_header = parser_->is_header_done();
      const size_t used = parser_->put(buffer_.data(), error);
      buffer_.consume(used);
      if (error == http::error::need_more) error = {};
      if (error) return Reject(error);
      if (!had_header && parser_->is_header_done() && !OnHeader()) return;
      if (parser_->is_done()) return Handle();
      if (used > 0) continue;
      // A header of a chunk, or what stands behind the last one: Beast has no bound for them.
      if (had_header && buffer_.size() > options().max_header_bytes)
        return Reject(http::error::header_limit);
      break;
    }
    Read();
  }

  void Read() {
    const size_t size = state_ == State::kBody        ? kBodyRead
                        : buffer_.size() < kFirstRead ? kFirstRead
                                                      : buffer_.size();
    socket_.async_read_some(buffer_.prepare(size),
                            [self = shared_from_this()](beast::error_code error, size_t bytes) {
                              self->OnRead(error, bytes);
                            });
  }

  void OnRead(beast::error_code error, size_t bytes) {
    if (state_ == State::kClosed) return;
    if (error) return Close();
    buffer_.commit(bytes);
    if (state_ == State::kIdle) {
      state_ = State::kHeader;
      deadline_ = Clock::now() + options().header_time;
    }
    if (state_ == State::kBody) OnTransfer(bytes);
    Pump();
  }

  // The more has come or gone, the longer the rest may take.
  void OnTransfer(size_t bytes) {
    transferred_ += bytes;
    deadline_ = transfer_began_ + options().transfer_time +
                std::chrono::seconds(transferred_ / options().min_bytes_per_second);
  }
  void BeginTransfer() {
    transfer_began_ = Clock::now();
    transferred_ = 0;
    OnTransfer(0);
  }

  // False where it is answered here.
  bool OnHeader() {
    // Another coding, or one that HTTP/1.0 does not have: a proxy may see another end of the body.
    const beast::string_view coding = parser_->get()["Transfer-Encoding"];
    if (!coding.empty() && (parser_->get().version() < 11 || !beast::iequals(coding, "chunked"))) {
      Refuse(501, "expected no Transfer-Encoding but chunked");
      return false;
    }
    if (parser_->get().count(http::field::content_encoding) > 1) {
      Reject(make_error_code(boost::system::errc::not_supported));
      return false;
    }
    if (parser_->is_done()) return true;
    state_ = State::kBody;
    BeginTransfer();
    if (header("Expect").empty()) return true;
    constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
    beast::error_code ignored;  // who does not get it waits a second, and sends the body
    socket_.write_some(asio::buffer(kContinue.data(), kContinue.size()), ignored);
    return true;
  }

  void Reject(beast::error_code error) {
    namespace errc = boost::system::errc;
    if (error == errc::not_enough_memory)
      return Refuse(503, "the bodies of all requests take too much memory");
    if (error == errc::not_supported)
      return Refuse(415, "expected a Content-Encoding of gzip, deflate or identity");
    if (error == errc::bad_message) return Refuse(400, "the body is not what its coding says");
    if (error == http::error::body_limit || error == errc::file_too_large)
      return Refuse(413, fmt::format("a body above {} bytes", options().max_body_bytes));
    Refuse(error == http::error::header_limit ? 431 : 400, error.message());
  }

  // Answers without the handler, and ends the connection.
  void Refuse(int status, std::string_view text) {
    ++loop_.shared.bad_requests;
    keep_alive_ = false;
    is_head_ = false;
    if (!observed_.has_trace()) observed_.Begin(options().observer, header("traceparent"));
    response_.emplace();
    response_->status = status;
    response_->body = JsonError(text);
    if (status == 503) response_->headers.emplace_back("Retry-After", "1");
    if (status == 415) response_->headers.emplace_back("Accept-Encoding", "gzip, deflate");
    Write();
  }

  // False, and answered, where its client has its share of requests already.
  bool TakeShare() {
    if (options().max_client_requests == 0) return true;
    beast::error_code gone;
    share_ = loop_.shared.shares.Take(socket_.remote_endpoint(gone).address());
    if (share_.is_taken()) return true;
    response_.emplace();
    response_->status = 429;
    response_->body = JsonError("too many requests of one client at a time");
    response_->headers.emplace_back("Retry-After", "1");
    return false;
  }

  void Handle() {
    state_ = State::kHandling;
    deadline_ = Clock::time_point::max();
    observed_.Begin(options().observer, header("traceparent"));
    keep_alive_ = parser_->keep_alive() && !loop_.shared.draining.load(std::memory_order_relaxed);
    is_old_ = parser_->get().version() < 11;
    is_head_ = parser_->get().method() == http::verb::head;
    loop_.shared.requests.fetch_add(1, std::memory_order_relaxed);
    in_handler_ = true;
    try {
      if (TakeShare()) handler_(shared_from_this());
    } catch (const std::exception& e) {
      if (!response_) {
        response_.emplace();
        response_->status = 500;
        response_->body = JsonError(e.what());
      }
    }
    in_handler_ = false;
    if (response_) return Write();
    Watch();
  }

  void OnResponse(HttpResponse response) {
    if (std::exchange(was_handling_, false)) {
      response_ = std::move(response);
      return EndRequest(kClientGone);
    }
    if (state_ != State::kHandling || response_) return;
    response_ = std::move(response);
    if (!in_handler_) Write();
  }

  void EndRequest(int code) {
    const RunNotes& run = response_->run;
    observed_.End({.method = method(),
                   .path = target(),
                   .model = run.model,
                   .version = run.version,
                   .code = code,
                   .bytes_in = body().size(),
                   .bytes_out = code == kClientGone ? 0 : response_bytes_,
                   .queued_ns = run.queued_ns,
                   .run_ns = run.run_ns});
  }

  // Tells where the client goes while it waits for its answer.
  void Watch() {
    if (std::exchange(watching_, true)) return;
    socket_.async_wait(tcp::socket::wait_read, [self = shared_from_this()](beast::error_code) {
      self->watching_ = false;
      if (!self->IsWatched()) return;
      const ssize_t peeked = self->socket_.Peek();
      if (peeked > 0) return;  // the next request
      if (peeked < 0 && (errno == EAGAIN || errno == EINTR)) return self->Watch();
      if (auto gone = std::exchange(self->on_disconnect_, nullptr)) gone();
      self->Close();
    });
  }

  void GiveBack() {
    loop_.shared.bodies.Give(std::exchange(counted_, 0));
    share_ = {};
  }

  void GiveBackMade() { loop_.shared.bodies.Give(made_bytes_.exchange(0)); }

  void Write() {
    state_ = State::kWriting;
    if (const size_t size = response_->body.size(); size >= kCountedAnswer) {
      if (!loop_.shared.bodies.Take(size)) {
        response_.emplace();
        return Refuse(503, "the bodies of all answers take too much memory");
      }
      counted_ = size;
    }
    size_t length = response_->body.size();
    for (const HttpPiece& piece : response_->pieces) length += piece.bytes.size();
    response_bytes_ = is_head_ ? 0 : length;
    head_.clear();
    auto out = std::back_inserter(head_);
    fmt::format_to(out, "HTTP/1.1 {} {}\r\nContent-Type: {}\r\n", response_->status,
                   HttpReason(response_->status), response_->content_type);
    if (!is_stream_) {
      fmt::format_to(out, "Content-Length: {}\r\n", length);
    } else if (is_old_) {
      keep_alive_ = false;  // it ends where the connection does
    } else {
      head_ += "Transfer-Encoding: chunked\r\n";
    }
    for (const auto& [name, value] : response_->headers)
      fmt::format_to(out, "{}: {}\r\n", name, value);
    if (observed_.has_trace()) {
      const Traceparent text = FormatTraceparent(observed_.trace());
      head_ += "traceparent: ";
      head_.append(text.data(), text.size());
      head_ += "\r\n";
    }
    if (!keep_alive_) {
      head_ += "Connection: close\r\n";
    } else if (is_old_) {
      head_ += "Connection: keep-alive\r\n";
    }
    head_ += "\r\n";
    out_.assign({asio::buffer(head_)});
    if (!is_head_) {
      if (!response_->body.empty()) out_.push_back(asio::buffer(response_->body));
      for (const HttpPiece& piece : response_->pieces)
        out_.push_back(asio::buffer(piece.bytes.data(), piece.bytes.size()));
    }
    written_ = 0;
    BeginTransfer();
    Flush();
  }

  void Flush() {
    while (written_ < out_.size()) {
      beast::error_code error;
      const std::vector<asio::const_buffer> rest(out_.begin() + static_cast<ptrdiff_t>(written_),
                                                 out_.end());
      size_t bytes = socket_.write_some(written_ == 0 ? out_ : rest, error);
      if (error == asio::error::would_block) {
        socket_.async_wait(tcp::socket::wait_write,
                           [self = shared_from_this()](beast::error_code failed) {
                             if (self->state_ != State::kWriting) return;
                             if (failed) return self->Close();
                             self->Flush();
                           });
        return;
      }
      if (error) return Close();
      OnTransfer(bytes);
      while (written_ < out_.size() && bytes >= out_[written_].size())
        bytes -= out_[written_++].size();
      if (written_ < out_.size()) out_[written_] += bytes;
    }
    if (is_stream_) {
      SendStream();
    } else {
      Done();
    }
  }

  // What there is of a stream; else waits for more.
  void SendStream() {
    if (!stream_.empty()) {
      head_ = std::exchange(stream_, {});
      response_bytes_ += head_.size();
      out_.assign({asio::buffer(head_)});
      state_ = State::kWriting;
      written_ = 0;
      BeginTransfer();
      return Flush();
    }
    if (stream_ended_) return Done();
    state_ = State::kStreaming;
    deadline_ = Clock::time_point::max();
    if (on_sent_) on_sent_();
    if (state_ == State::kStreaming) Watch();
  }

  void Done() {
    EndRequest(response_->status);
    out_.clear();
    response_.reset();
    on_disconnect_ = nullptr;
    on_sent_ = nullptr;
    is_stream_ = stream_ended_ = false;
    GiveBack();
    GiveBackMade();
    if (keep_alive_) return Next();
    // What the client still sends is read for a while: closing at once would take back the answer.
    state_ = State::kLingering;
    deadline_ = Clock::now() + kLinger;
    beast::error_code ignored;
    socket_.shutdown(tcp::socket::shutdown_send, ignored);
    Linger();
  }

  void Linger() {
    buffer_.clear();
    socket_.async_read_some(buffer_.prepare(kFirstRead),
                            [self = shared_from_this()](beast::error_code error, size_t) {
                              if (self->state_ == State::kClosed) return;
                              if (error) return self->Close();
                              self->Linger();
                            });
  }

  HttpLoop& loop_;
  const HttpHandler& handler_;
  HttpSocket socket_;
  beast::basic_flat_buffer<SlotAllocator<char>> buffer_;
  std::optional<http::request_parser<BoundedBody>> parser_;
  State state_ = State::kIdle;
  bool keep_alive_ = true, is_head_ = false, is_old_ = false;
  bool in_handler_ = false, watching_ = false, pumping_ = false, again_ = false;
  Clock::time_point deadline_, transfer_began_;
  size_t transferred_ = 0;  // of a body, or an answer
  std::function<void()> on_disconnect_, on_sent_;
  bool is_stream_ = false, stream_ended_ = false;
  std::string stream_;  // to be sent next, in chunks
  std::optional<HttpResponse> response_;
  std::string head_;
  std::vector<asio::const_buffer> out_;  // from written_ on it is to be sent
  size_t written_ = 0;
  size_t counted_ = 0;                 // of the answer, toward all bodies
  std::atomic<size_t> made_bytes_{0};  // of the request, toward the same
  ClientShares::Share share_;
  std::atomic<bool> is_lost_{false};  // without memory for its answer
  ObservedRequest observed_;
  size_t response_bytes_ = 0;
  bool was_handling_ = false;  // when it was closed
};

inline HttpShared::HttpShared(const HttpOptions& from)
    : options(from),
      bodies(from.max_all_bodies),
      connection_slots(sizeof(HttpConnection) + 4 * sizeof(void*)),  // with its counts
      buffer_slots(HttpConnection::kFirstRead) {}

}  // namespace relayvm::serve
