#include "compiler/regions/region_passes.h"

#include <algorithm>
#include <set>
#include <utility>

#include "compiler/regions/annotate_target.h"
#include "compiler/regions/choose_regions.h"
#include "compiler/regions/explain.h"
#include "compiler/regions/lower_regions.h"
#include "compiler/regions/merge_composite.h"
#include "compiler/regions/merge_regions.h"
#include "compiler/regions/partition_graph.h"
#include "compiler/regions/region_options.h"
#include "compiler/rules/own_rules.h"
#include "compiler/rules/rule_pass.h"
#include "compiler/transforms/simplify/dead_code.h"
#include "compiler/transforms/simplify/fold_constants.h"
#include "compiler/transforms/simplify/resolve_aliases.h"
#include "compiler/transforms/simplify/simplify_inference.h"
#include "compiler/typing/infer.h"
#include "kernels/op/region_markers.h"

namespace relayvm::regions {
namespace {

using enum Fact;

bool CutsRegions(const PassContext& context) { return !ByocOption().In(context.options).empty(); }

bool MeasuresRegions(const PassContext& context) {
  return std::ranges::count(ByocOption().In(context.options), kAutoEngine) > 0;
}

// Whoever calls one pass by itself may have no files.
Result<std::vector<EnginePattern>> EnginesIn(const PassContext& context) {
  RuleFiles own;
  return EnginesOf(context.options, context.rule_files ? *context.rule_files : own);
}

// --explain: of what is left of regions.
Status Explain(const ir::Module& m, const PassContext& context) {
  if (!context.print || !ExplainOption().In(context.options)) return OkStatus();
  RELAYVM_ASSIGN_OR_RETURN(const std::vector<EnginePattern> engines, EnginesIn(context));
  context.print(ExplainRegions(m, engines));
  return OkStatus();
}

Pass RegionPass(std::string name, std::string description,
                std::function<Result<ir::Module>(const ir::Module&, const PassContext&)> run) {
  Pass pass;
  pass.name = std::move(name);
  pass.run = std::move(run);
  pass.refuses = {kFused, kFinalTypes, kLifted};
  pass.drops = {};
  pass.description = std::move(description);
  pass.options = {&ByocOption().row(), &ByocRulesOption().row()};
  pass.applies = CutsRegions;
  pass.is_for_regions = true;
  return pass;
}

// Operators that take apart: those that no pattern starts with, and those of several results, of
// which one is read (normalisations).
Result<ir::Module> Prepare(const ir::Module& m, const PassContext& context) {
  RELAYVM_ASSIGN_OR_RETURN(const std::vector<EnginePattern> engines, EnginesIn(context));
  std::set<const OpDef*> known;
  for (const EnginePattern& engine : engines) {
    for (const auto& [op, rules] : engine.patterns->by_root) known.insert(op);
  }
  const ir::Module simpler =
      ir::SimplifyInference(m, [&](const ir::OpCall& call, const ir::Type& t) {
        if (RegionMarkerOf(*call.op) != RegionMarker::kNone) return false;
        return !known.contains(call.op) || t->As<ir::TupleType>() != nullptr;
      });
  RELAYVM_ASSIGN_OR_RETURN(const ir::Module typed, Retype(simpler));
  const ir::Module folded = ir::FoldConstants(typed, context.machine, context.stop, context.cache);
  RELAYVM_ASSIGN_OR_RETURN(const ir::Module ruled,
                           rules::ApplyRulesIn(folded, rules::SimplifyRules(), context));
  // Tuples between operators would end regions. Values that nothing reads any more would have a
  // use, and be results of regions.
  return ir::EliminateDeadCode(ir::ResolveAliases(ruled));
}

Result<ir::Module> Merge(const ir::Module& m, const PassContext& context) {
  RELAYVM_ASSIGN_OR_RETURN(const std::vector<EnginePattern> engines, EnginesIn(context));
  return rules::Explained(context, [&](rules::Report* report) {
    ir::Module merged = m;
    for (const EnginePattern& engine : engines)
      merged = MergeComposite(merged, engine.engine, *engine.patterns, report);
    return Result<ir::Module>(std::move(merged));
  });
}

}  // namespace

Pass PrepareRegionsPass() {
  return RegionPass("PrepareRegions",
                    "operators that no engine has become simpler ones, and constants are computed",
                    Prepare);
}

Pass MergeCompositePass() {
  Pass pass =
      RegionPass("MergeComposite",
                 "operators that an engine runs as one become a function of that name", Merge);
  pass.options.push_back(&rules::ExplainRulesOption().row());
  return pass;
}

Pass AnnotateTargetPass() {
  return RegionPass("AnnotateTarget", "what engines run stands between their markers",
                    [](const ir::Module& m, const PassContext& context) -> Result<ir::Module> {
                      RELAYVM_ASSIGN_OR_RETURN(const std::vector<EnginePattern> engines,
                                               EnginesIn(context));
                      return AnnotateTarget(m, engines);
                    });
}

Pass MergeCompilerRegionsPass() {
  Pass pass = RegionPass("MergeCompilerRegions", "neighbours of one engine become one region",
                         [](const ir::Module& m, const PassContext&) -> Result<ir::Module> {
                           return MergeCompilerRegions(m);
                         });
  pass.options.clear();
  return pass;
}

Pass PartitionGraphPass() {
  Pass pass = RegionPass("PartitionGraph", "regions become functions of the module",
                         [](const ir::Module& m, const PassContext&) -> Result<ir::Module> {
                           return PartitionGraph(m);
                         });
  pass.options.clear();
  pass.drops = {kTyped};
  return pass;
}

Pass PruneRegionsPass() {
  Pass pass = RegionPass("PruneRegions", "regions without heavy work are no regions",
                         [](const ir::Module& m, const PassContext& context) -> Result<ir::Module> {
                           ir::Module pruned = PruneRegions(m, [&](const std::string& engine) {
                             return PrunesLightRegions(context.options, engine);
                           });
                           if (!MeasuresRegions(context))
                             RELAYVM_RETURN_IF_ERROR(Explain(pruned, context));
                           return pruned;
                         });
  pass.options.push_back(&ExplainOption().row());
  return pass;
}

Pass ChooseRegionsPass() {
  Pass pass = RegionPass(
      "ChooseRegions", "regions that their engine is slower on than native kernels are no regions",
      [](const ir::Module& m, const PassContext& context) -> Result<ir::Module> {
        if (!MeasuresRegions(context)) return m;
        if (context.measure == nullptr) {
          return Status(StatusCode::kUnsupported,
                        "--byoc auto: what compiles here runs no programs, so nothing is measured");
        }
        std::string table;
        RELAYVM_ASSIGN_OR_RETURN(ir::Module chosen, ChooseRegions(m, *context.measure, &table));
        if (context.print) context.print(table);
        RELAYVM_RETURN_IF_ERROR(Explain(chosen, context));
        return chosen;
      });
  pass.options.push_back(&ExplainOption().row());
  pass.applies = MeasuresRegions;
  return pass;
}

Pass LowerRegionsPass() {
  Pass pass = RegionPass(
      "LowerRegions", "calls of regions become calls of their engine",
      [](const ir::Module& m, const PassContext& context) -> Result<ir::Module> {
        RuleFiles own;
        RELAYVM_ASSIGN_OR_RETURN(
            const std::vector<EnginePattern> engines,
            EnginesOfRegions(context.options, context.rule_files ? *context.rule_files : own));
        return LowerRegions(m, engines);
      });
  pass.drops = {kTyped};
  pass.options.push_back(&ByocRegionsOption().row());
  pass.options.push_back(&ByocOnlyOption().row());
  pass.applies = [](const PassContext& context) { return HasEngines(context.options); };
  return pass;
}

}  // namespace relayvm::regions
