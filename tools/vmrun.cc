// vmrun: runs a function of a compiled program. The command line is the user's contract:
//
//   vmrun MODEL.vmx [--function main] --input ARG ... [--output OUT] [--expect FILE] [--threads N]
//   [--repeat N]
//         [--json] [--profile [FILE.json]] [--trace] [--memory-limit SIZE] [--timeout SECONDS]
//         [--stats]
//
// Results go to standard output, measurements and errors to standard error. Exit status: 0 done, 1
// wrong usage, 2 bad input (program, file, tensor), 3 the program failed while running, 4 --expect
// did not match. Tested by tools_test.cc.
#include <chrono>

#include "tools/main.h"
#include "tools/values/run.h"

namespace relayvm::tools {
namespace {

Exit Main(int argc, char** argv) {
  CLI::App app("Runs a function of a program that relayc compiled.", "vmrun");
  std::string model;
  RunFlags flags;
  app.add_option("MODEL", model, "the compiled program: a .vmx file")->required();
  flags.AddTo(app, /*with_function=*/true);
  std::vector<std::string> args = NormalizeRunArguments({argv + 1, argv + argc});
  std::reverse(args.begin(), args.end());  // as CLI11 wants them
  try {
    app.parse(args);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? Exit::kDone : Exit::kUsage;
  }
  if (Status s = flags.Finish(); !s.ok()) return Report("vmrun", s, Exit::kUsage);

  auto start = std::chrono::steady_clock::now();
  auto executable = Executable::Load(model);
  if (!executable.ok()) return Report("vmrun", executable.status(), Exit::kBadInput);
  std::chrono::duration<double, std::milli> load = std::chrono::steady_clock::now() - start;
  auto executor = MakeVmExecutor(std::move(executable).value(), flags);
  if (!executor.ok()) return Report("vmrun", executor.status(), ExitForStatus(executor.status()));
  return RunFunction("vmrun", **executor, flags, load.count());
}

}  // namespace
}  // namespace relayvm::tools

int main(int argc, char** argv) {
  return relayvm::tools::GuardedMain(
      "vmrun", [&] { return static_cast<int>(relayvm::tools::Main(argc, argv)); });
}
