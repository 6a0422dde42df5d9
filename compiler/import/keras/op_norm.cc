// Normalisation.
#include <algorithm>
#include <cmath>

#include "compiler/import/composite/normalise.h"
#include "compiler/import/keras/model_builder.h"

namespace relayvm::import::keras {

namespace {

// The input of a layer that computes in float32 where numbers have 16 bits; so have its weights.
Term WideInput(LayerContext& n) {
  const Term x(n, n.Real(0));
  const bool small = DTypeBits(x.dtype()) < 32;
  if (small) n.weight_dtype = DType::kFloat32;
  return small ? x.As(DType::kFloat32) : x;
}
Outputs Narrowed(LayerContext& n, const Term& y) { return {y.As(n.Real(0).dtype())}; }

// Axes in order, without the input's sign.
std::vector<int64_t> AxesOf(LayerContext& n, int rank) {
  std::vector<int64_t> axes = n.Ints("axis", {-1});
  for (int64_t& axis : axes) axis = n.Axis(axis, rank);
  std::sort(axes.begin(), axes.end());
  if (std::ranges::adjacent_find(axes) != axes.end()) n.Fail("axis: one stands twice");
  return axes;
}
// A weight of the axes, as it meets x.
Term AlongAxes(const Term& w, const std::vector<int64_t>& axes, int rank) {
  Term all = w;
  if (w.rank() != static_cast<int>(axes.size())) return all;  // it has 1 for each other axis
  for (int axis = 0; axis < rank; ++axis) {
    if (std::ranges::count(axes, axis) == 0) all = all.Expand(axis);
  }
  return all;
}

Outputs BatchNormalization(LayerContext& n) {
  TypedBuilder& b = n.b();
  const Term x = WideInput(n);
  // Keras 2 writes a list.
  const std::vector<int64_t> axes = AxesOf(n, x.rank());
  if (!b.status().ok()) return {};
  const bool scale = n.Bool("scale", true), centre = n.Bool("center", true);
  const Value gamma = scale ? n.Weight() : Value{}, beta = centre ? n.Weight() : Value{};
  const Value mean = n.Weight(), variance = n.Weight();
  const double epsilon = n.Float("epsilon", 1e-3);
  if (!b.status().ok()) return {};
  if (axes.size() != 1 || mean.rank() != 1) {
    const auto placed = [&](const Value& w) { return AlongAxes({b, w}, axes, x.rank()); };
    Term y = (x - placed(mean)) * (placed(variance) + epsilon).Call("rsqrt");
    if (gamma) y = y * placed(gamma);
    if (beta) y = y + placed(beta);
    return Narrowed(n, y);
  }
  if (!mean.dim(0).is_const()) return {};
  const std::vector<int64_t> shape = {mean.dim(0).value()};
  const Value one = gamma ? gamma : b.Full(shape, 1, mean.dtype()),
              zero = beta ? beta : b.Full(shape, 0, mean.dtype());
  const std::vector<Value> all =
      b.Ops("nn.batch_norm", {x.As(mean.dtype()), one, zero, mean, variance},
            {{"axis", axes[0]}, {"epsilon", epsilon}});
  return all.empty() ? Outputs{} : Narrowed(n, {b, all[0]});
}

Outputs LayerNormalization(LayerContext& n) {
  const Term x = WideInput(n);
  // Weights have the order in which axes are given, and are read in the axes' own.
  std::vector<int64_t> given = n.Ints("axis", {-1});
  for (int64_t& axis : given) axis = n.Axis(axis, x.rank());
  const std::vector<int64_t> axes = AxesOf(n, x.rank());
  if (!n.b().status().ok()) return {};
  const auto weight = [&] {
    const Term w(n, n.Weight());
    if (given == axes || w.rank() != static_cast<int>(axes.size()))
      return AlongAxes(w, axes, x.rank());
    std::vector<Value> dims;
    for (const int64_t axis : axes) {
      const auto place = static_cast<int>(std::ranges::find(given, axis) - given.begin());
      dims.push_back(n.b().DimOf(w, place));
    }
    return AlongAxes({n, ShapedAs(n, w, dims)}, axes, x.rank());
  };
  const double epsilon = n.Float("epsilon", 1e-3);
  if (n.Bool("rms_scaling", false)) {
    // By the variance, not by the mean of squares.
    const Term centred = x - Mean(x, axes);
    const Term size = (Mean(centred * centred, axes) + epsilon).Call("rsqrt");
    return Narrowed(n, x * size * weight());
  }
  Term y = LayerNormOf(x, axes, epsilon).y;
  if (n.Bool("scale", true)) y = y * weight();
  if (n.Bool("center", true)) y = y + weight();
  return Narrowed(n, y);
}

Outputs RmsNormalization(LayerContext& n) {
  const Term x = WideInput(n);
  const std::vector<int64_t> axes = AxesOf(n, x.rank());
  if (!n.b().status().ok()) return {};
  const Term y = RmsNormOf(x, axes, n.Float("epsilon", 1e-6)).y;
  return Narrowed(n, y * AlongAxes({n, n.Weight()}, axes, x.rank()));
}

Outputs GroupNormalization(LayerContext& n) {
  TypedBuilder& b = n.b();
  const Term x = WideInput(n);
  const int axis = n.Axis(n.Int("axis", -1), x.rank());
  if (!b.status().ok()) return {};
  const Dim channels = x.value().dim(axis);
  if (!channels.is_const()) return n.Unsupported("the number of channels must be known");
  int64_t groups = n.Int("groups", 32);
  if (groups == -1) groups = channels.value();
  if (groups < 1 || channels.value() % groups != 0)
    return n.Fail("groups: {} does not divide {} channels", groups, channels.value());
  const Term first = x.Transpose(AxisMoved(x.rank(), axis, 1));
  const Term normal = GroupNormOf(first, groups, n.Float("epsilon", 1e-3));
  Term y = normal.Transpose(AxisMoved(x.rank(), 1, axis));
  if (n.Bool("scale", true)) y = y * Along(Term(n, n.Weight()), axis, x.rank());
  if (n.Bool("center", true)) y = y + Along(Term(n, n.Weight()), axis, x.rank());
  return Narrowed(n, y);
}

// The kernel of the layer inside, as training left it.
Outputs SpectralNormalization(LayerContext& n) {
  const Json* layer = n.Setting("layer");
  if (layer == nullptr || !layer->is_object()) return n.Fail("expected a layer");
  WeightScope inner = n.weights();
  if (inner.by_place) {
    inner.Rewind();
    inner.place += "/layer";
  }
  Outputs out;
  for (const Tensor& t : n.model().Call(*layer, inner, {{n.Input(0), n.Mask()}}))
    out.push_back(t.value);
  return out;
}

Outputs UnitNormalization(LayerContext& n) {
  const Term x(n, n.Real(0));
  std::vector<int64_t> axes = n.Ints("axis", {-1});
  for (int64_t& axis : axes) axis = n.Axis(axis, x.rank());
  const Term size = Sum(x * x, axes);
  return {x * Maximum(size, size.Number(1e-12)).Call("rsqrt")};
}

constexpr LayerDef kNormLayers[] = {
    {"BatchNormalization", 1, 1, BatchNormalization},
    {"GroupNormalization", 1, 1, GroupNormalization},
    {"LayerNormalization", 1, 1, LayerNormalization},
    {"RMSNormalization", 1, 1, RmsNormalization},
    {"SpectralNormalization", 1, 1, SpectralNormalization},
    {"UnitNormalization", 1, 1, UnitNormalization},
};

}  // namespace

std::span<const LayerDef> NormLayers() { return kNormLayers; }

}  // namespace relayvm::import::keras
