// Regions of a program, which other engines run (program.h, RegionInfo): what must hold of them,
// and which program of a file with several of them is the best one. Thread-safe. Tested by
// regions_test.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bytecode/base/status.h"
#include "bytecode/program.h"

namespace relayvm {

inline constexpr size_t kMaxRegionJsonBytes = size_t{1} << 26;
inline constexpr size_t kMaxEngineNameBytes = 64;
inline constexpr size_t kMaxRegionTensors = 4096;  // inputs and outputs
inline constexpr size_t kMaxRegionSymbols = 4096;

// Lower-case letters, digits and '_', a letter first.
bool IsEngineName(std::string_view name);

// Puts it where it belongs among sorted ones, unless it is there.
void AddEngine(std::string_view name, std::vector<std::string>* engines);
// The engines of its regions, sorted, each once.
std::vector<std::string> EnginesOf(const Program& program);
std::vector<std::string> SplitEngines(std::string_view list);  // "blas,dnnl"

// Of a file's programs the first with regions, where there is one, else `first`: what is shown and
// written where there is room for one form. It lives as long as they do.
const Program& FormWithRegions(const Program& first, std::span<const Program> others);

// What a program of a file needs: its image's processor ("" without an image), and engines, sorted.
struct ProgramNeeds {
  std::string cpu_features;
  std::vector<std::string> engines;
};
std::string FeaturesOf(const Program& program);
ProgramNeeds NeedsOf(const Program& program);
// "x86-64-v4", "x86-64-v4 + dnnl"; "any + dnnl" of one with regions that asks for no processor.
std::string TargetName(const ProgramNeeds& needs);

// The program to load. Of those that run on this machine and whose engines are all in `engines`:
// for the best processor, and then with the most engines; one with regions that asks for no
// processor is as good as any there. Where there is none: as if all engines were there, so that
// who loads it says what is missing; then the first. `target` other than "": the one of that name,
// else the best of that processor; kNotFound. REQUIRES: !programs.empty().
Result<size_t> ChooseProgram(std::span<const ProgramNeeds> programs, const std::string& target,
                             std::span<const std::string> engines);

// By constant: whether a region of the program has it.
std::vector<bool> ConstantsOfRegions(const Program& program);

// The scalars that say what the first `tensors` buffers of a kernel are, from scalar `first` on, as
// builtins get them (kernels/runtime/builtin.h): for each its dtype and its rank, which are fixed,
// then its dims, which are its shape. Gives the scalar after them.
Result<size_t> CheckTensorScalars(const KernelInfo& kernel, size_t first, size_t tensors);

// Regions, and the kernels that run them. REQUIRES: the other tables have been verified.
Status CheckRegions(const Program& program);

}  // namespace relayvm
