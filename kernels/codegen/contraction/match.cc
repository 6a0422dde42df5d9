// Recognises the product and the epilogue of a contraction in a fused group.
#include <algorithm>
#include <functional>
#include <unordered_map>
#include <unordered_set>

#include "kernels/codegen/contraction/plan.h"
#include "kernels/codegen/rewriter.h"

namespace relayvm::codegen {

using te::Expr;
using te::ExprKind;
using te::ExprNode;
using te::Tensor;
using te::TensorNode;

void ForEachNode(const Expr& e, const std::function<void(const ExprNode&)>& fn) {
  std::vector<const ExprNode*> stack = {e.get()};
  std::unordered_set<const ExprNode*> seen;
  while (!stack.empty()) {
    const ExprNode* node = stack.back();
    stack.pop_back();
    if (!seen.insert(node).second) continue;
    fn(*node);
    for (const Expr& operand : node->operands) stack.push_back(operand.get());
  }
}

bool MentionsAxis(const Expr& e, const te::Axis& axis) {
  bool found = false;
  ForEachNode(e, [&](const ExprNode& node) { found = found || node.axis == axis; });
  return found;
}

std::vector<Tensor> ReachedComputations(const std::vector<Tensor>& outputs) {
  std::vector<Tensor> result, stack(outputs);
  std::unordered_set<const TensorNode*> seen;
  while (!stack.empty()) {
    Tensor tensor = std::move(stack.back());
    stack.pop_back();
    if (tensor->is_placeholder() || !seen.insert(tensor.get()).second) continue;
    ForEachNode(tensor->body, [&](const ExprNode& node) {
      if (node.tensor) stack.push_back(node.tensor);
    });
    result.push_back(std::move(tensor));
  }
  return result;
}

namespace {

// Whether e reads `target`, directly or through computed tensors.
class Dependence {
 public:
  explicit Dependence(const TensorNode* target) : target_(target) {}

  bool Of(const Expr& e) {
    bool result = false;
    ForEachNode(e, [&](const ExprNode& node) {
      if (node.tensor && !result) result = OfTensor(*node.tensor);
    });
    return result;
  }
  bool OfTensor(const TensorNode& tensor) {
    if (&tensor == target_) return true;
    if (tensor.is_placeholder()) return false;
    auto [it, inserted] = known_.emplace(&tensor, false);
    if (!inserted) return it->second;
    const bool result = Of(tensor.body);
    known_[&tensor] = result;
    return result;
  }

