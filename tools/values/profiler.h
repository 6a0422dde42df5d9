// What --profile and --trace record.
// Profiler is thread-compatible: one invocation at a time. Tested by profiler_test.cc.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "bytecode/base/status.h"
#include "bytecode/program.h"
#include "vm/trace.h"

namespace relayvm::tools {

class Profiler : public TraceSink {
 public:
  struct Options {
    bool kernels = false;       // add up kernels' times
    bool events = false;        // keep each kernel call, for WriteChromeTrace
    bool instructions = false;  // print each instruction, on standard error
  };
  // `program` is borrowed, and must be set before instructions run when they are to be printed.
  explicit Profiler(const Options& options) : options_(options) {}
  void set_program(const Program* program) { program_ = program; }

  void OnKernel(const KernelEvent& event) override;
  void OnInstruction(const InstructionEvent& event) override;
  bool wants_instructions() const override { return options_.instructions; }

  // Kernels by total time: calls, total, mean, share. `total_ns`: the time of all runs.
  std::string Table(int64_t total_ns) const;
  // The same as a JSON array.
  std::string Json() const;
  // A file for chrome://tracing and Perfetto.
  Status WriteChromeTrace(const std::string& path) const;

 private:
  struct Total {
    uint64_t calls = 0;
    int64_t ns = 0;
    int64_t longest_ns = 0;
  };
  struct Event {
    std::string name;
    int64_t begin_ns, end_ns;
    uint64_t units;
  };
  struct Line {
    std::string name;
    Total total;
  };
  std::vector<Line> Lines() const;
  // The instructions of a function as text, by pc.
  const std::vector<std::string>& Listing(uint32_t function);

  Options options_;
  const Program* program_ = nullptr;
  std::map<std::string, Total, std::less<>> totals_;
  std::vector<Event> events_;
  std::map<uint32_t, std::vector<std::string>> listings_;
};

}  // namespace relayvm::tools
