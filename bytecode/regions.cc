#include "bytecode/regions.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "bytecode/base/message.h"
#include "bytecode/image_loader.h"
#include "bytecode/size_formula.h"
#include "bytecode/verifier.h"

namespace relayvm {

bool IsEngineName(std::string_view name) {
  const auto is_letter = [](char c) { return c >= 'a' && c <= 'z'; };
  return !name.empty() && name.size() <= kMaxEngineNameBytes && is_letter(name[0]) &&
         std::ranges::all_of(
             name, [&](char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '_'; });
}

void AddEngine(std::string_view name, std::vector<std::string>* engines) {
  size_t at = 0;
  while (at < engines->size() && (*engines)[at] < name) ++at;
  if (at == engines->size() || (*engines)[at] != name)
    engines->emplace(engines->begin() + static_cast<ptrdiff_t>(at), name);
}

std::vector<std::string> EnginesOf(const Program& program) {
  std::vector<std::string> engines;
  for (const RegionInfo& region : program.regions) AddEngine(region.engine, &engines);
  return engines;
}

std::vector<std::string> SplitEngines(std::string_view list) {
  std::vector<std::string> engines;
  while (!list.empty()) {
    const size_t comma = std::min(list.find(','), list.size());
    engines.emplace_back(list.substr(0, comma));
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return engines;
}

const Program& FormWithRegions(const Program& first, std::span<const Program> others) {
  if (!first.regions.empty()) return first;
  const auto with =
      std::ranges::find_if(others, [](const Program& p) { return !p.regions.empty(); });
  return with == others.end() ? first : *with;
}

std::string FeaturesOf(const Program& program) {
  return program.images.empty() ? "" : program.images[0].cpu_features;
}

ProgramNeeds NeedsOf(const Program& program) { return {FeaturesOf(program), EnginesOf(program)}; }

std::string TargetName(const ProgramNeeds& needs) {
  std::string name =
      needs.cpu_features.empty() && !needs.engines.empty() ? "any" : needs.cpu_features;
  for (const std::string& engine : needs.engines) name += " + " + engine;
  return name;
}

// --- The choice ---

namespace {

bool Contains(std::span<const std::string> all, const std::vector<std::string>& some) {
  return std::ranges::all_of(
      some, [&](const std::string& engine) { return std::ranges::find(all, engine) != all.end(); });
}

// Of those marked, or programs.size().
size_t BestOf(std::span<const ProgramNeeds> programs, const std::vector<bool>& marked) {
  size_t best = programs.size();
  std::pair<size_t, size_t> best_rank;
  for (size_t i = 0; i < programs.size(); ++i) {
    if (!marked[i]) continue;
    const ProgramNeeds& needs = programs[i];
    const bool any = needs.cpu_features.empty() && !needs.engines.empty();
    const std::pair<size_t, size_t> rank = {
        any ? SIZE_MAX : ExpandFeatures(needs.cpu_features).size(), needs.engines.size()};
    if (best < programs.size() && rank <= best_rank) continue;
    best = i;
    best_rank = rank;
  }
  return best;
}

}  // namespace

Result<size_t> ChooseProgram(std::span<const ProgramNeeds> programs, const std::string& target,
                             std::span<const std::string> engines) {
  const CpuFeatures cpu = CpuFeatures::OfThisMachine();
  std::vector<std::string> names;
  std::vector<bool> runs, runs_with;
  for (const ProgramNeeds& needs : programs) {
    names.push_back(TargetName(needs));
    // "x86-64-v4" may be the one without regions, or any of that processor.
    if (names.back() == target && !needs.engines.empty()) return names.size() - 1;
    runs.push_back(target.empty() ? cpu.Missing(needs.cpu_features).empty()
                                  : needs.cpu_features == target);
    runs_with.push_back(runs.back() && Contains(engines, needs.engines));
  }
  size_t best = BestOf(programs, runs_with);
  if (best == programs.size()) best = BestOf(programs, runs);
  if (best < programs.size()) return best;
  if (target.empty()) return 0;
  return Status(StatusCode::kNotFound,
                fmt::format("the file has no program for {}, it has {}", target, Joined(names)));
}

std::vector<bool> ConstantsOfRegions(const Program& program) {
  std::vector<bool> used(program.constants.size());
  for (const RegionInfo& region : program.regions) {
    for (const uint32_t constant : region.constants) used[constant] = true;
  }
  return used;
}

// --- Verification ---

namespace {

Status BadKernel(const KernelInfo& kernel, const std::string& message) {
  return {StatusCode::kInvalidInput, fmt::format("kernel '{}': {}", kernel.name, message)};
}

std::optional<int64_t> FixedValue(const KernelInfo& kernel, size_t scalar) {
  const auto found = std::ranges::lower_bound(kernel.fixed, scalar, {}, &FixedScalar::index);
  if (found == kernel.fixed.end() || found->index != scalar) return std::nullopt;
  return found->value;
}

Status CheckRegion(const Program& program, const RegionInfo& region) {
  if (!IsEngineName(region.engine)) {
    return InvalidInput(
        fmt::format("its engine is no name: expected 1 to {} of a-z, 0-9 and _, a letter first",
                    kMaxEngineNameBytes));
  }
  if (region.json.empty() || region.json.size() > kMaxRegionJsonBytes) {
    return InvalidInput(
        fmt::format("JSON of {} bytes, expected 1 to {}", region.json.size(), kMaxRegionJsonBytes));
  }
  if (region.num_symbols > kMaxRegionSymbols) {
    return InvalidInput(
        fmt::format("{} symbols, the limit is {}", region.num_symbols, kMaxRegionSymbols));
  }
  for (const uint32_t constant : region.constants) {
    if (constant >= program.constants.size()) {
      return InvalidInput(
          fmt::format("constant c{} is out of range {}", constant, program.constants.size()));
    }
    const ConstantInfo& info = program.constants[constant];
    if (info.device != 0 || info.dtype == DType::kString)
      return InvalidInput(fmt::format("constant c{}: expected numbers on the host", constant));
  }
  return OkStatus();
}

// Of a kernel that runs a region.
Status CheckRegionKernel(const Program& program, const KernelInfo& kernel) {
  const RegionInfo& region = program.regions[*kernel.region];
  if (!kernel.builtin || kernel.device != 0 || kernel.batched)
    return BadKernel(kernel, "expected a region to be run by a builtin of the host, not batched");
  if (kernel.buffers.size() > kMaxRegionTensors) {
    return BadKernel(kernel, fmt::format("{} tensors, the limit for a region is {}",
                                         kernel.buffers.size(), kMaxRegionTensors));
  }
  if (FixedValue(kernel, 0) != int64_t{*kernel.region})
    return BadKernel(kernel, fmt::format("expected scalar 0 to be {}, its region", *kernel.region));
  RELAYVM_ASSIGN_OR_RETURN(const size_t symbols,
                           CheckTensorScalars(kernel, 1, kernel.buffers.size()));
  if (kernel.num_scalars != symbols + region.num_symbols) {
    return BadKernel(
        kernel, fmt::format("expected {} scalars, the last {} of its region's symbols, found {}",
                            symbols + region.num_symbols, region.num_symbols, kernel.num_scalars));
  }
  bool written = false;
  for (const KernelBuffer& buffer : kernel.buffers) {
    if (buffer.dtype == DType::kString || !buffer.may_share.empty() || (written && !buffer.written))
      return BadKernel(kernel,
                       "expected a region's inputs, then its outputs, all of numbers, and none in "
                       "the other's memory");
    written = buffer.written;
  }
  if (!written) return BadKernel(kernel, "expected a region to write an output");
  if (kernel.units.empty() || ConstantSize(kernel.units) != 1 || !kernel.scratch.empty())
    return BadKernel(kernel, "expected one unit of work, and no scratch");
  return OkStatus();
}

}  // namespace

Result<size_t> CheckTensorScalars(const KernelInfo& kernel, size_t first, size_t tensors) {
  size_t next = first;
  for (size_t i = 0; i < tensors; ++i) {
    const KernelBuffer& buffer = kernel.buffers[i];
    const std::optional<int64_t> dtype = FixedValue(kernel, next),
                                 rank = FixedValue(kernel, next + 1);
    if (dtype != static_cast<int64_t>(buffer.dtype) || !rank || *rank < 0 ||
        *rank > static_cast<int64_t>(kMaxTensorRank)) {
      return BadKernel(kernel,
                       fmt::format("expected scalars {} and {} to be the dtype and the rank of "
                                   "buffer {}",
                                   next, next + 1, i));
    }
    next += 2;
    SizeFormula shape;
    for (int64_t d = 0; d < *rank; ++d, ++next) {
      shape.push_back({SizeStep::Kind::kScalar, static_cast<int64_t>(next)});
      shape.push_back({SizeStep::Kind::kDim});
    }
    if (buffer.shape == shape) continue;
    return BadKernel(kernel,
                     fmt::format("expected buffer {} to have the shape [{}], found [{}]", i,
                                 SizeFormulaToString(shape), SizeFormulaToString(buffer.shape)));
  }
  return next;
}

Status CheckRegions(const Program& program) {
  for (size_t i = 0; i < program.regions.size(); ++i) {
    const Status status = CheckRegion(program, program.regions[i]);
    if (!status.ok())
      return status.WithContext(fmt::format("region {} '{}'", i, program.regions[i].name));
  }
  std::vector<bool> has_kernel(program.regions.size());
  for (const KernelInfo& kernel : program.kernels) {
    if (!kernel.region) continue;
    if (*kernel.region >= program.regions.size()) {
      return BadKernel(kernel, fmt::format("region {} is out of range {}", *kernel.region,
                                           program.regions.size()));
    }
    if (has_kernel[*kernel.region])
      return BadKernel(kernel, fmt::format("region {} is another kernel's", *kernel.region));
    has_kernel[*kernel.region] = true;
    RELAYVM_RETURN_IF_ERROR(CheckRegionKernel(program, kernel));
  }
  return OkStatus();
}

}  // namespace relayvm
