// GrpcServer: the Open Inference Protocol by gRPC (inference.proto), with bounds on all that a
// stranger can send, hold or delay.
//
// Calls are read, run and answered on threads of their own (server_call.h) and on the dispatcher's
// workers. A call is refused before its message is received where there are too many,
// and ended where its message does not come or its answer is not taken. A call's deadline is its
// request's, and a client that goes cancels its run. Messages may be compressed: what they come to
// is what is bounded, and their answers are compressed where that makes them smaller. With a token,
// all but the health of the server needs it (metadata "authorization: Bearer TOKEN").
//
// Each call is a request to the observer, and each request of a stream is one more within the
// stream's. Thread-safe. Tested by grpc_server_test.cc, and as clients see it by
// ../tests/run_grpc.py.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "bytecode/base/status.h"
#include "tools/serve/dispatcher.h"
#include "tools/serve/repository.h"
#include "tools/serve/telemetry.h"

namespace relayvm::serve {

struct GrpcOptions {
  size_t max_message_bytes = size_t{64} << 20;  // of compressed ones, what they come to
  size_t max_all_messages = size_t{1} << 30;    // bytes of all that are read or answered
  size_t max_metadata_bytes = 16 << 10;
  size_t max_connections = 20'000;  // above that, new ones are closed
  size_t max_calls = 10'000;        // at a time; above that, RESOURCE_EXHAUSTED
  // Calls of one address (of IPv6, its first 64 bits) at a time; above that, RESOURCE_EXHAUSTED.
  // 0: no limit.
  size_t max_client_calls = 0;
  uint32_t threads = 2;
  uint32_t max_streams = 256;  // calls of one connection at a time; more wait in the client
  // For a call's message to come, or its answer to be taken: this, and a second for each so many
  // bytes that the answer has, and the message may have.
  std::chrono::milliseconds transfer_time{10'000};
  size_t min_bytes_per_second = 64 << 10;
  // How long a ModelStreamInfer may be between two requests, and a connection without calls.
  std::chrono::milliseconds idle_time{300'000};
  // How often a connection on which nothing comes is asked whether it lives.
  std::chrono::milliseconds keep_alive{60'000};
  // A chain of certificates and its key, PEM; empty: no TLS.
  std::string certificate_file, key_file;
  std::string token;                    // empty: none is needed
  RequestObserver* observer = nullptr;  // borrowed; null: nobody is told
};

struct GrpcStats {
  uint64_t calls = 0, refused = 0, timeouts = 0;  // in all
  size_t open_calls = 0, message_bytes = 0;       // now
};

class GrpcServer {
 public:
  // Borrows the two.
  GrpcServer(const GrpcOptions& options, Repository& repository, Dispatcher& dispatcher);
  // Cancels what is left. REQUIRES: the repository and the dispatcher still answer.
  ~GrpcServer();
  GrpcServer(const GrpcServer&) = delete;
  GrpcServer& operator=(const GrpcServer&) = delete;

  // Listens and answers; port 0: any. Gives the port. kFailedPrecondition: it is in use, or there
  // is no such address; kInvalidInput: a file of TLS cannot be read. REQUIRES: called once.
  Result<uint16_t> Start(const std::string& host, uint16_t port);
  // Health says SERVING from Start on where the repository is loaded by then, or from this on:
  // whoever starts the repository calls it then. REQUIRES: Start has returned.
  void SetReady();
  // From here on it says that it is not ready, while it answers what comes.
  void SetDraining();
  // Takes no more calls, ends streams behind the request that they are at, and waits for the
  // others; cancels what there is at the deadline.
  void Drain(std::chrono::steady_clock::time_point deadline);
  GrpcStats stats() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace relayvm::serve
