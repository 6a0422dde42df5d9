// vmrun: runs a function of a compiled program. The command line is the user's contract:
//
//   vmrun MODEL.vmx [--function main] --input ARG ... [--output OUT] [--expect FILE] [--threads N]
//         [--state FILE.npz]
//         [--repeat N] [--json] [--profile [FILE.json]] [--profile-interval N]
//         [--trace [FILE.json]] [--memory-limit SIZE]
//         [--stack-limit SIZE] [--timeout SECONDS] [--stats] [--verify] [--clear-memory] [--target LEVEL]
//         [--plugin LIBRARY] [--engine NAME[=LIBRARY]] [--no-byoc]
//   vmrun --server URL NAME[/VERSION] --input ARG ... [--server-token-file FILE] [--server-ca FILE]
//
// MODEL and a value may be -, which is standard input. MODEL may be a folder with a graph (relayc
// --executor graph), which takes the options that make sense for one.
//
// Results go to standard output, measurements and errors to standard error. Exit status: 0 done, 1
// wrong usage, 2 bad input (program, file, tensor), 3 the program failed while running, 4 --expect
// did not match. Tested by tools_test.cc.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iterator>

#include "kernels/runtime/operator_library.h"
#include "tools/cli/command_line.h"
#include "tools/cli/option_forms.h"
#include "tools/serve/client/remote_executor.h"
#include "tools/serve/emitter.h"
#include "tools/values/engine_flags.h"
#include "tools/values/graph_executor.h"
#include "tools/values/run.h"
#ifdef RELAYVM_TEST_DEVICES  // tests/device
#include "tests/device/devices.h"
#endif

namespace relayvm::tools {
namespace {

constexpr const char* kExamples =
    "Exit status: 0 done, 1 wrong usage, 2 bad input (program, file, tensor), 3 the program failed "
    "while running, 4 the result is not as --expect says.\n\n"
    "Examples:\n"
    "  vmrun model.vmx --input image.npy --output scores.npz\n"
    "  vmrun model.vmx --input 1x3x224x224xf32=random --repeat 100 --threads 0\n"
    "  vmrun model.vmx --input image.npy --profile\n"
    "  vmrun --server http://127.0.0.1:8000 resnet --input image=@image.npy";

constexpr OptionForm kForms[] = {
    {"--target", "Running", "PROCESSOR"},
    {"--plugin", "Running", "LIBRARY"},
    {"--verify", "Limits"},
    {"--clear-memory", "Limits"},
};

Exit RunRemotely(const serve::ServerFlags& server, const std::string& model,
                 const RunFlags& flags) {
  const auto start = std::chrono::steady_clock::now();
  auto executor = serve::MakeRemoteExecutor(server, model, flags);
  if (!executor.ok()) return Report("vmrun", executor.status(), Exit::kBadInput);
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
  return RunFunction("vmrun", **executor, flags, took.count());
}

Exit Main(int argc, char** argv) {
  CLI::App app("Runs a function of a program that relayc compiled.", "vmrun");
  std::string model;
  RunFlags flags;
  LoadOptions load;
  app.add_option("MODEL", model,
                 "the compiled program: a .vmx file, or a folder with a graph; - for standard "
                 "input")
      ->required();
  app.add_flag("--verify", load.verify,
               "compare the checksums of the weights too: reads all of them");
  app.add_flag("--clear-memory", load.clear_memory,
               "memory is zero when the program gets it: for files that are not trusted");
  app.add_option(
      "--target", load.target,
      "of a file for several processors, the one to run as: x86-64-v3 (default: the best "
      "that this machine is)");
  EngineFlags engines;
  engines.AddTo(app);
  std::vector<std::string> plugins;
  app.add_option("--plugin", plugins,
                 "a shared library of operators that the program was compiled with");
  serve::ServerFlags server;
  server.AddTo(app);
  flags.AddTo(app, /*with_function=*/true);
  ShowOptions(app, kForms);
  app.footer(kExamples);
  std::vector<std::string> args = NormalizeRunArguments({argv + 1, argv + argc});
  if (auto done = ParseCommandLine(app, std::move(args), HintInput))
    return static_cast<Exit>(*done);
  if (Status s = flags.Finish(); !s.ok()) return Report("vmrun", s, Exit::kUsage);
  if (Status s = engines.Finish(); !s.ok()) return Report("vmrun", s, Exit::kUsage);
  if (Status s = server.Check(app); !s.ok()) return Report("vmrun", s, Exit::kUsage);
  if (server.is_given()) return RunRemotely(server, model, flags);
  engines.Use("vmrun", &load);
#ifdef RELAYVM_TEST_DEVICES
  flags.devices = testing::TestDevices();
#endif

  std::vector<Builtin> kernels;
  for (const std::string& path : plugins) {
    auto library = LoadOperatorLibrary(path);
    if (!library.ok())
      return Report("vmrun", library.status().WithContext("--plugin"), Exit::kBadInput);
    std::ranges::move(library->kernels(), std::back_inserter(kernels));
  }
  load.kernels = kernels;
  const HostFunction emit = serve::EmitFunction();  // what a program says for a server's client
  load.host_functions = {&emit, 1};
  auto start = std::chrono::steady_clock::now();
  std::error_code error;
  if (std::filesystem::is_directory(model, error)) {
    auto graph = graph::LoadGraph(model, load);
    if (!graph.ok()) return Report("vmrun", graph.status(), Exit::kBadInput);
    auto executor = MakeGraphExecutor(*std::move(graph), flags);
    if (!executor.ok()) return Report("vmrun", executor.status(), ExitForStatus(executor.status()));
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    return RunFunction("vmrun", **executor, flags, took.count());
  }
  auto executable = Executable::Load(InputPath(model), load);
  if (!executable.ok()) return Report("vmrun", executable.status(), Exit::kBadInput);
  std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
  auto executor = MakeVmExecutor(std::move(executable).value(), flags);
  if (!executor.ok()) return Report("vmrun", executor.status(), ExitForStatus(executor.status()));
  return RunFunction("vmrun", **executor, flags, took.count());
}

}  // namespace
}  // namespace relayvm::tools

int RELAYVM_MAIN(int argc, char** argv) {
  return relayvm::tools::GuardedMain(
      "vmrun", [&] { return static_cast<int>(relayvm::tools::Main(argc, argv)); });
}
