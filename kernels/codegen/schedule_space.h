// The schedules that a kernel may have instead of the compiler's own, what the cost model expects
// of each, and what they are stored by: the ground of relayc's --tune and --schedules
// (compiler/tuner). Thread-safe. Tested by schedule_space_test.cc.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kernels/codegen/kernel_compiler.h"

namespace relayvm {

// 32 hexadecimal digits of what the kernel computes: its expressions, dtypes, shapes and fused
// epilogue, with symbols by number and without any names. Kernels that differ in scalar constants
// alone have one key.
std::string ScheduleKey(const KernelSpec& spec, const KernelOptions& options);

// The processor that kernels are compiled for, and what of it decides on schedules:
// "x86-64-v4+avx512vnni".
std::string ScheduleTarget(const KernelOptions& options);
// What this machine is, as far as it matters to them: "znver4, L1 32K, L2 1024K".
std::string MachineName();

// Why the kernel cannot have the schedule; empty where it can.
std::string WhyNoSchedule(const KernelSpec& spec, const KernelOptions& options,
                          const TileSchedule& schedule);

// Legal ones, tens at most, without the compiler's own. None where the kernel has no alternatives.
std::vector<TileSchedule> ScheduleSpace(const KernelSpec& spec, const KernelOptions& options);

// In cycles, by the cost model (contraction/estimate.h).
struct KernelEstimate {
  double cycles = 0;
  double least = 0;  // what products and bytes take at the machine's best
  double share() const { return cycles > 0 ? least / cycles : 1; }
};
using SymbolValue = std::function<std::optional<int64_t>(uint32_t id)>;
// nullopt: the model does not describe the kernel, or has no numbers for its sizes.
std::optional<KernelEstimate> EstimateKernel(const KernelSpec& spec, const KernelOptions& options,
                                             const TileSchedule& schedule,
                                             const SymbolValue& values);
// The tasks that the kernel may be split into.
std::optional<int64_t> TasksOf(const KernelInterface& interface, const SymbolValue& values);

}  // namespace relayvm
