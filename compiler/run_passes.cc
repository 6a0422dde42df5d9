// The list of passes with a user's own, checked, and run. Tested by pipeline_test.cc.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <map>
#include <utility>

#include "bytecode/base/check_stop.h"
#include "bytecode/base/suggestion.h"
#include "compiler/ir/declared_dims.h"
#include "compiler/ir/large_stack.h"
#include "compiler/ir/printer.h"
#include "compiler/ir/stop_scope.h"
#include "compiler/ir/verify.h"
#include "compiler/pipeline.h"
#include "compiler/regions/lower_regions.h"
#include "compiler/regions/region_options.h"

namespace relayvm {
namespace {

using enum Fact;

// Types are there for whoever needs them: this gives them, or kRetypePass.
constexpr std::string_view kCheckPass = "CheckTypes";
// Of every pipeline, for lower::LowerModule.
constexpr Facts kAtTheEnd = {kTyped, kShapesResolved, kFinalTypes, kLifted};

const Pass& FindPass(std::string_view name) {
  const std::vector<Pass>& passes = CompilerPasses();
  return *std::ranges::find(passes, name, &Pass::name);
}

Status Usage(std::string message) { return {StatusCode::kInvalidArgument, std::move(message)}; }

Status NoSuchPass(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Pass& p : CompilerPasses()) names.push_back(p.name);
  return Usage(fmt::format("there is no pass {}{}; there are {}", name, DidYouMean(name, names),
                           fmt::join(names, ", ")));
}

using Plan = std::vector<PlannedPass>;

// The index in `plan` that a place stands for. Passes that the user inserted are places too.
Result<size_t> FindPlace(const Plan& plan, const InsertedPass& insertion) {
  const std::string& place = insertion.place;
  if (place == "start") return size_t{0};
  if (place == "end") return plan.size();
  const std::string where = fmt::format("pass {}: place \"{}\"", insertion.pass.name, place);
  const size_t colon = place.find(':');
  const std::string kind = place.substr(0, colon);
  if (colon == std::string::npos || (kind != "before" && kind != "after"))
    return Usage(where + ": expected before:PASS, after:PASS, start or end");
  std::string name = place.substr(colon + 1);
  std::string number;
  if (size_t hash = name.find('#'); hash != std::string::npos) {
    number = name.substr(hash + 1);
    name.resize(hash);
  }
  std::vector<size_t> found;
  for (size_t i = 0; i < plan.size(); ++i) {
    if (plan[i].pass.name == name) found.push_back(i);
  }
  if (found.empty()) return NoSuchPass(name).WithContext(where);
  size_t chosen = 0;
  if (!number.empty() || found.size() > 1) {
    const bool digits = !number.empty() && number.size() < 4 &&
                        number.find_first_not_of("0123456789") == std::string::npos;
    chosen = digits ? std::stoul(number) - 1 : SIZE_MAX;
    if (chosen >= found.size()) {
      return Usage(fmt::format("{}: {} runs {} time{}; write {}:{}#1{}", where, name, found.size(),
                               found.size() == 1 ? "" : "s", kind, name,
                               found.size() > 1 ? fmt::format(" to #{}", found.size()) : ""));
    }
  }
  return found[chosen] + (kind == "after" ? 1 : 0);
}

Status CheckName(const Plan& plan, std::string_view option, std::string_view name) {
  auto is_it = [&](const PlannedPass& p) { return p.pass.name == name; };
  if (std::ranges::any_of(plan, is_it) || name == kRetypePass) return OkStatus();
  return NoSuchPass(name).WithContext(option);
}

// Follows what holds through the list, and puts type inference where it is needed.
class Checker {
 public:
  explicit Checker(Facts holds = {}) : facts_(holds) {}

