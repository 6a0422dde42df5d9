// Outputs of training, which at inference are what the loss is made of; and losses.
#include <cmath>

#include "compiler/import/mxnet/convert.h"

namespace relayvm::import::mxnet {

namespace {

Outputs SoftmaxOutput(Node& n) {
  const Term x(n, 0);
  if (x.rank() < 1) return n.Fail("expected data of rank 1 or more");
  if (n.Bool("multi_output", false)) return {x.Call("nn.softmax", {{"axis", 1}})};
  return {x.Call("nn.softmax", {{"axis", -1}})};
}
Outputs LogisticRegression(Node& n) { return {Term(n, 0).Call("sigmoid")}; }

// The sum over rows of -log of the softmax at the label.
Outputs SoftmaxCrossEntropy(Node& n) {
  const Term x(n, 0), label(n, 1);
  if (!n.ExpectRank(x, 2, "data") || !n.ExpectRank(label, 1, "label")) return {};
  const Term log = x.Call("nn.log_softmax", {{"axis", -1}});
  const Term own = log.Call("gather", label.As(DType::kInt64).Expand(1), {{"axis", 1}});
  return {-own.Over("sum", {0, 1}, false).Reshape({1})};
}

// --- CTC ---

// log(e^a + e^b), of numbers that may be -infinity.
Term LogAdd(const Term& a, const Term& b) {
  const Term most = Maximum(a, b), finite = Select(most > -1e30, most, most.Number(0));
  const Term sum = Exp(a - finite) + Exp(b - finite);
  return Select(most > -1e30, finite + sum.Call("log"), most);
}

struct CtcInputs {
  Term data;          // (time, batch, classes), log of the softmax
  Term labels;        // (batch, labels), int64; what does not count is -1
  Term lengths;       // (batch), int64: of the labels
  Term data_lengths;  // (batch), int64
  Term blank;         // a class, int64
};

// Without lengths labels end at the first padding: 0 where the blank is the first class, -1 where
// it is the last.
CtcInputs ReadCtc(Node& n) {
  TypedBuilder& b = n.b();
  const Term x(n, 0);
  const Term log = x.Call("nn.log_softmax", {{"axis", -1}});
  const bool first = n.Choice("blank_label", "first", {"first", "last"}) == "first";
  const Term blank = first ? Term(b, b.Int(0)) : Extent(b, x, 2) - 1;
  size_t next = 2;
  const bool has_data_lengths = n.Bool("use_data_lengths", false),
             has_lengths = n.Bool("use_label_lengths", false);
  const Term labels = Term(n, 1).As(DType::kInt64);
  const Term none = labels.Number(0) * labels.Slice(1, 0, 1).Reshape({-1});  // (batch)
  const Term data_lengths =
      has_data_lengths && n.Has(next) ? Term(n, next++).As(DType::kInt64) : none + Extent(b, x, 0);
  Term lengths = none;
  if (has_lengths && n.Has(next)) {
    lengths = Term(n, next).As(DType::kInt64);
  } else {
    const Term padding = Equal(labels, first ? 0 : -1);
    // How many stand before the first padding.
    const Term seen = padding.As(DType::kInt64).Call("cumsum", {{"axis", 1}});
    lengths = Equal(seen, 0).As(DType::kInt64).Over("sum", {1}, false);
  }
  return {log, labels, lengths, data_lengths, blank};
}

// By the forward recursion over blank, label, blank, label .. blank.
Outputs CtcLoss(Node& n) {
  TypedBuilder& b = n.b();
  if (!n.ExpectRank(n.Input(0), 3, "data") || !n.ExpectRank(n.Input(1), 2, "label")) return {};
  const CtcInputs in = ReadCtc(n);
  const DType dtype = in.data.dtype();
  const Term places = Extent(b, in.labels, 1) * 2.0 + 1.0;
  const Term place = Range(places);                                               // (places)
  const Term odd = Equal(place.Call("floor_mod", place.Number(2)), 1).Expand(0);  // (1, places)
  const Term half = place.Call("floor_divide", place.Number(2));
  const Term last = Extent(b, in.labels, 1) - 1;
  const Term own =
      in.labels.Take(Minimum(half, Maximum(last, last.Number(0))), 1);  // (batch, places)
  const Term symbol = Select(odd, Maximum(own, own.Number(0)), in.blank);
  // From two places before: not from one label to the same.
  const Term before = Maximum(place - 2.0, place.Number(0));
  const Term differs = Not(Equal(symbol, symbol.Take(before, 1)));
  const Term may_skip = And(And(odd, differs), (place >= 2).Expand(0));
  const Term least = Term(b, b.Scalar(-1e35, dtype));
  const auto scores = [&](const Term& row) {  // (batch, classes) as (batch, places)
    return row.Call("gather", symbol, {{"axis", 1}});
  };
  const auto shifted = [&](const Term& v, double by) {
    const Term from = Maximum(place - by, place.Number(0));
    return Select((place >= by).Expand(0), v.Take(from, 1), least);
  };
  const Term row0 = scores(in.data.Slice(0, 0, 1).Call("squeeze", {{"axis", AttrList{0}}}));
  const Term start = Select((place < 2).Expand(0), row0, least);
  const auto more = [&](const TypedBuilder::State& s) -> Value {
    return Term(b, s[0]) < Extent(b, in.data, 0);
  };
  const auto step = [&](const TypedBuilder::State& s) -> TypedBuilder::State {
    const Term t(b, s[0]), alpha(b, s[1]);
    const Term stay = LogAdd(alpha, shifted(alpha, 1));
    const Term all = Select(may_skip, LogAdd(stay, shifted(alpha, 2)), stay);
    const Term next = Maximum(all + scores(in.data.Take(t, 0)), least);
    // Beyond its length a sequence stays.
    return {t + 1, Select((t < in.data_lengths).Expand(1), next, alpha)};
  };
  const TypedBuilder::State end = b.While({b.Int(1), start}, more, step);
  if (!b.status().ok() || end.size() != 2) return {};
  const Term alpha(b, end[1]), final = in.lengths * 2.0;  // the last blank
  const auto at = [&](const Term& where) {
    const Term safe = Maximum(where, where.Number(0)).Expand(1);
    const Term v =
        alpha.Call("gather", safe, {{"axis", 1}}).Call("squeeze", {{"axis", AttrList{1}}});
    return Select(where >= 0, v, v.Number(-1e35));
  };
  return {-LogAdd(at(final), at(final - 1))};
}

constexpr OperatorDef kLossOperators[] = {
    {"CTCLoss ctc_loss _contrib_CTCLoss _contrib_ctc_loss", 2, 4, CtcLoss},
    {"LinearRegressionOutput", 1, 2, Copy, "", true},
    {"LogisticRegressionOutput", 1, 2, LogisticRegression, "", true},
    {"MAERegressionOutput", 1, 2, Copy, "", true},
    {"SVMOutput", 1, 2, Copy, "", true},
    {"SoftmaxOutput Softmax", 1, 2, SoftmaxOutput, "", true},
    {"softmax_cross_entropy", 2, 2, SoftmaxCrossEntropy},
};

}  // namespace

std::span<const OperatorDef> LossOperators() { return kLossOperators; }

}  // namespace relayvm::import::mxnet
