#include "tests/random/differential.h"

#include <fmt/format.h>

#include "compiler/driver.h"
#include "compiler/frontend/parser.h"
#include "tools/lib/reference_executor.h"
#include "tools/values/expect.h"
#include "tools/values/input.h"

namespace relayvm::random_programs {
namespace {

constexpr double kTimeoutSeconds = 60;
// Programs that grow without bound are let go.
constexpr double kReferenceTimeoutSeconds = 3;

Result<tools::FlatValue> RunOnce(tools::Executor& executor,
                                 const std::vector<std::string>& inputs) {
  const ExportInfo& function = executor.program().exports.at(0);
  tools::TypeTable types(executor.program());
  RELAYVM_ASSIGN_OR_RETURN(std::vector<relayvm::Value> values,
                           tools::ReadInputs(types, function, inputs));
  return executor.Run(function, values, types);
}

std::string Compare(const tools::FlatValue& found, const tools::FlatValue& expected) {
  if (found.size() != expected.size()) {
    return fmt::format("the result has {} parts, expected {}", found.size(), expected.size());
  }
  int tensors = 0;
  for (size_t i = 0; i < found.size(); ++i) {
    const tools::FlatNode &a = found[i], &b = expected[i];
    if (a.kind != b.kind || a.num_children != b.num_children) {
      return fmt::format("part {}: another kind of value", i);
    }
    if (a.kind == tools::FlatNode::Kind::kConstructor && a.name != b.name) {
      return fmt::format("part {}: found {}, expected {}", i, a.name, b.name);
    }
    if (a.kind != tools::FlatNode::Kind::kTensor) continue;
    double tolerance = ToleranceOf(a.tensor.dtype());
    std::string difference =
        tools::CompareTensors(fmt::format("tensor {}", tensors++), a.tensor, b.tensor,
                              {.rtol = tolerance, .atol = tolerance});
    if (!difference.empty()) return difference;
  }
  return "";
}

}  // namespace

std::string Differences(const RandomProgram& program, const std::vector<Level>& levels) {
  tools::RunFlags flags;
  flags.timeout_seconds = kReferenceTimeoutSeconds;
  Result<ir::Module> module = frontend::ParseRelay("random.relay", program.text);
  if (!module.ok()) return "does not parse: " + module.status().ToString();
  module->entry = "main";
  Result<ir::Module> typed = RunFrontendPipeline(*module);
  if (!typed.ok()) return "has no types: " + typed.status().ToString();
  auto reference = tools::MakeReferenceExecutor(*std::move(typed), flags);
  if (!reference.ok()) return "reference: " + reference.status().ToString();
  std::vector<Result<tools::FlatValue>> expected;
  for (const auto& inputs : program.inputs) {
    expected.push_back(RunOnce(**reference, inputs));
    const Result<tools::FlatValue>& e = expected.back();
    if (e.status().code() == StatusCode::kDeadlineExceeded) return "";
    // A tuple of twice the last one, again and again, has too many parts to look at.
    if (e.status().message().find("it cannot be printed") != std::string::npos) return "";
    if (!e.ok()) {
      return fmt::format("reference, run {}: {}", expected.size() - 1, e.status().ToString());
    }
  }
  flags.timeout_seconds = kTimeoutSeconds;
  for (const Level& level : levels) {
    CompileOptions options;
    options.pipeline.opt_level = level.pipeline;
    options.kernels.opt_level = level.kernels;
    options.pipeline.verify = true;
    Result<ir::Module> again = frontend::ParseRelay("random.relay", program.text);
    if (!again.ok()) return again.status().ToString();
    again->entry = "main";
    Result<Compiled> compiled = CompileModule(*std::move(again), options);
    auto where = [&](size_t run) { return fmt::format("-O{}, run {}: ", level.pipeline, run); };
    if (!compiled.ok()) {
      return fmt::format("-O{} does not compile: {}", level.pipeline, compiled.status().ToString());
    }
    auto executable = Executable::FromProgram(std::move(compiled->program));
    if (!executable.ok()) return where(0) + executable.status().ToString();
    auto vm = tools::MakeVmExecutor(*executable, flags);
    if (!vm.ok()) return where(0) + vm.status().ToString();
    for (size_t run = 0; run < kRuns; ++run) {
      Result<tools::FlatValue> found = RunOnce(**vm, program.inputs[run]);
      if (!found.ok()) return where(run) + found.status().ToString();
      std::string difference = Compare(*found, *expected[run]);
      if (!difference.empty()) return where(run) + difference;
    }
  }
  return "";
}

}  // namespace relayvm::random_programs
