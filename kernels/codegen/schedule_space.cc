#include "kernels/codegen/schedule_space.h"

#include <fmt/format.h>
#include <llvm/Support/xxhash.h>
#include <llvm/TargetParser/Host.h>
#include <unistd.h>

#include <algorithm>

#include "kernels/codegen/contraction/estimate.h"
#include "kernels/codegen/contraction/plan.h"
#include "kernels/codegen/kernel_function.h"
#include "kernels/codegen/spec_key.h"

namespace relayvm {
namespace {

using codegen::ContractionPlan;
using codegen::ContractionTarget;

// Side by side in a tile.
constexpr int64_t kMostVectors = 4;

std::optional<ContractionPlan> PlanWith(const KernelSpec& spec, const KernelOptions& options,
                                        const TileSchedule& schedule) {
  return PlanContraction(
      spec, ContractionTarget{options.machine, options.exact, options.quick, schedule});
}

// Rows of tiles with so many vectors, the most that registers hold first: near that, every number;
// below, fewer.
std::vector<int64_t> RowsOfTiles(int64_t vectors, int64_t registers) {
  const int64_t most = (registers - 1 - vectors) / vectors;
  std::vector<int64_t> rows;
  for (int64_t n = most; n >= 1; n -= n > 16 ? 4 : n > 8 ? 1 : 2) rows.push_back(n);
  return rows;
}

}  // namespace

std::string ScheduleKey(const KernelSpec& spec, const KernelOptions& options) {
  std::string text = codegen::KeyOf(spec).text;
  // What the compiler's own choice depends on, of convolutions.
  if (options.exact) {
    const auto tensors = codegen::TensorsInOrder(spec.outputs);
    if (std::ranges::any_of(tensors, [](const te::Tensor& t) { return t->conv != nullptr; }))
      text += "exact";
  }
  const llvm::XXH128_hash_t hash =
      llvm::xxh3_128bits({reinterpret_cast<const uint8_t*>(text.data()), text.size()});
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

std::string ScheduleTarget(const KernelOptions& options) {
  std::string features = FeaturesOf(options.machine);
  std::ranges::replace(features, ',', '+');
  return features;
}

std::string MachineName() {
  const auto kilobytes = [](int name) {
    const int64_t bytes = ::sysconf(name);
    return bytes > 0 ? fmt::format("{}K", bytes >> 10) : std::string("?");
  };
  return fmt::format("{}, L1 {}, L2 {}", llvm::sys::getHostCPUName().str(),
                     kilobytes(_SC_LEVEL1_DCACHE_SIZE), kilobytes(_SC_LEVEL2_CACHE_SIZE));
}

std::string WhyNoSchedule(const KernelSpec& spec, const KernelOptions& options,
                          const TileSchedule& schedule) {
  if (schedule == TileSchedule()) return "";
  return codegen::WhyRefused(PlanWith(spec, options, schedule));
}

std::vector<TileSchedule> ScheduleSpace(const KernelSpec& spec, const KernelOptions& options) {
  const std::optional<ContractionPlan> own = PlanWith(spec, options, {});
  if (!own || own->attention) return {};
  const Machine& target = options.machine;
  std::vector<TileSchedule> all;
  const auto add = [&](const TileSchedule& schedule) {
    if (std::ranges::find(all, schedule) != all.end()) return;
    if (WhyNoSchedule(spec, options, schedule).empty()) all.push_back(schedule);
  };
  const codegen::ContractionDetail* detail = own->detail.get();
  const int64_t lanes = detail != nullptr ? detail->lanes : target.vector_bytes / 4;
  for (int64_t vectors = 1; vectors <= kMostVectors; ++vectors) {
    for (const int64_t rows : RowsOfTiles(vectors, target.vector_registers)) {
      const bool is_own = detail != nullptr && own->amx == nullptr && rows == detail->tile_rows &&
                          vectors == detail->vectors;
      if (!is_own) add({rows, vectors * lanes, 0});
    }
  }
  if (detail != nullptr && detail->pack_a && detail->row_block > 0) {
    for (const int64_t block : {detail->row_block / 4, detail->row_block / 2, detail->row_block * 2,
                                detail->row_block * 4}) {
      const int64_t whole = codegen::RoundUp(block, detail->tile_rows);
      const bool fits = !detail->rows.is_const() || whole < 2 * detail->rows.value();
      if (whole != detail->row_block && fits) add({0, 0, whole});
    }
  }
  return all;
}

std::optional<KernelEstimate> EstimateKernel(const KernelSpec& spec, const KernelOptions& options,
                                             const TileSchedule& schedule,
                                             const SymbolValue& values) {
  const std::optional<ContractionPlan> plan = PlanWith(spec, options, schedule);
  return plan ? codegen::EstimateContraction(*plan, values) : std::nullopt;
}

std::optional<int64_t> TasksOf(const KernelInterface& interface, const SymbolValue& values) {
  const std::optional<int64_t> extent = interface.parallel_extent.Evaluate(values);
  const std::optional<int64_t> grain = interface.grain.Evaluate(values);
  if (!extent || !grain || *grain < 1) return std::nullopt;
  return (*extent + *grain - 1) / *grain;
}

}  // namespace relayvm
