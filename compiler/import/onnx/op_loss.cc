// Losses: NegativeLogLikelihoodLoss, SoftmaxCrossEntropyLoss.
#include <fmt/format.h>

#include "compiler/import/onnx/checked.h"

namespace relayvm::import {

namespace {

// x (n, c, d..) are logarithms, target (n, d..) classes. -x[n, target] by the weight of the class;
// what ignore_index names has weight 0.
std::optional<Term> Loss(NodeContext& n, const Term& x, const Term& target) {
  TypedBuilder& b = n.b();
  if (x.rank() < 2 || target.rank() + 1 != x.rank()) {
    return n.Fail("expected a target of one rank less than the input, found {} and {}",
                  target.rank(), x.rank());
  }
  Term label = target.As(DType::kInt64), kept = Equal(label, label);
  if (n.HasAttr("ignore_index")) {
    kept = Not(Equal(label, static_cast<double>(n.Int("ignore_index", 0))));
    label = Select(kept, label, label.Number(0));
  }
  label = Term(b, Below({n, 1, "target"}, label, b.DimOf(x, 1)));
  const Term chosen(b, b.Squeeze(x.Call("gather", label.Expand(1), {{"axis", 1}}), {1}));
  const Term weight = Select(kept, n.Has(2) ? Term(n, 2).Take(label, 0) : x.Number(1), x.Number(0));
  // An ignored element counts nothing, also where it is infinite.
  Term loss = Select(kept, -(chosen * weight), x.Number(0));
  const std::string reduction = n.String("reduction", "mean");
  if (reduction == "none") return loss;
  Term sum = loss.Call("sum");
  if (reduction == "sum") return sum;
  if (reduction == "mean") {
    return sum / weight.Call("sum");
  }
  return n.Fail("reduction: expected none, sum or mean, found '{}'", reduction);
}

Outputs NegativeLogLikelihoodLoss(NodeContext& n) {
  const auto loss = Loss(n, Term(n, 0), Term(n, 1));
  return loss ? Outputs{*loss} : Outputs{};
}

Outputs SoftmaxCrossEntropyLoss(NodeContext& n) {
  const Term x(n, 0);
  if (x.rank() < 2) return n.Fail("expected scores of rank 2 or more");
  const Term logs = x.Call("nn.log_softmax", {{"axis", 1}});
  const auto loss = Loss(n, logs, Term(n, 1));
  return loss ? Outputs{*loss, logs} : Outputs{};
}

constexpr OperatorDef kLossOperators[] = {
    {"NegativeLogLikelihoodLoss", 2, 3, NegativeLogLikelihoodLoss, 12},
    {"SoftmaxCrossEntropyLoss", 2, 3, SoftmaxCrossEntropyLoss, 12},
};

}  // namespace

std::span<const OperatorDef> LossOperators() { return kLossOperators; }

}  // namespace relayvm::import
