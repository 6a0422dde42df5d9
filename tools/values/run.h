// Running a function from the command line: the part that vmrun and relayrun share.
//
// RunFlags are the options; an Executor runs (the VM, or the reference interpreter); RunFunction
// reads the inputs, runs, prints, saves and compares, and gives the exit status. Tested by
// run_test.cc and tools/tools_test.cc.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bytecode/base/status.h"
#include "tools/values/expect.h"
#include "tools/values/flat_value.h"
#include "vm/api/relayvm.h"

namespace relayvm::tools {

enum class Exit : int { kDone = 0, kUsage = 1, kBadInput = 2, kRunFailed = 3, kMismatch = 4 };

struct RunFlags {
  std::string function = "main";
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::string expect;
  Tolerance tolerance;
  std::string state;  // a file: what the program keeps between runs
  uint32_t threads = 1;
  uint32_t repeat = 1;
  bool json = false, profile = false, trace = false, stats = false;
  std::string profile_file, trace_file;  // Chrome traces
  uint32_t profile_interval = 1;
  std::string memory_limit_text, stack_limit_text;
  size_t memory_limit = SIZE_MAX;
  size_t stack_limit = InvocationOptions().stack_limit;
  double timeout_seconds = 0;
  std::vector<std::shared_ptr<Device>> devices;  // of the runtime; no option gives one

  std::chrono::nanoseconds timeout() const;  // zero: none

  void AddTo(CLI::App& app, bool with_function);
  // Those of a program that is native code, whatever it is: no threads, no profiles, no traces.
  void AddNativeTo(CLI::App& app);
  // After parsing: fills in what the options derive. kInvalidArgument for a malformed one.
  Status Finish();

 private:
  void AddValues(CLI::App& app);
  void AddLimits(CLI::App& app);
};

// What to do about an argument of vmrun and relayrun that no option takes.
std::string HintInput(const std::string& argument);

// "64MiB", "1GB", "512k", "1000": bytes. KB, MB, GB are powers of 1000; K, M, G and KiB, MiB, GiB
// of 1024.
Result<size_t> ParseSize(const std::string& text);

// Gives --profile and --trace their optional files: "--profile x.json" and "--profile=x.json"
// become "--profile --profile-file=x.json", and "--trace x.json" "--trace-file=x.json". `args` are
// in order, without argv[0].
std::vector<std::string> NormalizeRunArguments(std::vector<std::string> args);

struct RunCounts {
  int64_t run_ns = 0;
  std::optional<InvocationStats> memory;
};

class Executor {
 public:
  virtual ~Executor() = default;
  virtual const Program& program() const = 0;
  // The counts are those of the latest run.
  virtual Result<FlatValue> Run(const ExportInfo& function, const std::vector<Value>& inputs,
                                TypeTable& types) = 0;
  virtual RunCounts counts() const = 0;
  // What `function` keeps between runs goes into each run from here on, and comes out of it; its
  // inputs may be none then.
  virtual Result<State*> UseState(const ExportInfo& function) {
    return Status(
        StatusCode::kUnsupported,
        fmt::format("--state: {} is not run by the VM, which keeps states alone", function.name));
  }
  // Of --profile: what was measured, for people and as members of a JSON object; empty without it.
  virtual std::string ProfileTable(int64_t /*total_ns*/) const { return ""; }
  virtual std::string ProfileJson() const { return ""; }
  // Of --profile FILE and --trace FILE.
  virtual Status WriteChromeTrace(const std::string& /*path*/) const { return OkStatus(); }
};

Result<std::unique_ptr<Executor>> MakeVmExecutor(std::shared_ptr<const Executable> executable,
                                                 const RunFlags& flags);

// Reports failures on standard error as "tool: message".
Exit RunFunction(const std::string& tool, Executor& executor, const RunFlags& flags,
                 double load_ms);

Exit Report(const std::string& tool, const Status& status, Exit exit);
// The exit status for failing before the program runs: wrong usage for kInvalidArgument, else bad
// input.
Exit ExitForStatus(const Status& status);

}  // namespace relayvm::tools
