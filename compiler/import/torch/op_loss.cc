// Losses, and distances between vectors.
#include <cmath>
#include <numbers>

#include "compiler/import/checked.h"
#include "compiler/import/torch/nn_tables.h"
#include "compiler/import/torch/norms.h"

namespace relayvm::import::torch {

namespace {

// reduction: 0 none, 1 the mean, 2 the sum.
Results Reduced(const Call& n, const Term& loss) {
  const int64_t how = n.Int("reduction", 1);
  if (how == 0) return {loss};
  return {loss.Call(how == 1 ? "mean" : "sum")};
}

struct LossOperands {
  Term x, y;
};
// Argument 0 and 1 in one float dtype.
LossOperands FloatOperands(const Call& n) {
  const DType dtype = FloatPairType(n);
  return {Operand(n, 0, dtype), Operand(n, 1, dtype)};
}

Results L1Loss(Call& n) {
  const auto [x, y] = FloatOperands(n);
  return Reduced(n, Abs(x - y));
}
Results MseLoss(Call& n) {
  const auto [x, y] = FloatOperands(n);
  const Term d = x - y;
  return Reduced(n, d * d);
}
Results SmoothL1Loss(Call& n) {
  const auto [x, y] = FloatOperands(n);
  const double beta = n.Float("beta", 1);
  const Term d = Abs(x - y);
  if (beta <= 0) return Reduced(n, d);
  return Reduced(n, Select(d < beta, d * d * (0.5 / beta), d - 0.5 * beta));
}
Results HuberLoss(Call& n) {
  const auto [x, y] = FloatOperands(n);
  const double delta = n.Float("delta", 1);
  const Term d = Abs(x - y);
  return Reduced(n, Select(d <= delta, d * d * 0.5, (d - 0.5 * delta) * delta));
}

// --- Of probabilities ---

Results BinaryCrossEntropy(Call& n) {
  const auto [x, y] = FloatOperands(n);
  const auto log = [](const Term& v) { return NotBelow(v.Call("log"), -100); };
  Term loss = -(y * log(x) + (1.0 - y) * log(1.0 - x));
  if (n.Has("weight")) loss = loss * Term(n, n.Tensor("weight"));
  return Reduced(n, loss);
}
Results BinaryCrossEntropyWithLogits(Call& n) {
  const auto [x, y] = FloatOperands(n);
  Term gain = Softplus(-x);
  if (n.Has("pos_weight")) gain = gain * ((Term(n, n.Tensor("pos_weight")) - 1) * y + 1);
  Term loss = (1.0 - y) * x + gain;
  if (n.Has("weight")) loss = loss * Term(n, n.Tensor("weight"));
  return Reduced(n, loss);
}
Results KlDivergence(Call& n) {
  const auto [x, y] = FloatOperands(n);
  if (n.Bool("log_target")) return Reduced(n, Exp(y) * (y - x));
  const Term positive = y > 0, safe = Select(positive, y, y.Number(1));
  return Reduced(n, Select(positive, y * safe.Call("log"), y.Number(0)) - y * x);
}

// --- Of classes ---

// Logarithms of probabilities (n, classes, ..) or (classes) at the classes that `target` (n, ..)
// names.
struct Picked {
  Term loss;    // -x at the target, by its weight; 0 where it is ignored
  Term weight;  // of each target
};
std::optional<Picked> PickedBy(const Call& n, const Term& x) {
  TypedBuilder& b = n.b();
  const int axis = x.rank() < 2 ? 0 : 1;
  const Term target = Term(n, 1).As(DType::kInt64);
  if (x.rank() < 1 || target.rank() != x.rank() - 1)
    return n.Fail("expected a class for each of the inputs; found ranks {} and {}", x.rank(),
                  target.rank());
  const Term ignored = Equal(target, static_cast<double>(n.Int("ignore_index", -100)));
  const Term safe(
      b, Below({n, 1, "target"}, Select(ignored, target.Number(0), target), b.DimOf(x, axis)));
  const Term picked = WithoutDims(x.Call("gather", safe.Expand(axis), {{"axis", axis}}), {axis});
  Term weight = picked * 0.0 + 1.0;
  if (n.Has("weight")) weight = Term(n, n.Tensor("weight")).As(x.dtype()).Take(safe, 0);
  weight = Select(ignored, weight.Number(0), weight);
  return Picked{Select(ignored, picked.Number(0), -picked * weight), weight};
}

// By the weights of the targets.
Term WeightedMean(const Term& loss, const Term& weight) {
  return loss.Call("sum") / weight.Call("sum");
}

Results NllLoss(Call& n) {
  const auto p = PickedBy(n, Real(n));
  if (!p) return {};
  const int64_t how = n.Int("reduction", 1);
  Results out;
  if (how == 0) {
    out = {p->loss};
  } else {
    out = {how == 1 ? WeightedMean(p->loss, p->weight) : p->loss.Call("sum")};
  }
  if (n.schema().results.size() > 1) out.emplace_back(p->weight.Call("sum"));
  return out;
}

Results CrossEntropy(Call& n) {
  TypedBuilder& b = n.b();
  const Term x = Real(n);
  const int axis = x.rank() < 2 ? 0 : 1;
  if (x.rank() < 1) return n.Fail("expected an input of rank 1 or more");
  const Term log = x.Call("nn.log_softmax", {{"axis", axis}});
  const double smoothing = n.Float("label_smoothing");
  const int64_t how = n.Int("reduction", 1);
  const Term classes = Extent(b, x, axis).As(x.dtype());
  const auto weighted = [&](const Term& v) {
    return n.Has("weight") ? v * Along(Term(n, n.Tensor("weight")).As(x.dtype()), axis, x.rank())
                           : v;
  };
  if (IsFloat(n.Input(1).dtype())) {
    // Targets are probabilities.
    Term target = Term(n, 1).As(x.dtype());
    if (smoothing > 0) target = target * (1 - smoothing) + classes.Number(smoothing) / classes;
    const Term loss = -WithoutDims(Sum(weighted(log * target), {axis}), {axis});
    return how == 0 ? Results{loss} : Results{loss.Call(how == 1 ? "mean" : "sum")};
  }
  const auto p = PickedBy(n, log);
  if (!p) return {};
  Term loss = p->loss;
  if (smoothing > 0) {
    const Term ignored =
        Equal(Term(n, 1).As(DType::kInt64), static_cast<double>(n.Int("ignore_index", -100)));
    const Term all = -WithoutDims(Sum(weighted(log), {axis}), {axis});
    loss = loss * (1 - smoothing) + Select(ignored, all.Number(0), all) * (smoothing / classes);
  }
  if (how == 0) return {loss};
  return {how == 1 ? WeightedMean(loss, p->weight) : loss.Call("sum")};
}

Results MultiMarginLoss(Call& n) {
  TypedBuilder& b = n.b();
  const Term x = Real(n).rank() == 1 ? Real(n).Expand(0) : Real(n);
  const Term target = AsVector(Term(n, 1).As(DType::kInt64));
  if (x.rank() != 2) return n.Fail("expected an input of rank 1 or 2");
  const Term safe(b, Below({n, 1, "target"}, target, b.DimOf(x, 1)));
  const Term own = x.Call("gather", safe.Expand(1), {{"axis", 1}});
  Term loss = NotBelow(own * -1.0 + x + n.Float("margin", 1), 0);
  if (n.Float("p", 1) == 2) loss = loss * loss;
  if (n.Has("weight")) loss = loss * Term(n, n.Tensor("weight")).Take(safe, 0).Expand(1);
  const Term other = Not(Equal(RangeOf(b, x, 1), safe.Expand(1)));
  loss = Select(other, loss, loss.Number(0)).Over("mean", {1}, false);
  if (n.Input(0).rank() == 1) loss = loss.Reshape({});
  return Reduced(n, loss);
}

// --- Of pairs and triples ---

Results HingeEmbeddingLoss(Call& n) {
  const auto [x, y] = FloatOperands(n);
  const Term far = NotBelow(n.Float("margin", 1) - x, 0);
  const Term zero = x.Number(0);
  return Reduced(n, Select(Equal(y, 1), zero, far) + Select(Equal(y, -1), zero, x));
}
Results SoftMarginLoss(Call& n) {
  const auto [x, y] = FloatOperands(n);
  return Reduced(n, Softplus(-(x * y)));
}
Results MarginRankingLoss(Call& n) {
  // Of integers in their dtype, which may wrap.
  const std::array<Argument, 3> all = {n.Arg(0), n.Arg(1), n.Arg(2)};
  const DType t = ResultType(all);
  const Term x = Operand(n, 0, t), y = Operand(n, 1, t), target = Operand(n, 2, t);
  const Term product = (-target * (x - y)).As(FloatResultType(all));
  return Reduced(n, NotBelow(product + n.Float("margin"), 0));
}
Results CosineEmbeddingLoss(Call& n) {
  const Term x = Real(n, 0), y = Real(n, 1), target(n, 2);
  const std::vector<int64_t> axis = {x.rank() - 1};
  const auto dot = [&](const Term& u, const Term& v) {
    return WithoutDims(Sum(u * v, axis), axis);
  };
  const Term cos = dot(x, y) / Sqrt((dot(x, x) + 1e-12) * (dot(y, y) + 1e-12));
  const Term zero = cos.Number(0);
  const Term apart = NotBelow(cos - n.Float("margin"), 0);
  return Reduced(n, Select(Equal(target, 1), 1.0 - cos, Select(Equal(target, -1), apart, zero)));
}
Term DistanceOf(const Term& x, const Term& y, double p, double epsilon) {
  return NormOver(x - y + epsilon, p, {std::max(x.rank(), y.rank()) - 1});
}
Results TripletMarginLoss(Call& n) {
  const Term a = Real(n, 0), near = Real(n, 1), far = Real(n, 2);
  const double p = n.Float("p", 2), epsilon = n.Float("eps", 1e-6);
  const Term close = DistanceOf(a, near, p, epsilon);
  Term away = DistanceOf(a, far, p, epsilon);
  if (n.Bool("swap"))
    away = Term(n, n.ValueAs("aten::minimum", {away, DistanceOf(near, far, p, epsilon)}));
  const Term loss = NotBelow(close - away + n.Float("margin", 1), 0);
  return Reduced(n, WithoutDims(loss, {loss.rank() - 1}));
}
Results PoissonNllLoss(Call& n) {
  const auto [x, y] = FloatOperands(n);
  Term loss =
      n.Bool("log_input", true) ? Exp(x) - y * x : x - y * (x + n.Float("eps", 1e-8)).Call("log");
  if (n.Bool("full")) {
    const Term safe = Maximum(y, y.Number(1));
    const Term stirling =
        y * safe.Call("log") - y + (safe * (2 * std::numbers::pi)).Call("log") * 0.5;
    loss = loss + Select(y <= 1, y.Number(0), stirling);
  }
  return Reduced(n, loss);
}

// Of (batch, classes): each class that is a target against each that is none; -1 ends the targets.
Results MultiLabelMarginLoss(Call& n) {
  TypedBuilder& b = n.b();
  const bool vector = n.Input(0).rank() == 1;
  const Term x = vector ? Real(n).Expand(0) : Real(n);
  const Term target = vector ? Term(n, 1).Expand(0) : Term(n, 1);
  if (x.rank() != 2 || target.rank() != 2) return n.Fail("expected an input of rank 1 or 2");
  const Term ended = (target < 0).As(DType::kInt32).Call("cumsum", {{"axis", 1}});
  const Term valid = Equal(ended, 0);  // (n, c)
  const Term place = target.As(DType::kInt64);
  const Term at = RangeOf(b, x, 1);
  const Term hit = And(Equal(place.Expand(2), at), valid.Expand(2));  // (n, target, class)
  const Term is_target = hit.Over("any", {1}, false);                 // (n, class)
  const Term safe = Select(valid, place, place.Number(0));
  const Term own = x.Call("gather", safe, {{"axis", 1}});
  const Term gap = NotBelow(1.0 - own.Expand(2) + x.Expand(1), 0);
  const Term counts = And(valid.Expand(2), Not(is_target).Expand(1));
  const Term sum = Select(counts, gap, gap.Number(0)).Over("sum", {1, 2}, false);
  Term loss = sum / Extent(b, x, 1).As(x.dtype());
  const Term known = is_target.As(x.dtype());
  if (vector) loss = loss.Reshape({});
  const Value flags = vector ? b.Squeeze(known, {0}) : known.value();
  Results out = Reduced(n, loss);
  if (n.schema().results.size() > 1) out.emplace_back(flags);
  return out;
}

// --- Alignments of sequences (CTC) ---

// Targets as rows (batch, most), of which each has a length.
Term TargetRows(const Call& n, const Term& targets, const Term& lengths) {
  TypedBuilder& b = n.b();
  if (targets.rank() == 2) return targets;
  const Term ends = lengths.Call("cumsum", {{"axis", 0}}), total = Extent(b, targets, 0);
  const Term place = (ends - lengths).Expand(1) + Range(total);
  return targets.Take(Minimum(place, total - 1), 0);
}
// The logarithm of the probability of all alignments, by what each turn leaves for each label and
// the blanks between (Graves et al., 2006).
std::optional<Term> AlignmentOf(const Call& n, const Term& log, const Term& rows,
                                const Term& inputs, const Term& lengths) {
  TypedBuilder& b = n.b();
  const Term count = Extent(b, rows, 1), places = Range(count * 2 + 1);
  const Term label = places.Call("floor_divide", places.Number(2));
  const Term is_blank = Equal(places.Call("floor_mod", places.Number(2)), 0);
  const Term blank(b, b.Int(n.Int("blank")));
  const Term taken = rows.Take(Minimum(label, count - 1), 1);
  const Term labels = Select(is_blank, blank, taken);  // (batch, 2 most + 1)
  const Term none = log.Number(-HUGE_VAL);
  const auto moved = [&](const Term& v, const Term& fill, double by) {
    const Term from = places - by;
    return Select(from >= 0, v.Take(Maximum(from, from.Number(0)), 1), fill);
  };
  const Term other = labels.Call("not_equal", moved(labels, labels.Number(-1), 2));
  const Term skips = And(other, Not(is_blank));
  const auto at = [&](const Term& t) {
    return log.Take(t, 0).Call("gather", labels, {{"axis", 1}});
  };
  const Term first = at(Term(b, b.Int(0)));
  const Term start = Select(And(places < 2, places < (lengths * 2 + 1).Expand(1)), first, none);
  const auto last = b.While(
      {b.Int(1), start},
      [&](const TypedBuilder::State& s) { return Term(b, s[0]) < Extent(b, log, 0); },
      [&](const TypedBuilder::State& s) -> TypedBuilder::State {
        const Term t(b, s[0]), now(b, s[1]);
        const Term one = moved(now, none, 1), two = Select(skips, moved(now, none, 2), none);
        const Term top = Maximum(Maximum(now, one), two);
        const Term base = Select(Equal(top, -HUGE_VAL), top.Number(0), top);
        const Term sum = (Exp(now - base) + Exp(one - base) + Exp(two - base)).Call("log") + base;
        return {t + 1, Select((t < inputs).Expand(1), sum + at(t), now)};
      });
  if (!b.status().ok() || last.size() != 2) return std::nullopt;
  const Term end = (lengths * 2).Expand(1), alpha(b, last[1]);
  const Term counts = Or(Equal(places, end), Equal(places, end - 1));
  const Term ends = Select(counts, alpha, none), top = ends.Over("max", {1});
  const Term base = Select(Equal(top, -HUGE_VAL), top.Number(0), top);
  return Term(b, b.Squeeze(Exp(ends - base).Over("sum", {1}).Call("log") + base, {1}));
}
Results CtcLoss(Call& n) {
  TypedBuilder& b = n.b();
  const Term given = Real(n);
  const bool alone = given.rank() == 2;
  const Term log = alone ? given.Expand(1) : given;
  if (log.rank() != 3) return n.Fail("expected log probabilities of rank 2 or 3");
  const auto lengths_of = [&](const char* name) {
    return Term(b, b.Cast(b.Reshape(n.Sizes(name), {-1}), DType::kInt64));
  };
  const Argument& inputs_given = n.Arg("input_lengths");
  const auto vector = [&](const char* name, const Argument& a) {
    return a.is_tensor() ? Term(b, a.value).As(DType::kInt64).Reshape({-1}) : lengths_of(name);
  };
  const Term inputs = vector("input_lengths", inputs_given);
  const Term lengths = vector("target_lengths", n.Arg("target_lengths"));
  Term targets = Term(n, 1).As(DType::kInt64);
  if (alone && targets.rank() == 1) targets = targets.Expand(0);
  if (!b.status().ok()) return {};
  const auto found = AlignmentOf(n, log, TargetRows(n, targets, lengths), inputs, lengths);
  if (!found) return {};
  Term loss = -*found;
  if (n.Bool("zero_infinity")) loss = Select(Equal(loss, HUGE_VAL), loss.Number(0), loss);
  const int64_t how = n.Int("reduction", 1);
  if (how == 1) loss = loss / Maximum(lengths, lengths.Number(1)).As(loss.dtype());
  if (alone && how == 0) return {loss.Reshape({})};
  return Reduced(n, loss);
}

// --- Distances ---

Results CosineSimilarity(Call& n) {
  const Term x = Real(n, 0), y = Real(n, 1);
  const int rank = std::max(x.rank(), y.rank()), axis = n.Axis("dim", rank, 1);
  const double epsilon = n.Float("eps", 1e-8);
  if (!n.b().status().ok()) return {};
  Term left = x.Expand(0, rank - x.rank()), right = y.Expand(0, rank - y.rank());
  if (left.value().shape() != right.value().shape()) {
    const Term both = left * right;
    left = left.Call("broadcast_to_like", both);
    right = right.Call("broadcast_to_like", both);
  }
  const auto length = [&](const Term& v) { return NotBelow(NormOver(v, 2, {axis}), epsilon); };
  return {WithoutDims(Sum((left / length(left)) * (right / length(right)), {axis}), {axis})};
}
Results PairwiseDistance(Call& n) {
  const Term d = DistanceOf(Real(n, 0), Real(n, 1), n.Float("p", 2), n.Float("eps", 1e-6));
  return {n.Bool("keepdim") ? d : WithoutDims(d, {d.rank() - 1})};
}
Results Distance(Call& n) {
  const auto [x, y] = FloatOperands(n);
  const Term d = x - y;
  return {NormOver(d, n.Float("p", 2), Iota(d.rank())).Reshape({})};
}

// Whether a product makes fewer numbers than all differences: then what it loses is what PyTorch
// loses.
bool IsLarge(const Call& n, const Term& x, const Term& y) {
  const Dim rows = x.value().dim(-2), columns = y.value().dim(-2);
  const int64_t mode = n.Int("compute_mode", 0);
  if (n.Float("p", 2) != 2 || mode == 2) return false;
  return mode == 1 || (rows.is_const() && rows.value() > 25) ||
         (columns.is_const() && columns.value() > 25);
}
Results DistanceMatrix(Call& n) {
  const Term x = Real(n, 0), y = Real(n, 1);
  if (x.rank() < 2 || y.rank() < 2) return n.Fail("expected inputs of rank 2 or more");
  if (IsLarge(n, x, y)) {
    const std::vector<int64_t> last = {x.rank() - 1};
    const Term left = Sum(x * x, last), right = Sum(y * y, {y.rank() - 1});
    std::vector<int64_t> axes = Iota(y.rank());
    std::swap(axes[axes.size() - 1], axes[axes.size() - 2]);
    const Term both(n, MatMulOf(n, x, y.Transpose(axes)));
    const Term square = left + right.Transpose(axes) - both * 2;
    return {Sqrt(NotBelow(square, 0))};
  }
  const Term d = x.Expand(x.rank() - 1) - y.Expand(y.rank() - 2);
  const std::vector<int64_t> last = {d.rank() - 1};
  return {WithoutDims(NormOver(d, n.Float("p", 2), last), last)};
}
// Of all pairs of rows, in order.
Results PairDistances(Call& n) {
  TypedBuilder& b = n.b();
  const Term x = Real(n);
  if (x.rank() != 2 || !x.value().dim(0).is_const() || x.value().dim(0).value() > 4096)
    return n.Unsupported("expected rank 2, and a number of rows that is known and at most 4096");
  std::vector<int64_t> first, second;
  for (int64_t i = 0; i < x.value().dim(0).value(); ++i) {
    for (int64_t k = i + 1; k < x.value().dim(0).value(); ++k) {
      first.push_back(i);
      second.push_back(k);
    }
  }
  const Term d = x.Take(b.Ints(first), 0) - x.Take(b.Ints(second), 0);
  return {WithoutDims(NormOver(d, n.Float("p", 2), {1}), {1})};
}

constexpr OperatorDef kLossOperators[] = {
    {"aten::l1_loss(Tensor self, Tensor target, int reduction=1) -> Tensor", L1Loss},
    {"aten::mse_loss(Tensor self, Tensor target, int reduction=1) -> Tensor", MseLoss},
    {"aten::smooth_l1_loss(Tensor self, Tensor target, int reduction=1, float beta=1.) -> "
     "Tensor",
     SmoothL1Loss},
    {"aten::huber_loss(Tensor self, Tensor target, int reduction=1, float delta=1.) -> "
     "Tensor",
     HuberLoss},
    {"aten::binary_cross_entropy(Tensor self, Tensor target, Tensor? weight=None, int "
     "reduction=1) -> Tensor",
     BinaryCrossEntropy},
    {"aten::binary_cross_entropy_with_logits(Tensor self, Tensor target, Tensor? "
     "weight=None, Tensor? pos_weight=None, int reduction=1) -> Tensor",
     BinaryCrossEntropyWithLogits},
    {"aten::kl_div(Tensor self, Tensor target, int reduction=1, *, bool log_target=False) "
     "-> Tensor",
     KlDivergence},
    {"aten::nll_loss(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, "
     "int ignore_index=-100) -> Tensor",
     NllLoss},
    {"aten::nll_loss_nd(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, "
     "int ignore_index=-100) -> Tensor",
     NllLoss},
    {"aten::nll_loss2d(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, "
     "int ignore_index=-100) -> Tensor",
     NllLoss},
    {"aten::nll_loss_forward(Tensor self, Tensor target, Tensor? weight, int reduction, "
     "int ignore_index) -> (Tensor output, Tensor total_weight)",
     NllLoss},
    {"aten::nll_loss2d_forward(Tensor self, Tensor target, Tensor? weight, int reduction, "
     "int ignore_index) -> (Tensor output, Tensor total_weight)",
     NllLoss},
    {"aten::cross_entropy_loss(Tensor self, Tensor target, Tensor? weight=None, int "
     "reduction=1, int ignore_index=-100, float label_smoothing=0.) -> Tensor",
     CrossEntropy},
    {"aten::multi_margin_loss(Tensor self, Tensor target, Scalar p=1, Scalar margin=1, "
     "Tensor? weight=None, int reduction=1) -> Tensor",
     MultiMarginLoss},
    {"aten::hinge_embedding_loss(Tensor self, Tensor target, float margin=1., int "
     "reduction=1) -> Tensor",
     HingeEmbeddingLoss},
    {"aten::soft_margin_loss(Tensor self, Tensor target, int reduction=1) -> Tensor",
     SoftMarginLoss},
    {"aten::margin_ranking_loss(Tensor input1, Tensor input2, Tensor target, float "
     "margin=0., int reduction=1) -> Tensor",
     MarginRankingLoss},
    {"aten::cosine_embedding_loss(Tensor input1, Tensor input2, Tensor target, float "
     "margin=0., int reduction=1) -> Tensor",
     CosineEmbeddingLoss},
    {"aten::multilabel_margin_loss(Tensor self, Tensor target, int reduction=1) -> Tensor",
     MultiLabelMarginLoss},
    {"aten::multilabel_margin_loss_forward(Tensor self, Tensor target, int reduction) -> (Tensor "
     "output, Tensor is_target)",
     MultiLabelMarginLoss},
    {"aten::ctc_loss.IntList(Tensor log_probs, Tensor targets, int[] input_lengths, int[] "
     "target_lengths, int blank=0, int reduction=1, bool zero_infinity=False) -> Tensor",
     CtcLoss},
    {"aten::ctc_loss.Tensor(Tensor log_probs, Tensor targets, Tensor input_lengths, Tensor "
     "target_lengths, int blank=0, int reduction=1, bool zero_infinity=False) -> Tensor",
     CtcLoss},
    {"aten::triplet_margin_loss(Tensor anchor, Tensor positive, Tensor negative, float "
     "margin=1., float p=2., float eps=9.9999999999999995e-07, bool swap=False, int "
     "reduction=1) -> Tensor",
     TripletMarginLoss},
    {"aten::poisson_nll_loss(Tensor input, Tensor target, bool log_input, bool full, "
     "float eps, int reduction) -> Tensor",
     PoissonNllLoss},
    {"aten::cosine_similarity(Tensor x1, Tensor x2, int dim=1, float eps=1e-08) -> Tensor",
     CosineSimilarity},
    {"aten::pairwise_distance(Tensor x1, Tensor x2, float p=2., float "
     "eps=9.9999999999999995e-07, bool keepdim=False) -> Tensor",
     PairwiseDistance},
    {"aten::dist(Tensor self, Tensor other, Scalar p=2) -> Tensor", Distance},
    {"aten::cdist(Tensor x1, Tensor x2, float p=2., int? compute_mode=None) -> Tensor",
     DistanceMatrix},
    {"aten::_cdist_forward(Tensor x1, Tensor x2, float p, int? compute_mode) -> Tensor",
     DistanceMatrix},
    {"aten::_euclidean_dist(Tensor x1, Tensor x2) -> Tensor", DistanceMatrix},
    {"aten::pdist(Tensor self, float p=2.) -> Tensor", PairDistances},
    {"aten::_pdist_forward(Tensor self, float p=2.) -> Tensor", PairDistances},
};

}  // namespace

OperatorTable LossOperators() { return kLossOperators; }

}  // namespace relayvm::import::torch
