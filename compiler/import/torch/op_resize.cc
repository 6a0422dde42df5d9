// Pictures of another size, samples of pictures, padding, channels and space moved into each other,
// windows as columns.
#include <algorithm>
#include <cmath>

#include "compiler/import/composite/from_windows.h"
#include "compiler/import/composite/padding.h"
#include "compiler/import/composite/resize.h"
#include "compiler/import/torch/nn_tables.h"
#include "compiler/import/torch/quantised.h"
#include "compiler/import/torch/windows.h"

namespace relayvm::import::torch {

namespace {

// --- Sizes ---

// What a call says of the result: sizes (int64, rank 0 each), and scales that positions are
// computed by; 0: by the sizes.
struct PictureSize {
  std::vector<Term> sizes;
  std::vector<double> scales;
};

PictureSize OfScales(const Call& n, const Value& x, const std::vector<double>& factors,
                     bool keep_scales) {
  TypedBuilder& b = n.b();
  PictureSize out;
  for (size_t i = 0; i < factors.size(); ++i) {
    const int axis = static_cast<int>(i) + 2;
    const double factor = factors[i];
    if (!(factor > 0) || factor > (1 << 20)) {
      n.Fail("scale_factors: expected numbers above 0, found {}", factor);
      return out;
    }
    const Dim d = x.dim(axis);
    const Term extent = Extent(b, x, axis);
    if (d.is_const()) {
      out.sizes.emplace_back(
          b, b.Int(static_cast<int64_t>(std::floor(static_cast<double>(d.value()) * factor))));
    } else if (factor == std::floor(factor)) {
      out.sizes.push_back(extent * factor);
    } else if (1 / factor == std::floor(1 / factor)) {
      out.sizes.push_back(extent.Call("floor_divide", extent.Number(1 / factor)));
    } else {
      out.sizes.push_back(Floor(extent.As(DType::kFloat64) * factor).As(DType::kInt64));
    }
    out.scales.push_back(keep_scales ? factor : 0);
  }
  return out;
}

// By output_size= and scales_h= and the like, or by output_size= or scale_factors=.
std::optional<PictureSize> ReadSize(const Call& n, const Value& x) {
  const auto spatial = static_cast<size_t>(std::max(x.rank() - 2, 0));
  if (spatial < 1 || spatial > 3)
    return n.Fail("expected an input of rank 3 to 5, found rank {}", x.rank());
  PictureSize out;
  if (n.Has("scale_factors") && !n.Has("output_size")) {
    out = OfScales(n, x, n.Floats("scale_factors"), /*keep_scales=*/true);
  } else {
    for (const Value& v : n.SymInts("output_size")) out.sizes.emplace_back(n.b(), v);
    if (out.sizes.size() == 1) out.sizes.resize(spatial, out.sizes[0]);
    for (const char* name : {"scales_d", "scales_h", "scales_w", "scales"}) {
      if (n.schema().Find(name) >= 0) out.scales.push_back(std::max(n.Float(name), 0.0));
    }
    if (out.scales.size() != spatial) out.scales.assign(spatial, 0);
  }
  if (out.sizes.size() != spatial)
    return n.Fail("expected sizes of {} dims, found {}", spatial, out.sizes.size());
  return out;
}

// --- Methods ---

// Element o is that at floor(o * step), or floor((o + 0.5) * step), in float32.
Value NearestResized(const Call& n, const Value& input, const PictureSize& to, bool exact) {
  TypedBuilder& b = n.b();
  Term x(n, input);
  for (size_t i = 0; i < to.sizes.size(); ++i) {
    const int axis = static_cast<int>(i) + 2;
    const Term out = to.sizes[i], in = Extent(b, x, axis);
    const auto extents = b.Elements(out);
    const Dim d = x.value().dim(axis);
    const double scale = to.scales[i];
    if (extents && (*extents)[0] == d && (scale == 0 || scale == 1)) continue;
    double times = scale;
    if (times == 0 && extents && (*extents)[0].is_const() && d.is_const() && d.value() > 0)
      times = static_cast<double>((*extents)[0].value()) / static_cast<double>(d.value());
    if (times >= 1 && times == std::floor(times) && extents &&
        (*extents)[0] == d * Dim(static_cast<int64_t>(times))) {
      x = x.Call("repeat", {{"repeats", static_cast<int64_t>(times)}, {"axis", axis}});
      continue;
    }
    const Term step = scale > 0
                          ? Term(b, b.Scalar(static_cast<float>(1.0 / scale), DType::kFloat32))
                          : in.As(DType::kFloat32) / out.As(DType::kFloat32);
    const Term o = Range(out).As(DType::kFloat32);
    const Term place = Floor((exact ? o + 0.5 : o) * step).As(DType::kInt64);
    x = x.Take(Minimum(place, in - 1), axis);
  }
  return x;
}

// With `antialias` corners that are aligned give the scale alone: positions are those of halves.
std::optional<std::vector<double>> AlignedScales(const Call& n, const Value& x,
                                                 const PictureSize& to) {
  std::vector<double> scales;
  for (size_t i = 0; i < to.sizes.size(); ++i) {
    const Dim in = x.dim(static_cast<int>(i) + 2);
    const auto out = n.b().ConstantInts(to.sizes[i]);
    if (!in.is_const() || !out || out->size() != 1 || in.value() < 2 || (*out)[0] < 2)
      return n.Unsupported("antialias with align_corners, of extents that are open or 1");
    scales.push_back(static_cast<double>((*out)[0] - 1) / static_cast<double>(in.value() - 1));
  }
  return scales;
}

Value SmoothResized(const Call& n, const Value& x, const PictureSize& to, ResizeMethod method,
                    bool align_corners, bool antialias) {
  TypedBuilder& b = n.b();
  const bool scaled = align_corners && antialias;
  ResizeSpec spec{.x = x, .axes = Iota(static_cast<int64_t>(to.sizes.size()), 2)};
  spec.method = method;
  spec.coordinates =
      align_corners && !scaled ? ResizeCoordinates::kAlignCorners : ResizeCoordinates::kHalfPixel;
  spec.cubic = antialias ? -0.5 : -0.75;
  spec.antialias = antialias;
  spec.exclude_outside = antialias;
  std::vector<Value> sizes;
  for (const Term& s : to.sizes) sizes.push_back(b.Reshape(s, {1}));
  spec.sizes = Term(b, b.Concat(sizes, 0));
  // Corners that are aligned leave nothing to scales.
  if (!align_corners) spec.position_scales = to.scales;
  if (scaled) {
    const auto scales = AlignedScales(n, x, to);
    if (!scales) return {};
    spec.position_scales = *scales;
  }
  if (x.dtype() == DType::kUInt8) {
    // The last axis first: bytes are rounded between.
    spec.in_bytes = true;
    std::ranges::reverse(spec.axes);
    std::ranges::reverse(spec.position_scales);
    std::ranges::reverse(sizes);
    spec.sizes = Term(b, b.Concat(sizes, 0));
  }
  return Resized(b, spec);
}

template <bool kExact>
Results UpsampleNearest(Call& n) {
  const auto to = ReadSize(n, n.Input(0));
  if (!to || !n.b().status().ok()) return {};
  return {NearestResized(n, n.Input(0), *to, kExact)};
}
template <ResizeMethod kMethod, bool kAntialias>
Results Upsample(Call& n) {
  const auto to = ReadSize(n, n.Input(0));
  const bool align = n.Bool("align_corners");
  if (!to || !n.b().status().ok()) return {};
  return {SmoothResized(n, n.Input(0), *to, kMethod, align, kAntialias)};
}

// What torch.nn.functional.interpolate takes: size= or scale_factor=, and a mode.
Results Interpolate(Call& n) {
  TypedBuilder& b = n.b();
  const Value x = n.Input(0);
  const auto spatial = static_cast<size_t>(std::max(x.rank() - 2, 0));
  if (spatial < 1 || spatial > 3) return n.Fail("expected an input of rank 3 to 5");
  PictureSize to;
  if (n.Has("size")) {
    for (const Value& v : n.SymInts("size")) to.sizes.emplace_back(n, v);
    if (to.sizes.size() == 1) to.sizes.resize(spatial, to.sizes[0]);
    to.scales.assign(spatial, 0);
  } else {
    std::vector<double> factors = n.Floats("scale_factor");
    if (factors.size() == 1) factors.resize(spatial, factors[0]);
    to = OfScales(n, x, factors, !n.Bool("recompute_scale_factor"));
  }
  if (!b.status().ok()) return {};
  if (to.sizes.size() != spatial) return n.Fail("expected sizes of {} dims", spatial);
  const std::string mode = n.name() == "aten::__upsample_bilinear"  ? "bilinear"
                           : n.name() == "aten::__upsample_nearest" ? "nearest"
                                                                    : n.String("mode", "nearest");
  const bool align = n.Bool("align_corners", n.name() == "aten::__upsample_bilinear"),
             antialias = n.Bool("antialias");
  if (mode == "nearest" || mode == "nearest-exact")
    return {NearestResized(n, x, to, mode == "nearest-exact")};
  if (mode == "linear" || mode == "bilinear" || mode == "trilinear")
    return {SmoothResized(n, x, to, ResizeMethod::kLinear, align, antialias)};
  if (mode == "bicubic") return {SmoothResized(n, x, to, ResizeMethod::kCubic, align, antialias)};
  if (mode != "area") return n.Unsupported("mode '{}' is not supported", mode);
  std::vector<Argument> sizes;
  for (const Term& s : to.sizes) sizes.push_back(ScalarArgument(b, s));
  constexpr std::string_view kPools[] = {"aten::adaptive_avg_pool1d", "aten::adaptive_avg_pool2d",
                                         "aten::adaptive_avg_pool3d"};
  return n.As(kPools[spatial - 1], {x, Argument::List(sizes)});
}

// --- Samples ---

Results GridSample(Call& n) {
  const Term given = Real(n), grid(n, 1), x = given.As(SumType(given.dtype()));
  const int rank = x.rank();
  const int64_t mode = n.Int("interpolation_mode"), padding = n.Int("padding_mode");
  if (rank != 4 && rank != 5) return n.Fail("expected 2 or 3 spatial dims");
  if (mode < 0 || mode > 2 || padding < 0 || padding > 2)
    return n.Fail("expected an interpolation and a padding of 0 to 2");
  constexpr const char* kMethods[] = {"bilinear", "nearest", "bicubic"};
  constexpr const char* kPaddings[] = {"zeros", "border", "reflection"};
  return {x.Call("image.grid_sample", grid.As(x.dtype()).Transpose(AxisMoved(rank, rank - 1, 1)),
                 {{"method", kMethods[mode]},
                  {"padding_mode", kPaddings[padding]},
                  {"align_corners", n.Bool("align_corners")},
                  {"layout", rank == 4 ? "NCHW" : "NCDHW"}})
              .As(given.dtype())};
}

// --- Padding ---

std::optional<Value> PaddedLast(const Call& n, const Value& x, const Argument& pads,
                                const PadSpec& spec) {
  TypedBuilder& b = n.b();
  const size_t rank = static_cast<size_t>(x.rank()), dims = pads.items.size() / 2;
  if (pads.items.size() % 2 != 0 || dims > rank)
    return n.Fail("pad: {} numbers for an input of rank {}", pads.items.size(), rank);
  std::vector<std::pair<int64_t, int64_t>> widths(rank);
  std::vector<Value> before(rank, b.Ints({0})), after(rank, b.Ints({0}));
  bool known = true;
  for (size_t i = 0; i < dims; ++i) {
    // From the last axis on.
    const size_t axis = rank - 1 - i;
    const auto low = n.KnownInt(pads.items[2 * i]), high = n.KnownInt(pads.items[2 * i + 1]);
    known = known && low && high;
    if (low && high) widths[axis] = {*low, *high};
    before[axis] = b.Reshape(n.SymInt(pads.items[2 * i], "pad"), {1});
    after[axis] = b.Reshape(n.SymInt(pads.items[2 * i + 1], "pad"), {1});
  }
  if (!b.status().ok()) return std::nullopt;
  if (known) return Padded(b, x, widths, spec);
  const Value all = b.Concat({b.Concat(before, 0), b.Concat(after, 0)}, 0);
  return PaddedBy({b, all, "pad of " + std::string(n.name())}, x, {b, b.Concat(before, 0)},
                  {b, b.Concat(after, 0)}, spec);
}

Results PadBy(Call& n, std::string_view pads, const std::string& mode) {
  Value x = n.Input(0);
  Argument widths = n.Arg(pads);
  const bool known = std::ranges::all_of(
      widths.items, [](const Argument& w) { return w.is(Argument::Kind::kInt); });
  // What is cut off is no part of what goes around.
  for (size_t i = 0; known && mode == "wrap" && i < widths.items.size(); ++i) {
    const int axis = x.rank() - 1 - static_cast<int>(i / 2);
    int64_t& width = widths.items[i].integer;
    if (width >= 0 || axis < 0) continue;
    x = i % 2 == 0 ? Sliced(n, x, axis, n.b().Int(-width), n.b().Int(INT64_MAX))
                   : Sliced(n, x, axis, n.b().Int(0), n.b().Int(width));
    width = 0;
  }
  const bool filled = n.Has("value");
  const Argument& q = n.Arg(size_t{0});
  Value fill = filled ? n.Number("value", x.dtype()) : Like(n, x, 0);
  // Zeros of quantised tensors.
  if (q.quantised != nullptr && !filled)
    fill = AsScalar(ZeroPointOf(n, *q.quantised, 0, x.dtype()));
  const auto y = PaddedLast(n, x, widths, {.fill = fill, .mode = mode});
  if (!y) return {};
  return {*y};
}
Results Pad(Call& n) {
  const std::string mode = n.String("mode", "constant");
  if (mode == "constant" || mode == "reflect") return PadBy(n, "pad", mode);
  if (mode == "replicate") return PadBy(n, "pad", "edge");
  if (mode == "circular") return PadBy(n, "pad", "wrap");
  return n.Fail("mode: expected constant, reflect, replicate or circular, found '{}'", mode);
}
Results PadEnum(Call& n) {
  constexpr const char* kModes[] = {"constant", "reflect", "edge", "wrap"};
  const int64_t mode = n.Int("mode");
  if (mode < 0 || mode > 3) return n.Fail("mode: expected 0 to 3, found {}", mode);
  return PadBy(n, "pad", kModes[mode]);
}
Results PadConstant(Call& n) { return PadBy(n, "pad", "constant"); }
Results PadCircular(Call& n) { return PadBy(n, "pad", "wrap"); }
Results PadReflected(Call& n) { return PadBy(n, "padding", "reflect"); }
Results PadReplicated(Call& n) { return PadBy(n, "padding", "edge"); }

// --- Channels and space ---

// (.., c * r * r, h, w) as (.., c, h * r, w * r), and back.
Results PixelShuffle(Call& n) {
  TypedBuilder& b = n.b();
  const Term x(n, 0);
  const int64_t r = n.Int("upscale_factor", 1);
  const int rank = x.rank(), c = rank - 3;
  if (rank < 3 || r < 1) return n.Fail("expected rank 3 or more, and a positive factor");
  const Value rest = ProductOfDims(b, x, 0, c),
              channels = Term(b, b.DimOf(x, c)).Call("floor_divide", b.Int(r * r));
  const Term parts(
      b, ShapedAs(b, x, {rest, channels, b.Ints({r, r}), b.DimOf(x, c + 1), b.DimOf(x, c + 2)}));
  std::vector<Value> dims = DimsOf(b, x);
  dims[static_cast<size_t>(c)] = channels;
  for (const int i : {c + 1, c + 2})
    dims[static_cast<size_t>(i)] = Term(b, b.DimOf(x, i)) * static_cast<double>(r);
  return {ShapedAs(b, parts.Transpose({0, 1, 4, 2, 5, 3}), dims)};
}
Results PixelUnshuffle(Call& n) {
  TypedBuilder& b = n.b();
  const Term x(n, 0);
  const int64_t r = n.Int("downscale_factor", 1);
  const int rank = x.rank(), c = rank - 3;
  if (rank < 3 || r < 1) return n.Fail("expected rank 3 or more, and a positive factor");
  const Value rest = ProductOfDims(b, x, 0, c);
  const auto part = [&](int axis) {
    return Term(b, b.DimOf(x, axis)).Call("floor_divide", b.Int(r)).value();
  };
  const Term parts(
      b, ShapedAs(b, x, {rest, b.DimOf(x, c), part(c + 1), b.Ints({r}), part(c + 2), b.Ints({r})}));
  std::vector<Value> dims = DimsOf(b, x);
  dims[static_cast<size_t>(c)] = Term(b, b.DimOf(x, c)) * static_cast<double>(r * r);
  for (const int i : {c + 1, c + 2}) dims[static_cast<size_t>(i)] = part(i);
  return {ShapedAs(b, parts.Transpose({0, 1, 3, 5, 2, 4}), dims)};
}
Results ChannelShuffle(Call& n) {
  TypedBuilder& b = n.b();
  const Term x(n, 0);
  const int64_t groups = n.Int("groups", 1);
  if (x.rank() < 2 || groups < 1) return n.Fail("expected rank 2 or more, and groups");
  const Value size = Term(b, b.DimOf(x, 1)).Call("floor_divide", b.Int(groups));
  const Term parts(
      b, ShapedAs(b, x, {b.DimOf(x, 0), b.Ints({groups}), size, ProductOfDims(b, x, 2, x.rank())}));
  return {ShapedAs(b, parts.Transpose({0, 2, 1, 3}), DimsOf(b, x))};
}

// --- Windows as columns ---

Results Im2Col(Call& n) {
  TypedBuilder& b = n.b();
  const Batched data(n, n.Input(0), 2);
  const PoolSpec spec = ReadPool(n, 2);
  if (!b.status().ok() || !IsSane(b, spec.window, 2) || !FewTaps(b, spec.window)) return {};
  const Term w = WindowsOf({b, data.x()}, spec, 0).values.Transpose({0, 1, 4, 5, 2, 3});
  return {data.Off(
      ShapedAs(b, w, {b.DimOf(w, 0), ProductOfDims(b, w, 1, 4), ProductOfDims(b, w, 4, 6)}))};
}
Results Col2Im(Call& n) {
  TypedBuilder& b = n.b();
  const Value input = n.Input(0);
  const Batched data(n, input, 1);
  const std::vector<int64_t> padding = n.Ints("padding", 2, 0);
  const Value image = n.Sizes("output_size"), block = b.Ints(n.Ints("kernel_size", 2, 1));
  if (!b.status().ok()) return {};
  const auto y = Folded({b, data.x()}, {b, image, "output_size of aten::col2im"},
                        {b, block, "kernel_size of aten::col2im"},
                        {.strides = n.Ints("stride", 2, 1),
                         .dilations = n.Ints("dilation", 2, 1),
                         .pads = BothSides(padding)});
  if (!y) return {};
  return {data.Off(*y)};
}

constexpr OperatorDef kResizeOperators[] = {
    {"aten::upsample_nearest1d.vec(Tensor input, int[]? output_size, float[]? "
     "scale_factors) -> Tensor",
     UpsampleNearest<false>, Takes::kMoves},
    {"aten::upsample_nearest1d(Tensor self, int[1] output_size, float? scales=None) -> "
     "Tensor",
     UpsampleNearest<false>, Takes::kMoves},
    {"aten::upsample_nearest2d.vec(Tensor input, int[]? output_size, float[]? "
     "scale_factors) -> Tensor",
     UpsampleNearest<false>, Takes::kMoves},
    {"aten::upsample_nearest2d(Tensor self, int[2] output_size, float? scales_h=None, "
     "float? scales_w=None) -> Tensor",
     UpsampleNearest<false>, Takes::kMoves},
    {"aten::upsample_nearest3d.vec(Tensor input, int[]? output_size, float[]? "
     "scale_factors) -> Tensor",
     UpsampleNearest<false>, Takes::kMoves},
    {"aten::upsample_nearest3d(Tensor self, int[3] output_size, float? scales_d=None, "
     "float? scales_h=None, float? scales_w=None) -> Tensor",
     UpsampleNearest<false>, Takes::kMoves},
    {"aten::_upsample_nearest_exact1d(Tensor self, int[1] output_size, float? "
     "scales=None) -> Tensor",
     UpsampleNearest<true>, Takes::kMoves},
    {"aten::_upsample_nearest_exact1d.vec(Tensor input, int[]? output_size, float[]? "
     "scale_factors) -> Tensor",
     UpsampleNearest<true>, Takes::kMoves},
    {"aten::_upsample_nearest_exact2d(Tensor self, int[2] output_size, float? "
     "scales_h=None, float? scales_w=None) -> Tensor",
     UpsampleNearest<true>, Takes::kMoves},
    {"aten::_upsample_nearest_exact2d.vec(Tensor input, int[]? output_size, float[]? "
     "scale_factors) -> Tensor",
     UpsampleNearest<true>, Takes::kMoves},
    {"aten::_upsample_nearest_exact3d.vec(Tensor input, int[]? output_size, float[]? "
     "scale_factors) -> Tensor",
     UpsampleNearest<true>, Takes::kMoves},
    {"aten::_upsample_nearest_exact3d(Tensor self, int[3] output_size, float? "
     "scales_d=None, float? scales_h=None, float? scales_w=None) -> Tensor",
     UpsampleNearest<true>, Takes::kMoves},
    {"aten::upsample_linear1d.vec(Tensor input, int[]? output_size, bool align_corners, "
     "float[]? scale_factors) -> Tensor",
     Upsample<ResizeMethod::kLinear, false>},
    {"aten::upsample_linear1d(Tensor self, int[1] output_size, bool align_corners, float? "
     "scales=None) -> Tensor",
     Upsample<ResizeMethod::kLinear, false>},
    {"aten::upsample_bilinear2d.vec(Tensor input, int[]? output_size, bool align_corners, "
     "float[]? scale_factors) -> Tensor",
     Requantising<Upsample<ResizeMethod::kLinear, false>>, Takes::kQuantised},
    {"aten::upsample_bilinear2d(Tensor self, int[2] output_size, bool align_corners, "
     "float? scales_h=None, float? scales_w=None) -> Tensor",
     Requantising<Upsample<ResizeMethod::kLinear, false>>, Takes::kQuantised},
    {"aten::upsample_trilinear3d.vec(Tensor input, int[]? output_size, bool "
     "align_corners, float[]? scale_factors) -> Tensor",
     Upsample<ResizeMethod::kLinear, false>},
    {"aten::upsample_trilinear3d(Tensor self, int[3] output_size, bool align_corners, "
     "float? scales_d=None, float? scales_h=None, float? scales_w=None) -> Tensor",
     Upsample<ResizeMethod::kLinear, false>},
    {"aten::upsample_bicubic2d.vec(Tensor input, int[]? output_size, bool align_corners, "
     "float[]? scale_factors) -> Tensor",
     Upsample<ResizeMethod::kCubic, false>},
    {"aten::upsample_bicubic2d(Tensor self, int[2] output_size, bool align_corners, "
     "float? scales_h=None, float? scales_w=None) -> Tensor",
     Upsample<ResizeMethod::kCubic, false>},
    {"aten::_upsample_bilinear2d_aa(Tensor self, int[2] output_size, bool align_corners, "
     "float? scales_h=None, float? scales_w=None) -> Tensor",
     Upsample<ResizeMethod::kLinear, true>},
    {"aten::_upsample_bilinear2d_aa.vec(Tensor input, int[]? output_size, bool "
     "align_corners, float[]? scale_factors) -> Tensor",
     Upsample<ResizeMethod::kLinear, true>},
    {"aten::_upsample_bicubic2d_aa(Tensor self, int[2] output_size, bool align_corners, "
     "float? scales_h=None, float? scales_w=None) -> Tensor",
     Upsample<ResizeMethod::kCubic, true>},
    {"aten::_upsample_bicubic2d_aa.vec(Tensor input, int[]? output_size, bool "
     "align_corners, float[]? scale_factors) -> Tensor",
     Upsample<ResizeMethod::kCubic, true>},
    {"aten::_upsample_lanczos2d_aa(Tensor self, int[2] output_size, bool align_corners, "
     "float? scales_h=None, float? scales_w=None) -> Tensor",
     Upsample<ResizeMethod::kLanczos, true>},
    {"aten::_upsample_lanczos2d_aa.vec(Tensor input, int[]? output_size, bool "
     "align_corners, float[]? scale_factors) -> Tensor",
     Upsample<ResizeMethod::kLanczos, true>},
    {"aten::__interpolate.scale_list(Tensor input, int? size=None, float[]? "
     "scale_factor=None, str mode=\"nearest\", bool? align_corners=None, bool? "
     "recompute_scale_factor=None, bool antialias=False) -> Tensor",
     Interpolate},
    {"aten::__interpolate.size_list_scale_list(Tensor input, int[]? size=None, float[]? "
     "scale_factor=None, str mode=\"nearest\", bool? align_corners=None, bool? "
     "recompute_scale_factor=None, bool antialias=False) -> Tensor",
     Interpolate},
    {"aten::__interpolate(Tensor input, int? size=None, float? scale_factor=None, str "
     "mode=\"nearest\", bool? align_corners=None, bool? recompute_scale_factor=None, bool "
     "antialias=False) -> Tensor",
     Interpolate},
    {"aten::__interpolate.size_list(Tensor input, int[]? size=None, float? "
     "scale_factor=None, str mode=\"nearest\", bool? align_corners=None, bool? "
     "recompute_scale_factor=None, bool antialias=False) -> Tensor",
     Interpolate},
    {"aten::__upsample(Tensor input, int? size=None, int? scale_factor=None, str "
     "mode=\"nearest\", bool? align_corners=None) -> Tensor",
     Interpolate},
    {"aten::__upsample.size_list(Tensor input, int[]? size=None, int? scale_factor=None, "
     "str mode=\"nearest\", bool? align_corners=None) -> Tensor",
     Interpolate},
    {"aten::__upsample_nearest(Tensor input, int? size=None, int? scale_factor=None) -> "
     "Tensor",
     Interpolate},
    {"aten::__upsample_nearest.size_list(Tensor input, int[]? size=None, int? "
     "scale_factor=None) -> Tensor",
     Interpolate},
    {"aten::__upsample_bilinear(Tensor input, int? size=None, int? scale_factor=None) -> "
     "Tensor",
     Interpolate},
    {"aten::__upsample_bilinear.size_list(Tensor input, int[]? size=None, int? "
     "scale_factor=None) -> Tensor",
     Interpolate},
    {"aten::__upsample_bilinear.scale_list(Tensor input, int? size=None, int[]? "
     "scale_factor=None) -> Tensor",
     Interpolate},
    {"aten::__upsample_bilinear.size_list_scale_list(Tensor input, int[]? size=None, "
     "int[]? scale_factor=None) -> Tensor",
     Interpolate},
    {"aten::grid_sampler(Tensor input, Tensor grid, int interpolation_mode, int "
     "padding_mode, bool align_corners) -> Tensor",
     GridSample},
    {"aten::grid_sampler_2d(Tensor input, Tensor grid, int interpolation_mode, int "
     "padding_mode, bool align_corners) -> Tensor",
     GridSample},
    {"aten::grid_sampler_3d(Tensor input, Tensor grid, int interpolation_mode, int "
     "padding_mode, bool align_corners) -> Tensor",
     GridSample},
    {"aten::_grid_sampler_2d_cpu_fallback(Tensor input, Tensor grid, int "
     "interpolation_mode, int padding_mode, bool align_corners) -> Tensor",
     GridSample},
    {"aten::pad(Tensor self, int[] pad, str mode=\"constant\", float? value=None) -> "
     "Tensor",
     Pad, Takes::kMoves},
    {"aten::_pad_enum(Tensor self, int[] pad, int mode, float? value=None) -> Tensor", PadEnum,
     Takes::kMoves},
    {"aten::_pad_circular(Tensor self, int[] pad) -> Tensor", PadCircular, Takes::kMoves},
    {"aten::constant_pad_nd(Tensor self, int[] pad, Scalar value=0) -> Tensor", PadConstant,
     Takes::kMoves},
    {"aten::reflection_pad1d(Tensor self, int[2] padding) -> Tensor", PadReflected, Takes::kMoves},
    {"aten::reflection_pad2d(Tensor self, int[4] padding) -> Tensor", PadReflected, Takes::kMoves},
    {"aten::reflection_pad3d(Tensor self, int[6] padding) -> Tensor", PadReflected, Takes::kMoves},
    {"aten::replication_pad1d(Tensor self, int[2] padding) -> Tensor", PadReplicated,
     Takes::kMoves},
    {"aten::replication_pad2d(Tensor self, int[4] padding) -> Tensor", PadReplicated,
     Takes::kMoves},
    {"aten::replication_pad3d(Tensor self, int[6] padding) -> Tensor", PadReplicated,
     Takes::kMoves},
    {"aten::pixel_shuffle(Tensor self, int upscale_factor) -> Tensor", PixelShuffle, Takes::kMoves},
    {"aten::pixel_unshuffle(Tensor self, int downscale_factor) -> Tensor", PixelUnshuffle,
     Takes::kMoves},
    {"aten::channel_shuffle(Tensor self, int groups) -> Tensor", ChannelShuffle, Takes::kMoves},
    {"aten::native_channel_shuffle(Tensor self, int groups) -> Tensor", ChannelShuffle,
     Takes::kMoves},
    {"aten::im2col(Tensor self, int[2] kernel_size, int[2] dilation, int[2] padding, "
     "int[2] stride) -> Tensor",
     Im2Col},
    {"aten::col2im(Tensor self, int[2] output_size, int[2] kernel_size, int[2] dilation, "
     "int[2] padding, int[2] stride) -> Tensor",
     Col2Im},
};

}  // namespace

OperatorTable ResizeOperators() { return kResizeOperators; }

}  // namespace relayvm::import::torch
