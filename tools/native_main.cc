// The main part of a program that relayc --executor aot --emit exe writes: what vmrun does with a
// file, it does with the native code that it is linked with. The command line is the user's
// contract:
//
//   PROGRAM [--function main] --input ARG ... [--output OUT] [--expect FILE] [--repeat N] [--json]
//           [--memory-limit SIZE] [--stack-limit SIZE] [--timeout SECONDS] [--stats]
//           [--engine NAME=LIBRARY]   where it has regions that engines run
//
// Values, output, errors and exit statuses are those of vmrun. Tested by tests/aot.
#include <filesystem>

#include "tools/cli/command_line.h"
#include "tools/values/engine_flags.h"
#include "tools/values/run.h"
#include "vm/aot/native_program.h"

extern "C" RelayvmAotProgram relayvm_aot_program;  // in the object file of the program

namespace relayvm::tools {
namespace {

class NativeExecutor : public Executor {
 public:
  NativeExecutor(vm::NativeProgram* program, const vm::NativeOptions& options)
      : native_(*program), options_(options) {}

  const Program& program() const override { return native_.program(); }
  RunCounts counts() const override { return {stats_.run_ns, stats_}; }

  Result<FlatValue> Run(const ExportInfo& function, const std::vector<Value>& inputs,
                        TypeTable& types) override {
    const auto index = static_cast<uint32_t>(&function - program().exports.data());
    RELAYVM_ASSIGN_OR_RETURN(const Value value, native_.Run(index, inputs, options_, &stats_));
    return Flatten(value, types, types.InternOf(function, function.result));
  }

 private:
  vm::NativeProgram& native_;
  vm::NativeOptions options_;
  InvocationStats stats_;
};

Exit Main(const std::string& name, int argc, char** argv) {
  CLI::App app("Runs a function of the program that it was compiled from.", name);
  RunFlags flags;
  flags.stack_limit = vm::NativeOptions::kStackBytes;
  flags.AddNativeTo(app);
  EngineFlags engines;
  if (relayvm_aot_program.regions.size > 0) engines.AddNativeTo(app);
  if (auto done = ParseCommandLine(app, {argv + 1, argv + argc}, HintInput))
    return static_cast<Exit>(*done);
  if (Status s = flags.Finish(); !s.ok()) return Report(name, s, Exit::kUsage);
  if (Status s = engines.Finish(); !s.ok()) return Report(name, s, Exit::kUsage);
  auto native = vm::NativeProgram::Of(&relayvm_aot_program, engines.engines());
  if (!native.ok()) return Report(name, native.status(), Exit::kBadInput);
  NativeExecutor executor(*native, {.memory_limit = flags.memory_limit,
                                    .stack_bytes = flags.stack_limit,
                                    .timeout = flags.timeout()});
  return RunFunction(name, executor, flags, /*load_ms=*/0);
}

}  // namespace
}  // namespace relayvm::tools

int main(int argc, char** argv) {
  const std::string name =
      std::filesystem::path(argc > 0 ? argv[0] : "program").filename().string();
  return relayvm::tools::GuardedMain(
      name.c_str(), [&] { return static_cast<int>(relayvm::tools::Main(name, argc, argv)); });
}
