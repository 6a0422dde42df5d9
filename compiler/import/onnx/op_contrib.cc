// com.microsoft: what ONNX Runtime's optimisers write, but for attention (op_attention.cc) and
// quantised numbers (op_contrib_quant.cc).
#include <fmt/format.h>

#include <cmath>

#include "compiler/import/composite/activations.h"
#include "compiler/import/composite/normalise.h"
#include "compiler/import/onnx/checked.h"
#include "compiler/import/onnx/quantised.h"

namespace relayvm::import {

namespace {

// --- Activations ---

Term Biased(NodeContext& n) { return n.Has(1) ? Term(n, 0) + Term(n, 1) : Term(n, 0); }

Outputs BiasGelu(NodeContext& n) { return {GeluOf(Biased(n))}; }
Outputs FastGelu(NodeContext& n) { return {TanhGeluOf(Biased(n))}; }
Outputs QuickGelu(NodeContext& n) { return {SwishOf(Term(n, 0), n.Float("alpha", 1.702))}; }
Outputs BiasSplitGelu(NodeContext& n) {
  const std::vector<Value> halves =
      n.b().Ops("split", {Biased(n)}, {{"indices_or_sections", 2}, {"axis", -1}});
  if (halves.size() < 2) return {};
  return {Term(n.b(), halves[0]) * GeluOf(Term(n.b(), halves[1]))};
}
Outputs BiasAdd(NodeContext& n) { return {Term(n, 0) + Term(n, 1) + Term(n, 2)}; }

using Params = std::vector<double>;

// The activation of that name; with an error for a name that is not known.
Term Activated(NodeContext& n, const Term& x, const std::string& name, const Params& params) {
  if (name.empty()) return x;
  if (const ActivationDef* def = FindActivation(name)) {
    return def->apply(x, params.empty() ? def->alpha : params[0],
                      params.size() < 2 ? def->beta : params[1]);
  }
  n.Unsupported("activation '{}' is not supported", name);
  return x;
}
// By attributes activation, activation_alpha, _beta and _gamma.
Term ActivatedByName(NodeContext& n, const Term& x) {
  Params params;
  for (const char* name : {"activation_alpha", "activation_beta", "activation_gamma"}) {
    if (n.HasAttr(name)) params.push_back(n.Float(name, 0));
  }
  return Activated(n, x, n.String("activation", ""), params);
}

// --- Products ---

Outputs FusedMatMul(NodeContext& n) {
  // With transBatch the first axis is the last but one, behind those of batches.
  const auto operand = [&](size_t i, const char* trans, const char* trans_batch) {
    Term x(n, i);
    if (n.Int(trans_batch, 0) != 0 && x.rank() > 2) {
      x = x.Transpose(AxisMoved(x.rank(), 0, x.rank() - 2));
    }
    if (n.Int(trans, 0) == 0 || x.rank() < 2) return x;
    return x.Transpose(AxisMoved(x.rank(), x.rank() - 1, x.rank() - 2));
  };
  const Term y(
      n.b(), MatMulOf(n, operand(0, "transA", "transBatchA"), operand(1, "transB", "transBatchB")));
  const double alpha = n.Float("alpha", 1);
  return {alpha == 1 ? y : y * alpha};
}

Outputs FusedMatMulActivation(NodeContext& n) {
  const Outputs y = FusedMatMul(n);
  return {ActivatedByName(n, {n.b(), y[0]})};
}

Outputs FusedGemm(NodeContext& n) {
  const Outputs y = n.As("Gemm", 13, n.inputs());
  if (y.empty()) return {};
  return {ActivatedByName(n, {n.b(), y[0]})};
}

Outputs GemmFastGelu(NodeContext& n) {
  const Term y(n.b(), MatMulOf(n, n.Input(0), n.Input(1)));
  return {TanhGeluOf(n.Has(2) ? y + Term(n, 2) : y)};
}

// Pairs of a real and an imaginary part along the last axis.
template <bool kConjugate>
Outputs ComplexProduct(NodeContext& n) {
  const auto part = [&](size_t i, int64_t at) { return Term(n, i).Slice(-1, at, at + 1); };
  const Term a = part(0, 0), c = part(1, 0), e = part(0, 1),
             d = kConjugate ? -part(1, 1) : part(1, 1);
  return {n.b().Concat({a * c - e * d, a * d + e * c},
                       std::max(n.Input(0).rank(), n.Input(1).rank()) - 1)};
}

Outputs FusedConv(NodeContext& n) {
  const Outputs y = n.As("Conv", 11, {n.Input(0), n.Input(1), n.Input(2)});
  if (y.empty()) return {};
  Term sum(n.b(), y[0]);
  if (n.Has(3)) sum = sum + Term(n, 3);
  return {Activated(n, sum, n.String("activation", ""), n.Floats("activation_params"))};
}

// Data and result (n, .., c), weights (o, i, ..).
Outputs NhwcFusedConv(NodeContext& n) {
  const Term x(n, 0);
  if (x.rank() < 3) return n.Fail("expected an input of rank 3 or more");
  const std::vector<int64_t> first = AxisMoved(x.rank(), x.rank() - 1, 1);
  const Outputs y = n.As("Conv", 11, {x.Transpose(first), n.Input(1), n.Input(2)});
  if (y.empty()) return {};
  Term sum = Term(n.b(), y[0]).Transpose(AxisMoved(x.rank(), 1, x.rank() - 1));
  if (n.Has(3)) sum = sum + Term(n, 3);
  return {Activated(n, sum, n.String("activation", ""), n.Floats("activation_params"))};
}
Outputs NhwcMaxPool(NodeContext& n) {
  const Term x(n, 0);
  if (x.rank() < 3) return n.Fail("expected an input of rank 3 or more");
  const Outputs y = n.As("MaxPool", 12, {x.Transpose(AxisMoved(x.rank(), x.rank() - 1, 1))});
  if (y.empty()) return {};
  return {Term(n.b(), y[0]).Transpose(AxisMoved(x.rank(), 1, x.rank() - 1))};
}

// x (n, .., c), w (o, .., i).
Outputs NhwcConv(NodeContext& n) {
  const Term x(n, 0), w(n, 1);
  if (x.rank() < 3 || w.rank() != x.rank()) return n.Fail("expected an input of rank 3 or more");
  const std::vector<int64_t> first = AxisMoved(x.rank(), x.rank() - 1, 1);
  const Outputs y = n.As("Conv", 11, {x.Transpose(first), w.Transpose(first), n.Input(2)});
  if (y.empty()) return {};
  return {Term(n.b(), y[0]).Transpose(AxisMoved(x.rank(), 1, x.rank() - 1))};
}

// --- Normalisation ---

template <bool kSimple>
Outputs SkipNorm(NodeContext& n) {
  Term sum = Term(n, 0) + Term(n, 1);
  const size_t bias = kSimple ? 3 : 4;
  if (n.Has(bias)) sum = sum + Term(n, bias);
  const double epsilon = n.Float("epsilon", kSimple ? 1e-5 : 1e-12);
  if (kSimple) {
    const Normalised norm = RmsNormOf(sum, {sum.rank() - 1}, epsilon);
    return {norm.y * Term(n, 2), norm.mean, norm.inverse, sum};
  }
  if (!n.WantsOutput(1) && !n.WantsOutput(2)) {
    return {ScaledLayerNorm(sum, n.Input(2), n.Input(3), epsilon), sum, sum, sum};
  }
  const Normalised norm = LayerNormOf(sum, {sum.rank() - 1}, epsilon);
  Term y = norm.y * Term(n, 2);
  if (n.Has(3)) y = y + Term(n, 3);
  return {y, norm.mean, norm.inverse, sum};
}

// Scale and bias by channel; with activation 1 a Swish follows. Channels come last by default.
Value ScaledGroupNorm(NodeContext& n, const Term& x) {
  const int64_t groups = n.Count("groups", 0);
  if (x.rank() < 3 || groups < 1) {
    n.Fail("expected groups and an input of rank 3 or more");
    return x;
  }
  const bool last = n.Int("channels_last", 1) != 0;
  const Term first = last ? x.Transpose(AxisMoved(x.rank(), x.rank() - 1, 1)) : x;
  Term y = GroupNormOf(first.As(DType::kFloat32), groups, n.Float("epsilon", 1e-5));
  const auto parameter = [&](size_t i) { return Along(Term(n, i).As(y.dtype()), 1, y.rank()); };
  y = y * parameter(1) + parameter(2);
  const int64_t activation = n.Int("activation", 0);
  if (activation == 1) y = y * y.Call("sigmoid");
  if (activation < 0 || activation > 1) n.Fail("activation: expected 0 or 1");
  y = y.As(x.dtype());
  return last ? y.Transpose(AxisMoved(x.rank(), 1, x.rank() - 1)) : y;
}
Outputs GroupNorm(NodeContext& n) { return {ScaledGroupNorm(n, Term(n, 0))}; }

// Inputs: data, scale, bias of the norm, what is added (to each place where it has fewer dims),
// bias.
Outputs SkipGroupNorm(NodeContext& n) {
  const Term x(n, 0), skip(n, 3);
  const bool last = n.Int("channels_last", 1) != 0;
  Term sum = x;
  if (skip.rank() == 2 && x.rank() > 2) {
    sum = x + skip.Expand(last ? 1 : 2, x.rank() - 2);
  } else {
    sum = x + skip;
  }
  if (n.Has(4)) sum = sum + (last ? Term(n, 4) : Along(Term(n, 4), 1, x.rank()));
  return {ScaledGroupNorm(n, sum), sum};
}

// Inputs: words, segments, tables of words, positions and segments, scale, bias, mask, positions.
Outputs EmbedLayerNormalization(NodeContext& n) {
  TypedBuilder& b = n.b();
  if (n.Input(0).rank() != 2) return n.Fail("input_ids: expected (batch, length)");
  const auto rows = [&](size_t input, const char* what, size_t table) {
    return Term(b, Below({n, input, what}, n.Input(input), b.DimOf(n.Input(table), 0)));
  };
  const Term words = rows(0, "input_ids", 2);
  const Term place = n.Has(8) ? rows(8, "position_ids", 3)
                              : Term(b, Below({n, 0, "positions of input_ids"},
                                              RangeOf(b, words, 1), b.DimOf(n.Input(3), 0)));
  Term sum = Term(n, 2).Take(words, 0) + Term(n, 3).Take(place, 0);
  if (n.Has(1) && n.Has(4)) sum = sum + Term(n, 4).Take(rows(1, "segment_ids", 4), 0);
  const Value y = ScaledLayerNorm(sum, n.Input(5), n.Input(6), n.Float("epsilon", 1e-12));
  const Value lengths = n.Has(7) ? Term(n, 7).As(DType::kInt32).Over("sum", {1}, false).value()
                                 : Filled(b, 0, DType::kInt32, b.DimOf(words, 0));
  return {y, lengths, sum};
}

// --- The rest ---

Outputs ExpandDims(NodeContext& n) {
  const auto axis = n.ConstantInts(1, "axis");
  if (!axis || axis->size() != 1) return {};
  return {Term(n, 0).Expand(n.Axis((*axis)[0], n.Input(0).rank() + 1))};
}

// Distances between the rows of two matrices.
Outputs CDist(NodeContext& n) {
  const Term d = Term(n, 0).Expand(1) - Term(n, 1).Expand(0);
  const Term squares = (d * d).Over("sum", {2}, false);
  const std::string metric = n.String("metric", "sqeuclidean");
  if (metric == "sqeuclidean") return {squares};
  if (metric == "euclidean") return {Sqrt(squares)};
  return n.Unsupported("metric '{}' is not supported", metric);
}

Outputs IsAllFinite(NodeContext& n) {
  const bool inf = n.Int("isnan_only", 0) == 0, nan = n.Int("isinf_only", 0) == 0;
  if (!inf && !nan) return n.Fail("expected one of isinf_only and isnan_only at most");
  std::optional<Term> all;
  for (size_t i = 0; i < n.num_inputs(); ++i) {
    const Term x(n, i);
    const Term bad = inf && nan ? Or(x.Call("isinf"), x.Call("isnan"))
                     : inf      ? x.Call("isinf")
                                : x.Call("isnan");
    const Term fine = Not(bad).Over("all", Iota(x.rank()), false);
    all = all ? And(*all, fine) : fine;
  }
  return {*all};
}

Outputs BiasSoftmax(NodeContext& n) { return n.As("Softmax", 11, {Term(n, 0) + Term(n, 1)}); }
Outputs ContribRange(NodeContext& n) {
  const Value step = n.Has(2) ? n.Input(2) : n.b().Scalar(1, n.Input(0).dtype());
  return n.As("Range", 11, {n.Input(0), n.Input(1), step});
}
Outputs TorchEmbedding(NodeContext& n) {
  const Value rows = Below({n, 1, "indices"}, n.Input(1), n.b().DimOf(n.Input(0), 0));
  return {Term(n, 0).Take(rows, 0)};
}

// Windows of `size` along a dim, one every `step`, as a new last axis.
Outputs UnfoldTensor(NodeContext& n) {
  const Term x(n, 0);
  const int axis = n.Axis(n.Int("dim", -1), x.rank());
  const int64_t size = n.Count("size", 0), step = n.Count("step", 1);
  if (!n.b().status().ok()) return {};
  if (size < 1 || step < 1) return n.Fail("expected a positive size and step");
  const Term extent = Extent(n.b(), x, axis);
  const Term count = (extent - static_cast<double>(size))
                         .Call("floor_divide", extent.Number(static_cast<double>(step))) +
                     1;
  const Term first = import::Range(count) * static_cast<double>(step);
  const Term taken = x.Take(first.Expand(1) + import::Range({n.b(), n.b().Int(size)}), axis);
  return {taken.Transpose(AxisMoved(x.rank() + 1, axis + 1, x.rank()))};
}

constexpr OperatorDef kContribOperators[] = {
    {"BiasAdd", 3, 3, BiasAdd, 1, kMicrosoft},
    {"BiasGelu", 2, 2, BiasGelu, 1, kMicrosoft},
    {"BiasSoftmax", 2, 2, BiasSoftmax, 1, kMicrosoft},
    {"BiasSplitGelu", 2, 2, BiasSplitGelu, 1, kMicrosoft},
    {"CDist", 2, 2, CDist, 1, kMicrosoft},
    {"ComplexMul", 2, 2, ComplexProduct<false>, 1, kMicrosoft},
    {"ComplexMulConj", 2, 2, ComplexProduct<true>, 1, kMicrosoft},
    {"EmbedLayerNormalization", 7, 9, EmbedLayerNormalization, 1, kMicrosoft},
    {"ExpandDims", 2, 2, ExpandDims, 1, kMicrosoft},
    {"FastGelu", 1, 2, FastGelu, 1, kMicrosoft},
    {"FusedConv", 2, 4, FusedConv, 1, kMicrosoft},
    {"FusedGemm", 2, 3, FusedGemm, 1, kMicrosoft},
    {"FusedMatMul", 2, 2, FusedMatMul, 1, kMicrosoft},
    {"FusedMatMulActivation", 2, 2, FusedMatMulActivation, 1, kMicrosoft},
    {"GatherND", 2, 2, SameAs<"GatherND", 11>, 1, kMicrosoft},
    {"Gelu", 1, 1, BiasGelu, 1, kMicrosoft},
    {"GemmFastGelu", 2, 3, GemmFastGelu, 1, kMicrosoft},
    {"GroupNorm", 3, 3, GroupNorm, 1, kMicrosoft},
    {"IsAllFinite", 1, -1, IsAllFinite, 1, kMicrosoft},
    {"NhwcConv", 2, 3, NhwcConv, 1, kMicrosoft},
    {"NhwcFusedConv", 2, 4, NhwcFusedConv, 1, kMicrosoft},
    {"NhwcMaxPool", 1, 1, NhwcMaxPool, 1, kMicrosoft},
    {"Pad", 2, 4, SameAs<"Pad", 18>, 1, kMicrosoft},
    {"QuickGelu", 1, 1, QuickGelu, 1, kMicrosoft},
    {"Range", 2, 3, ContribRange, 1, kMicrosoft},
    {"SkipGroupNorm", 4, 5, SkipGroupNorm, 1, kMicrosoft},
    {"SkipLayerNormalization", 3, 5, SkipNorm<false>, 1, kMicrosoft},
    {"SkipSimplifiedLayerNormalization", 3, 4, SkipNorm<true>, 1, kMicrosoft},
    {"TorchEmbedding", 2, 4, TorchEmbedding, 1, kMicrosoft},
    {"TransposeMatMul", 2, 2, FusedMatMul, 1, kMicrosoft},
    {"Trilu", 1, 2, SameAs<"Trilu", 14>, 1, kMicrosoft},
    {"UnfoldTensor", 1, 1, UnfoldTensor, 1, kMicrosoft},
};

}  // namespace

std::span<const OperatorDef> ContribOperators() { return kContribOperators; }

}  // namespace relayvm::import
