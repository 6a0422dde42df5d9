// Normalisation and losses.
#include "compiler/import/composite/normalise.h"
#include "compiler/import/tensorflow/window.h"

namespace relayvm::import::tensorflow {

namespace {

struct BatchNorm {
  Value y, mean, variance;
};
// Of what is known before, or, while training, of the data itself: the variance that is handed on
// is then that of n - 1.
std::optional<BatchNorm> Normalise(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Term x(n, 0);
  const int rank = x.rank(), axis = ChannelAxis(n, rank);
  const double epsilon = n.Float("epsilon", 1e-4);
  const DType wide = n.Input(1).dtype();
  if (!Ok(n) || rank < 2) return std::nullopt;
  if (!n.Bool("is_training", true)) {
    const std::vector<Value> all =
        b.Ops("nn.batch_norm", {x.As(wide), n.Input(1), n.Input(2), n.Input(3), n.Input(4)},
              {{"axis", axis}, {"epsilon", epsilon}});
    if (all.empty()) return std::nullopt;
    return BatchNorm{b.Cast(all[0], x.dtype()), n.Input(3), n.Input(4)};
  }
  std::vector<int64_t> axes;
  for (int i = 0; i < rank; ++i) {
    if (i != axis) axes.push_back(i);
  }
  const Term data = x.As(wide), mean = Mean(data, axes), centred = data - mean;
  const Term variance = Mean(centred * centred, axes);
  const auto along = [&](size_t i) { return Along(Term(n, i), axis, rank); };
  const Term y = centred / Sqrt(variance + epsilon) * along(1) + along(2);
  Term count(b, b.Int(1));
  for (const int64_t i : axes) count = count * Extent(b, x, static_cast<int>(i));
  const Term size = count.As(wide);
  const Term unbiased = variance * (size / Maximum(size - 1, size.Number(1)));
  const double factor = n.Float("exponential_avg_factor", 1);
  const auto blended = [&](const Term& now, size_t i) {
    const Term flat = now.Reshape({-1});
    if (factor == 1 || !n.Has(i) || n.Input(i).dim(0).is_const(0)) return flat;
    return Term(n, i) * (1 - factor) + flat * factor;
  };
  return BatchNorm{y.As(x.dtype()), blended(mean, 3), blended(unbiased, 4)};
}

Outputs FusedBatchNorm(NodeContext& n) {
  const auto norm = Normalise(n);
  if (!norm) return {};
  return {norm->y, norm->mean, norm->variance, norm->mean, norm->variance, norm->mean};
}
Outputs FusedBatchNormEx(NodeContext& n) {
  const auto norm = Normalise(n);
  if (!norm) return {};
  Term y(n, norm->y);
  if (n.Has(5)) y = y + Term(n, 5);
  const auto active = FusedActivation(n, n.String("activation_mode", "Identity"), y);
  if (!active) return n.Unsupported("activation_mode {}", n.String("activation_mode", ""));
  return {*active, norm->mean, norm->variance, norm->mean, norm->variance, norm->mean};
}

Outputs OldBatchNorm(NodeContext& n) {
  const Term x(n, 0), mean(n, 1), variance(n, 2), beta(n, 3), gamma(n, 4);
  Term factor = 1.0 / Sqrt(variance + n.Float("variance_epsilon", 1e-3));
  if (n.Bool("scale_after_normalization", true)) factor = factor * gamma;
  return {(x - mean) * factor + beta};
}

Outputs Lrn(NodeContext& n) {
  const int64_t size = 2 * n.Count("depth_radius", 5) + 1;
  return {n.b().Op("nn.lrn", {n.Input(0)},
                   {{"size", size},
                    {"axis", n.Input(0).rank() - 1},
                    {"bias", n.Float("bias", 1)},
                    {"alpha", n.Float("alpha", 1) * static_cast<double>(size)},
                    {"beta", n.Float("beta", 0.5)}})};
}

// --- Losses: each with its gradient ---

Outputs CrossEntropy(NodeContext& n, const Term& labels) {
  const Term x(n, 0);
  const Term log = x.Call("nn.log_softmax", {{"axis", 1}});
  const Term loss = -(labels * log).Over("sum", {1}, false);
  return {loss, x.Call("nn.softmax", {{"axis", 1}}) - labels};
}
Outputs SoftmaxCrossEntropy(NodeContext& n) { return CrossEntropy(n, Term(n, 1)); }
Outputs SparseSoftmaxCrossEntropy(NodeContext& n) {
  const Term x(n, 0), labels = Term(n, 1).As(DType::kInt64);
  return CrossEntropy(n, Equal(labels.Expand(1), RangeOf(n, x, 1)).As(x.dtype()));
}
Outputs L2Loss(NodeContext& n) {
  const Term x(n, 0);
  return {(x * x).Call("sum") / 2};
}

constexpr std::string_view kNormOutputs =
    "y batch_mean batch_variance reserve_space_1 reserve_space_2 reserve_space_3";
// Of each step (steps, batch, classes) the best class, without blanks and what it was before, as
// sparse rows; and minus the sum of the best.
Outputs GreedyDecoder(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Term x(n, 0), lengths = Term(n, 1).As(DType::kInt64);
  if (x.rank() != 3 || lengths.rank() != 1)
    return n.Fail("expected inputs of rank 3 and sequence_length of rank 1");
  const int64_t index = n.Int("blank_index", -1);
  const Term classes = Extent(b, x, 2), given(b, b.Int(index));
  const Term blank = index < 0 ? classes + given : given;
  const Term best = x.Call("argmax", {{"axis", AttrList{2}}, {"keepdims", false}})
                        .As(DType::kInt64)
                        .Transpose({1, 0});
  const Term inside = Range(Extent(b, x, 0)) < lengths.Expand(1);
  Term kept = And(inside, Not(Equal(best, blank)));
  if (n.Bool("merge_repeated", false)) {
    const Value first = b.Op("full_like", {best.Slice(1, 0, 1), b.Int(-1)});
    const Term before = Term(b, b.Concat({first, best}, 1)).Slice(1, 0, -1);
    kept = And(kept, Not(Equal(best, before)));
  }
  const Outputs places = n.As("Where", {kept});
  if (places.empty()) return {};
  const Term counts = kept.As(DType::kInt64).Call("cumsum", {{"axis", 1}});
  const Outputs values = n.As("GatherNd", {best, places[0]}),
                columns = n.As("GatherNd", {counts - 1, places[0]});
  if (values.empty() || columns.empty()) return {};
  const Value indices =
      b.Concat({Term(b, places[0]).Slice(1, 0, 1), b.ExpandDims(columns[0], 1)}, 1);
  const Term longest =
      Term(b, b.Concat({kept.As(DType::kInt64).Over("sum", {1}, false), b.Ints({0})}, 0))
          .Over("max", {0});
  const Term most = x.Over("max", {2}, false).Transpose({1, 0});
  const Term sum = Select(inside, most, most.Number(0)).Over("sum", {1});
  return {indices, values[0], b.Concat({b.DimOf(best, 0), longest}, 0), -sum};
}

constexpr OperatorDef kNormOperators[] = {
    {"CTCGreedyDecoder", 2, 2, GreedyDecoder,
     "decoded_indices decoded_values decoded_shape log_probability", "31"},
    {"BatchNormWithGlobalNormalization", 5, 5, OldBatchNorm},
    {"FusedBatchNorm", 5, 5, FusedBatchNorm, kNormOutputs, "41111"},
    {"FusedBatchNormV2", 5, 5, FusedBatchNorm, kNormOutputs, "41111"},
    {"FusedBatchNormV3", 5, 5, FusedBatchNorm, kNormOutputs, "?1111"},
    {"L2Loss", 1, 1, L2Loss},
    {"LRN", 1, 1, Lrn, {}, "4"},
    {"SoftmaxCrossEntropyWithLogits", 2, 2, SoftmaxCrossEntropy, "loss backprop", "22"},
    {"SparseSoftmaxCrossEntropyWithLogits", 2, 2, SparseSoftmaxCrossEntropy, "loss backprop", "21"},
    {"_FusedBatchNormEx", 5, -1, FusedBatchNormEx, kNormOutputs, "41111"},
};

}  // namespace

std::span<const OperatorDef> NormOperators() { return kNormOperators; }

}  // namespace relayvm::import::tensorflow
