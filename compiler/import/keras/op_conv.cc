// Convolutions, pools, padding and cropping along spatial dims.
#include <algorithm>

#include "compiler/import/composite/from_windows.h"
#include "compiler/import/composite/padding.h"
#include "compiler/import/composite/resize.h"
#include "compiler/import/composite/window.h"
#include "compiler/import/keras/model_builder.h"
#include "compiler/import/keras/operands.h"

namespace relayvm::import::keras {

namespace {

constexpr std::string_view kKernels[] = {"WIO", "HWIO", "DHWIO"};
constexpr std::string_view kTransposedKernels[] = {"WOI", "HWOI", "DHWOI"};

// One number for each spatial dim, of a list or of one number.
std::vector<int64_t> Spread(std::vector<int64_t> given, size_t spatial) {
  if (given.size() == 1) given.assign(spatial, given[0]);
  return given;
}

// `keys`: what the layer calls kernel, strides and dilations. Nullopt with an error.
std::optional<Window> WindowOf(LayerContext& n, size_t spatial, std::vector<int64_t> kernel,
                               const std::vector<int64_t>& default_strides) {
  Window w{.kernel = Spread(std::move(kernel), spatial),
           .strides = Spread(n.Ints("strides", default_strides), spatial),
           .dilations = Spread(n.Ints("dilation_rate", {1}), spatial)};
  w.channels_last = n.ChannelsLast();
  const std::string padding = n.String("padding", "valid");
  if (padding == "same") {
    w.padding = WindowPadding::kSameUpper;
  } else if (padding == "causal" && spatial == 1 && w.kernel.size() == 1 &&
             w.dilations.size() == 1) {
    w.pads = {(w.kernel[0] - 1) * w.dilations[0], 0};
  } else if (padding != "valid") {
    return n.Fail("padding: expected valid, same or causal, found '{}'", padding);
  }
  if (n.Input(0).rank() != static_cast<int>(spatial) + 2)
    return n.Fail("expected an input of rank {}, found {}", spatial + 2, n.Input(0).rank());
  if (!IsSane(n, w, spatial)) return std::nullopt;
  return w;
}

std::vector<int64_t> ExtentsOf(LayerContext& n, const Value& kernel) {
  std::vector<int64_t> extents;
  for (int i = 0; i + 2 < kernel.rank(); ++i) {
    if (!kernel.dim(i).is_const()) n.Fail("the kernel's extents must be known");
    extents.push_back(kernel.dim(i).is_const() ? kernel.dim(i).value() : 1);
  }
  return extents;
}

Value Biased(LayerContext& n, const Value& y) {
  if (!n.Bool("use_bias", true)) return y;
  const int axis = n.ChannelsLast() ? y.rank() - 1 : 1;
  return n.b().Op("nn.bias_add", {y, n.Weight()}, {{"axis", axis}});
}

template <size_t kSpatial>
Outputs Conv(LayerContext& n) {
  const Value kernel = n.Weight();
  if (!n.b().status().ok()) return {};
  const auto window = WindowOf(n, kSpatial, ExtentsOf(n, kernel), {1});
  if (!window) return {};
  const auto y = Convolved(n, n.Real(0), kernel,
                           {.window = *window,
                            .groups = n.Int("groups", 1),
                            .kernel_layout = std::string(kKernels[kSpatial - 1])});
  if (!y) return {};
  n.keeps_mask = false;
  return {n.Activated(Term(n, Biased(n, *y)))};
}

// Each channel on its own, by a kernel (spatial.., channels, multiplier).
std::optional<Value> Depthwise(LayerContext& n, size_t spatial) {
  TypedBuilder& b = n.b();
  Value kernel = n.Weight();
  if (!b.status().ok()) return std::nullopt;
  const int rank = static_cast<int>(spatial) + 2;
  if (kernel.rank() != rank) return n.Fail("expected a kernel of rank {}", rank);
  const auto window = WindowOf(n, spatial, ExtentsOf(n, kernel), {1});
  if (!window) return std::nullopt;
  const Dim channels = kernel.dim(rank - 2), times = kernel.dim(rank - 1);
  if (!channels.is_const() || !times.is_const())
    return n.Fail("the kernel's extents must be known");
  std::vector<int64_t> shape = window->kernel;
  shape.push_back(1);
  shape.push_back(channels.value() * times.value());
  return Convolved(n, n.Real(0), b.Reshape(kernel, shape),
                   {.window = *window,
                    .groups = channels.value(),
                    .kernel_layout = std::string(kKernels[spatial - 1])});
}
template <size_t kSpatial>
Outputs DepthwiseConv(LayerContext& n) {
  const auto y = Depthwise(n, kSpatial);
  if (!y) return {};
  n.keeps_mask = false;
  return {n.Activated(Term(n, Biased(n, *y)))};
}
template <size_t kSpatial>
Outputs SeparableConv(LayerContext& n) {
  const auto deep = Depthwise(n, kSpatial);
  if (!deep) return {};
  const Value kernel = n.Weight();
  Window one{.kernel = std::vector<int64_t>(kSpatial, 1),
             .strides = std::vector<int64_t>(kSpatial, 1),
             .dilations = std::vector<int64_t>(kSpatial, 1)};
  one.channels_last = n.ChannelsLast();
  const auto y = Convolved(n, *deep, kernel,
                           {.window = one, .kernel_layout = std::string(kKernels[kSpatial - 1])});
  if (!y) return {};
  n.keeps_mask = false;
  return {n.Activated(Term(n, Biased(n, *y)))};
}

template <size_t kSpatial>
Outputs ConvTranspose(LayerContext& n) {
  const Value kernel = n.Weight();
  if (!n.b().status().ok()) return {};
  const auto window = WindowOf(n, kSpatial, ExtentsOf(n, kernel), {1});
  if (!window) return {};
  TransposedConvSpec spec{.window = *window};
  spec.kernel_layout = kTransposedKernels[kSpatial - 1];
  const bool same = window->padding != WindowPadding::kGiven;
  const std::vector<int64_t> added = Spread(n.Ints("output_padding"), kSpatial);
  if (!added.empty()) {
    if (added.size() != kSpatial) return n.Fail("output_padding: expected {} numbers", kSpatial);
    std::vector<int64_t> before, after;
    for (size_t i = 0; i < kSpatial; ++i) {
      const int64_t total = same ? window->reach(i) / 2 * 2 - added[i] : -added[i];
      before.push_back(std::max<int64_t>(total, 0) / 2);
      after.push_back(total - before.back());
    }
    spec.window.padding = WindowPadding::kGiven;
    spec.window.pads = before;
    spec.window.pads.insert(spec.window.pads.end(), after.begin(), after.end());
  } else if (!same) {
    for (size_t i = 0; i < kSpatial; ++i)
      spec.extra.push_back(std::max<int64_t>(window->strides[i] - window->reach(i), 0));
  }
  const auto y = TransposedConv(n, n.Real(0), kernel, spec);
  if (!y) return {};
  n.keeps_mask = false;
  return {n.Activated(Term(n, Biased(n, *y)))};
}

// --- Pools ---

template <size_t kSpatial, bool kAverage>
Outputs Pool(LayerContext& n) {
  const std::vector<int64_t> size = Spread(n.Ints("pool_size", {2}), kSpatial);
  const auto window = WindowOf(n, kSpatial, size, size);
  if (!window) return {};
  n.keeps_mask = false;
  const auto y = Pooled(n, n.Input(0), {.window = *window, .average = kAverage});
  return y ? Outputs{*y} : Outputs{};
}

template <size_t kSpatial, bool kAverage>
Outputs GlobalPool(LayerContext& n) {
  const Term x(n, n.Input(0));
  if (x.rank() != static_cast<int>(kSpatial) + 2)
    return n.Fail("expected an input of rank {}, found {}", kSpatial + 2, x.rank());
  const std::vector<int64_t> axes = Iota(kSpatial, n.ChannelsLast() ? 1 : 2);
  const bool keep = n.Bool("keepdims", false);
  n.keeps_mask = false;
  if (kAverage && kSpatial == 1 && n.Mask()) {
    // Of the steps that count.
    const Term weight = Term(n, n.Mask()).As(x.dtype()).Expand(n.ChannelsLast() ? 2 : 1);
    return {(x * weight).Over("sum", axes, keep) / weight.Over("sum", axes, keep)};
  }
  return {kAverage ? x.Over("mean", axes, keep) : Extreme(x, "max", axes, keep)};
}

// --- Edges ---

// A start and an end for each spatial dim, as configurations write it: one number, one for each, or
// a pair for each. Nullopt with an error.
std::optional<std::vector<std::pair<int64_t, int64_t>>> Edges(LayerContext& n, size_t spatial,
                                                              std::string_view key, int64_t sign) {
  const std::vector<int64_t> given = n.Ints(key, {1});
  std::vector<std::pair<int64_t, int64_t>> widths(spatial + 2);
  if (n.Input(0).rank() != static_cast<int>(spatial) + 2) {
    n.Fail("expected an input of rank {}, found {}", spatial + 2, n.Input(0).rank());
    return std::nullopt;
  }
  const size_t first = n.ChannelsLast() ? 1 : 2;
  for (size_t i = 0; i < spatial; ++i) {
    int64_t before = 0, after = 0;
    if (given.size() == 2 * spatial) {
      before = given[2 * i], after = given[2 * i + 1];
    } else if (given.size() == 1 || given.size() == spatial) {
      before = after = given[given.size() == 1 ? 0 : i];
    } else {
      n.Fail("{}: expected {} numbers, found {}", key, 2 * spatial, given.size());
      return std::nullopt;
    }
    if (before < 0 || after < 0 || before > INT32_MAX || after > INT32_MAX) {
      n.Fail("{}: out of range", key);
      return std::nullopt;
    }
    widths[first + i] = {sign * before, sign * after};
  }
  return widths;
}
template <size_t kSpatial>
Outputs ZeroPadding(LayerContext& n) {
  auto widths = Edges(n, kSpatial, "padding", 1);
  if (!widths) return {};
  n.keeps_mask = false;
  const auto y = Padded(n, n.Input(0), *std::move(widths), {.fill = Like(n, n.Input(0), 0)});
  return y ? Outputs{*y} : Outputs{};
}
template <size_t kSpatial>
Outputs Cropping(LayerContext& n) {
  auto widths = Edges(n, kSpatial, "cropping", -1);
  if (!widths) return {};
  n.keeps_mask = false;
  const auto y = Padded(n, n.Input(0), *std::move(widths), {.fill = Like(n, n.Input(0), 0)});
  return y ? Outputs{*y} : Outputs{};
}

template <size_t kSpatial>
Outputs UpSampling(LayerContext& n) {
  Value x = n.Input(0);
  const std::vector<int64_t> size = Spread(n.Ints("size", {2}), kSpatial);
  const std::string how = n.String("interpolation", "nearest");
  const int first = n.ChannelsLast() ? 1 : 2;
  if (size.size() != kSpatial || x.rank() != static_cast<int>(kSpatial) + 2)
    return n.Fail("expected an input of rank {}, and as many numbers in size", kSpatial + 2);
  n.keeps_mask = false;
  for (const int64_t s : size) {
    if (s < 1 || s > 1 << 20) return n.Fail("size: expected 1 to 2^20, found {}", s);
  }
  if (how == "nearest") {
    for (size_t i = 0; i < kSpatial; ++i)
      x = n.b().Op("repeat", {x}, {{"repeats", size[i]}, {"axis", first + static_cast<int>(i)}});
    return {x};
  }
  // Keras 2 resizes in float32, whatever the layer computes in.
  if (n.model().version < 3) x = n.b().Cast(x, DType::kFloat32);
  ResizeSpec spec{.x = x, .axes = Iota(kSpatial, first)};
  spec.known_scales.emplace(size.begin(), size.end());
  spec.cubic = -0.5;
  spec.phases = 1024;
  spec.exclude_outside = how == "bicubic";
  if (how != "bilinear" && how != "bicubic")
    return n.Unsupported("interpolation '{}' is not supported", how);
  spec.method = how == "bilinear" ? ResizeMethod::kLinear : ResizeMethod::kCubic;
  return {Resized(n, spec)};
}

constexpr LayerDef kConvLayers[] = {
    {"AveragePooling1D", 1, 1, Pool<1, true>},
    {"AveragePooling2D", 1, 1, Pool<2, true>},
    {"AveragePooling3D", 1, 1, Pool<3, true>},
    {"Conv1D", 1, 1, Conv<1>},
    {"Conv1DTranspose", 1, 1, ConvTranspose<1>},
    {"Conv2D", 1, 1, Conv<2>},
    {"Conv2DTranspose", 1, 1, ConvTranspose<2>},
    {"Conv3D", 1, 1, Conv<3>},
    {"Conv3DTranspose", 1, 1, ConvTranspose<3>},
    {"Convolution1D", 1, 1, Conv<1>},
    {"Convolution2D", 1, 1, Conv<2>},
    {"Convolution3D", 1, 1, Conv<3>},
    {"Cropping1D", 1, 1, Cropping<1>},
    {"Cropping2D", 1, 1, Cropping<2>},
    {"Cropping3D", 1, 1, Cropping<3>},
    {"Deconvolution2D", 1, 1, ConvTranspose<2>},
    {"DepthwiseConv1D", 1, 1, DepthwiseConv<1>},
    {"DepthwiseConv2D", 1, 1, DepthwiseConv<2>},
    {"GlobalAveragePooling1D", 1, 1, GlobalPool<1, true>},
    {"GlobalAveragePooling2D", 1, 1, GlobalPool<2, true>},
    {"GlobalAveragePooling3D", 1, 1, GlobalPool<3, true>},
    {"GlobalMaxPooling1D", 1, 1, GlobalPool<1, false>},
    {"GlobalMaxPooling2D", 1, 1, GlobalPool<2, false>},
    {"GlobalMaxPooling3D", 1, 1, GlobalPool<3, false>},
    {"MaxPooling1D", 1, 1, Pool<1, false>},
    {"MaxPooling2D", 1, 1, Pool<2, false>},
    {"MaxPooling3D", 1, 1, Pool<3, false>},
    {"SeparableConv1D", 1, 1, SeparableConv<1>},
    {"SeparableConv2D", 1, 1, SeparableConv<2>},
    {"SeparableConvolution2D", 1, 1, SeparableConv<2>},
    {"UpSampling1D", 1, 1, UpSampling<1>},
    {"UpSampling2D", 1, 1, UpSampling<2>},
    {"UpSampling3D", 1, 1, UpSampling<3>},
    {"ZeroPadding1D", 1, 1, ZeroPadding<1>},
    {"ZeroPadding2D", 1, 1, ZeroPadding<2>},
    {"ZeroPadding3D", 1, 1, ZeroPadding<3>},
};

}  // namespace

std::span<const LayerDef> ConvLayers() { return kConvLayers; }

}  // namespace relayvm::import::keras
