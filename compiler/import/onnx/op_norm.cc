// Normalisation. See composite/normalise.h.
#include <fmt/format.h>

#include "compiler/import/composite/normalise.h"
#include "compiler/import/onnx/arithmetic.h"

namespace relayvm::import {

namespace {

Outputs LayerNormalization(NodeContext& n) {
  const Term x(n, 0);
  const int axis = n.Axis(n.Int("axis", -1), x.rank());
  const double epsilon = n.Float("epsilon", 1e-5);
  if (!n.b().status().ok()) return {};
  if (axis == x.rank() - 1 && !n.WantsOutput(1) && !n.WantsOutput(2)) {
    return {ScaledLayerNorm(x, n.Input(1), n.Input(2), epsilon)};
  }
  const Normalised norm = LayerNormOf(x, Iota(x.rank() - axis, axis), epsilon);
  Term y = norm.y * Term(n, 1);
  if (n.Has(2)) y = y + Term(n, 2);
  return {y, norm.mean, norm.inverse};
}

Outputs RMSNormalization(NodeContext& n) {
  const Term x(n, 0);
  const int axis = n.Axis(n.Int("axis", -1), x.rank());
  if (!n.b().status().ok()) return {};
  const Normalised norm = RmsNormOf(x, Iota(x.rank() - axis, axis), n.Float("epsilon", 1e-5));
  return {norm.y * Term(n, 1), norm.inverse};
}

// Scale and bias have one number for each group before opset 21, for each channel from it on.
Outputs GroupNormalization(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Term x(n, 0);
  const int64_t groups = n.Count("num_groups", 0);
  if (x.rank() < 2 || groups < 1)
    return n.Fail("expected num_groups and an input of rank 2 or more");
  const double epsilon = n.Float("epsilon", 1e-5);
  const auto parameter = [&](size_t i) { return Term(n, i).As(x.dtype()); };
  if (n.opset() < 21) {
    const Term y = LayerNormOf(Grouped(x, groups), {2, 3}, epsilon).y * Along(parameter(1), 1, 4) +
                   Along(parameter(2), 1, 4);
    return {ShapedAs(b, y, {b.ShapeOf(x)})};
  }
  const Term y = GroupNormOf(x, groups, epsilon);
  return {y * Along(parameter(1), 1, x.rank()) + Along(parameter(2), 1, x.rank())};
}

Outputs MeanVarianceNormalization(NodeContext& n) {
  const Term x(n, 0);
  const std::vector<int64_t> axes = n.Axes(n.Ints("axes", {0, 2, 3}), x.rank());
  if (!n.b().status().ok()) return {};
  const Term centred = x - Mean(x, axes);
  return {centred / (Sqrt(Mean(centred * centred, axes)) + 1e-9)};
}

Outputs LpNormalization(NodeContext& n) {
  const Term x(n, 0);
  const int axis = n.Axis(n.Int("axis", -1), x.rank());
  const int64_t p = n.Int("p", 2);
  if (!n.b().status().ok()) return {};
  if (p != 1 && p != 2) return n.Fail("p: expected 1 or 2, found {}", p);
  const Term norm = p == 1 ? Sum(Abs(x), {axis}) : Sqrt(Sum(x * x, {axis}));
  return {x / Select(norm > 0, norm, norm.Number(1))};  // zeros stay zeros
}

Outputs BatchNormalization(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Term x(n, 0);
  const double epsilon = n.Float("epsilon", 1e-5);
  if (x.rank() < 2) return n.Fail("expected an input of rank 2 or more");
  if (n.opset() < 9 && n.Int("spatial", 1) == 0) return n.Unsupported("spatial=0 is not supported");
  if (n.opset() < 7 && n.Int("is_test", 0) == 0) return n.Unsupported("training is not supported");
  const auto parameter = [&](size_t i) { return Term(n, i).As(x.dtype()); };
  if (n.Int("training_mode", 0) == 0) {
    if (n.WantsOutput(1)) return n.Unsupported("training is not supported before opset 14");
    const Value all =
        b.Op("nn.batch_norm", {x, parameter(1), parameter(2), parameter(3), parameter(4)},
             {{"axis", 1}, {"epsilon", epsilon}});
    return {b.Field(all, 0)};
  }
  std::vector<int64_t> axes = {0};
  for (int i = 2; i < x.rank(); ++i) axes.push_back(i);
  const Term wide = x.As(WideFloat(x.dtype()));
  const Term mean = Mean(wide, axes), centred = wide - mean;
  const Term variance = Mean(centred * centred, axes);
  const Term y = (centred / Sqrt(variance + epsilon)).As(x.dtype());
  const double momentum = n.Float("momentum", 0.9);
  const auto running = [&](size_t i, const Term& now) {
    const Term flat = now.Reshape({-1}).As(n.Input(i).dtype());
    return Term(n, i) * momentum + flat * (1 - momentum);
  };
  return {y * Along(parameter(1), 1, x.rank()) + Along(parameter(2), 1, x.rank()), running(3, mean),
          running(4, variance)};
}

constexpr OperatorDef kNormOperators[] = {
    {"BatchNormalization", 5, 5, BatchNormalization},
    {"GroupNormalization", 3, 3, GroupNormalization, 18},
    // ONNX Runtime writes it into older models too.
    {"LayerNormalization", 2, 3, LayerNormalization},
    {"LpNormalization", 1, 1, LpNormalization},
    {"MeanVarianceNormalization", 1, 1, MeanVarianceNormalization, 9},
    {"RMSNormalization", 2, 2, RMSNormalization, 23},
    {"SimplifiedLayerNormalization", 2, 2, RMSNormalization},
    {"LayerNormalization", 2, 3, LayerNormalization, 1, kMicrosoft},
    {"SimplifiedLayerNormalization", 2, 2, RMSNormalization, 1, kMicrosoft},
};

}  // namespace

std::span<const OperatorDef> NormOperators() { return kNormOperators; }

}  // namespace relayvm::import
