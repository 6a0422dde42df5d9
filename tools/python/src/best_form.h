// The form of a program that graphs and native code of this process are made of: each holds one.
// Tested by tests/test_regions.py.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "bytecode/base/status.h"
#include "bytecode/program.h"
#include "compiler/api/compiler.h"
#include "vm/engines/engine.h"
#include "vm/run/executable.h"

namespace relayvm::python {

// Those that come with relayvm, for the regions of a program.
inline std::vector<EngineLibrary> EnginesOf(const Program& program) {
  std::vector<EngineLibrary> engines;
  for (const RegionInfo& region : program.regions) {
    if (std::ranges::count(engines, region.engine, &EngineLibrary::name) == 0)
      engines.push_back({region.engine, ""});
  }
  return engines;
}

struct BestForm {
  const Program* program;                    // the model's
  std::vector<EngineLibrary> engines;        // that it needs
  std::shared_ptr<const Executable> tables;  // loaded, where there are regions; else null
};
// With regions where their engines are here and take them, else native. Fails where neither loads.
inline Result<BestForm> BestFormOf(const CompiledModel& model) {
  BestForm best{&model.program_with_regions(), EnginesOf(model.program_with_regions()), nullptr};
  if (best.engines.empty()) return best;
  LoadOptions load;
  load.engines = best.engines;
  RELAYVM_ASSIGN_OR_RETURN(best.tables, model.Load(load));
  if (best.tables->program().regions.empty()) best = {&model.program(), {}, best.tables};
  // By their files: native code's runtime is in another folder than this one.
  for (EngineLibrary& engine : best.engines) {
    RELAYVM_ASSIGN_OR_RETURN(const auto opened, vm::OpenEngine(engine));
    engine.path = opened.path;
  }
  return best;
}

}  // namespace relayvm::python
