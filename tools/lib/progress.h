// A line on a terminal that says how far a long compilation is: the pass, then kernels by number.
//
//   relayc: FuseOps
//   relayc: kernels [=========>          ] 24/51
//
// Nothing shows for the first second, nor where standard error is no terminal. Thread-safe.
// Tested by progress_test.cc.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "compiler/driver.h"
#include "tools/lib/compile_flags.h"

namespace relayvm::tools {

class ProgressLine {
 public:
  struct Options {
    std::FILE* out = stderr;
    std::chrono::milliseconds delay{1000}, interval{100};
  };
  // Borrows `options.out`. The line is drawn by a thread of its own, so that a long pass shows too.
  ProgressLine(std::string tool, const Options& options);
  // Removes the line.
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void SetPass(std::string_view pass);
  void SetKernels(size_t done, size_t total);

 private:
  void Draw();

  const std::string tool_;
  const Options options_;
  std::mutex mutex_;
  std::condition_variable ended_;
  std::string text_;    // guarded by mutex_
  bool end_ = false;    // guarded by mutex_
  bool drawn_ = false;  // of the thread, then of the destructor
  std::thread thread_;
};

// CompileFile with progress on standard error, if that is a terminal and nothing else is printed
// there meanwhile.
Result<Compiled> CompileWithProgress(const std::string& tool, const CompileFlags& flags);
// The same through the library's API. Prints warnings; fills flags->timings.
Result<CompiledModel> CompileModelWithProgress(const std::string& tool, CompileFlags* flags);

}  // namespace relayvm::tools
