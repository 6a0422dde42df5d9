// Evaluate: the computations that an output needs, each once, in the order of their loads.
#include "kernels/te/evaluate.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "kernels/te/evaluate_code.h"

namespace relayvm::te {
namespace {

void CollectLoadNodes(const ExprNode* root, std::vector<const ExprNode*>& loads) {
  std::vector<const ExprNode*> stack = {root};
  std::unordered_set<const ExprNode*> seen;
  while (!stack.empty()) {
    const ExprNode* e = stack.back();
    stack.pop_back();
    if (!seen.insert(e).second) continue;
    if (e->kind == ExprKind::kLoad) loads.push_back(e);
    for (const Expr& operand : e->operands) stack.push_back(operand.get());
  }
}

Result<std::vector<int64_t>> ShapeOf(const TensorNode& t, const SymbolFn& symbols) {
  std::vector<int64_t> shape;
  for (const Dim& d : t.shape) {
    auto value = d.Evaluate(symbols);
    if (!value || *value < 0) {
      return {StatusCode::kInvalidArgument, fmt::format("dimension {} of {} is {}", shape.size(),
                                                        t.name, value ? "negative" : "not known")};
    }
    shape.push_back(*value);
  }
  return shape;
}

// The value of one computation whose loads are all available.
Result<HostTensor> EvaluateOne(const Tensor& t, const SymbolFn& symbols, const TensorFn& tensors) {
  HostTensor out;
  out.dtype = t->dtype;
  RELAYVM_ASSIGN_OR_RETURN(out.shape, ShapeOf(*t, symbols));
  int64_t size = out.size();
  int bytes = DTypeBytes(out.dtype);
  out.data = SharedBytes::Zeros(static_cast<size_t>(size) * static_cast<size_t>(bytes));
  if (size == 0) return out;
  RELAYVM_ASSIGN_OR_RETURN(CompiledBody body, CompileBody(t, symbols, tensors));
  Machine machine(body.num_slots);
  std::byte* all = out.data.Mutable().data();
  size_t rank = out.shape.size();
  std::vector<int64_t> index(rank, 0);
  for (int64_t start = 0; start < size; start += kBlock) {
    int lanes = static_cast<int>(std::min<int64_t>(kBlock, size - start));
    for (int i = 0; i < lanes; ++i) {
      for (size_t d = 0; d < rank; ++d) machine.slot(static_cast<uint32_t>(d))[i].i = index[d];
      for (size_t d = rank; d-- > 0;) {
        if (++index[d] < out.shape[d]) break;
        index[d] = 0;
      }
    }
    RELAYVM_RETURN_IF_ERROR(machine.Run(*body.code, lanes, nullptr));
    const Scalar* result = machine.slot(body.code->result);
    std::byte* data = all + start * bytes;
    for (int i = 0; i < lanes; ++i) WriteElement(out.dtype, result[i], data + i * bytes);
  }
  return out;
}

}  // namespace

Result<HostTensor> Evaluate(const Tensor& output, std::span<const HostTensor* const> inputs,
                            const SymbolFn& symbols) {
  std::unordered_map<const TensorNode*, HostTensor> computed;
  std::unordered_map<const TensorNode*, int> uses;  // consumers that have not run yet
  std::unordered_map<const TensorNode*, std::vector<Tensor>> loads_of;
  std::vector<std::pair<Tensor, bool>> stack = {{output, false}};
  std::vector<Tensor> order;
  while (!stack.empty()) {
    auto [t, expanded] = std::move(stack.back());
    stack.pop_back();
    if (expanded) {
      order.push_back(std::move(t));
      continue;
    }
    if (loads_of.contains(t.get())) continue;
    std::vector<Tensor>& loads = loads_of[t.get()];
    if (!t->is_placeholder()) {
      std::vector<const ExprNode*> nodes;
      CollectLoadNodes(t->body.get(), nodes);
      std::unordered_set<const TensorNode*> distinct;
      for (const ExprNode* e : nodes) {
        if (distinct.insert(e->tensor.get()).second) loads.push_back(e->tensor);
      }
    }
    stack.push_back({t, true});
    for (const Tensor& load : loads) {
      ++uses[load.get()];
      stack.push_back({load, false});
    }
  }

  auto find = [&](const TensorNode* t) -> const HostTensor* {
    if (t->is_placeholder()) return inputs[static_cast<size_t>(t->input_index)];
    return &computed.at(t);
  };
  for (const Tensor& t : order) {
    if (t->is_placeholder()) {
      size_t i = static_cast<size_t>(t->input_index);
      if (t->input_index < 0 || i >= inputs.size() || inputs[i] == nullptr) {
        return {StatusCode::kInvalidArgument,
                fmt::format("no value for input {} ({})", t->input_index, t->name)};
      }
      RELAYVM_ASSIGN_OR_RETURN(std::vector<int64_t> shape, ShapeOf(*t, symbols));
      if (inputs[i]->dtype != t->dtype || inputs[i]->shape != shape) {
        return {StatusCode::kInvalidArgument,
                fmt::format("input {} ({}) is not a {} tensor of shape {}", t->input_index, t->name,
                            DTypeName(t->dtype), ShapeToString(t->shape))};
      }
      continue;
    }
    RELAYVM_ASSIGN_OR_RETURN(computed[t.get()], EvaluateOne(t, symbols, find));
    for (const Tensor& load : loads_of.at(t.get())) {
      if (--uses[load.get()] == 0) computed.erase(load.get());
    }
  }
  if (output->is_placeholder()) return *find(output.get());
  return std::move(computed.at(output.get()));
}

}  // namespace relayvm::te
