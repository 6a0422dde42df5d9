// Losses: nn.nll_loss nn.cross_entropy nn.cross_entropy_with_logits. Stateless. Tested by
// nn_loss_test.cc.
#include <utility>

#include "kernels/op/define.h"
#include "kernels/op/nn_helpers.h"
#include "kernels/op/nn_parts.h"

namespace relayvm {
namespace {

using nn::Indices;
using te::Expr;
using te::Tensor;

// The sum of element(index) over all of `shape`.
Expr SumAll(const std::vector<Dim>& shape, DType dtype,
            const std::function<Expr(const Indices&)>& element) {
  std::vector<te::Axis> axes;
  Indices at;
  for (size_t d = 0; d < shape.size(); ++d) {
    axes.push_back(te::MakeAxis(fmt::format("k{}", d), shape[d]));
    at.push_back(te::AxisValue(axes.back()));
  }
  return nn::ReduceOver(te::ReduceKind::kSum, element(at), std::move(axes), dtype);
}

// Arguments: log-probabilities (N, C, d...) or (C), targets (N, d...) or (), weights (C). A target
// equal to ignore_index, or that is no class, has no loss.
OpDef NllLossOp() {
  OpDef op;
  op.name = "nn.nll_loss";
  op.num_args = 3;
  op.attrs = {{"reduction", AttrKind::kString, false, "mean"},
              {"ignore_index", AttrKind::kInt, true}};
  op.fusion = FusionClass::kOutElementwise;
  op.infer = [](TypeContext& tc) -> Result<OpResult> {
    const TensorType& predictions = tc.tensor(0);
    const TensorType& targets = tc.tensor(1);
    const TensorType& weights = tc.tensor(2);
    if (predictions.rank() < 1) return Invalid("predictions has rank 0, expected at least 1");
    RELAYVM_RETURN_IF_ERROR(RequireFloat(predictions, "predictions"));
    RELAYVM_RETURN_IF_ERROR(RequireInteger(targets, "targets"));
    RELAYVM_RETURN_IF_ERROR(
        nn::RequireSameDType(weights.dtype, predictions.dtype, "predictions and weights"));
    RELAYVM_RETURN_IF_ERROR(RequireRank(targets, predictions.rank() - 1, "targets"));
    RELAYVM_RETURN_IF_ERROR(RequireRank(weights, 1, "weights"));
    const int class_axis = predictions.rank() == 1 ? 0 : 1;
    RELAYVM_RETURN_IF_ERROR(
        tc.RequireEqual(predictions.shape[class_axis], weights.shape[0], "the number of classes"));
    for (int d = 0; d < targets.rank(); ++d) {
      RELAYVM_RETURN_IF_ERROR(tc.RequireEqual(targets.shape[d],
                                              predictions.shape[d == 0 ? 0 : d + 1],
                                              "the shapes of targets and predictions"));
    }
    const std::string& reduction = tc.attrs().String("reduction");
    if (reduction == "none") return OpResult(TensorType{targets.shape, predictions.dtype});
    if (reduction != "mean" && reduction != "sum") {
      return Invalid("reduction is \"{}\", expected mean, sum or none", reduction);
    }
    return OpResult(TensorType{{}, predictions.dtype});
  };
  op.compute = [](const ComputeContext& c) -> std::vector<Tensor> {
    const Tensor& predictions = c.inputs[0];
    const Tensor& targets = c.inputs[1];
    const Tensor& weights = c.inputs[2];
    const DType dtype = predictions->dtype;
    const int64_t ignore = c.attrs.Int("ignore_index");
    // value(class) for the target at `at`, 0 where it does not count.
    const auto at_target = [&](const Indices& at, const std::function<Expr(const Expr&)>& value) {
      const Expr target = ToIndex(te::Load(targets, at));
      const Expr counts = te::Binary(te::BinaryOp::kNotEqual, target, Int(ignore)) &&
                          nn::InRange(target, te::DimValue(weights->shape[0]));
      return te::Select(counts, value(target), te::Const(0, dtype));
    };
    const auto loss = [&](const Indices& at) {
      return at_target(at, [&](const Expr& target) {
        Indices from = at;
        from.insert(from.begin() + (from.empty() ? 0 : 1), target);
        return te::Unary(te::UnaryOp::kNegative, te::Load(predictions, from)) *
               te::Load(weights, {target});
      });
    };
    const std::string& reduction = c.attrs.String("reduction");
    if (reduction == "none") return {te::Compute("nll_loss", targets->shape, loss)};
    const Tensor total = te::Compute(
        "nll_loss", {}, [&](const Indices&) { return SumAll(targets->shape, dtype, loss); });
    if (reduction == "sum") return {total};
    const Tensor weight = te::Compute("nll_loss_weight", {}, [&](const Indices&) {
      return SumAll(targets->shape, dtype, [&](const Indices& at) {
        return at_target(at, [&](const Expr& target) { return te::Load(weights, {target}); });
      });
    });
    return {te::Compute("nll_loss_mean", {}, [&](const Indices&) {
      return nn::Divide(te::Load(total, {}), te::Load(weight, {}));
    })};
  };
  return op;
}

// -sum(f(x) * y) / N, where f is log or, with logits, the identity.
OpDef CrossEntropyOp(std::string name, bool logits) {
  OpDef op;
  op.name = std::move(name);
  op.num_args = 2;
  op.infer = [](TypeContext& tc) -> Result<OpResult> {
    const TensorType& x = tc.tensor(0);
    const TensorType& y = tc.tensor(1);
    RELAYVM_RETURN_IF_ERROR(RequireRank(x, 2, "data"));
    RELAYVM_RETURN_IF_ERROR(RequireFloat(x));
    RELAYVM_RETURN_IF_ERROR(nn::RequireSameDType(x.dtype, y.dtype, "data and labels"));
    RELAYVM_RETURN_IF_ERROR(RequireShapeEqual(tc, x.shape, y.shape, "data and labels"));
    return OpResult(TensorType{{}, x.dtype});
  };
  op.compute = [logits](const ComputeContext& c) -> std::vector<Tensor> {
    const Tensor& x = c.inputs[0];
    const DType dtype = x->dtype;
    return {te::Compute("cross_entropy", {}, [&](const Indices&) {
      const Expr sum = SumAll(x->shape, dtype, [&](const Indices& at) {
        const Expr value = te::Load(x, at);
        return (logits ? value : nn::Log(value)) * te::Load(c.inputs[1], at);
      });
      return nn::Divide(te::Unary(te::UnaryOp::kNegative, sum),
                        te::Cast(te::DimValue(x->shape[0]), dtype));
    })};
  };
  return op;
}

}  // namespace

void DefineNnLoss(OpTable& table) {
  table.Add(NllLossOp());
  table.Add(CrossEntropyOp("nn.cross_entropy", false));
  table.Add(CrossEntropyOp("nn.cross_entropy_with_logits", true));
}

}  // namespace relayvm
