// Listener: a TCP port whose connections are handed on, in bounded number. gRPC's own stops
// accepting for good where the process has once no file left. Tested by grpc_server_test.cc.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>

#include "bytecode/base/status.h"

namespace relayvm::serve {

class Listener {
 public:
  // Port 0: any. kInvalidArgument: no such address; kFailedPrecondition: it is in use.
  static Result<std::unique_ptr<Listener>> Open(const std::string& host, uint16_t port);
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  uint16_t port() const { return port_; }
  // `take` owns what it is given, on the listener's thread, and closes it at some time. Above
  // `max_open` that are not closed, new ones are closed here. REQUIRES: called once.
  void Start(size_t max_open, std::function<void(int fd)> take);
  // Accepts no more.
  void Stop();
  uint64_t refused() const { return refused_; }

 private:
  Listener(int fd, uint16_t port) : fd_(fd), port_(port) {}
  void Work(size_t max_open, const std::function<void(int)>& take);
  bool HasRoom(size_t max_open);

  int fd_;
  const uint16_t port_;
  std::atomic<bool> stopping_{false};
  std::atomic<uint64_t> refused_{0};
  std::map<int, ino_t> open_;  // as they were given; another inode: it was closed
  std::thread thread_;
};

}  // namespace relayvm::serve