  Status Add(PlannedPass step) {
    // A pass before it may have needed types already.
    if (step.pass.name == kCheckPass && facts_.Has(kChecked)) return OkStatus();
    RELAYVM_RETURN_IF_ERROR(Reach(step.pass.needs, "pass " + step.pass.name));
    if (Facts broken = step.pass.refuses & facts_; !broken.empty()) {
      return Usage(fmt::format("pass {} must run earlier: here the program is {} (after {})",
                               step.pass.name, broken.ToString(), Giver(broken)));
    }
    step.before = facts_;
    facts_ = (facts_ - step.pass.drops) | step.pass.gives;
    step.after = facts_;
    plan_.push_back(std::move(step));
    return OkStatus();
  }

  Result<Plan> Finish() {
    RELAYVM_RETURN_IF_ERROR(Reach(kAtTheEnd, "lowering"));
    return std::move(plan_);
  }

  Status Reach(Facts needed, const std::string& who) {
    Facts missing = needed - facts_;
    if (missing.Has(kTyped)) {
      const Pass& types = FindPass(facts_.Has(kChecked) ? kRetypePass : kCheckPass);
      if (Facts broken = types.refuses & facts_; !broken.empty()) {
        return Usage(
            fmt::format("{} needs types, which pass {} dropped, and they cannot be inferred again "
                        "after {}; run it earlier, or let it give its new variables their types",
                        who, Dropper(kTyped), Giver(broken)));
      }
      RELAYVM_RETURN_IF_ERROR(Add({types}));
      missing = needed - facts_;
    }
    if (missing.empty()) return OkStatus();
    return Usage(fmt::format("{} needs a program that is {}, and no pass before it gives that", who,
                             missing.ToString()));
  }
  const Plan& plan() const { return plan_; }
  Facts facts() const { return facts_; }

 private:
  std::string Giver(Facts facts) const {
    for (const PlannedPass& p : plan_) {
      if (!(p.pass.gives & facts).empty()) return p.pass.name;
    }
    return "?";
  }
  std::string Dropper(Fact fact) const {
    std::string name = "?";
    for (const PlannedPass& p : plan_) {
      if (p.before.Has(fact) && !p.after.Has(fact)) name = p.pass.name;
    }
    return name;
  }

  Facts facts_;
  Plan plan_;
};

// --- Running ---

// A user's pass may do anything: what it throws is an error that names it.
Result<ir::Module> RunOne(const Pass& pass, const ir::Module& module, const PassContext& context,
                          bool inserted) {
  if (!inserted) return ir::Stoppable(context.stop, [&] { return pass.run(module, context); });
  try {
    auto result = pass.run(module, context);
    if (!result.ok()) return result.status().WithContext("pass " + pass.name);
    return result;
  } catch (const std::exception& e) {
    return Status(StatusCode::kInternal, fmt::format("pass {} threw: {}", pass.name, e.what()));
  } catch (...) {
    return Status(StatusCode::kInternal, fmt::format("pass {} threw", pass.name));
  }
}

// Prints the module after a pass, when it changed.
class Printer {
 public:
  explicit Printer(const PipelineOptions& options) : options_(options) {}
  void Print(const std::string& name, const ir::Module& module) {
    passes_ += (passes_.empty() ? "" : ", ") + name;
    bool wanted = options_.print_ir_after == "all" || options_.print_ir_after == name;
    if (!wanted || !options_.print) return;
    has_printed_ = true;
    std::string text = ir::PrintModule(module);
    if (text == last_text_) {
      options_.print(fmt::format("// After {}: unchanged\n", name));
      return;
    }
    options_.print(fmt::format("// After {}:\n{}\n", name, text));
    last_text_ = std::move(text);
  }
  // kInvalidArgument when the pass to print after did not run.
  Status Finish() const {
    if (has_printed_ || options_.print_ir_after.empty() || !options_.print) return OkStatus();
    return Usage(fmt::format("--print-ir-after {}: no such pass ran; these did: {}",
                             options_.print_ir_after, passes_));
  }

 private:
  const PipelineOptions& options_;
  std::string last_text_, passes_;
  bool has_printed_ = false;
};

}  // namespace

