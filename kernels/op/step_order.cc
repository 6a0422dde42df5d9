#include "kernels/op/step_order.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <functional>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "kernels/op/op_helpers.h"

namespace relayvm {
namespace {

constexpr int64_t kQuad = 4;
constexpr int64_t kStepBytes = kOrderedColumns * kQuad;
// Of two neighbours' weights of one sign, over 255: what is within int16.
constexpr int kMostOfSum = 128;
// Steps that are looked through for each other: 128 of 12 rows and of a panel take 10 kB.
constexpr int64_t kNear = 128;

// Of each two neighbours of a step, the sums of the positive weights, and of the negative ones.
using Sums = std::array<uint8_t, kStepBytes>;

Sums SumsOf(const int8_t* step) {
  Sums sums;
  for (size_t i = 0; i < kStepBytes / 2; ++i) {
    const int x = step[2 * i], y = step[2 * i + 1];
    sums[i] = static_cast<uint8_t>(std::max(x, 0) + std::max(y, 0));
    sums[i + kStepBytes / 2] =
        static_cast<uint8_t>(std::min(255, -std::min(x, 0) - std::min(y, 0)));
  }
  return sums;
}

bool FitTogether(const Sums& x, const Sums& y) {
  bool fit = true;
  for (size_t i = 0; i < x.size(); ++i) fit &= x[i] + y[i] <= kMostOfSum;
  return fit;
}

// The steps of one panel, by kind.
struct Kinds {
  std::vector<int32_t> pairs, plain, wide;
};

// Adds steps from..to-1 of a panel. Those with the largest sums choose first, the largest that fit.
void Sort(const int8_t* panel, int64_t from, int64_t to, Kinds& kinds) {
  std::vector<std::pair<int, int64_t>> by_size;
  std::vector<Sums> sums;
  for (int64_t step = from; step < to; ++step) {
    sums.push_back(SumsOf(panel + step * kStepBytes));
    const int largest = *std::ranges::max_element(sums.back());
    if (largest > kMostOfSum) {
      kinds.wide.push_back(static_cast<int32_t>(step));
    } else {
      by_size.emplace_back(-largest, step);
    }
  }
  std::ranges::sort(by_size);
  const auto sums_of = [&](int64_t step) -> const Sums& {
    return sums[static_cast<size_t>(step - from)];
  };
  std::vector<std::pair<int32_t, int32_t>> pairs;
  std::vector<int32_t> plain;
  for (size_t i = 0; i < by_size.size(); ++i) {
    const int64_t step = by_size[i].second;
    if (step < 0) continue;
    size_t other = i + 1;
    while (other < by_size.size() && (by_size[other].second < 0 ||
                                      !FitTogether(sums_of(step), sums_of(by_size[other].second))))
      ++other;
    if (other == by_size.size()) {
      plain.push_back(static_cast<int32_t>(step));
      continue;
    }
    const int64_t partner = std::exchange(by_size[other].second, -1);
    pairs.emplace_back(std::min(step, partner), std::max(step, partner));
  }
  std::ranges::sort(pairs);
  for (const auto& [first, second] : pairs) kinds.pairs.insert(kinds.pairs.end(), {first, second});
  std::ranges::sort(plain);
  kinds.plain.insert(kinds.plain.end(), plain.begin(), plain.end());
}

void OrderPanel(const int8_t* panel, int64_t steps, std::span<int32_t> row) {
  Kinds kinds;
  for (int64_t from = 0; from < steps; from += kNear)
    Sort(panel, from, std::min(from + kNear, steps), kinds);
  row[0] = static_cast<int32_t>(kinds.pairs.size() / 2);
  row[1] = static_cast<int32_t>(kinds.plain.size());
  for (const int32_t step : kinds.wide) {
    for (int64_t i = 0; i < kStepBytes; ++i) {
      const int weight = panel[step * kStepBytes + i];
      auto& begin = reinterpret_cast<uint32_t&>(row[static_cast<size_t>(kOrderBegins + i / kQuad)]);
      begin += static_cast<uint32_t>(weight < 0 ? 127 * weight : 128 * weight);
    }
  }
  auto* out = row.data() + kOrderHead;
  for (const auto* kind : {&kinds.pairs, &kinds.plain, &kinds.wide})
    out = std::ranges::copy(*kind, out).out;
}

}  // namespace

HostTensor StepOrder(const HostTensor& panels) {
  const int64_t count = panels.shape[0];
  const int64_t steps = std::accumulate(panels.shape.begin() + 1, panels.shape.end() - 2,
                                        int64_t{1}, std::multiplies<>());
  assert(panels.dtype == DType::kInt8 && panels.size() == count * steps * kStepBytes);
  HostTensor order{DType::kInt32, {count, kOrderHead + steps}, {}};
  order.data = SharedBytes::Lazy(static_cast<size_t>(order.size()) * sizeof(int32_t),
                                 [weights = panels.data, count, steps](std::span<std::byte> out) {
                                   const SharedBytes in = weights.Loaded();
                                   const auto* bytes = reinterpret_cast<const int8_t*>(in.data());
                                   const auto width = static_cast<size_t>(kOrderHead + steps);
                                   std::ranges::fill(out, std::byte{0});
                                   auto* rows = reinterpret_cast<int32_t*>(out.data());
                                   for (int64_t panel = 0; panel < count; ++panel) {
                                     OrderPanel(bytes + panel * steps * kStepBytes, steps,
                                                {rows + static_cast<size_t>(panel) * width, width});
                                   }
                                 });
  return order;
}

Status CheckStepOrder(TypeContext& tc) {
  const TensorType& weight = tc.tensor(1);
  const TensorType& order = tc.tensor(2);
  const int rank = weight.rank();
  const auto is = [&](int axis, int64_t n) { return weight.shape[axis].is_const(n); };
  if (weight.dtype != DType::kInt8 || rank < 4 || !is(rank - 1, kQuad) ||
      !is(rank - 2, kOrderedColumns)) {
    return Invalid("an order of steps is for weights of int8 (panels, steps, {}, {})",
                   kOrderedColumns, kQuad);
  }
  Dim steps = 1;
  for (int i = 1; i < rank - 2; ++i) steps = steps * weight.shape[i];
  if (order.dtype != DType::kInt32)
    return Invalid("the order of steps is of {}, expected int32", DTypeName(order.dtype));
  return RequireShapeEqual(tc, order.shape, {weight.shape[0], steps + kOrderHead},
                           "the order of steps and that of weight");
}

}  // namespace relayvm
