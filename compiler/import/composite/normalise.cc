#include "compiler/import/composite/normalise.h"

namespace relayvm::import {

Normalised LayerNormOf(const Term& x, const std::vector<int64_t>& axes, double epsilon) {
  const Term wide = x.As(WideFloat(x.dtype()));
  const Term mean = Mean(wide, axes), centred = wide - mean;
  const Term inverse = 1.0 / Sqrt(Mean(centred * centred, axes) + epsilon);
  return {(centred * inverse).As(x.dtype()), mean, inverse};
}

Normalised RmsNormOf(const Term& x, const std::vector<int64_t>& axes, double epsilon) {
  const Term wide = x.As(WideFloat(x.dtype()));
  const Term inverse = 1.0 / Sqrt(Mean(wide * wide, axes) + epsilon);
  return {(wide * inverse).As(x.dtype()), inverse, inverse};
}

Term Grouped(const Term& x, int64_t groups) {
  TypedBuilder& b = x.b();
  const Term channels(b, b.DimOf(x, 1));
  return {b, ShapedAs(b, x,
                      {b.DimOf(x, 0), b.Ints({groups}), channels / static_cast<double>(groups),
                       ProductOfDims(b, x, 2, x.rank())})};
}

Term GroupNormOf(const Term& x, int64_t groups, double epsilon) {
  TypedBuilder& b = x.b();
  const Term y = LayerNormOf(Grouped(x, groups), {2, 3}, epsilon).y;
  return {b, ShapedAs(b, y, {b.ShapeOf(x)})};
}

Value ScaledLayerNorm(const Term& x, const Value& scale, const Value& bias, double epsilon) {
  TypedBuilder& b = x.b();
  if (bias && IsFloat(x.dtype()) && x.dtype() == WideFloat(x.dtype()) && scale.rank() == 1 &&
      bias.rank() == 1) {
    return b.Op("nn.layer_norm", {x, scale, bias}, {{"axis", -1}, {"epsilon", epsilon}});
  }
  Term y = LayerNormOf(x, {x.rank() - 1}, epsilon).y * Term(b, scale);
  if (bias) y = y + Term(b, bias);
  return y;
}

}  // namespace relayvm::import
