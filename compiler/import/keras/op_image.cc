// Pictures and other data before a model proper: sizes, numbers, categories. What only training
// does (random flips ...) hands its input on.
#include <algorithm>
#include <cmath>

#include "compiler/import/composite/resize.h"
#include "compiler/import/keras/layer.h"

namespace relayvm::import::keras {

namespace {

Outputs NotWhenRunning(LayerContext& n) { return {n.Input(0)}; }

Term RealInput(LayerContext& n) {
  const Term x(n, n.Input(0));
  return IsFloat(x.dtype()) ? x : x.As(DType::kFloat32);
}

Outputs Rescaling(LayerContext& n) {
  const Term x = RealInput(n);
  const std::vector<double> scale = n.Floats("scale"), offset = n.Floats("offset");
  const auto constant = [&](const std::vector<double>& v, double fallback) {
    if (v.empty()) return x.Number(fallback);
    if (v.size() == 1) return x.Number(v[0]);
    return Term(n, Table(n, v, {static_cast<int64_t>(v.size())})).As(x.dtype());
  };
  return {x * constant(scale, 1) + constant(offset, 0)};
}

// By means and variances that the file or the configuration holds, along an axis.
Outputs Normalization(LayerContext& n) {
  const Term x = RealInput(n);
  std::vector<int64_t> axes = n.Ints("axis", {-1});
  if (!n.IsNull("axis") && axes.empty()) axes = {};
  const std::vector<double> means = n.Floats("mean"), variances = n.Floats("variance");
  const bool given = !means.empty();
  const auto value = [&](const std::vector<double>& v) {
    if (!given) return Term(n, n.Weight()).As(x.dtype());
    return Term(n, Table(n, v, {static_cast<int64_t>(v.size())})).As(x.dtype());
  };
  Term mean = value(means), variance = value(variances);
  if (!n.b().status().ok()) return {};
  const auto placed = [&](const Term& v) {
    const Term flat = v.Reshape({-1});
    if (flat.value().dim(0).is_const(1)) return AsScalar(flat);
    if (axes.size() != 1) return v;
    return Along(flat, n.Axis(axes[0], x.rank()), x.rank());
  };
  mean = placed(mean), variance = placed(variance);
  const Term deviation = Sqrt(variance);
  const Term least = Maximum(deviation, deviation.Number(1e-7));
  return {n.Bool("invert", false) ? mean + x * least : (x - mean) / least};
}

Outputs Resizing(LayerContext& n) {
  const Term x = RealInput(n);
  const int64_t height = n.Int("height", 0), width = n.Int("width", 0);
  const std::string how = n.String("interpolation", "bilinear");
  if (height < 1 || width < 1 || height > INT32_MAX || width > INT32_MAX || x.rank() < 3)
    return n.Fail("expected a height and a width, and pictures");
  if (n.Bool("crop_to_aspect_ratio", false) || n.Bool("pad_to_aspect_ratio", false))
    return n.Unsupported("sizes that keep the aspect ratio are not supported");
  const int first = n.ChannelsLast() ? x.rank() - 3 : x.rank() - 2;
  ResizeSpec spec{.x = x, .axes = {first, first + 1}};
  spec.sizes = Term(n, n.b().Ints({height, width}));
  spec.cubic = -0.5;
  if (how == "nearest") {
    spec.method = ResizeMethod::kNearest;
    spec.coordinates = ResizeCoordinates::kCentre;
    spec.rounding = ResizeRounding::kFloor;
  } else if (how == "bilinear") {
    spec.method = ResizeMethod::kLinear;
  } else if (how == "bicubic") {
    spec.method = ResizeMethod::kCubic;
    spec.exclude_outside = true;
  } else {
    return n.Unsupported("interpolation '{}' is not supported", how);
  }
  spec.antialias = n.Bool("antialias", false) && spec.method != ResizeMethod::kNearest;
  return {Resized(n, spec)};
}

// The middle of pictures, which must be as large.
Outputs CenterCrop(LayerContext& n) {
  TypedBuilder& b = n.b();
  Term x = RealInput(n);
  const int64_t sizes[] = {n.Int("height", 0), n.Int("width", 0)};
  const int first = n.ChannelsLast() ? x.rank() - 3 : x.rank() - 2;
  if (x.rank() < 3) return n.Fail("expected pictures");
  for (int i = 0; i < 2; ++i) {
    const int axis = first + i;
    const Dim extent = x.value().dim(axis);
    if (extent.is_const() && extent.value() < sizes[i])
      return n.Unsupported("pictures that are smaller than the crop");
    const Term spare = Extent(b, x, axis) - static_cast<double>(sizes[i]);
    const Term at = Range(Term(b, b.Int(sizes[i]))) + spare.Call("floor_divide", spare.Number(2));
    x = x.Take(at, axis);
  }
  return {x};
}

// --- Categories ---

Outputs CategoryEncoding(LayerContext& n) {
  TypedBuilder& b = n.b();
  Term x = Term(n, n.Input(0)).As(DType::kInt64);
  const int64_t count = n.Int("num_tokens", 0);
  const std::string mode = n.String("output_mode", "multi_hot");
  if (count < 1 || count > 1 << 24) return n.Fail("num_tokens: expected 1 to 2^24");
  n.keeps_mask = false;
  const Term places(b, b.Ints(Iota(count)));
  const bool one_hot = mode == "one_hot";
  if (one_hot && x.rank() > 0 && x.value().dim(-1).is_const(1)) x = Term(b, b.Squeeze(x, {-1}));
  const Term hits = Equal(x.Expand(x.rank()), places).As(DType::kFloat32);
  if (one_hot) return {hits};
  const int axis = std::max(x.rank() - 1, 0);
  if (x.rank() == 0) return {hits};
  if (mode == "multi_hot") return {hits.Over("max", {axis}, false)};
  if (mode == "count") {
    if (!n.Has(1)) return {hits.Over("sum", {axis}, false)};
    return {(hits * Term(n, n.Input(1)).As(DType::kFloat32).Expand(x.rank()))
                .Over("sum", {axis}, false)};
  }
  return n.Fail("output_mode: '{}' is not known", mode);
}

Outputs Discretization(LayerContext& n) {
  TypedBuilder& b = n.b();
  const std::vector<double> bounds = n.Floats("bin_boundaries");
  if (n.String("output_mode", "int") != "int") return n.Unsupported("output_mode: expected int");
  if (bounds.empty()) return n.Unsupported("bin_boundaries that were learnt are not read");
  const Term x = RealInput(n);
  const Value all = Term(b, Table(b, bounds, {static_cast<int64_t>(bounds.size())})).As(x.dtype());
  return {b.Op("searchsorted", {all, x}, {{"right", true}, {"dtype", "int32"}})};
}

constexpr LayerDef kImageLayers[] = {
    {"CategoryEncoding", 1, 2, CategoryEncoding},
    {"CenterCrop", 1, 1, CenterCrop},
    {"Discretization", 1, 1, Discretization},
    {"Normalization", 1, 1, Normalization},
    {"RandomBrightness", 1, 1, NotWhenRunning},
    {"RandomContrast", 1, 1, NotWhenRunning},
    {"RandomFlip", 1, 1, NotWhenRunning},
    {"RandomHeight", 1, 1, NotWhenRunning},
    {"RandomRotation", 1, 1, NotWhenRunning},
    {"RandomTranslation", 1, 1, NotWhenRunning},
    {"RandomWidth", 1, 1, NotWhenRunning},
    {"RandomZoom", 1, 1, NotWhenRunning},
    {"Rescaling", 1, 1, Rescaling},
    {"Resizing", 1, 1, Resizing},
};

}  // namespace

std::span<const LayerDef> ImageLayers() { return kImageLayers; }

}  // namespace relayvm::import::keras
