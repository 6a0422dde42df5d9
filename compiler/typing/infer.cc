#include "compiler/typing/infer.h"

#include "compiler/typing/inference.h"
#include "compiler/typing/kept_functions.h"
#include "compiler/typing/rebuild.h"
#include "compiler/typing/statements.h"
#include "compiler/typing/structure.h"

namespace relayvm {
namespace {

// Each run makes at least one dim unknown for good. Programs take one or two.
constexpr int kMaxRuns = 1000;

}  // namespace

namespace {

Result<ir::Module> Infer(const ir::Module& module, typing::Purpose purpose,
                         MixedRanks* mixed = nullptr) {
  typing::Widenings widenings;
  for (int run = 0; run < kMaxRuns; ++run) {
    typing::Inference inference(module, purpose, &widenings);
    Status s = inference.Run();
    // What a run says before it found out that it began too narrow does not count.
    if (inference.must_rerun()) continue;
    if (mixed != nullptr) *mixed = inference.TakeMixedRanks();
    RELAYVM_RETURN_IF_ERROR(s);
    return typing::Rebuild(module, inference);
  }
  return Status(StatusCode::kInternal, "type inference does not come to an end");
}

}  // namespace

Result<ir::Module> InferTypes(const ir::Module& module) {
  RELAYVM_RETURN_IF_ERROR(typing::CheckStructure(module));
  return Infer(typing::StateTypes(module), typing::Purpose::kCheck);
}

Result<ir::Module> InferTypes(const ir::Module& module, MixedRanks* mixed) {
  return Infer(module, typing::Purpose::kCheck, mixed);
}

Result<ir::Module> Retype(const ir::Module& module) {
  if (typing::KeptFunctions::AreAllOf(module)) return module;
  return Infer(module, typing::Purpose::kRetype);
}

}  // namespace relayvm
