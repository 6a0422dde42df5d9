// Pictures and other numbers before a model proper. What only training does (random flips ...)
// hands its input on.
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

// The part of a picture, with these extents, that has the proportions of a size: what is cut off at
// the start, and the extent that stays, of both axes.
struct Part {
  int64_t from[2], extent[2];
};
Part PartOfProportions(const int64_t (&extents)[2], const int64_t (&size)[2]) {
  Part part{{0, 0}, {extents[0], extents[1]}};
  for (int i = 0; i < 2; ++i) {
    const double wanted = static_cast<double>(extents[1 - i]) * static_cast<double>(size[i]) /
                          static_cast<double>(size[1 - i]);
    part.extent[i] = std::min(extents[i], static_cast<int64_t>(wanted));
    const auto spare = static_cast<double>(extents[i] - part.extent[i]);
    part.from[i] = static_cast<int64_t>(spare / 2);
  }
  return part;
}

// To a size, of x whose rows begin at axis `first`; nullopt with an error.
std::optional<Term> Sized(LayerContext& n, Term x, int first, const int64_t (&size)[2],
                          const std::string& how, bool crops) {
  TypedBuilder& b = n.b();
  if (crops) {
    if (!x.value().dim(first).is_const() || !x.value().dim(first + 1).is_const())
      return n.Unsupported("extents that are open, and keep the aspect ratio");
    const int64_t extents[] = {x.value().dim(first).value(), x.value().dim(first + 1).value()};
    const Part part = PartOfProportions(extents, size);
    for (int i = 0; i < 2; ++i) x = x.Slice(first + i, part.from[i], part.from[i] + part.extent[i]);
  }
  ResizeSpec spec{.x = x, .axes = {first, first + 1}};
  spec.sizes = Term(b, b.Ints({size[0], size[1]}));
  spec.cubic = -0.5;
  spec.antialias = n.Bool("antialias", false) && how != "nearest";
  spec.exclude_outside = spec.antialias;
  if (how == "nearest") {
    spec.method = ResizeMethod::kNearest;
    spec.coordinates = ResizeCoordinates::kCentre;
    spec.rounding = ResizeRounding::kFloor;
  } else if (how == "bilinear") {
    spec.method = ResizeMethod::kLinear;
  } else if (how == "bicubic") {
    spec.method = ResizeMethod::kCubic;
    spec.exclude_outside = true;
    spec.phases = spec.antialias ? 0 : 1024;
  } else if (how == "lanczos3" && spec.antialias) {
    spec.method = ResizeMethod::kLanczos;
  } else {
    return n.Unsupported("interpolation '{}' is not supported", how);
  }
  return Term(b, Resized(b, spec));
}

std::optional<int> FirstSpatial(LayerContext& n, const Term& x) {
  if (x.rank() != 3 && x.rank() != 4) return n.Fail("expected pictures");
  return n.ChannelsLast() ? x.rank() - 3 : x.rank() - 2;
}
bool AreSizes(LayerContext& n, const int64_t (&size)[2]) {
  const bool sane = size[0] >= 1 && size[1] >= 1 && size[0] <= 1 << 24 && size[1] <= 1 << 24;
  if (!sane) n.Fail("expected a height and a width");
  return sane;
}

Outputs Resizing(LayerContext& n) {
  const Term x = RealInput(n);
  int64_t size[] = {0, 0};
  if (n.IsNull("height") && n.Ints("size").size() == 2) {
    size[0] = n.Ints("size")[0], size[1] = n.Ints("size")[1];
  } else {
    size[0] = n.Int("height", 0), size[1] = n.Int("width", 0);
  }
  const auto first = FirstSpatial(n, x);
  if (!first || !AreSizes(n, size)) return {};
  std::string how = n.String("interpolation", n.String("method", "bilinear"));
  if (n.Bool("pad_to_aspect_ratio", false) || n.Bool("preserve_aspect_ratio", false))
    return n.Unsupported("sizes that keep the aspect ratio by padding are not supported");
  const auto y = Sized(n, x, *first, size, how, n.Bool("crop_to_aspect_ratio", false));
  return y ? Outputs{*y} : Outputs{};
}

// The middle of pictures; of those that are smaller, a part as large as may be, resized.
Outputs CenterCrop(LayerContext& n) {
  TypedBuilder& b = n.b();
  Term x = RealInput(n);
  const int64_t size[] = {n.Int("height", 0), n.Int("width", 0)};
  const auto first = FirstSpatial(n, x);
  if (!first || !AreSizes(n, size)) return {};
  for (int i = 0; i < 2; ++i) {
    const Dim extent = x.value().dim(*first + i);
    if (!extent.is_const() || extent.value() >= size[i]) continue;
    const auto y = Sized(n, x, *first, size, "bilinear", true);
    return y ? Outputs{*y} : Outputs{};
  }
  for (int i = 0; i < 2; ++i) {
    const int axis = *first + i;
    const Term spare = Extent(b, x, axis) - static_cast<double>(size[i]);
    const Term at = Range(Term(b, b.Int(size[i]))) + spare.Call("floor_divide", spare.Number(2));
    x = x.Take(at, axis);
  }
  return {x};
}

