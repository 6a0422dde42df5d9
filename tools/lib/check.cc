#include "tools/lib/check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "bytecode/regions.h"
#include "compiler/regions/region_options.h"
#include "compiler/transforms/products/pack_weights.h"
#include "tools/lib/progress.h"
#include "tools/values/error_report.h"
#include "tools/values/input.h"

namespace relayvm::tools {
namespace {

struct Outcome {
  Status status;
  Exit exit = Exit::kDone;
  ExportInfo function;
  FlatValue value;
};

Outcome Run(Program program, const std::string& name, const std::vector<std::string>& inputs) {
  std::vector<EngineLibrary> engines;
  for (const std::string& engine : EnginesOf(program)) engines.push_back({engine, ""});
  LoadOptions load;
  load.engines = engines;
  auto executable = Executable::FromProgram(std::move(program), load);
  if (!executable.ok()) return {executable.status(), Exit::kBadInput, {}, {}};
  auto executor = MakeVmExecutor(std::move(executable).value(), RunFlags{});
  if (!executor.ok()) return {executor.status(), ExitForStatus(executor.status()), {}, {}};
  const auto& exports = (*executor)->program().exports;
  const auto function = std::ranges::find(exports, name, &ExportInfo::name);
  TypeTable types((*executor)->program());
  auto values = ReadInputs(types, *function, inputs);
  if (!values.ok()) return {values.status(), ExitForStatus(values.status()), {}, {}};
  auto result = (*executor)->Run(*function, *values, types);
  if (!result.ok()) return {result.status(), Exit::kRunFailed, {}, {}};
  return {OkStatus(), Exit::kDone, *function, std::move(*result)};
}

}  // namespace

Check CheckPrecision(const CompileFlags& flags, const Compiled& made,
                     const std::vector<std::string>& inputs) {
  if (std::ranges::count(inputs, "-") > 0) {
    return {"",
            {StatusCode::kInvalidArgument, "--check reads its inputs twice: name a file, not -"},
            Exit::kUsage};
  }
  auto failed = [](const char* which, const Outcome& outcome) {
    return Check{"", outcome.status.WithContext(fmt::format("--check: {}", which)), outcome.exit};
  };
  CompileFlags exact = flags;
  PassOptionValues& options = exact.options.pipeline.options;
  const bool is_reduced = ir::AskedWeightForm(options) != nullptr;
  options.erase(ir::WeightsOption().row().name);
  options.erase(ir::PrecisionOption().row().name);
  if (!is_reduced) exact.options.pipeline.opt_level = 0;
  for (const PassOption* option :
       {&regions::ByocOption().row(), &regions::ByocRegionsOption().row(),
        &regions::ByocOnlyOption().row(), &regions::ExplainOption().row()})
    options.erase(option->name);
  exact.options.more_machines.clear();
  exact.options.schedules.clear();
  exact.options.tune = {};
  exact.options.count_poor_kernels = false;
  exact.options.pipeline.timings = nullptr;
  exact.options.pipeline.print_ir_after.clear();
  exact.options.kernels.keep_llvm_ir = exact.options.kernels.keep_assembly = false;
  auto compiled = CompileWithProgress("relayc", exact);
  if (!compiled.ok()) return {"", compiled.status(), ExitForStatus(compiled.status())};

  const Outcome wanted = Run(std::move(compiled->program), flags.options.entry, inputs);
  if (!wanted.status.ok()) return failed("the program it is compared with", wanted);
  const std::string against = is_reduced ? "against float32 weights" : "against -O0";
  const Program& with_regions = FormWithRegions(made.program, made.others);
  const bool has_both = &with_regions != &made.program;
  std::string all;
  for (const Program* form : {&made.program, &with_regions}) {
    if (form == &with_regions && !has_both && !all.empty()) break;
    const std::string engines = fmt::format("{}", fmt::join(EnginesOf(*form), ", "));
    const std::string which = !engines.empty() ? fmt::format("with regions for {}, ", engines)
                              : has_both       ? "natively, "
                                               : "";
    const Outcome found = Run(*form, flags.options.entry, inputs);
    if (!found.status.ok() && has_both && form == &with_regions && found.exit == Exit::kBadInput &&
        found.status.code() == StatusCode::kUnsupported) {
      all += fmt::format("{}not run: {}\n", which, found.status.message());
      continue;
    }
    if (!found.status.ok()) return failed("the compiled program", found);
    auto report = ErrorReport(wanted.function, found.value, wanted.value);
    if (!report.ok()) return {"", report.status().WithContext("--check"), Exit::kMismatch};
    all += fmt::format("{}{}:\n{}", which, against, *report);
  }
  return {std::move(all), OkStatus(), Exit::kDone};
}

}  // namespace relayvm::tools
