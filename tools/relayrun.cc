// relayrun: compiles a Relay program and runs it, in one process. The command line is the user's
// contract:
//
//   relayrun INPUT [relayc's options] [vmrun's options] [--executor vm|graph|debug]
//            [--trace-values[=N]]
//
// `graph` runs static programs without control flow, all memory planned before. `debug` (also:
// `reference`) runs the typed program with plain loops, slow and obviously right, and shows each
// value on its way with --trace-values. Exit status: as vmrun's. Tested by tools_test.cc.
#include <algorithm>
#include <chrono>

#include "bytecode/regions.h"
#include "compiler/graph/build_graph.h"
#include "tools/cli/command_line.h"
#include "tools/lib/progress.h"
#include "tools/lib/reference_executor.h"
#include "tools/serve/emitter.h"
#include "tools/values/engine_flags.h"
#include "tools/values/graph_executor.h"
#include "tools/values/run.h"
#ifdef RELAYVM_TEST_DEVICES  // tests/device
#include "tests/device/devices.h"
#endif

namespace relayvm::tools {
namespace {

// Of the form with regions, where its engines are here and take them; else of the native one.
Result<graph::LoadedGraph> LinkBestGraph(const CompiledModel& compiled, const LoadOptions& load) {
  const auto link = [&](const Program& program) -> Result<graph::LoadedGraph> {
    RELAYVM_ASSIGN_OR_RETURN(const graph::GraphProgram graph, graph::BuildGraph(program));
    return graph::LinkGraph(graph, load);
  };
  const Program& with_regions = compiled.program_with_regions();
  const bool is_allowed = std::ranges::all_of(EnginesOf(with_regions), [&](const auto& name) {
    return std::ranges::find(load.engines, name, &EngineLibrary::name) != load.engines.end();
  });
  if (&with_regions == &compiled.program() || !is_allowed) return link(compiled.program());
  Result<graph::LoadedGraph> linked = link(with_regions);
  if (linked.ok() || linked.status().code() != StatusCode::kUnsupported) return linked;
  load.notice("loaded without regions: " + linked.status().message());
  return link(compiled.program());
}

Result<std::unique_ptr<Executor>> MakeExecutor(const std::string& kind, CompileFlags& compile,
                                               const RunFlags& run, const LoadOptions& load,
                                               size_t trace_values) {
  if (kind == "debug" || kind == "reference") {
    RELAYVM_ASSIGN_OR_RETURN(ir::Module module, LoadModule(compile.input, compile.options));
    RELAYVM_ASSIGN_OR_RETURN(ir::Module typed, RunFrontendPipeline(std::move(module)));
    return MakeReferenceExecutor(std::move(typed), run, trace_values);
  }
  RELAYVM_ASSIGN_OR_RETURN(const CompiledModel compiled,
                           CompileModelWithProgress("relayrun", &compile));
  if (kind == "graph") {
    RELAYVM_ASSIGN_OR_RETURN(graph::LoadedGraph linked, LinkBestGraph(compiled, load));
    return MakeGraphExecutor(std::move(linked), run);
  }
  RELAYVM_ASSIGN_OR_RETURN(auto executable, compiled.Load(load));
  return MakeVmExecutor(std::move(executable), run);
}

Exit Main(int argc, char** argv) {
  CLI::App app("Compiles a Relay program and runs it.", "relayrun");
  CompileFlags compile;
  RunFlags run;
  std::string executor = "vm";
  compile.AddTo(app);
  run.AddTo(app, /*with_function=*/false);
  EngineFlags engines;
  engines.AddTo(app);
  size_t trace_values = 0;
  app.add_option("--executor", executor,
                 "what runs the program: vm; graph, for static programs without control flow; or "
                 "debug (also: reference), which is slow and obviously right")
      ->check(CLI::IsMember({"vm", "graph", "debug", "reference"}));
  app.add_flag(
      "--trace-values{1000}", trace_values,
      "with --executor debug: print each value on its way, on standard error: name, "
      "operator, type, least, greatest, mean, how many NaN and Inf, place; the first 1000, "
      "or --trace-values=N");
  std::vector<std::string> args =
      NormalizeRunArguments(NormalizeArguments({argv + 1, argv + argc}));
  if (Status s = compile.AddPassOptions(app, args); !s.ok())
    return Report("relayrun", s, ExitForStatus(s));
  GroupOptions(app);
  app.footer(
      "Exit status: 0 done, 1 wrong usage, 2 bad input, 3 the program failed while running, 4 the "
      "result is not as --expect says.\n\n"
      "Examples:\n"
      "  relayrun program.relay --input 3\n"
      "  relayrun model.onnx --input image.npy --executor debug --trace-values");
  if (auto done = ParseCommandLine(app, std::move(args), HintInput))
    return static_cast<Exit>(*done);
  if (executor == "graph") compile.compiler.executor = executor;
  Status flags = compile.Finish();
  if (flags.ok() && compile.compiler.targets.size() > 1) {
    flags = {StatusCode::kInvalidArgument,
             "--target: expected one processor, which runs the program here"};
  }
  if (flags.ok() && trace_values > 0 && (executor == "vm" || executor == "graph")) {
    flags = {StatusCode::kInvalidArgument,
             "--trace-values: compiled values have no names any more; use --executor debug"};
  }
  if (flags.ok()) flags = run.Finish();
  if (flags.ok()) flags = engines.Finish();
  if (!flags.ok()) return Report("relayrun", flags, ExitForStatus(flags));
  run.function = compile.compiler.entry;
#ifdef RELAYVM_TEST_DEVICES
  run.devices = testing::TestDevices();
#endif

  LoadOptions load;
  engines.Use("relayrun", &load);
  const HostFunction emit = serve::EmitFunction();  // what a program says for a server's client
  load.host_functions = {&emit, 1};
  auto start = std::chrono::steady_clock::now();
  auto made = MakeExecutor(executor, compile, run, load, trace_values);
  compile.PrintTimings();
  if (!made.ok()) return Report("relayrun", made.status(), ExitForStatus(made.status()));
  std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
  return RunFunction("relayrun", **made, run, took.count());
}

}  // namespace
}  // namespace relayvm::tools

int RELAYVM_MAIN(int argc, char** argv) {
  return relayvm::tools::GuardedMain(
      "relayrun", [&] { return static_cast<int>(relayvm::tools::Main(argc, argv)); });
}
