// TLS as a filter over bytes: what came from the peer goes in, and what is to go to it comes out.
// It knows no socket; who has one waits as it always does. OpenSSL's, 1.2 and newer.
//
//   peer ──bytes──→ Receive ──→ plain        Send(plain) ──→ outgoing() ──bytes──→ peer
//
// A TlsContext is thread-safe; a TlsSession is of one connection and one thread at a time.
// Tested by tests/run_client.py.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "bytecode/base/status.h"

namespace relayvm::serve {

class TlsContext {
 public:
  // Of a server: a chain and its key, both PEM. kInvalidInput names the file and what is wrong.
  static Result<std::shared_ptr<TlsContext>> ForServer(const std::string& certificate_file,
                                                       const std::string& key_file);
  // Of a client, which checks the server's certificate and name: by the authorities of a file, or
  // by the system's where it is empty.
  static Result<std::shared_ptr<TlsContext>> ForClient(const std::string& authorities_file);

  struct Impl;  // OpenSSL's
  explicit TlsContext(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
  Impl& impl() const { return *impl_; }

 private:
  std::shared_ptr<Impl> impl_;
};

class TlsSession {
 public:
  // Of a server's connection; or, with a host's name or address, of a client's to it, whose first
  // bytes are outgoing at once.
  explicit TlsSession(std::shared_ptr<TlsContext> context, const std::string& host = "");
  ~TlsSession();
  TlsSession(const TlsSession&) = delete;
  TlsSession& operator=(const TlsSession&) = delete;

  // Takes what came and gives `plain` what it says, in pieces: no more than came. False: the
  // connection is to be closed, after what is outgoing is sent; failure() says why, or is OK where
  // the peer has ended it.
  bool Receive(std::string_view bytes, const std::function<void(std::string_view)>& plain);
  // REQUIRES: is_ready().
  bool Send(std::string_view plain);
  // A notice that nothing more comes from here.
  void End();
  // The handshake is done.
  bool is_ready() const;
  const Status& failure() const { return failure_; }
  // What is to be sent; who sends erases it from here.
  std::string& outgoing() { return outgoing_; }

 private:
  struct Impl;
  bool Fail();
  void TakeOutgoing();

  std::shared_ptr<TlsContext> context_;
  std::unique_ptr<Impl> impl_;
  std::string outgoing_;
  Status failure_;
};

}  // namespace relayvm::serve
