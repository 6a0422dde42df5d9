#include "kernels/codegen/effort.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernels/codegen/contraction/estimate.h"
#include "kernels/codegen/contraction/plan.h"
#include "kernels/op/cost.h"

namespace relayvm::codegen {
namespace {

constexpr double kCall = 100;         // cycles, of any kernel
constexpr double kNearBytes = 16;     // in a cycle, read or written
constexpr double kMostCycles = 1e18;  // of what has no known end

double BytesOf(std::span<const te::Tensor> tensors, const SizeOfSymbol& sizes) {
  double bytes = 0;
  for (const te::Tensor& t : tensors) {
    const std::optional<int64_t> elements = ProductOf(t->shape).Evaluate(sizes);
    if (elements)
      bytes += static_cast<double>(*elements) * static_cast<double>(DTypeBytes(t->dtype));
  }
  return bytes;
}

std::optional<int64_t> Nominal(uint32_t /*id*/) { return kNominalExtent; }

double CyclesOf(const KernelPlan& plan, const Machine& machine) {
  if (plan.contraction) {
    const std::optional<KernelEstimate> known = EstimateContraction(*plan.contraction, Nominal);
    if (known) return known->cycles;
  }
  const KernelSpec& spec = plan.spec;
  const double lanes = static_cast<double>(machine.vector_bytes) / sizeof(float);
  const double written = BytesOf(spec.outputs, Nominal);
  // What takes a little of a large input does not read all of it.
  const double read = std::min(BytesOf(spec.inputs, Nominal), 4 * written);
  return std::max(relayvm::WorkOf(spec.outputs, Nominal) / lanes, (read + written) / kNearBytes);
}

// Measured: loops over pixels have many pointers, those over a tile's rows one in each sum of K.
double LostBy(const KernelPlan& plan) {
  constexpr double kLoops = 0.01, kDirect = 0.2, kWinograd = 0.01, kTile = 0.001, kRow = 0.4;
  if (!plan.contraction) return kLoops;
  const ContractionDetail* detail = plan.contraction->detail.get();
  if (detail == nullptr) return plan.contraction->attention != nullptr ? kLoops : kWinograd;
  if (detail->form == ContractionForm::kDirect) return kDirect;
  const int64_t depth = detail->depth.Evaluate(Nominal).value_or(1);
  return std::min(kTile + kRow / static_cast<double>(std::max<int64_t>(depth, 1)), kDirect);
}

}  // namespace

KernelWeight WeightOf(const KernelPlan& plan, double runs, const Machine& machine) {
  const double cycles = CyclesOf(plan, machine) + kCall;
  return {.cycles = std::isfinite(cycles) ? std::clamp(cycles, kCall, kMostCycles) : kMostCycles,
          .runs = runs,
          .lost = LostBy(plan)};
}

std::vector<int> LevelsOf(std::span<const KernelWeight> weights, int highest) {
  std::vector<int> levels(weights.size(), highest);
  if (highest < 3 || weights.empty()) return levels;
  // Where all run often it is as if none did; where few do the others have their share of one run.
  const double fewest = std::ranges::min(weights, {}, &KernelWeight::runs).runs;
  double total = 0;
  for (const KernelWeight& w : weights) total += w.cycles * fewest;
  std::vector<size_t> order(weights.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto loss = [&](size_t i) { return weights[i].cycles * weights[i].runs * weights[i].lost; };
  std::ranges::stable_sort(order, {}, loss);
  double rest = kLeanLoss * total;
  for (const size_t i : order) {
    rest -= loss(i);
    if (rest < 0) break;
    levels[i] = 2;
  }
  return levels;
}

}  // namespace relayvm::codegen
