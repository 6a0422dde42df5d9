#include "kernels/codegen/quick.h"

#include <algorithm>
#include <unordered_map>

#include "kernels/codegen/loop_transforms.h"
#include "kernels/codegen/rewriter.h"
#include "kernels/codegen/tensor_order.h"
#include "kernels/op/nn_helpers.h"
#include "kernels/op/problem.h"

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

// What a padded convolution loads of its image where it is inside; null: it is written in another
// way.
const te::ExprNode* ImageLoad(const te::ExprNode& select, const te::TensorNode& image) {
  if (select.kind != te::ExprKind::kSelect) return nullptr;
  const te::ExprNode* load = select.operands[1].get();
  if (load->kind == te::ExprKind::kCast) load = load->operands[0].get();
  return load->kind == te::ExprKind::kLoad && load->tensor.get() == &image ? load : nullptr;
}

// The image, with its padding around it. `before`: the elements that padding puts before it, one a
// dimension.
te::Tensor PaddedImage(const te::Tensor& image, const std::vector<int64_t>& before,
                       const std::vector<int64_t>& after, DType dtype) {
  std::vector<Dim> shape;
  for (size_t d = 0; d < before.size(); ++d)
    shape.push_back(image->shape[d] + Dim(before[d] + after[d]));
  return te::Compute("padded", shape, [&](const std::vector<te::Expr>& i) {
    std::vector<te::Expr> at;
    std::vector<te::Expr> inside;
    for (size_t d = 0; d < i.size(); ++d) {
      at.push_back(i[d] - te::IntImm(before[d]));
      if (before[d] > 0) inside.push_back(at[d] >= te::IntImm(0));
      if (after[d] > 0) inside.push_back(at[d] < te::DimValue(image->shape[d]));
    }
    return nn::SelectIf(nn::AndAll(inside), te::Cast(te::Load(image, at), dtype),
                        te::Const(0, dtype));
  });
}

// A convolution over its padded image, which is added to `images`; itself where it has no padding,
// or none in this form, or so much that an image of a pixel would take what nobody has asked for.
te::Tensor PutOverPaddedImage(const te::Tensor& conv, std::vector<te::Tensor>& images) {
  if (conv->hint != te::ScheduleHint::kConv || conv->conv == nullptr || !conv->conv->is_padded())
    return conv;
  const ConvForm& form = *conv->conv;
  const te::Tensor& image = conv->hint_inputs[0];
  std::vector<int64_t> before(image->shape.size()), after(image->shape.size());
  constexpr int64_t kMost = 4096;  // pixels that one becomes
  int64_t pixels = 1;
  for (size_t s = 0; s < form.letters().size(); ++s) {
    const char letter = form.letters()[s];
    if (form.data.Factor(letter) != 1) return conv;
    if (form.padding.before[s] > kMost || form.padding.after[s] > kMost) return conv;
    pixels *= 1 + form.padding.before[s] + form.padding.after[s];
    if (pixels > kMost) return conv;
    before[static_cast<size_t>(form.data.Position(letter))] = form.padding.before[s];
    after[static_cast<size_t>(form.data.Position(letter))] = form.padding.after[s];
  }
  te::Tensor padded;
  Rewriter rewriter([&](const te::Expr& e) -> te::Expr {
    const te::ExprNode* load = ImageLoad(*e, *image);
    if (load == nullptr) return nullptr;
    if (padded == nullptr) padded = PaddedImage(image, before, after, e->dtype);
    std::vector<te::Expr> at;
    for (size_t d = 0; d < load->operands.size(); ++d)
      at.push_back(load->operands[d] + te::IntImm(before[d]));
    return te::Load(padded, std::move(at));
  });
  te::Expr body = rewriter.Rewrite(conv->body);
  if (padded == nullptr) return conv;
  images.push_back(padded);
  auto over = std::make_shared<te::TensorNode>(*conv);
  over->body = std::move(body);
  return over;
}

}  // namespace

OverPaddedImages PutOverPaddedImages(const KernelSpec& spec) {
  OverPaddedImages over = {spec, {}};
  std::unordered_map<const te::TensorNode*, te::Tensor> made;
  for (const te::Tensor& t : TensorsInOrder(spec.outputs)) {
    te::Tensor now = t;
    if (!t->is_placeholder()) {
      Rewriter rewriter([&](const te::Expr& e) -> te::Expr {
        if (e->kind != te::ExprKind::kLoad) return nullptr;
        const te::Tensor& read = made.at(e->tensor.get());
        return read.get() == e->tensor.get() ? nullptr : te::Load(read, e->operands);
      });
      te::Expr body = rewriter.Rewrite(t->body);
      if (body.get() != t->body.get()) {
        auto node = std::make_shared<te::TensorNode>(*t);
        node->body = std::move(body);
        for (te::Tensor& input : node->hint_inputs) {
          if (const auto found = made.find(input.get()); found != made.end()) input = found->second;
        }
        now = std::move(node);
      }
      now = PutOverPaddedImage(now, over.images);
    }
    made[t.get()] = std::move(now);
  }
  for (te::Tensor& output : over.spec.outputs) output = made.at(output.get());
  return over;
}

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
