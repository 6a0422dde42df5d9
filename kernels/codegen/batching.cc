#include "kernels/codegen/batching.h"

#include <optional>
#include <unordered_set>

#include "kernels/codegen/contraction/plan.h"
#include "kernels/te/batch.h"

namespace relayvm::codegen {
namespace {

using te::Tensor;

// Products of more rows are bounded by arithmetic.
constexpr int64_t kMostRows = 8;
// Products with fewer weights take less time than a call loses that waits for others, with its
// stacks and tensors out of the first cache: some 1.5 us, in which the second cache gives the
// weights below.
constexpr int64_t kLeastWeights = 64 << 10;

// The product, where it has the size that pays; null otherwise.
Tensor FindProduct(const KernelSpec& spec) {
  Tensor product;
  for (const Tensor& t : ReachedComputations(spec.outputs)) {
    if (t->hint == te::ScheduleHint::kNone) continue;
    if (t->hint != te::ScheduleHint::kDense || t->transpose_a || product) return nullptr;
    product = t;
  }
  if (!product || product->rank() < 2) return nullptr;
  int64_t rows = 1;
  for (int i = 0; i + 1 < product->rank(); ++i) {
    const Dim& d = product->shape[static_cast<size_t>(i)];
    if (!d.is_const()) return nullptr;
    if (__builtin_mul_overflow(rows, d.value(), &rows)) return nullptr;
  }
  if (rows < 1 || rows > kMostRows) return nullptr;
  const Dim weights = ProductOf(product->hint_inputs[1]->shape);
  if (!weights.is_const() || weights.value() < kLeastWeights) return nullptr;
  return product;
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

}  // namespace

std::unique_ptr<BatchedKernel> BatchKernel(const KernelSpec& spec, const Dim& b,
                                           const ContractionTarget& target) {
  if (spec.order.form != SumOrder::Form::kAny) return nullptr;
  const Tensor product = FindProduct(spec);
  if (!product) return nullptr;
  const auto data = InputsOf({product->hint_inputs[0]});
  const auto weights = InputsOf({product->hint_inputs.begin() + 1, product->hint_inputs.end()});
  auto batched = std::make_unique<BatchedKernel>();
  bool differ = false;
  for (size_t i = 0; i < spec.inputs.size(); ++i) {
    const Tensor& input = spec.inputs[i];
    const bool is_data = data.contains(input.get());
    const bool is_weight = weights.contains(input.get());
    if (is_data && is_weight) return nullptr;
    const bool by_value = i < spec.by_value.size() && spec.by_value[i];
    const bool shared = by_value || is_weight || (!is_data && input->rank() < product->rank());
    batched->shared.push_back(shared);
    differ = differ || (is_data && !shared);
  }
  if (!differ) return nullptr;
  const std::optional<ContractionPlan> plan = PlanContraction(spec, target);
  if (!plan) return nullptr;
  const std::optional<SumOrder> order = OrderOf(*plan);
  if (!order) return nullptr;

  te::Batch batch = te::AddLeadingAxis(spec.inputs, batched->shared, spec.outputs, b);
  batched->spec.name = spec.name + "_batched";
  batched->spec.inputs = std::move(batch.inputs);
  batched->spec.by_value = spec.by_value;
  batched->spec.outputs = std::move(batch.outputs);
  batched->spec.order = *order;
  for (const Tensor& output : batched->spec.outputs) {
    if (output->shape.empty() || output->shape[0] != b) return nullptr;
  }
  ContractionTarget any = target;
  any.schedule = {};
  if (!PlanContraction(batched->spec, any)) return nullptr;
  return batched;
}

}  // namespace relayvm::codegen
