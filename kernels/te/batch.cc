#include "kernels/te/batch.h"

#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace relayvm::te {
namespace {

class Batcher {
 public:
  // Without `rows` tensors get a first axis of `b`; with it, `b` is what the first axis of `rows`
  // becomes.
  explicit Batcher(const Dim& b, std::optional<Dim> rows = std::nullopt)
      : b_(b), rows_(std::move(rows)) {}

  void Put(const Tensor& from, Tensor to) { done_[from.get()] = std::move(to); }

  Tensor Of(const Tensor& root) {
    std::vector<std::pair<Tensor, bool>> stack = {{root, false}};
    while (!stack.empty()) {
      auto [tensor, expanded] = std::move(stack.back());
      stack.pop_back();
      if (done_.contains(tensor.get())) continue;
      if (tensor->is_placeholder()) {
        done_[tensor.get()] = tensor;
      } else if (expanded) {
        done_[tensor.get()] = Computed(tensor);
      } else {
        std::vector<Tensor> loads(tensor->hint_inputs);
        CollectLoads(tensor->body, loads);
        stack.push_back({tensor, true});
        for (Tensor& load : loads) stack.push_back({std::move(load), false});
      }
    }
    return done_.at(root.get());
  }

 private:
  bool IsBatched(const Tensor& t) const { return done_.at(t.get()) != t; }

  Tensor Computed(const Tensor& tensor) {
    std::vector<Tensor> loads(tensor->hint_inputs);
    CollectLoads(tensor->body, loads);
    bool is_batched = false;
    for (const Tensor& load : loads) is_batched = is_batched || IsBatched(load);
    if (!is_batched) return tensor;
    auto node = std::make_shared<TensorNode>(*tensor);
    const Axis axis = MakeAxis("b", b_);
    std::unordered_map<const ExprNode*, Expr> rewritten;
    axis_ = nullptr;
    if (!rows_) {
      node->shape.insert(node->shape.begin(), b_);
      node->axes.insert(node->axes.begin(), axis);
    } else if (HasRows(*tensor)) {
      node->shape[0] = b_;
      axis_ = std::exchange(node->axes[0], axis).get();
    }
    node->body = Rewrite(tensor->body, AxisValue(axis), rewritten);
    for (Tensor& input : node->hint_inputs) input = done_.at(input.get());
    return node;
  }

  Expr Rewrite(const Expr& root, const Expr& index,
               std::unordered_map<const ExprNode*, Expr>& rewritten) {
    std::vector<std::pair<Expr, bool>> stack = {{root, false}};
    while (!stack.empty()) {
      auto [e, expanded] = std::move(stack.back());
      stack.pop_back();
      if (rewritten.contains(e.get())) continue;
      if (e->kind == ExprKind::kAxis && e->axis.get() == axis_) {
        rewritten[e.get()] = index;
        continue;
      }
      if (!expanded && !e->operands.empty()) {
        stack.push_back({e, true});
        for (const Expr& operand : e->operands) stack.push_back({operand, false});
        continue;
      }
      const bool is_batched = e->kind == ExprKind::kLoad && IsBatched(e->tensor);
      bool same = !is_batched;
      for (const Expr& operand : e->operands)
        same = same && rewritten.at(operand.get()).get() == operand.get();
      if (same) {
        rewritten[e.get()] = e;
        continue;
      }
      auto node = std::make_shared<ExprNode>(*e);
      for (Expr& operand : node->operands) operand = rewritten.at(operand.get());
      if (is_batched) {
        node->tensor = done_.at(e->tensor.get());
        if (!rows_) node->operands.insert(node->operands.begin(), index);
      }
      rewritten[e.get()] = std::move(node);
    }
    return rewritten.at(root.get());
  }

  bool HasRows(const TensorNode& t) const { return !t.shape.empty() && t.shape[0] == *rows_; }

  Dim b_;
  std::optional<Dim> rows_;
  const AxisNode* axis_ = nullptr;  // that of rows, in what is rewritten
  std::unordered_map<const TensorNode*, Tensor> done_;
};

}  // namespace

Batch AddLeadingAxis(const std::vector<Tensor>& inputs, const std::vector<bool>& shared,
                     const std::vector<Tensor>& outputs, const Dim& b) {
  Batch batch;
  Batcher batcher(b);
  for (size_t i = 0; i < inputs.size(); ++i) {
    Tensor input = inputs[i];
    if (!shared[i]) {
      std::vector<Dim> shape = input->shape;
      shape.insert(shape.begin(), b);
      input = Placeholder(input->name, std::move(shape), input->dtype, static_cast<int>(i));
    }
    batcher.Put(inputs[i], input);
    batch.inputs.push_back(std::move(input));
  }
  for (const Tensor& output : outputs) batch.outputs.push_back(batcher.Of(output));
  return batch;
}

Batch WithRows(const std::vector<Tensor>& inputs, const std::vector<Tensor>& outputs,
               const Dim& rows, const Dim& b) {
  Batch batch;
  Batcher batcher(b, rows);
  for (size_t i = 0; i < inputs.size(); ++i) {
    Tensor input = inputs[i];
    if (!input->shape.empty() && input->shape[0] == rows) {
      std::vector<Dim> shape = input->shape;
      shape[0] = b;
      input = Placeholder(input->name, std::move(shape), input->dtype, static_cast<int>(i));
    }
    batcher.Put(inputs[i], input);
    batch.inputs.push_back(std::move(input));
  }
  for (const Tensor& output : outputs) batch.outputs.push_back(batcher.Of(output));
  return batch;
}

}  // namespace relayvm::te
