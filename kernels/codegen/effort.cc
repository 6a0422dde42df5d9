#include "kernels/codegen/effort.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <utility>

#include "kernels/codegen/contraction/estimate.h"
#include "kernels/codegen/contraction/plan.h"
#include "kernels/codegen/quick.h"
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

double Limited(double cycles) {
  return std::isfinite(cycles) ? std::clamp(cycles, kCall, kMostCycles) : kMostCycles;
}

double CyclesOf(const KernelPlan& plan, const Machine& machine, const SizeOfSymbol& sizes) {
  if (plan.contraction) {
    const std::optional<KernelEstimate> known = EstimateContraction(*plan.contraction, sizes);
    if (known) return Limited(known->cycles + kCall);
  }
  const KernelSpec& spec = plan.spec;
  const double lanes = static_cast<double>(machine.vector_bytes) / sizeof(float);
  const double written = BytesOf(spec.outputs, sizes);
  // What takes a little of a large input does not read all of it.
  const double read = std::min(BytesOf(spec.inputs, sizes), 4 * written);
  const double work = relayvm::WorkOf(spec.outputs, sizes);
  return Limited(std::max(work / lanes, (read + written) / kNearBytes) + kCall);
}

// Of loops that are quick, more than others take: numbers are kept in memory, indices computed for
// each element. Those of vectors are in vectors of the machine.
double QuickCyclesOf(const KernelPlan& plan, const Machine& machine, const SizeOfSymbol& sizes) {
  constexpr double kOperation = 4, kElement = 20;
  double elements = 0;
  for (const te::Tensor& t : plan.spec.outputs)
    elements += static_cast<double>(ProductOf(t->shape).Evaluate(sizes).value_or(0));
  const double cycles =
      kOperation * relayvm::WorkOf(plan.spec.outputs, sizes) + kElement * elements;
  const double lanes = static_cast<double>(machine.vector_bytes) / sizeof(float);
  return QuickIsVectors(*plan.loops) ? cycles / lanes : cycles;
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

// Without an estimate of its own a contraction counts as what it reads and writes: the work of
// Winograd's transforms, element by element, is a hundred times what its kernels do.
double LeastCyclesOf(const KernelPlan& plan, const Machine& machine, const SizeOfSymbol& sizes) {
  if (!plan.contraction || plan.contraction->detail) return CyclesOf(plan, machine, sizes);
  const double bytes = BytesOf(plan.spec.inputs, sizes) + BytesOf(plan.spec.outputs, sizes);
  return Limited(bytes / kNearBytes);
}

// What a program takes at least, where some symbols have a value and all others are 1.
class LeastCycles {
 public:
  LeastCycles(std::span<const KernelPlan> plans, const Machine& machine) : machine_(machine) {
    for (const KernelPlan& plan : plans) {
      if (plan.symbols.empty()) {
        always_ += LeastCyclesOf(plan, machine, Nominal);
      } else if (plan.contraction) {
        open_.push_back(&plan);
      } else {
        always_ += kCall;  // the work of open loops is not counted: it takes long to find out
      }
    }
  }

  double With(const std::vector<uint32_t>& symbols, int64_t value) {
    const auto [at, is_new] = known_.try_emplace({symbols, value}, always_);
    if (!is_new) return at->second;
    const auto sizes = [&](uint32_t id) {
      return std::optional<int64_t>(std::ranges::find(symbols, id) != symbols.end() ? value : 1);
    };
    for (const KernelPlan* plan : open_) at->second += LeastCyclesOf(*plan, machine_, sizes);
    return at->second;
  }

 private:
  const Machine& machine_;
  double always_ = 0;
  std::vector<const KernelPlan*> open_;
  std::map<std::pair<std::vector<uint32_t>, int64_t>, double> known_;
};

// At worst its own symbols are large, and all that it has nothing to do with is small.
double QuickLoss(const KernelPlan& plan, const Machine& machine, LeastCycles& program) {
  constexpr int64_t kLarge = 1024;
  std::vector<uint32_t> symbols;
  for (const Dim& symbol : plan.symbols) symbols.push_back(symbol.symbol_id());
  double worst = 0;
  for (const int64_t value : {int64_t{1}, kLarge}) {
    const double cycles =
        QuickCyclesOf(plan, machine, [&](uint32_t) { return std::optional(value); });
    worst = std::max(worst, cycles / program.With(symbols, value));
  }
  return worst;
}

}  // namespace

std::vector<KernelWeight> WeightsOf(std::span<const KernelPlan> plans, std::span<const double> runs,
                                    const Machine& machine, bool may_be_quick) {
  LeastCycles program(plans, machine);
  std::vector<KernelWeight> weights;
  for (size_t i = 0; i < plans.size(); ++i) {
    KernelWeight w{
        .cycles = CyclesOf(plans[i], machine, Nominal), .runs = runs[i], .lost = LostBy(plans[i])};
    if (may_be_quick && !plans[i].contraction) w.quick_lost = QuickLoss(plans[i], machine, program);
    weights.push_back(w);
  }
  return weights;
}

std::vector<int> LevelsOf(std::span<const KernelWeight> weights, int highest) {
  std::vector<int> levels(weights.size(), highest);
  if (highest < 3 || weights.empty()) return levels;
  // Where all run often it is as if none did; where few do the others have their share of one run.
  const double fewest = std::ranges::min(weights, {}, &KernelWeight::runs).runs;
  double total = 0;
  for (const KernelWeight& w : weights) total += w.cycles * fewest;
  // Those that lose least, as long as all of these lose no more than `most`.
  const auto lower = [&](int level, double most, const std::function<double(size_t)>& loss) {
    std::vector<size_t> order(weights.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::stable_sort(order, {}, loss);
    for (const size_t i : order) {
      most -= loss(i);
      if (!(most >= 0)) break;
      levels[i] = level;
    }
  };
  lower(2, kLeanLoss,
        [&](size_t i) { return weights[i].cycles * weights[i].runs * weights[i].lost / total; });
  lower(0, kQuickLoss, [&](size_t i) { return weights[i].quick_lost * weights[i].runs / fewest; });
  return levels;
}

}  // namespace relayvm::codegen
