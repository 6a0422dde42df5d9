// One kernel: its plan (which loops or which contraction), and its function in LLVM IR. Tested by
// kernel_compiler_test.cc.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/codegen/contraction/contraction.h"
#include "kernels/codegen/kernel_compiler.h"
#include "kernels/codegen/schedule.h"

namespace llvm {
class Module;
}

namespace relayvm::codegen {

struct KernelPlan {
  KernelSpec spec;
  std::string name;          // of the function
  std::vector<Dim> symbols;  // in argument order
  // Exactly one of these.
  std::optional<ContractionPlan> contraction;
  std::unique_ptr<LoopPlan> loops;
  bool is_minor = false;  // quick, as it is next to nothing of its program's time

  KernelInterface Interface() const;
  // What its code needs of the machine beyond the target's level; "" for nothing.
  std::string features;
};

// Why a kernel that is planned with a schedule cannot have it; empty where it can.
std::string WhyRefused(const std::optional<ContractionPlan>& plan);

Result<KernelPlan> PlanKernel(KernelSpec spec, std::string name, std::vector<Dim> symbols,
                              const ContractionTarget& target);

// Adds the function to the module. Different plans may be emitted from different threads.
Status EmitKernel(KernelPlan& plan, const Machine& machine, llvm::Module& module);

}  // namespace relayvm::codegen
