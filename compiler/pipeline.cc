#include "compiler/pipeline.h"

#include <fmt/core.h>

#include <chrono>

#include "compiler/ir/large_stack.h"
#include "compiler/ir/printer.h"
#include "compiler/ir/verify.h"
#include "compiler/transforms/common_subexpressions.h"
#include "compiler/transforms/dead_code.h"
#include "compiler/transforms/fold_constants.h"
#include "compiler/transforms/fuse.h"
#include "compiler/transforms/inline.h"
#include "compiler/transforms/lambda_lift.h"
#include "compiler/transforms/pack_weights.h"
#include "compiler/transforms/propagate_constants.h"
#include "compiler/transforms/resolve_shapes.h"
#include "compiler/transforms/simplify_inference.h"
#include "compiler/transforms/specialise_ranks.h"
#include "compiler/typing/infer.h"

namespace relayvm {
namespace {

using Pass = std::function<Result<ir::Module>(const ir::Module&)>;

// Runs passes in order, with the dumps and times that were asked for.
class Runner {
 public:
  Runner(ir::Module module, const PipelineOptions& options)
      : module_(std::move(module)), options_(options) {}

  // A pass whose new variables get their types from the next Retype.
  void RunUntyped(std::string_view name, const Pass& pass) {
    verify_.typed = false;
    Run(name, pass);
  }

  void Run(std::string_view name, const Pass& pass) {
    if (!status_.ok()) return;
    if (options_.on_pass) options_.on_pass(name);
    auto start = std::chrono::steady_clock::now();
    Result<ir::Module> result = pass(module_);
    if (options_.timings != nullptr) {
      std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
      options_.timings->push_back({name, took.count()});
    }
    if (!result.ok()) {
      status_ = result.status();
      return;
    }
    module_ = std::move(result).value();
    Print(name);
    if (name == "CheckTypes" || name == "Retype") verify_.typed = true;
    if (name == "LambdaLift") verify_.lifted = true;
    if (!options_.verify) return;
    Status sound = ir::VerifyModule(module_, verify_);
    if (!sound.ok()) status_ = sound.WithContext(fmt::format("after {}", name));
  }

  Result<ir::Module> Finish() {
    if (!status_.ok()) return status_;
    return std::move(module_);
  }

 private:
  void Print(std::string_view name) {
    bool wanted = options_.print_ir_after == "all" || options_.print_ir_after == name;
    if (!wanted || !options_.print) return;
    std::string text = ir::PrintModule(module_);
    if (text == last_text_) {
      options_.print(fmt::format("// After {}: unchanged\n", name));
      return;
    }
    options_.print(fmt::format("// After {}:\n{}\n", name, text));
    last_text_ = std::move(text);
  }

  ir::Module module_;
  const PipelineOptions& options_;
  ir::VerifyOptions verify_;
  Status status_;
  std::string last_text_;
};

}  // namespace

static Result<ir::Module> RunPasses(ir::Module module, const PipelineOptions& options) {
  Runner r(std::move(module), options);
  bool optimise = options.opt_level >= 1;
  // Errors of the program are those of the program as written: types first, before anything moves.
  r.Run("CheckTypes", ir::CheckTypes);
  if (optimise) {
    // Both copy or specialise code, which then gets types of its own.
    r.RunUntyped("Inline", ir::Inline);
    r.RunUntyped("PropagateConstants", ir::PropagateConstants);
    r.RunUntyped("ResolveAliases", ir::ResolveAliases);
    r.Run("Retype", Retype);
  }
  // No kernel computes a shape from here on.
  r.Run("ResolveShapes", ir::ResolveShapes);
  r.Run("EliminateDeadCode", ir::EliminateDeadCode);
  if (optimise) {
    r.RunUntyped("SimplifyInference", ir::SimplifyInference);
    r.Run("Retype", Retype);
    r.Run("FoldConstants", ir::FoldConstants);
    r.Run("EliminateCommonSubexpressions", ir::EliminateCommonSubexpressions);
    r.RunUntyped("PackWeights",
                 [&](const ir::Module& m) { return ir::PackWeights(m, options.cpu); });
    r.Run("Retype", Retype);
    // Types made anew may know more shapes.
    r.Run("ResolveShapes", ir::ResolveShapes);
    r.Run("EliminateDeadCode", ir::EliminateDeadCode);
  }
  // Types are final.
  r.Run("DropShapeOperands", ir::DropShapeOperands);
  r.Run("EliminateDeadCode", ir::EliminateDeadCode);
  if (options.opt_level >= 2) r.Run("FuseOps", ir::FuseOps);
  // Closures become functions: after this no pass sees a function literal.
  r.Run("LambdaLift", ir::LambdaLift);
  r.Run("EliminateDeadCode", ir::EliminateDeadCode);
  return r.Finish();
}

Result<ir::Module> RunPipeline(ir::Module module, const PipelineOptions& options) {
  return ir::WithLargeStack([&] { return RunPasses(std::move(module), options); });
}

Result<ir::Module> RunFrontendPipeline(ir::Module module) {
  return ir::WithLargeStack([&] { return ir::CheckTypes(module); });
}

}  // namespace relayvm
