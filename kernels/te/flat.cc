#include "kernels/te/flat.h"

#include <algorithm>
#include <memory>
#include <unordered_map>

namespace relayvm::te {
namespace {

bool IsOne(const Dim& d) { return d.is_const(1); }

class Flattener {
 public:
  Flattener(const TensorNode& t, const std::vector<Tensor>& inputs) : t_(t), inputs_(inputs) {}

  // Null: there is none. Element `at` is computed.
  Expr Run(const Expr& at) {
    at_ = at;
    return Of(t_.body);
  }

 private:
  Expr Of(const Expr& e) {
    if (const auto known = made_.find(e.get()); known != made_.end()) return known->second;
    const Expr made = Make(e);
    return made_[e.get()] = made;
  }

  Expr Make(const Expr& e) {
    if (e->kind == ExprKind::kLoad) return LoadOf(*e);
    if (e->kind == ExprKind::kAxis || e->kind == ExprKind::kReduce) return nullptr;
    if (e->operands.empty()) return e;
    auto copy = std::make_shared<ExprNode>(*e);
    for (Expr& operand : copy->operands) {
      operand = Of(operand);
      if (operand == nullptr) return nullptr;
    }
    return copy;
  }

  Expr LoadOf(const ExprNode& load) const {
    if (!load.tensor->is_placeholder()) return nullptr;
    const Tensor& flat = inputs_[static_cast<size_t>(load.tensor->input_index)];
    if (IsOne(flat->shape[0])) return Load(flat, {IntImm(0)});
    // Along an axis of extent 1 there is one place.
    for (size_t d = 0; d < load.operands.size(); ++d) {
      const ExprNode& index = *load.operands[d];
      const bool is_own = index.kind == ExprKind::kAxis && index.axis == t_.axes[d];
      if (!is_own && !IsOne(t_.shape[d])) return nullptr;
    }
    return Load(flat, {at_});
  }

  const TensorNode& t_;
  const std::vector<Tensor>& inputs_;
  Expr at_;
  std::unordered_map<const ExprNode*, Expr> made_;
};

}  // namespace

std::optional<FlatComputation> Flat(std::span<const Tensor> inputs, const Tensor& t,
                                    int64_t length) {
  if (t->is_placeholder() || t->hint != ScheduleHint::kNone) return std::nullopt;
  FlatComputation flat;
  for (const Tensor& input : inputs) {
    const bool is_scalar = std::ranges::all_of(input->shape, IsOne);
    if (!is_scalar && input->shape != t->shape) return std::nullopt;
    flat.inputs.push_back(
        Placeholder(input->name, {is_scalar ? 1 : length}, input->dtype, input->input_index));
  }
  Flattener flattener(*t, flat.inputs);
  bool is_flat = true;
  flat.output = Compute(t->name, {length}, [&](const std::vector<Expr>& at) {
    const Expr body = flattener.Run(at[0]);
    is_flat = body != nullptr;
    return is_flat ? body : at[0];
  });
  if (!is_flat) return std::nullopt;
  return flat;
}

}  // namespace relayvm::te
