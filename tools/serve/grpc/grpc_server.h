// GrpcServer: the Open Inference Protocol by gRPC (inference.proto), with bounds on all that a
// stranger can send, hold or delay.
//
// All of it is in grpc++'s callback API; calls are read, run and answered on its threads and on the
// dispatcher's workers. A call is refused before its message is received where there are too many,
// and ended where its message does not come or its answer is not taken. A call's deadline is its
// request's, and a client that goes cancels its run. Messages that are compressed are refused: what
// they become has no bound. Thread-safe. Tested by grpc_server_test.cc, and as clients see it by
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

namespace relayvm::serve {

struct GrpcOptions {
  size_t max_message_bytes = size_t{64} << 20;
  size_t max_all_messages = size_t{1} << 30;  // bytes of all that are read or answered
  size_t max_metadata_bytes = 16 << 10;
  size_t max_calls = 10'000;   // at a time; above that, RESOURCE_EXHAUSTED
  uint32_t max_streams = 256;  // calls of one connection at a time; more wait in the client
  // For a call's message to come, or its answer to be taken: this, and a second for each so many
  // bytes that the answer has, and the message may have.
  std::chrono::milliseconds transfer_time{10'000};
  size_t min_bytes_per_second = 64 << 10;
  // How long a ModelStreamInfer may be between two requests, and a connection without calls.
  std::chrono::milliseconds idle_time{300'000};
  // How often a connection on which nothing comes is asked whether it lives.
  std::chrono::milliseconds keep_alive{60'000};
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
  // is no such address. REQUIRES: called once.
  Result<uint16_t> Start(const std::string& host, uint16_t port);
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
