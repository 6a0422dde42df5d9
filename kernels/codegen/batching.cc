#include "kernels/codegen/batching.h"

#include <algorithm>
#include <optional>
#include <unordered_set>

#include "kernels/codegen/contraction/plan.h"
#include "kernels/te/batch.h"
#include "kernels/te/slices.h"

namespace relayvm::codegen {
namespace {

using te::Tensor;

// Products of more rows are bounded by arithmetic.
constexpr int64_t kMostRows = 8;
// Products with fewer weights take less time than a call loses that waits for others, with its
// stacks and tensors out of the first cache: some 1.5 us, in which the second cache gives the
// weights below.
constexpr int64_t kLeastWeights = 64 << 10;

// The product, where it is of weights that pay; null otherwise.
Tensor FindProduct(const KernelSpec& spec) {
  Tensor product;
  for (const Tensor& t : ReachedComputations(spec.outputs)) {
    if (t->hint == te::ScheduleHint::kNone) continue;
    if (t->hint != te::ScheduleHint::kDense || t->transpose_a || product) return nullptr;
    product = t;
  }
  if (!product || product->rank() < 2) return nullptr;
  const Dim weights = ProductOf(product->hint_inputs[1]->shape);
  if (!weights.is_const() || weights.value() < kLeastWeights) return nullptr;
  return product;
}

// Its rows, where they are a number; 0 where that is too large.
std::optional<int64_t> RowsOf(const te::TensorNode& product) {
  int64_t rows = 1;
  for (int i = 0; i + 1 < product.rank(); ++i) {
    const Dim& d = product.shape[static_cast<size_t>(i)];
    if (!d.is_const()) return std::nullopt;
    if (__builtin_mul_overflow(rows, d.value(), &rows)) return 0;
  }
  return rows;
}

// The placeholders that these are computed from.
std::unordered_set<const te::TensorNode*> InputsOf(const std::vector<Tensor>& tensors) {
  std::unordered_set<const te::TensorNode*> inputs;
  for (const Tensor& t : tensors) {
    if (t->is_placeholder()) inputs.insert(t.get());
  }
  for (const Tensor& t : ReachedComputations(tensors)) {
    ForEachNode(t->body, [&](const te::ExprNode& node) {
      if (node.tensor && node.tensor->is_placeholder()) inputs.insert(node.tensor.get());
    });
  }
  return inputs;
}

bool IsByValue(const KernelSpec& spec, size_t input) {
  return input < spec.by_value.size() && spec.by_value[input];
}

// Whether the computations have a plan that sums in the order that they say.
bool HasPlan(const KernelSpec& spec, const ContractionTarget& target) {
  ContractionTarget any = target;
  any.schedule = {};
  return PlanContraction(spec, any).has_value();
}

// --- Calls of a few rows, side by side ---

// Of accumulators. Those of one row hide how long an FMA takes, and many rows, which are to sum in
// the same order, have no registers for as many: they would read weights again for each 3 rows.
// Two feed one row as fast as the second cache can.
constexpr unsigned kMostSets = 2;

std::unique_ptr<BatchedKernel> WithLeadingAxis(const KernelSpec& spec,
                                               const te::TensorNode& product, const Dim& b,
                                               const ContractionTarget& target) {
  const auto data = InputsOf({product.hint_inputs[0]});
  const auto weights = InputsOf({product.hint_inputs.begin() + 1, product.hint_inputs.end()});
  auto batched = std::make_unique<BatchedKernel>();
  bool differ = false;
  for (size_t i = 0; i < spec.inputs.size(); ++i) {
    const Tensor& input = spec.inputs[i];
    const bool is_data = data.contains(input.get());
    const bool is_weight = weights.contains(input.get());
    if (is_data && is_weight) return nullptr;
    const bool shared =
        IsByValue(spec, i) || is_weight || (!is_data && input->rank() < product.rank());
    batched->shared.push_back(shared);
    differ = differ || (is_data && !shared);
  }
  if (!differ) return nullptr;
  const std::optional<ContractionPlan> plan = PlanContraction(spec, target);
  if (!plan) return nullptr;
  std::optional<SumOrder> order = OrderOf(*plan);
  if (!order) return nullptr;
  if (order->form == SumOrder::Form::kTiles && order->sets > kMostSets) {
    order->sets = kMostSets;
    batched->order_of_one = *order;
    KernelSpec one = spec;
    one.order = *order;
    if (!HasPlan(one, target)) return nullptr;
  }

  te::Batch batch = te::AddLeadingAxis(spec.inputs, batched->shared, spec.outputs, b);
  batched->spec.name = spec.name + "_batched";
  batched->spec.inputs = std::move(batch.inputs);
  batched->spec.by_value = spec.by_value;
  batched->spec.outputs = std::move(batch.outputs);
  batched->spec.order = *order;
  for (const Tensor& output : batched->spec.outputs) {
    if (output->shape.empty() || output->shape[0] != b) return nullptr;
  }
  return HasPlan(batched->spec, target) ? std::move(batched) : nullptr;
}

// --- Calls of any rows, one after the other ---

std::unique_ptr<BatchedKernel> WithAllRows(const KernelSpec& spec, const te::TensorNode& product,
                                           const Dim& b, const ContractionTarget& target) {
  if (product.rank() != 2) return nullptr;
  const Dim& rows = product.shape[0];
  const std::optional<ContractionPlan> plan = PlanContraction(spec, target);
  if (!plan || !SumsInTiles(*plan)) return nullptr;

  te::Batch batch = te::WithRows(spec.inputs, spec.outputs, rows, b);
  const auto sliced = te::SlicedInputs(spec.outputs, batch.outputs, spec.inputs.size());
  if (!sliced) return nullptr;
  auto batched = std::make_unique<BatchedKernel>();
  batched->order_of_one = {SumOrder::Form::kTiles, 1};
  batched->rows = rows;
  for (size_t i = 0; i < spec.inputs.size(); ++i) {
    if ((*sliced)[i] && IsByValue(spec, i)) return nullptr;
    batched->shared.push_back(!(*sliced)[i]);
  }
  const auto data = InputsOf({product.hint_inputs[0]});
  const bool differ = std::ranges::any_of(data, [&](const te::TensorNode* t) {
    return (*sliced)[static_cast<size_t>(t->input_index)];
  });
  if (!differ) return nullptr;
  batched->spec = {.name = spec.name + "_batched",
                   .inputs = std::move(batch.inputs),
                   .by_value = spec.by_value,
                   .outputs = std::move(batch.outputs),
                   .order = batched->order_of_one};
  KernelSpec one = spec;
  one.order = batched->order_of_one;
  const bool have_plans = HasPlan(batched->spec, target) && HasPlan(one, target);
  return have_plans ? std::move(batched) : nullptr;
}

}  // namespace

std::unique_ptr<BatchedKernel> BatchKernel(const KernelSpec& spec, const Dim& b,
                                           const ContractionTarget& target) {
  if (spec.order.form != SumOrder::Form::kAny) return nullptr;
  const Tensor product = FindProduct(spec);
  if (!product) return nullptr;
  const std::optional<int64_t> rows = RowsOf(*product);
  if (!rows) return WithAllRows(spec, *product, b, target);
  return *rows >= 1 && *rows <= kMostRows ? WithLeadingAxis(spec, *product, b, target) : nullptr;
}

}  // namespace relayvm::codegen
