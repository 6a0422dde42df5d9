#include "compiler/pipeline.h"

#include "compiler/lowering/place.h"
#include "compiler/regions/region_passes.h"
#include "compiler/rules/fuse_attention.h"
#include "compiler/rules/own_rules.h"
#include "compiler/rules/rule_pass.h"
#include "compiler/transforms/fuse/fuse.h"
#include "compiler/transforms/fuse/rematerialise.h"
#include "compiler/transforms/fuse/split_batches.h"
#include "compiler/transforms/layouts/convert_layout.h"
#include "compiler/transforms/loops/append_outermost.h"
#include "compiler/transforms/loops/lambda_lift.h"
#include "compiler/transforms/loops/name_states.h"
#include "compiler/transforms/products/flush_weights.h"
#include "compiler/transforms/products/hoist_products.h"
#include "compiler/transforms/products/integer_products.h"
#include "compiler/transforms/products/pack_weights.h"
#include "compiler/transforms/products/space_to_depth_convolutions.h"
#include "compiler/transforms/products/transposed_convolutions.h"
#include "compiler/transforms/simplify/common_subexpressions.h"
#include "compiler/transforms/simplify/compose_slices.h"
#include "compiler/transforms/simplify/dead_code.h"
#include "compiler/transforms/simplify/fold_constants.h"
#include "compiler/transforms/simplify/inline.h"
#include "compiler/transforms/simplify/propagate_constants.h"
#include "compiler/transforms/simplify/resolve_aliases.h"
#include "compiler/transforms/simplify/resolve_shapes.h"
#include "compiler/transforms/simplify/share_constants.h"
#include "compiler/transforms/simplify/simplify_inference.h"
#include "compiler/transforms/simplify/tabulate_bytes.h"
#include "compiler/transforms/views/move_views.h"
#include "compiler/transforms/views/sink_views.h"
#include "compiler/typing/infer.h"
#include "compiler/typing/specialise_ranks.h"