std::string_view FactName(Fact fact) {
  constexpr std::string_view kNames[] = {"checked", "typed", "resolved",
                                         "final",   "fused", "lifted"};
  static_assert(std::size(kNames) == kNumFacts);
  return kNames[static_cast<int>(fact)];
}

std::string Facts::ToString() const {
  std::vector<std::string_view> names;
  for (int i = 0; i < kNumFacts; ++i) {
    if (Has(static_cast<Fact>(i))) names.push_back(FactName(static_cast<Fact>(i)));
  }
  return names.empty() ? "-" : fmt::format("{}", fmt::join(names, ", "));
}

static PassContext ContextOf(const PipelineOptions& options, const Machine& machine) {
  return {options.opt_level, machine, options.print,   options.options,
          options.stop,      {},      options.measure, options.rule_files,
          options.cache};
}

static PipelineOptions WithRuleFiles(PipelineOptions options) {
  if (options.rule_files == nullptr) options.rule_files = std::make_shared<regions::RuleFiles>();
  return options;
}

std::vector<DeclaredOption> PassOptions(std::span<const Pass> more) {
  std::map<std::string_view, DeclaredOption> by_name;
  for (const std::span<const Pass> passes : {std::span(CompilerPasses()), more}) {
    for (const Pass& pass : passes) {
      for (const PassOption* option : pass.options)
        by_name.try_emplace(option->name, option).first->second.passes.push_back(pass.name);
    }
  }
  std::vector<DeclaredOption> options;
  for (auto& [name, option] : by_name) options.push_back(std::move(option));
  return options;
}

Status CheckPassOptions(const PipelineOptions& options) {
  std::vector<Pass> inserted;
  for (const InsertedPass& p : options.passes) inserted.push_back(p.pass);
  const std::vector<DeclaredOption> declared = PassOptions(inserted);
  for (const auto& [name, texts] : options.options) {
    const auto found = std::ranges::find(declared, name, [](auto& d) { return d.option->name; });
    if (found == declared.end()) {
      std::vector<std::string_view> names;
      for (const DeclaredOption& d : declared) names.push_back(d.option->name);
      const std::string meant = DidYouMean(name, names);
      return Usage(fmt::format("no pass has an option {}{} there are {}", name,
                               meant.empty() ? ";" : meant, fmt::join(names, ", ")));
    }
    for (const std::string& text : texts)
      RELAYVM_RETURN_IF_ERROR(CheckPassOption(*found->option, text));
  }
  const PassContext context = ContextOf(options, options.machine);
  for (const std::vector<Pass>* passes : {&CompilerPasses(), &std::as_const(inserted)}) {
    for (const Pass& pass : *passes) {
      if (pass.check) RELAYVM_RETURN_IF_ERROR(pass.check(context));
    }
  }
  return OkStatus();
}

Result<std::vector<PlannedPass>> PlanPasses(const PipelineOptions& options) {
  RELAYVM_RETURN_IF_ERROR(CheckPassOptions(options));
  Plan plan;
  for (const PipelineStep& step : PipelineSteps())
    plan.push_back({FindPass(step.pass), step.level});
  for (const InsertedPass& insertion : options.passes) {
    RELAYVM_ASSIGN_OR_RETURN(size_t at, FindPlace(plan, insertion));
    // Several at one place run in their order.
    if (!insertion.place.starts_with("before:")) {
      while (at < plan.size() && plan[at].place == insertion.place) ++at;
    }
    plan.insert(plan.begin() + static_cast<ptrdiff_t>(at), {insertion.pass, 0, insertion.place});
  }
  for (const std::string& name : options.disabled) {
    RELAYVM_RETURN_IF_ERROR(CheckName(plan, "--disable-pass", name));
  }
  if (!options.print_ir_after.empty() && options.print_ir_after != "all") {
    RELAYVM_RETURN_IF_ERROR(CheckName(plan, "--print-ir-after", options.print_ir_after));
  }
  const PassContext context = ContextOf(options, options.machine);
  Checker checker;
  for (PlannedPass& step : plan) {
    const bool disabled =
        std::ranges::find(options.disabled, step.pass.name) != options.disabled.end();
    const bool idle = step.pass.applies && !step.pass.applies(context);
    if (disabled || idle || step.level > options.opt_level) continue;
    RELAYVM_RETURN_IF_ERROR(checker.Add(std::move(step)));
  }
  return checker.Finish();
}

