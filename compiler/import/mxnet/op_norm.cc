// Normalisation. See composite/normalise.h.
#include "compiler/import/composite/normalise.h"
#include "compiler/import/mxnet/convert.h"

namespace relayvm::import::mxnet {

namespace {

// By the statistics that the model holds. gamma counts only where fix_gamma is said to be False.
Term BatchNormOf(Node& n, int axis) {
  TypedBuilder& b = n.b();
  const Term x(n, 0);
  const auto parameter = [&](size_t i) { return Term(n, i).As(x.dtype()); };
  const Term gamma = parameter(1);
  const Value scale = n.Bool("fix_gamma", true) ? gamma.Call("ones_like").value() : gamma.value();
  const Value all = b.Op("nn.batch_norm", {x, scale, parameter(2), parameter(3), parameter(4)},
                         {{"axis", axis}, {"epsilon", n.Float("eps", 1e-3)}});
  return {b, b.Field(all, 0)};
}

Outputs BatchNorm(Node& n) {
  const Term x(n, 0);
  const int axis = n.Axis(n.Int("axis", 1), x.rank());
  if (!n.b().status().ok()) return {};
  const Term y = BatchNormOf(n, axis);
  // The mean, and what the file calls the variance: 1 / deviation.
  const Term variance(n, 4);
  const Term deviation = 1.0 / Sqrt(variance + n.Float("eps", 1e-3));
  return {y, n.Input(3), deviation};
}

Outputs BatchNormRelu(Node& n) {
  Outputs all = BatchNorm(n);
  if (!all.empty()) all[0] = n.b().Op("nn.relu", {all[0]});
  return all;
}

// Along one axis; mean and deviation keep it as a dim of 1.
Outputs LayerNorm(Node& n) {
  const Term x(n, 0);
  const int axis = n.Axis(n.Int("axis", -1), x.rank());
  const double epsilon = n.Float("eps", 1e-5);
  if (!n.b().status().ok()) return {};
  const bool wants_moments = n.Bool("output_mean_var", false);
  if (axis == x.rank() - 1 && !wants_moments)
    return {ScaledLayerNorm(x, n.Input(1), n.Input(2), epsilon)};
  const Normalised norm = LayerNormOf(x, {axis}, epsilon);
  const Term y = norm.y * Along(Term(n, 1), axis, x.rank()) + Along(Term(n, 2), axis, x.rank());
  if (!wants_moments) return {y};
  return {y, norm.mean.As(x.dtype()).Call("squeeze", {{"axis", AttrList{axis}}}),
          (1.0 / norm.inverse).As(x.dtype()).Call("squeeze", {{"axis", AttrList{axis}}})};
}

// gamma and beta have one number for each group.
Outputs GroupNorm(Node& n) {
  TypedBuilder& b = n.b();
  const Term x(n, 0);
  const int64_t groups = n.Count("num_groups", 1);
  if (x.rank() < 2 || groups < 1)
    return n.Fail("expected num_groups above 0 and data of rank 2 or more");
  const Normalised norm = LayerNormOf(Grouped(x, groups), {2, 3}, n.Float("eps", 1e-5));
  // 2.0 has one for each channel.
  const Dim count = n.Input(1).dim(0);
  Term y = norm.y;
  if (count.is_const() && !count.is_const(groups)) {
    y = Term(b, ShapedAs(b, y, {b.ShapeOf(x)})) * Along(Term(n, 1), 1, x.rank()) +
        Along(Term(n, 2), 1, x.rank());
  } else {
    y = Term(b, ShapedAs(b, y * Along(Term(n, 1), 1, 4) + Along(Term(n, 2), 1, 4), {b.ShapeOf(x)}));
  }
  if (!n.Bool("output_mean_var", false)) return {y};
  const auto flat = [&](const Term& v) { return v.Call("squeeze", {{"axis", AttrList{2, 3}}}); };
  return {y, flat(norm.mean), flat(1.0 / norm.inverse)};
}

Outputs InstanceNorm(Node& n) {
  return {
      n.b().Op("nn.instance_norm", n.inputs(), {{"axis", 1}, {"epsilon", n.Float("eps", 1e-3)}})};
}

Outputs Lrn(Node& n) {
  const Value y = n.b().Op("nn.lrn", {n.Input(0)},
                           {{"size", n.Count("nsize", 5)},
                            {"axis", 1},
                            {"bias", n.Float("knorm", 2)},
                            {"alpha", n.Float("alpha", 1e-4)},
                            {"beta", n.Float("beta", 0.75)}});
  return {y};
}

Outputs L2Normalization(Node& n) {
  const Term x(n, 0);
  const std::string mode = n.Choice("mode", "instance", {"instance", "channel", "spatial"});
  const std::vector<int64_t> axes = mode == "instance"  ? Iota(x.rank() - 1, 1)
                                    : mode == "channel" ? std::vector<int64_t>{1}
                                                        : Iota(x.rank() - 2, 2);
  if (x.rank() < 2) return n.Fail("expected data of rank 2 or more");
  return {x / Sqrt(Sum(x * x, axes) + n.Float("eps", 1e-10))};
}

// Mean and variance over axes.
Outputs Moments(Node& n) {
  const Term x(n, 0);
  const bool keep = n.Bool("keepdims", false);
  std::vector<int64_t> axes = n.Axes(n.Ints("axes"), x.rank());
  if (axes.empty()) axes = Iota(x.rank());
  if (!n.b().status().ok()) return {};
  const Term mean = Mean(x, axes), centred = x - mean;
  const auto result = [&](const Term& v) {
    const Term y = v.Over("mean", axes, keep);
    return AtLeastVector(y).value();
  };
  return {result(x), result(centred * centred)};
}

constexpr std::string_view kBatchNormInputs = "data gamma beta moving_mean moving_var";

constexpr OperatorDef kNormOperators[] = {
    {"BatchNorm BatchNorm_v1 CuDNNBatchNorm _npx_batch_norm", 5, 5, BatchNorm, kBatchNormInputs},
    {"GroupNorm", 3, 3, GroupNorm},
    {"InstanceNorm", 3, 3, InstanceNorm},
    {"L2Normalization", 1, 1, L2Normalization},
    {"LRN", 1, 1, Lrn},
    {"LayerNorm _npx_layer_norm", 3, 3, LayerNorm},
    {"_contrib_BatchNormWithReLU", 5, 5, BatchNormRelu, kBatchNormInputs},
    {"_contrib_SyncBatchNorm", 5, 5, BatchNorm, kBatchNormInputs},
    {"moments", 1, 1, Moments},
};

}  // namespace

std::span<const OperatorDef> NormOperators() { return kNormOperators; }

}  // namespace relayvm::import::mxnet