namespace relayvm {
namespace {

using enum Fact;

template <typename F>
auto Pure(F f) {
  return [f](const ir::Module& m, const PassContext&) -> Result<ir::Module> { return f(m); };
}

}  // namespace

const std::vector<Pass>& CompilerPasses() {
  static const std::vector<Pass> passes = {
      {.name = "CheckTypes",
       .run = Pure(ir::CheckTypes),
       .needs = {},
       .gives = {kChecked, kTyped},
       .drops = {},
       .description =
           "types of the program as written, with symbolic shapes and guards; its errors"},
      {.name = "NameStates",
       .run =
           [](const ir::Module& m, const PassContext& context) {
             return ir::NameStates(m, ir::StateOption().In(context.options));
           },
       .drops = {},
       .description = "pairs of an input and an output that are kept between runs",
       .options = {&ir::StateOption().row()},
       .applies =
           [](const PassContext& context) {
             return !ir::StateOption().In(context.options).empty();
           }},
      {.name = "Retype",
       .run = Pure(Retype),
       .needs = {kChecked},
       .refuses = {kFinalTypes},
       .gives = {kTyped},
       .drops = {},
       .description = "types of what passes made anew, wherever they are needed"},
      {.name = "Inline",
       .run = [](const ir::Module& m, const PassContext& context) -> Result<ir::Module> {
         // A layer that many calls give weights of their own: copied, so that those are constants,
         // which alone are packed.
         constexpr size_t kLayer = 400;
         const bool packs = ir::AskedWeightForm(context.options) != nullptr;
         return ir::Inline(m, packs ? kLayer : ir::kSmallFunction);
       },
       .refuses = {kFused, kLifted},
       .description = "bodies of small functions and literals take the place of calls",
       .options = {&ir::WeightsOption().row(), &ir::PrecisionOption().row()}},
      {.name = "PropagateConstants",
       .run = Pure(ir::PropagateConstants),
       .needs = {},
       .refuses = {kFused, kLifted},
       .description = "functions are specialised for constant arguments"},
      {.name = "ResolveAliases",
       .run = Pure(ir::ResolveAliases),
       .drops = {},
       .description =
           "a variable that is another one, or a field of a tuple made before, is replaced by it"},
      {.name = "ResolveShapes",
       .run = Pure(ir::ResolveShapes),
       .gives = {kShapesResolved},
       .drops = {},
       .description = "tensors that only carry shapes become dimension expressions"},
      {.name = "EliminateDeadCode",
       .run = Pure(ir::EliminateDeadCode),
       .drops = {},
       .description = "what nobody uses goes"},
      regions::PrepareRegionsPass(),
      regions::MergeCompositePass(),
      regions::AnnotateTargetPass(),
      regions::MergeCompilerRegionsPass(),
      regions::PartitionGraphPass(),
      regions::PruneRegionsPass(),
      regions::ChooseRegionsPass(),
      regions::LowerRegionsPass(),
      {.name = "SimplifyInference",
       .run = Pure([](const ir::Module& m) { return ir::SimplifyInference(m); }),
       .refuses = {kFused, kFinalTypes},
       .description = "operators become simpler ones (batch_norm, dropout, einsum ...)"},
      {.name = "SpaceToDepthConvolutions",
       .run = [](const ir::Module& m, const PassContext& context) -> Result<ir::Module> {
         return ir::SpaceToDepthConvolutions(
             ir::ComposeSlices(m), {context.machine, ir::ExactOption().In(context.options)});
       },
       .refuses = {kFused, kFinalTypes},
       .description = "slices of slices are one, and convolutions of positions moved to channels "
                      "read the positions themselves where that pays",
       .options = {&ir::ExactOption().row()},
       .is_for_machine = true},
      {.name = "ConvertLayout",
       .run = [](const ir::Module& m, const PassContext& context) -> Result<ir::Module> {
         // The level at which operators choose for themselves.
         constexpr int kOwnChoice = 2;
         const codegen::ContractionTarget target{context.machine,
                                                 ir::ExactOption().In(context.options)};
         return ir::ConvertLayout(m, ir::LayoutOption().In(context.options),
                                  context.opt_level >= kOwnChoice ? &target : nullptr);
       },
       .refuses = {kFused, kFinalTypes},
       .description = "operators compute in the layouts that the user asks for, or that pay",
       .options = {&ir::LayoutOption().row(), &ir::ExactOption().row()},
       .is_for_machine = true},
      {.name = "TransposedConvolutions",
       .run = Pure(ir::TransposedConvolutions),
       .refuses = {kFused, kFinalTypes},
       .description = "transposed convolutions become plain ones, a phase of the stride each"},
      {.name = "MoveViews",
       .run = Pure(ir::MoveViews),
       .refuses = {kFused, kFinalTypes},
       .description = "views of a join become views of its parts where the join is a copy"},
      {.name = "AppendOutermost",
       .run = Pure(ir::AppendOutermost),
       .refuses = {kFused, kFinalTypes, kLifted},
       .description = "tensors that grow in a loop have the axis first that grows"},
      {.name = "FoldConstants",
       .run = [](const ir::Module& m, const PassContext& context) -> Result<ir::Module> {
         return ir::FoldConstants(m, context.machine, context.stop, context.cache);
       },
       .refuses = {kFused},
       .drops = {},
       .description = "what depends on constants alone is computed"},
      {.name = "SimplifyExpr",
       .run = [](const ir::Module& m, const PassContext& context) -> Result<ir::Module> {
         return rules::ApplyRulesIn(m, rules::SimplifyRules(), context);
       },
       .refuses = {kFused, kFinalTypes},
       .drops = {},
       .description = "algebra that keeps every bit: the rules of compiler/rules/simplify.relay",
       .options = {&rules::ExplainRulesOption().row()}},
      {.name = "WidenScatters",
       .run = Pure([](const ir::Module& m) { return ir::SimplifyInference(m); }),
       .refuses = {kFused, kFinalTypes},
       .description = "operators become simpler ones by what is constant now (scatters of slices)"},
      {.name = "IntegerProducts",
       .run = Pure(ir::IntegerProducts),
       .refuses = {kFused, kFinalTypes},
       .description = "quantised products become products of bytes and corrections"},
      {.name = "ConvertByteLayouts",
       .run = [](const ir::Module& m, const PassContext& context) -> Result<ir::Module> {
         const codegen::ContractionTarget target{context.machine,
                                                 ir::ExactOption().In(context.options)};
         return ir::ConvertByteLayouts(m, ir::LayoutOption().In(context.options), target);
       },
       .refuses = {kFused, kFinalTypes},
       .description = "convolutions of bytes, and what is around them, take the layouts that pay",
       .options = {&ir::LayoutOption().row(), &ir::ExactOption().row()},
       .is_for_machine = true},
      {.name = "FoldCorrections",
       .run = [](const ir::Module& m, const PassContext& context) -> Result<ir::Module> {
         return ir::FoldConstants(m, context.machine, context.stop, context.cache);
       },
       .refuses = {kFused},
       .drops = {},
       .description = "what corrects a product of bytes with constant weights is computed"},
      {.name = "EliminateCommonSubexpressions",
       .run = Pure(ir::EliminateCommonSubexpressions),
       .refuses = {kFused},
       .drops = {},
       .description = "equal pure expressions of a block are computed once"},
      {.name = "TabulateBytes",
       .run = [](const ir::Module& m, const PassContext& context) -> Result<ir::Module> {
         const ir::Module tables = ir::TabulateBytes(m);
         if (tables.functions == m.functions) return m;
         return ir::FoldConstants(tables, context.machine, context.stop, context.cache);
       },
       .refuses = {kFused, kFinalTypes},
       .drops = {},
       .description = "chains of functions of one byte become tables of 256"},
      {.name = "HoistProducts",
       .run = Pure(ir::HoistProducts),
       .refuses = {kFused, kFinalTypes, kLifted},
       .description = "products of a sequence's rows leave the loop that walks over it"},
      {.name = "FuseAttention",
       .run = [](const ir::Module& m, const PassContext& context) -> Result<ir::Module> {
         return rules::Explained(context, [&](rules::Report* report) {
           return Result<ir::Module>(rules::FuseAttention(m, report));
         });
       },
       .refuses = {kFused, kFinalTypes},
       .drops = {},
       .description = "attention that is spelled out (compiler/rules/attention.relay) becomes one "
                      "operator",
       .options = {&rules::ExplainRulesOption().row()}},
      {.name = "PackWeights",
       .run = [](const ir::Module& m, const PassContext& context) -> Result<ir::Module> {
         const bool exact = ir::ExactOption().In(context.options);
         return ir::PackWeights(exact ? m : ir::FlushWeights(m), context.machine,
                                ir::AskedWeightForm(context.options), exact);
       },
       .refuses = {kFused, kFinalTypes},
       .description = "constant weights of products take the layout that kernels read",
       .options = {&ir::WeightsOption().row(), &ir::PrecisionOption().row(),
                   &ir::ExactOption().row()},
       .check =
           [](const PassContext& context) {
             return ir::CheckWeightOptions(context.options, context.opt_level);
           },
       .is_for_machine = true},
      {.name = "DropShapeOperands",
       .run = Pure(ir::DropShapeOperands),
       .needs = {kTyped, kShapesResolved},
       .gives = {kFinalTypes},
       .drops = {},
       .description = "operands that only type inference read go"},
      {.name = "Rematerialise",
       .run = Pure(ir::Rematerialise),
       .needs = {kTyped, kShapesResolved, kFinalTypes},
       .refuses = {kFused, kLifted},
       .drops = {},
       .description = "what is made of sizes alone is made where it is read"},
      {.name = "SinkViews",
       .run = Pure(ir::SinkViews),
       .needs = {kTyped, kShapesResolved, kFinalTypes},
       .refuses = {kFused, kLifted},
       .drops = {},
       .description = "views of a product's rows move behind what fusion computes with it"},
      {.name = "FuseOps",
       .run = Pure(ir::FuseOps),
       .needs = {kTyped, kShapesResolved, kFinalTypes},
       .refuses = {kLifted},
       .gives = {kFused},
       .drops = {},
       .description = "operator calls are grouped to kernels",
       .options = {&lower::DeviceOption().row(), &lower::DeviceSeedOption().row()}},
      {.name = "SplitBatches",
       .run = [](const ir::Module& m, const PassContext& context) -> Result<ir::Module> {
         // Tensors of other devices have no subviews.
         if (!lower::PlacementOf(context.options).device.empty()) return m;
         return ir::SplitBatches(m, context.machine, ir::SubBatchOption().In(context.options));
       },
       .needs = {kTyped, kShapesResolved, kFinalTypes},
       .refuses = {kLifted},
       .drops = {},
       .description = "layers of many images run for some images at a time, within the caches",
       .options = {&ir::SubBatchOption().row(), &lower::DeviceOption().row()},
       .is_for_machine = true},
      {.name = "LambdaLift",
       .run = Pure(ir::LambdaLift),
       .gives = {kLifted},
       .drops = {},
       .description = "function literals become global functions with captured values"},
  };
  return passes;
}

namespace {

// Where order matters, the reason. Types are inferred again wherever a pass needs them and one
// before it dropped them.
constexpr PipelineStep kSteps[] = {
    // Errors of the program are those of the program as written: before anything moves.
    {"CheckTypes", 0},
    // By the names and types that the program has.
    {"NameStates", 0},
    // Those that the program has itself, before its functions are inlined.
    {"LowerRegions", 0},
    // Both copy or specialise code, which then gets types of its own.
    {"Inline", 1},
    {"PropagateConstants", 1},
    {"ResolveAliases", 1},
    // No kernel computes a shape from here on.
    {"ResolveShapes", 0},
    {"EliminateDeadCode", 0},
    // Other engines' first: what follows takes their operators apart.
    {"PrepareRegions", 0},
    {"MergeComposite", 0},
    {"AnnotateTarget", 0},
    {"MergeCompilerRegions", 0},
    {"PartitionGraph", 0},
    {"PruneRegions", 0},
    {"ChooseRegions", 0},
    {"LowerRegions", 0},
    {"SimplifyInference", 1},
    // A variable that only stands for another one would keep rules and fusion from its value.
    {"ResolveAliases", 1},
    {"SpaceToDepthConvolutions", 1},
    {"ConvertLayout", 0},
    {"TransposedConvolutions", 1},
    {"MoveViews", 1},
    {"AppendOutermost", 2},
    {"FoldConstants", 1},
    // Numbers are constants now.
    {"SimplifyExpr", 1},
    {"WidenScatters", 1},
    {"IntegerProducts", 1},
    {"ConvertByteLayouts", 2},
    {"FoldCorrections", 1},
    {"EliminateCommonSubexpressions", 1},
    // What changes the sign of a product's bytes is part of a table.
    {"TabulateBytes", 2},
    {"HoistProducts", 2},
    // Equal masks are one.
    {"FuseAttention", 2},
    {"PackWeights", 1},
    // Types made anew may know more shapes.
    {"ResolveShapes", 1},
    {"ResolveAliases", 1},
    {"EliminateDeadCode", 1},
    // Types are final.
    {"DropShapeOperands", 0},
    {"Rematerialise", 2},
    {"SinkViews", 2},
    // The originals go with the rest.
    {"EliminateDeadCode", 0},
    {"FuseOps", 2},
    // What a kernel reads and writes is known.
    {"SplitBatches", 2},
    // Closures become functions: after this no pass sees a function literal.
    {"LambdaLift", 0},
    {"EliminateDeadCode", 0},
};

}  // namespace

std::span<const PipelineStep> PipelineSteps() { return kSteps; }

}  // namespace relayvm