 private:
  const TensorNode* target_;
  std::unordered_map<const TensorNode*, bool> known_;
};

std::function<Expr(const te::Axis&)> AxisMap(const std::vector<te::Axis>& axes,
                                             const std::vector<Expr>& values) {
  std::unordered_map<const te::AxisNode*, Expr> map;
  for (size_t i = 0; i < axes.size(); ++i) map[axes[i].get()] = values[i];
  return [map = std::move(map)](const te::Axis& axis) {
    auto it = map.find(axis.get());
    return it == map.end() ? nullptr : it->second;
  };
}

std::vector<Expr> AxisValues(const std::vector<te::Axis>& axes) {
  std::vector<Expr> values;
  values.reserve(axes.size());
  for (const te::Axis& axis : axes) values.push_back(te::AxisValue(axis));
  return values;
}

bool IsAxis(const Expr& e, const te::Axis& axis) {
  if (axis->extent.is_const(1)) return e->kind == ExprKind::kIntImm && e->int_value == 0;
  return e->kind == ExprKind::kAxis && e->axis == axis;
}

// Type that products of `dtype` accumulate in: wide enough to give the same integers, and at least
// as exact floats. (A float16 sum is not to be more exact: see Product::rounds.)
std::optional<DType> AccumulatorOf(DType dtype) {
  switch (dtype) {
    case DType::kFloat16:
    case DType::kFloat32:
      return DType::kFloat32;
    case DType::kFloat64:
      return DType::kFloat64;
    case DType::kInt8:
    case DType::kInt16:
    case DType::kInt32:
    case DType::kUInt8:
    case DType::kUInt16:
    case DType::kUInt32:
      return DType::kInt32;  // wraps the same modulo any smaller power of two
    case DType::kInt64:
    case DType::kUInt64:
      return DType::kInt64;
    default:
      return std::nullopt;
  }
}

// Whether e loads `tensor`, and nothing else that is a computed reduction.
bool LoadsOnly(const Expr& e, const TensorNode* tensor) {
  bool found = false, clean = true;
  ForEachNode(e, [&](const ExprNode& node) {
    if (node.kind == ExprKind::kReduce) clean = false;
    if (node.tensor && node.tensor.get() == tensor) found = true;
  });
  return found && clean;
}

}  // namespace

std::optional<Product> MatchProduct(const TensorNode& contraction) {
  Product product;
  int reductions = 0;
  std::function<void(const Expr&)> find = [&](const Expr& e) {
    if (e->kind == ExprKind::kReduce) {
      ++reductions;
      product.reduce = e;
      return;
    }
    for (const Expr& operand : e->operands) find(operand);
  };
  find(contraction.body);
  if (reductions != 1 || product.reduce->reduce != te::ReduceKind::kSum) return std::nullopt;
  if (contraction.hint_inputs.size() < 2) return std::nullopt;
  const Expr& body = product.reduce->operands[0];
  if (body->kind != ExprKind::kBinary || body->binary != te::BinaryOp::kMultiply) {
    return std::nullopt;
  }
  // A product that is narrower than the sum wraps or rounds before it is added.
  if (body->dtype != product.reduce->dtype) return std::nullopt;
  std::optional<DType> accumulator = AccumulatorOf(product.reduce->dtype);
  if (!accumulator) return std::nullopt;
  product.accumulator = *accumulator;
  product.rounds = product.reduce->dtype == DType::kFloat16;
  product.data = body->operands[0];
  product.weight = body->operands[1];
  const TensorNode* data = contraction.hint_inputs[0].get();
  const TensorNode* weight = contraction.hint_inputs[1].get();
  if (!LoadsOnly(product.data, data) || !LoadsOnly(product.weight, weight)) return std::nullopt;
  return product;
}

std::optional<Epilogue> MatchEpilogue(const KernelSpec& spec, const Tensor& contraction,
                                      const Product& product) {
  Epilogue epilogue;
  epilogue.accumulator = te::Placeholder("accumulator", {}, product.accumulator, -1);
  epilogue.value = te::Placeholder("value", {}, contraction->dtype, -1);
  epilogue.axes = contraction->axes;
  // Sums in a wider type than the expression states are brought back to it.
  const Expr sum = te::Cast(te::Load(epilogue.accumulator, {}), product.reduce->dtype);
  epilogue.result = Rewriter([&](const Expr& e) {
                      return e.get() == product.reduce.get() ? sum : nullptr;
                    }).Rewrite(contraction->body);

  const std::vector<Expr> own_index = AxisValues(contraction->axes);
  const Expr value = te::Load(epilogue.value, {});
  Dependence dependence(contraction.get());
  bool legal = true;
  // The body of a computed tensor that depends on the contraction, with such tensors inlined.
  std::unordered_map<const TensorNode*, Expr> inlined;
  std::function<Expr(const TensorNode&)> inline_body;
  auto inline_loads = [&](const Expr& root) {
    return Rewriter([&](const Expr& e) -> Expr {
             if (e->kind == ExprKind::kReduce) {
               if (dependence.Of(e)) legal = false;
               return e;
             }
             if (e->kind != ExprKind::kLoad || e->tensor == contraction) return nullptr;
             if (!dependence.OfTensor(*e->tensor)) return nullptr;
             return te::SubstituteAxes(inline_body(*e->tensor),
                                       AxisMap(e->tensor->axes, e->operands));
           })
        .Rewrite(root);
  };
  inline_body = [&](const TensorNode& tensor) {
    auto it = inlined.find(&tensor);
    if (it != inlined.end()) return it->second;
    Expr body = inline_loads(tensor.body);
    inlined[&tensor] = body;
    return body;
  };

  for (const Tensor& output : spec.outputs) {
    if (output->shape != contraction->shape) return std::nullopt;
    Epilogue::Output out{output, value};
    if (output != contraction) {
      if (output->is_placeholder() || !dependence.OfTensor(*output)) return std::nullopt;
      Expr body = te::SubstituteAxes(inline_body(*output), AxisMap(output->axes, own_index));
      out.expr = Rewriter([&](const Expr& e) -> Expr {
                   if (e->kind != ExprKind::kLoad || e->tensor != contraction) return nullptr;
                   for (size_t i = 0; i < e->operands.size(); ++i) {
                     if (!IsAxis(e->operands[i], contraction->axes[i])) legal = false;
                   }
                   return Expr(value);
                 }).Rewrite(body);
    }
    if (!legal) return std::nullopt;
    epilogue.outputs.push_back(std::move(out));
  }
  return epilogue;
}

int64_t EpilogueCost(const KernelSpec& spec, const te::Tensor& contraction) {
  constexpr int64_t kUnaryCost = 16;
  int64_t cost = 0;
  for (const Tensor& tensor : ReachedComputations(spec.outputs)) {
    if (tensor == contraction) continue;
    ForEachNode(tensor->body, [&](const ExprNode& node) {
      cost += node.kind == ExprKind::kUnary ? kUnaryCost : 1;
    });
  }
  return cost;
}

bool FlattenEpilogue(Epilogue& epilogue, size_t first, size_t last) {
  if (last - first < 2) return true;
  const auto from = static_cast<ptrdiff_t>(first), to = static_cast<ptrdiff_t>(last);
  const std::vector<te::Axis> old(epilogue.axes.begin() + from, epilogue.axes.begin() + to);
  std::vector<Dim> extents;
  extents.reserve(old.size());
  for (const te::Axis& axis : old) extents.push_back(axis->extent);
  const te::Axis flat_axis = te::MakeAxis("flat", ProductOf(extents));
  auto mentions = [&](const Expr& e) {
    return std::any_of(old.begin(), old.end(),
                       [&](const te::Axis& axis) { return MentionsAxis(e, axis); });
  };
  bool legal = true;
  std::unordered_map<const TensorNode*, Tensor> flat_tensors;
  std::vector<std::pair<Tensor, Tensor>> flattened = epilogue.flattened;
  std::function<Expr(const Expr&)> rewrite = [&](const Expr& root) -> Expr {
    return Rewriter([&](const Expr& e) -> Expr {
             if (!legal || !mentions(e)) return e;
             if (e->kind == ExprKind::kAxis || e->kind == ExprKind::kReduce) {
               legal = false;
               return e;
             }
             if (e->kind != ExprKind::kLoad) return nullptr;
             const Tensor& tensor = e->tensor;
             if (!tensor->is_placeholder()) {
               return rewrite(te::SubstituteAxes(tensor->body, AxisMap(tensor->axes, e->operands)));
             }
             // Some run of the indices must be the old axes, in order and in full; no other may
             // mention them.
             for (size_t at = 0; at + old.size() <= e->operands.size(); ++at) {
               bool match = true;
               for (size_t i = 0; i < old.size() && match; ++i) {
                 match = IsAxis(e->operands[at + i], old[i]) && tensor->shape[at + i] == extents[i];
               }
               if (!match) continue;
               std::vector<Expr> indices;
               std::vector<Dim> shape;
               for (size_t i = 0; i < e->operands.size(); ++i) {
                 if (i == at) {
                   indices.push_back(te::AxisValue(flat_axis));
                   shape.push_back(flat_axis->extent);
                 }
                 if (i >= at && i < at + old.size()) continue;
                 if (mentions(e->operands[i])) match = false;
                 indices.push_back(e->operands[i]);
                 shape.push_back(tensor->shape[i]);
               }
               if (!match) break;
               Tensor& flat = flat_tensors[tensor.get()];
               if (!flat || flat->shape != shape) {
                 flat = te::Placeholder(tensor->name + "_flat", shape, tensor->dtype, -1);
                 flattened.emplace_back(flat, tensor);
               }
               return te::Load(flat, std::move(indices));
             }
             legal = false;
             return e;
           })
        .Rewrite(root);
  };
  Epilogue copy = epilogue;
  copy.result = rewrite(copy.result);
  for (Epilogue::Output& output : copy.outputs) output.expr = rewrite(output.expr);
  if (!legal) return false;
  copy.axes.erase(copy.axes.begin() + from, copy.axes.begin() + to);
  copy.axes.insert(copy.axes.begin() + from, flat_axis);
  // A flattened tensor may have been flattened before: name the one that has memory.
  for (auto& [flat, original] : flattened) {
    for (const auto& [inner, outer] : epilogue.flattened) {
      if (original == inner) original = outer;
    }
  }
  copy.flattened = std::move(flattened);
  epilogue = std::move(copy);
  return true;
}

std::vector<std::pair<int, int>> InPlacePairs(const KernelSpec& spec, const Product& product,
                                              const Epilogue& epilogue) {
  std::vector<std::pair<int, int>> pairs;
  // Inputs that something other than the epilogue's own element reads.
  std::vector<Tensor> blocked;
  auto block_loads = [&](const Expr& e) {
    ForEachNode(e, [&](const ExprNode& node) {
      if (node.tensor) blocked.push_back(node.tensor);
    });
  };
  block_loads(product.data);
  block_loads(product.weight);
  auto block_others = [&](const Expr& e) {
    ForEachNode(e, [&](const ExprNode& node) {
      if (!node.tensor || node.tensor->rank() == 0) return;
      bool own = node.tensor->is_placeholder() && node.operands.size() == epilogue.axes.size();
      for (size_t i = 0; own && i < node.operands.size(); ++i) {
        const Expr& index = node.operands[i];
        own = epilogue.axes[i]->extent.is_const(1)
                  ? index->kind == ExprKind::kIntImm
                  : index->kind == ExprKind::kAxis && index->axis == epilogue.axes[i];
      }
      if (!own) blocked.push_back(node.tensor);
    });
  };
  block_others(epilogue.result);
  for (const Epilogue::Output& output : epilogue.outputs) block_others(output.expr);
  for (const Tensor& computed : ReachedComputations(blocked)) block_loads(computed->body);
  for (size_t i = 0; i < spec.inputs.size(); ++i) {
    const Tensor& input = spec.inputs[i];
    if ((i < spec.by_value.size() && spec.by_value[i]) ||
        std::count(blocked.begin(), blocked.end(), input))
      continue;
    for (size_t o = 0; o < spec.outputs.size(); ++o) {
      const Tensor& output = spec.outputs[o];
      if (output->shape == input->shape && output->dtype == input->dtype) {
        pairs.emplace_back(static_cast<int>(i), static_cast<int>(o));
      }
    }
  }
  return pairs;
}

bool LayoutsAgree(const TensorNode& t, const Product& product, size_t channel_at) {
  for (size_t i = 0; i < t.axes.size(); ++i) {
    if (i != channel_at && MentionsAxis(product.weight, t.axes[i])) return false;
  }
  bool agree = true;
  ForEachNode(product.data, [&](const ExprNode& node) {
    if (node.tensor != t.hint_inputs[0]) return;
    for (size_t dim = 0; dim < node.operands.size(); ++dim) {
      if (dim == channel_at) continue;
      for (size_t i = 0; i < t.axes.size(); ++i) {
        if (i != dim && MentionsAxis(node.operands[dim], t.axes[i])) agree = false;
      }
    }
  });
  return agree;
}

bool IsMemory(const KernelSpec& spec, const Tensor& t) {
  for (size_t i = 0; i < spec.inputs.size(); ++i) {
    if (spec.inputs[i] == t) return i >= spec.by_value.size() || !spec.by_value[i];
  }
  return false;
}

const ExprNode* PlainLoad(const Expr& e, DType dtype, const KernelSpec& spec) {
  if (e->kind != ExprKind::kLoad || !e->tensor->is_placeholder() || e->tensor->rank() == 0) {
    return nullptr;
  }
  // int32 accumulators serve uint32 too.
  if (IsFloat(e->dtype) != IsFloat(dtype) || DTypeBytes(e->dtype) != DTypeBytes(dtype)) {
    return nullptr;
  }
  if (e->dtype == DType::kBool || e->dtype == DType::kBFloat16) return nullptr;
  return IsMemory(spec, e->tensor) ? e.get() : nullptr;
}

}  // namespace relayvm::codegen
