// What --profile and --trace record and print. Tested by profiler_test.cc.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "bytecode/base/status.h"
#include "bytecode/program.h"
#include "vm/trace/chrome_trace.h"
#include "vm/trace/profile.h"
#include "vm/trace/trace.h"

namespace relayvm::tools {

class Profiler : public TraceSink {
 public:
  struct Options {
    bool kernels = false;       // add up kernels' times
    bool events = false;        // keep what happens, for WriteChromeTrace
    bool instructions = false;  // print each instruction, on standard error: of one run at a time
    uint32_t kernel_interval = 1;
  };
  // `program` is borrowed, and must be set before instructions run when they are to be printed.
  explicit Profiler(const Options& options)
      : options_(options), profile_({.kernel_interval = options.kernel_interval}) {}
  void set_program(const Program* program) { program_ = program; }

  void OnKernel(const KernelEvent& event) override;
  void OnInstruction(const InstructionEvent& event) override;
  void OnRunEnd(const RunEvent& event) override;
  void OnSlice(const SliceEvent& event) override;
  void OnWait(const WaitEvent& event) override;
  void OnHostCall(const HostCallEvent& event) override;
  bool wants_instructions() const override { return options_.instructions; }
  uint32_t kernel_interval() const override {
    return options_.kernels || options_.events ? options_.kernel_interval : 0;
  }

  // Kernels by total time: calls, total, mean, share; then sums of those with the same operators,
  // where there are several; then source lines, or nodes of a model, where they
  // are known. `total_ns`: the time of all runs.
  std::string Table(int64_t total_ns) const;
  // The same as JSON arrays.
  std::string Json() const;
  std::string OperatorsJson() const;
  std::string PlacesJson() const;
  // A file for chrome://tracing and Perfetto.
  Status WriteChromeTrace(const std::string& path) const { return trace_.Write(path); }

 private:
  // The instructions of a function as text, by pc.
  const std::vector<std::string>& Listing(uint32_t function);

  Options options_;
  const Program* program_ = nullptr;
  Profile profile_;
  ChromeTrace trace_;
  std::map<uint32_t, std::vector<std::string>> listings_;
};

// Rows of kernels as `names` heads them, then sums of those with the same operators, where there
// are several. kernel_ns: theirs; total_ns: the time of all runs.
std::string KernelTable(std::string_view names, const std::vector<Profile::Row>& kernels,
                        int64_t kernel_ns, int64_t total_ns);
// Those sums as a JSON array.
std::string OperatorsJson(const std::vector<Profile::Row>& kernels);

}  // namespace relayvm::tools
