#include "kernels/codegen/quick.h"

#include <algorithm>
#include <unordered_map>

#include "kernels/codegen/loop_transforms.h"

namespace relayvm::codegen {

using te::BinaryOp;

namespace {

// The one sum of products that a nest stores, which takes nearly all of its time; null: there is
// none, or another reduction beside it.
const Node* SumOfProducts(const LoopNest& nest) {
  if (nest.stores.size() != 1) return nullptr;
  const Node* sum = nullptr;
  int reductions = 0;
  ForEachNode({nest.stores[0].value}, [&](const Node* n) {
    if (n->kind != NodeKind::kReduce) return;
    ++reductions;
    const Node* body = n->operands[0];
    const bool multiplies = body->kind == NodeKind::kBinary && body->binary == BinaryOp::kMultiply;
    if (n->reduce == te::ReduceKind::kSum && multiplies) sum = n;
  });
  return reductions == 1 ? sum : nullptr;
}

// Whether a load runs along the axis.
bool IsReadAlong(const Node& sum, const te::AxisNode* axis) {
  bool found = false;
  ForEachNode({&sum}, [&](const Node* n) {
    const bool is_read = n->kind == NodeKind::kLoad && !n->operands.empty();
    found = found || (is_read && StrideOf(n->operands[0], axis) == Stride::kOne);
  });
  return found;
}

// Whether vectors of a nest are loads of neighbours and arithmetic: little code.
bool IsReadSideBySide(const LoopNest& nest) {
  if (!nest.vectorise || !nest.transposed.empty()) return false;
  const te::AxisNode* axis = nest.axes.back();
  bool is_simple = true;
  std::vector<const Node*> values;
  for (const LoopStore& store : nest.stores) values.push_back(store.value);
  ForEachNode(values, [&](const Node* n) {
    if (n->kind == NodeKind::kReduce || n->kind == NodeKind::kChecked) is_simple = false;
    if (n->kind == NodeKind::kSelect && n->operands[0]->DependsOn(axis)) is_simple = false;
    if (n->kind != NodeKind::kLoad || n->operands.empty()) return;
    const Stride stride = StrideOf(n->operands[0], axis);
    is_simple = is_simple && (stride == Stride::kOne || stride == Stride::kNone);
  });
  return is_simple;
}

}  // namespace

void TakeProductsTogether(Graph& graph, LoopNest& nest) {
  constexpr int64_t kMostTogether = 4;
  const Node* sum = SumOfProducts(nest);
  if (sum == nullptr) return;
  ChooseVectorAxis(nest);
  nest.vectorise = nest.vectorise && IsReadAlong(*sum, nest.axes.back());
  for (size_t i = nest.axes.size() - (nest.vectorise ? 1 : 0); i-- > 0;) {
    const te::AxisNode* axis = nest.axes[i];
    const Node* product = sum->operands[0];
    if (product->operands[0]->DependsOn(axis) && product->operands[1]->DependsOn(axis)) continue;
    const Dim& extent = axis->extent;
    const int64_t together =
        extent.is_const() ? std::clamp<int64_t>(extent.value(), 1, kMostTogether) : kMostTogether;
    const te::AxisNode* group = graph.NewAxis(axis->name, Dim::CeilDiv(extent, Dim(together)));
    const LoopStore store = nest.stores[0];
    nest.stores.clear();
    for (int64_t at = 0; at < together; ++at) {
      const Node* index =
          graph.Add(graph.Scale(graph.Axis(group), Dim(together)), graph.DimOf(Dim(at)));
      if (at > 0 && !Dim::FloorMod(extent, Dim(together)).is_const(0))
        index = graph.Binary(BinaryOp::kMin, index, graph.DimOf(extent - Dim(1)));
      const std::unordered_map<const te::AxisNode*, const Node*> axes = {{axis, index}};
      nest.stores.push_back(
          {store.target, graph.Substitute(store.value, axes), graph.Substitute(store.index, axes)});
    }
    nest.axes[i] = group;
    return;
  }
}

void QuickenLoops(LoopPlan& plan) {
  plan.quick = true;
  for (LoopSection& section : plan.sections) {
    for (LoopNest& nest : section.nests) {
      nest.vectorise = IsReadSideBySide(nest);
      nest.interleaved = false;
      nest.transposed.clear();
    }
  }
}

bool QuickIsVectors(const LoopPlan& plan) {
  return std::ranges::all_of(plan.sections, [](const LoopSection& section) {
    return std::ranges::all_of(section.nests, IsReadSideBySide);
  });
}

}  // namespace relayvm::codegen
