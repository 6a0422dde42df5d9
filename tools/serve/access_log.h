// AccessLog: a line of JSON for each request that has ended:
//
//   {"time":"2026-01-31T12:00:00.000001Z","method":"POST","path":"/v2/models/m/infer","model":"m",
//    "version":"1","code":200,"bytes_in":120,"bytes_out":99,"us":312.1,"queued_us":1.2,
//    "run_us":250.3,"trace":"0af7651916cd43dd8448eb211c80319c"}
//
// on one line; model, version and the times of a run are there where there was one. What a stranger
// sent is escaped and cut, so that a line is a line whatever it was. A thread writes: where a disk
// is full or a pipe is not read, lines are dropped, whole ones, and counted. Thread-safe. Tested by
// access_log_test.cc.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "bytecode/base/status.h"
#include "tools/serve/metrics.h"
#include "tools/serve/telemetry.h"

namespace relayvm::serve {

// The line, with its end.
void AppendAccessLine(const EndedRequest& request, std::string* out);

class AccessLog {
 public:
  struct Options {
    std::string path;  // -: standard output
    size_t max_bytes = size_t{1} << 20;
    std::chrono::milliseconds interval{500};
  };
  // kInvalidInput: it cannot be opened. `dropped` is borrowed.
  static Result<std::unique_ptr<AccessLog>> Open(const Options& options, Counter& dropped);
  // Writes what is left, where it can be written at once.
  ~AccessLog();
  AccessLog(const AccessLog&) = delete;
  AccessLog& operator=(const AccessLog&) = delete;

  void Write(const EndedRequest& request);
  void Reopen();

 private:
  AccessLog(const Options& options, Counter& dropped);
  void Work();
  void WriteOut(std::string_view lines);
  bool WaitForRoom() const;
  int OpenFile() const;

  const Options options_;
  Counter& dropped_;
  int fd_ = -1;             // the thread's
  bool is_broken_ = false;  // the last write ended inside a line
  std::mutex mutex_;        // of what follows
  std::condition_variable wake_;
  std::string waiting_;
  bool stopping_ = false, reopen_ = false;
  std::thread thread_;
};

}  // namespace relayvm::serve