namespace {

using Steps = std::span<const PlannedPass>;

Result<ir::Module> RunSteps(ir::Module module, Steps steps, const PipelineOptions& options,
                            const Machine& machine, Printer& printer) {
  PassContext context = ContextOf(options, machine);
  bool has_types = false;
  for (const PlannedPass& step : steps) {
    const std::string& name = step.pass.name;
    // What dropped them changed nothing.
    if (name == kRetypePass && has_types) continue;
    RELAYVM_RETURN_IF_ERROR(CheckStop(options.stop));
    if (options.on_pass) options.on_pass(name);
    auto start = std::chrono::steady_clock::now();
    context.holds = step.before;
    auto result = RunOne(step.pass, module, context, step.inserted());
    if (options.timings != nullptr) {
      std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
      options.timings->push_back({name, took.count()});
    }
    if (!result.ok()) return result.status();
    const bool is_same = result->functions == module.functions;
    has_types =
        step.pass.gives.Has(kTyped) || (has_types && (is_same || !step.pass.drops.Has(kTyped)));
    module = *std::move(result);
    RELAYVM_RETURN_IF_ERROR(CheckStop(options.stop));
    printer.Print(name, module);
    if (!options.verify && !step.inserted()) continue;
    Status sound = ir::VerifyModule(
        module, {.typed = step.after.Has(kTyped), .lifted = step.after.Has(kLifted)});
    if (!sound.ok()) {
      return sound.WithContext(step.inserted() ? fmt::format("pass {} breaks the program", name)
                                               : fmt::format("after {}", name));
    }
  }
  return module;
}

// With what the entry's parameters promise inside of data types.
void KeepDeclaredDims(ir::Module* module) {
  const auto entry = module->functions.find(module->entry);
  if (entry == module->functions.end() || entry->second->attrs.contains(ir::kDeclaredDims)) return;
  AttrList dims = ir::DeclaredDimsOf(*entry->second);
  if (dims.empty()) return;
  ir::Function kept = *entry->second;
  kept.attrs[ir::kDeclaredDims] = std::move(dims);
  entry->second = module->arena->New<ir::Function>(std::move(kept));
}

// What machines have in common so far.
struct Branch {
  ir::Module module;
  std::vector<Machine> machines;
  bool has_regions = false;  // for other engines; else their native twin
};

// After a step that is for one machine: those that it changes nothing for go on together.
Result<std::vector<Branch>> Part(const std::vector<Branch>& branches, Steps step,
                                 const PipelineOptions& options, Printer& printer) {
  std::vector<Branch> parted;
  for (const Branch& branch : branches) {
    Branch same{branch.module, {}, branch.has_regions};
    for (const Machine& machine : branch.machines) {
      RELAYVM_ASSIGN_OR_RETURN(ir::Module own,
                               RunSteps(branch.module, step, options, machine, printer));
      if (own.functions == branch.module.functions) {
        same.machines.push_back(machine);
      } else {
        parted.push_back({std::move(own), {machine}, branch.has_regions});
      }
    }
    if (!same.machines.empty()) parted.push_back(std::move(same));
  }
  return parted;
}

// The steps of a branch up to one that is for one machine, or that only one of the twins has.
Result<std::vector<Branch>> RunBranches(std::vector<Branch> branches, Steps rest,
                                        const PipelineOptions& options, Printer& printer) {
  const auto is_own = [](const PlannedPass& p) {
    return p.pass.is_for_machine || p.pass.is_for_regions;
  };
  while (!rest.empty()) {
    const auto common = static_cast<size_t>(std::ranges::find_if(rest, is_own) - rest.begin());
    for (Branch& branch : branches) {
      RELAYVM_ASSIGN_OR_RETURN(branch.module, RunSteps(std::move(branch.module), rest.first(common),
                                                       options, branch.machines[0], printer));
    }
    rest = rest.subspan(common);
    if (rest.empty()) break;
    const Steps own = rest.first(1);
    rest = rest.subspan(1);
    if (own[0].pass.is_for_machine) {
      RELAYVM_ASSIGN_OR_RETURN(branches, Part(branches, own, options, printer));
      continue;
    }
    for (Branch& branch : branches) {
      if (!branch.has_regions) continue;
      RELAYVM_ASSIGN_OR_RETURN(branch.module, RunSteps(std::move(branch.module), own, options,
                                                       branch.machines[0], printer));
    }
  }
  return branches;
}

Result<Pipelined> RunAll(ir::Module module, const PipelineOptions& options,
                         const std::vector<Machine>& machines) {
  RELAYVM_ASSIGN_OR_RETURN(Plan plan, PlanPasses(options));
  Printer printer(options);
  KeepDeclaredDims(&module);
  module = ir::ShareConstants(module);
  const bool has_engines = regions::HasEngines(options.options);
  std::vector<Branch> branches = {{module, machines, false}};
  if (has_engines) branches.push_back({std::move(module), machines, true});
  RELAYVM_ASSIGN_OR_RETURN(branches, RunBranches(std::move(branches), plan, options, printer));
  Pipelined done;
  const auto collect = [&](bool with_regions, std::vector<ir::Module>& out) {
    for (const Machine& machine : machines) {
      const auto has = [&](const Branch& branch) {
        return branch.has_regions == with_regions &&
               std::ranges::count(branch.machines, machine.target, &Machine::target) > 0;
      };
      out.push_back(std::ranges::find_if(branches, has)->module);
    }
  };
  collect(false, done.native);
  if (has_engines) collect(true, done.with_regions);
  if (has_engines && !regions::HasRegions(done.with_regions[0])) done.with_regions.clear();
  RELAYVM_RETURN_IF_ERROR(printer.Finish());
  return done;
}

}  // namespace

