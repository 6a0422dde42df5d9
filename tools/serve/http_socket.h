// HttpSocket: a connection's socket as http_server.cc uses it, with TLS or without: the members of
// Asio's socket that it calls, which mean the same. Of http_server.cc alone.
#pragma once

#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <cerrno>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/serve/protocol/tls.h"

namespace relayvm::serve {

class HttpSocket {
 public:
  using Tcp = boost::asio::ip::tcp::socket;
  using Error = boost::system::error_code;

  HttpSocket(Tcp socket, const std::shared_ptr<TlsContext>& tls) : socket_(std::move(socket)) {
    if (tls != nullptr) tls_.emplace(tls);
  }

  template <typename Option>
  void set_option(const Option& option, Error& error) {
    socket_.set_option(option, error);
  }
  void non_blocking(bool on, Error& error) { socket_.non_blocking(on, error); }
  auto native_handle() { return socket_.native_handle(); }
  auto remote_endpoint(Error& error) const { return socket_.remote_endpoint(error); }
  void close(Error& error) { socket_.close(error); }
  void shutdown(Tcp::shutdown_type what, Error& error) {
    if (tls_) {
      tls_->End();
      Flush(error);
    }
    socket_.shutdown(what, error);
  }
  template <typename Handler>
  void async_wait(Tcp::wait_type what, Handler handler) {
    socket_.async_wait(what, std::move(handler));
  }

  // REQUIRES, with TLS: the handler keeps this.
  template <typename Handler>
  void async_read_some(boost::asio::mutable_buffer to, Handler handler) {
    if (!tls_) return socket_.async_read_some(to, std::move(handler));
    if (!plain_.empty()) {
      return boost::asio::post(
          socket_.get_executor(),
          [this, to, handler = std::move(handler)]() mutable { handler(Error(), Take(to)); });
    }
    bytes_.resize(std::max(to.size(), kLeast));
    socket_.async_read_some(boost::asio::buffer(bytes_), [this, to, handler = std::move(handler)](
                                                             Error error, size_t size) mutable {
      if (!error && !Decrypt(size)) error = boost::asio::error::eof;
      if (!error && plain_.empty()) return async_read_some(to, std::move(handler));
      handler(error, error ? 0 : Take(to));
    });
  }

  // REQUIRES, with TLS: what would block is given again before anything else.
  template <typename Buffers>
  size_t write_some(const Buffers& buffers, Error& error) {
    if (!tls_) return socket_.write_some(buffers, error);
    if (!Flush(error)) return 0;
    const boost::asio::const_buffer first = FirstOf(buffers);
    // Encrypted at an earlier call, and now sent. Of other bytes: an answer that nobody waited for.
    const size_t sent = first.data() == accepted_.data() ? accepted_.size() : 0;
    accepted_ = {};
    if (sent > 0) return sent;
    accepted_ = boost::asio::buffer(first, kSome);
    if (!tls_->is_ready() ||
        !tls_->Send({static_cast<const char*>(accepted_.data()), accepted_.size()})) {
      error = boost::asio::error::connection_aborted;
      return 0;
    }
    if (!Flush(error)) return 0;
    return std::exchange(accepted_, {}).size();
  }

  // As of recv with MSG_PEEK, a byte: above 0 there is more, 0 the peer has ended it, else errno.
  ssize_t Peek() {
    if (tls_ && !plain_.empty()) return 1;
    char byte;
    const ssize_t peeked = ::recv(socket_.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    if (!tls_ || peeked <= 0) return peeked;
    bytes_.resize(kLeast);
    const ssize_t came =
        ::recv(socket_.native_handle(), bytes_.data(), bytes_.size(), MSG_DONTWAIT);
    if (came <= 0) return came;
    if (!Decrypt(static_cast<size_t>(came))) return 0;
    errno = EAGAIN;
    return plain_.empty() ? -1 : 1;
  }

 private:
  static constexpr size_t kLeast = 2048, kSome = 64 << 10;
  // Of TLS's own (handshakes, alerts), which a peer does not take.
  static constexpr size_t kMaxPending = 64 << 10;

  bool Decrypt(size_t size) {
    const bool goes_on =
        tls_->Receive({bytes_.data(), size}, [this](std::string_view plain) { plain_ += plain; });
    if (bytes_.size() > kLeast) std::vector<char>().swap(bytes_);
    Error error;
    Flush(error);
    const bool is_slow = accepted_.size() == 0 && tls_->outgoing().size() > kMaxPending;
    return (goes_on || !plain_.empty()) && !is_slow;
  }

  size_t Take(boost::asio::mutable_buffer to) {
    const size_t size = std::min(to.size(), plain_.size());
    boost::asio::buffer_copy(to, boost::asio::buffer(plain_, size));
    plain_.erase(0, size);
    if (plain_.empty()) std::string().swap(plain_);
    return size;
  }

  // True when all is sent.
  bool Flush(Error& error) {
    std::string& pending = tls_->outgoing();
    size_t sent = 0;
    error = {};
    while (sent < pending.size() && !error)
      sent += socket_.write_some(boost::asio::buffer(pending) + sent, error);
    pending.erase(0, sent);
    return !error;
  }

  template <typename Buffers>
  static boost::asio::const_buffer FirstOf(const Buffers& buffers) {
    for (auto i = boost::asio::buffer_sequence_begin(buffers);
         i != boost::asio::buffer_sequence_end(buffers); ++i) {
      if (boost::asio::const_buffer(*i).size() > 0) return *i;
    }
    return {};
  }

  Tcp socket_;
  std::optional<TlsSession> tls_;
  std::vector<char> bytes_;             // as they came
  std::string plain_;                   // what they say, until it is read
  boost::asio::const_buffer accepted_;  // encrypted, and not reported as written
};

}  // namespace relayvm::serve
