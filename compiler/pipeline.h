// The compiler's pipeline: the list of passes from a parsed module to a lowered one, as data.
// Tested by pipeline_test.cc.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bytecode/base/status.h"
#include "compiler/pass.h"

namespace relayvm {

struct PassTiming {
  std::string pass;
  double milliseconds;
  bool is_part = false;  // of the one before: a share of its work, summed over threads
};

// A pass of the user's, and where: "before:NAME", "after:NAME" (NAME#2 where a pass runs more than
// once), "start" or "end". Several at one place run in the order of the list. The program is
// verified after each.
struct InsertedPass {
  Pass pass;
  std::string place;
  // All that the pass is made of. Empty: it cannot be told (compile_cache.h).
  std::string content = {};
};

struct PipelineOptions {
  int opt_level = 3;  // 0: no fusion, no optimisation; 1: without fusion; 2 and 3: all
  Machine machine = Machine::Native();  // that kernels are for: weights are packed for it
  PassOptionValues options;             // of passes, the compiler's and yours
  std::vector<InsertedPass> passes;
  std::vector<std::string> disabled;  // passes that are left out; an error where others need them
  std::string print_ir_after;  // a pass's name, or "all": printed (through `print`) when the pass
                               // changed the module
  std::function<void(std::string_view text)> print;
  std::vector<PassTiming>* timings = nullptr;
  std::function<void(std::string_view pass)> on_pass;  // called before each pass
  std::stop_token stop;  // asked to: fails with kCancelled, between passes and inside long ones
  std::shared_ptr<const regions::RegionMeasure> measure;  // PassContext::measure
  std::shared_ptr<regions::RuleFiles> rule_files;  // PassContext::rule_files; null: for this run
  std::shared_ptr<ObjectCache> cache;              // PassContext::cache
#ifdef NDEBUG
  bool verify = false;  // checks the IR after every pass (ir/verify.h)
#else
  bool verify = true;
#endif
};

struct PlannedPass {
  Pass pass;
  int level = 0;        // runs from this -O level on
  std::string place;    // that the user inserted it at; empty for the compiler's own
  Facts before, after;  // what holds
  bool inserted() const { return !place.empty(); }
};

// The pass that gives types again: it runs wherever they are needed, and is no place.
inline constexpr std::string_view kRetypePass = "Retype";
// What will run, in order: the list for the level with the user's passes, and type inference where
// it is needed. An error names the pass whose needs are not met, or the place that does not exist.
Result<std::vector<PlannedPass>> PlanPasses(const PipelineOptions& options);

// Before: as parsed, parameters bound. After: ready for lower::LowerModule. Without regions.
Result<ir::Module> RunPipeline(ir::Module module, const PipelineOptions& options);
// The same for several machines: a module for each, in place of options.machine; and the same with
// regions for the engines of --byoc, where there are any. What does not depend on them runs once,
// so that the modules share their constants.
struct Pipelined {
  std::vector<ir::Module> native, with_regions;  // for each machine
};
Result<Pipelined> RunPipelines(ir::Module module, const PipelineOptions& options,
                               const std::vector<Machine>& machines);

// The compiler's own passes, and which of them run, in order; PlanPasses puts in the user's.
const std::vector<Pass>& CompilerPasses();
struct PipelineStep {
  std::string_view pass;
  int level;  // runs from this -O level on
};
std::span<const PipelineStep> PipelineSteps();
// Options of the compiler's passes and of `more`, by name, with the passes that read each.
struct DeclaredOption {
  const PassOption* option;
  std::vector<std::string> passes;
};
std::vector<DeclaredOption> PassOptions(std::span<const Pass> more = {});
// kInvalidArgument, the same as PlanPasses says, of options.options alone.
Status CheckPassOptions(const PipelineOptions& options);
struct PassedModule {
  ir::Module module;
  Facts holds;  // of a module as parsed: none
};
// The compiler's passes of these names, in this order, and type inference where one of them needs
// it, and at the end. An error names the pass that there is not, or whose needs are not met. What
// comes of it can be compiled as long as types are not final. Of the options: verify, print,
// timings and what passes are told.
Result<PassedModule> RunPasses(const PassedModule& from, const std::vector<std::string>& names,
                               const PipelineOptions& options);
// Only what gives the program its meaning: types and guards. What the reference interpreter runs.
Result<ir::Module> RunFrontendPipeline(ir::Module module);

}  // namespace relayvm