// --- Pools of a size that is said ---

template <size_t kSpatial, bool kAverage>
Outputs AdaptivePool(LayerContext& n) {
  constexpr std::string_view kNames[] = {"nn.adaptive_avg_pool1d", "nn.adaptive_avg_pool2d",
                                         "nn.adaptive_avg_pool3d", "nn.adaptive_max_pool1d",
                                         "nn.adaptive_max_pool2d", "nn.adaptive_max_pool3d"};
  const Term x = RealInput(n);
  std::vector<int64_t> size = n.Ints("output_size");
  if (size.size() == 1) size.assign(kSpatial, size[0]);
  if (size.size() != kSpatial || x.rank() != static_cast<int>(kSpatial) + 2)
    return n.Fail("expected an input of rank {}, and as many sizes", kSpatial + 2);
  for (const int64_t s : size) {
    if (s < 1 || s > 1 << 20) return n.Fail("output_size: expected 1 to 2^20, found {}", s);
  }
  const int rank = x.rank();
  const bool last = n.ChannelsLast();
  n.keeps_mask = false;
  const Value first = last ? x.Transpose(AxisMoved(rank, rank - 1, 1)).value() : x.value();
  const Value y =
      n.b().Op(kNames[kSpatial - 1 + (kAverage ? 0 : 3)], {first}, {{"output_size", ListOf(size)}});
  return {last ? n.b().Transpose(y, AxisMoved(rank, 1, rank - 1)) : y};
}

// Keras 3 leaves pictures as they are.
Outputs RandomCrop(LayerContext& n) {
  return n.model().version >= 3 ? NotWhenRunning(n) : CenterCrop(n);
}

constexpr LayerDef kImageLayers[] = {
    {"AdaptiveAveragePooling1D", 1, 1, AdaptivePool<1, true>},
    {"AdaptiveAveragePooling2D", 1, 1, AdaptivePool<2, true>},
    {"AdaptiveAveragePooling3D", 1, 1, AdaptivePool<3, true>},
    {"AdaptiveMaxPooling1D", 1, 1, AdaptivePool<1, false>},
    {"AdaptiveMaxPooling2D", 1, 1, AdaptivePool<2, false>},
    {"AdaptiveMaxPooling3D", 1, 1, AdaptivePool<3, false>},
    {"AugMix", 1, 1, NotWhenRunning},
    {"CenterCrop", 1, 1, CenterCrop},
    {"CutMix", 1, 1, NotWhenRunning},
    {"MixUp", 1, 1, NotWhenRunning},
    {"Normalization", 1, 1, Normalization},
    {"RandAugment", 1, 1, NotWhenRunning},
    {"RandomBrightness", 1, 1, NotWhenRunning},
    {"RandomColorDegeneration", 1, 1, NotWhenRunning},
    {"RandomColorJitter", 1, 1, NotWhenRunning},
    {"RandomContrast", 1, 1, NotWhenRunning},
    {"RandomCrop", 1, 1, RandomCrop},
    {"RandomElasticTransform", 1, 1, NotWhenRunning},
    {"RandomErasing", 1, 1, NotWhenRunning},
    {"RandomFlip", 1, 1, NotWhenRunning},
    {"RandomGaussianBlur", 1, 1, NotWhenRunning},
    {"RandomGrayscale", 1, 1, NotWhenRunning},
    {"RandomHeight", 1, 1, NotWhenRunning},
    {"RandomHue", 1, 1, NotWhenRunning},
    {"RandomInvert", 1, 1, NotWhenRunning},
    {"RandomPerspective", 1, 1, NotWhenRunning},
    {"RandomPosterization", 1, 1, NotWhenRunning},
    {"RandomRotation", 1, 1, NotWhenRunning},
    {"RandomSaturation", 1, 1, NotWhenRunning},
    {"RandomSharpness", 1, 1, NotWhenRunning},
    {"RandomShear", 1, 1, NotWhenRunning},
    {"RandomTranslation", 1, 1, NotWhenRunning},
    {"RandomWidth", 1, 1, NotWhenRunning},
    {"RandomZoom", 1, 1, NotWhenRunning},
    {"Rescaling", 1, 1, Rescaling},
    {"Resize", 1, 1, Resizing},
    {"Resizing", 1, 1, Resizing},
};

}  // namespace

std::span<const LayerDef> ImageLayers() { return kImageLayers; }

}  // namespace relayvm::import::keras
