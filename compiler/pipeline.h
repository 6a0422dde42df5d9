// The compiler's pipeline: the list of passes from a parsed module to a lowered one.
// Tested by pipeline_test.cc.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "bytecode/base/status.h"
#include "compiler/ir/ir.h"

namespace relayvm {

struct PassTiming {
  std::string_view pass;
  double milliseconds;
};

struct PipelineOptions {
  int opt_level = 3;           // 0: no fusion, no optimisation; 1: without fusion; 2 and 3: all
  std::string cpu = "native";  // what kernels are scheduled for: weights are packed for it
  std::string print_ir_after;  // a pass's name, or "all": printed (through `print`) when the pass
                               // changed the module
  std::function<void(std::string_view text)> print;
  std::vector<PassTiming>* timings = nullptr;
  std::function<void(std::string_view pass)> on_pass;  // called before each pass
#ifdef NDEBUG
  bool verify = false;  // checks the IR after every pass (ir/verify.h)
#else
  bool verify = true;
#endif
};

// Before: as parsed, parameters bound. After: ready for lower::LowerModule.
Result<ir::Module> RunPipeline(ir::Module module, const PipelineOptions& options);
// Only what gives the program its meaning: types and guards. What the reference interpreter runs.
Result<ir::Module> RunFrontendPipeline(ir::Module module);

}  // namespace relayvm