Result<Pipelined> RunPipelines(ir::Module module, const PipelineOptions& options,
                               const std::vector<Machine>& machines) {
  const PipelineOptions own = WithRuleFiles(options);
  return ir::WithLargeStack([&] { return RunAll(std::move(module), own, machines); });
}

Result<ir::Module> RunPipeline(ir::Module module, const PipelineOptions& options) {
  RELAYVM_ASSIGN_OR_RETURN(Pipelined done,
                           RunPipelines(std::move(module), options, {options.machine}));
  return std::move(done.native[0]);
}

Result<PassedModule> RunPasses(const PassedModule& from, const std::vector<std::string>& names,
                               const PipelineOptions& given) {
  const PipelineOptions options = WithRuleFiles(given);
  RELAYVM_RETURN_IF_ERROR(CheckPassOptions(options));
  Checker checker(from.holds);
  for (const std::string& name : names) {
    const auto pass = std::ranges::find(CompilerPasses(), name, &Pass::name);
    if (pass == CompilerPasses().end()) return NoSuchPass(name);
    RELAYVM_RETURN_IF_ERROR(checker.Add({*pass}));
  }
  if (!checker.facts().Has(kFinalTypes))
    RELAYVM_RETURN_IF_ERROR(checker.Reach({kTyped}, "the program"));
  Printer printer(options);
  RELAYVM_ASSIGN_OR_RETURN(ir::Module module, ir::WithLargeStack([&] {
                             return RunSteps(from.module, checker.plan(), options, options.machine,
                                             printer);
                           }));
  return PassedModule{std::move(module), checker.facts()};
}

Result<ir::Module> RunFrontendPipeline(ir::Module module) {
  return ir::WithLargeStack([&] { return ir::CheckTypes(module); });
}

}  // namespace relayvm
