// Resize and Upsample. See composite/resize.h.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "compiler/import/composite/resize.h"
#include "compiler/import/onnx/checked.h"

namespace relayvm::import {

namespace {

template <typename Kind>
struct Named {
  std::string_view name;
  Kind kind;
};
template <typename Kind, size_t kCount>
std::optional<Kind> KindOfName(const Named<Kind> (&all)[kCount], std::string_view name) {
  const auto* found = std::find_if(std::begin(all), std::end(all),
                                   [&](const Named<Kind>& one) { return one.name == name; });
  return found == std::end(all) ? std::nullopt : std::optional(found->kind);
}

using Method = ResizeMethod;
using Coordinates = ResizeCoordinates;
using Rounding = ResizeRounding;

constexpr Named<Method> kMethods[] = {
    {"nearest", Method::kNearest}, {"linear", Method::kLinear}, {"cubic", Method::kCubic}};
constexpr Named<Coordinates> kCoordinates[] = {
    {"half_pixel", Coordinates::kHalfPixel},
    {"half_pixel_symmetric", Coordinates::kHalfPixelSymmetric},
    {"pytorch_half_pixel", Coordinates::kHalfPixelOrFirst},
    {"align_corners", Coordinates::kAlignCorners},
    {"asymmetric", Coordinates::kAsymmetric},
    {"tf_half_pixel_for_nn", Coordinates::kCentre},
    {"tf_crop_and_resize", Coordinates::kCrop}};
constexpr Named<Rounding> kRoundings[] = {{"round_prefer_floor", Rounding::kPreferFloor},
                                          {"round_prefer_ceil", Rounding::kPreferCeil},
                                          {"floor", Rounding::kFloor},
                                          {"ceil", Rounding::kCeil}};
constexpr Named<ResizeAspect> kAspects[] = {{"stretch", ResizeAspect::kStretch},
                                            {"not_larger", ResizeAspect::kNotLarger},
                                            {"not_smaller", ResizeAspect::kNotSmaller}};

// The scales of input `i`: as constants too where they are such.
bool ReadScales(NodeContext& n, size_t i, ResizeSpec& s) {
  if (!n.ExpectShape(i, {Dim(static_cast<int64_t>(s.axes.size()))}, "scales")) return false;
  const Value v = n.Input(i);
  s.scales = Term(n, i).As(DType::kFloat32);
  s.scales_name.emplace(n, i, "1 for a positive number, of scales");
  s.scales_are_of_sizes = n.b().ScalarsOf(v).has_value();
  if (v.constant == nullptr) return true;
  s.known_scales = n.ConstantFloats(i, "scales");
  if (!s.known_scales) return false;
  for (double scale : *s.known_scales) {
    if (!(scale > 0) || scale > 1e6) return n.Fail("scales: expected positive numbers"), false;
  }
  return true;
}

// How to resample, as the attributes say; false where the node has an error.
bool ReadResize(NodeContext& n, bool old, ResizeSpec& s) {
  const auto fail = [&](std::string_view why) { return n.Fail(why), false; };
  const std::string mode = n.String("mode", "nearest");
  const std::string coordinates =
      n.String("coordinate_transformation_mode", old ? "asymmetric" : "half_pixel");
  const std::string nearest = n.String("nearest_mode", old ? "floor" : "round_prefer_floor");
  const auto method = KindOfName(kMethods, mode);
  if (!method)
    return fail(fmt::format("mode: expected nearest, linear or cubic, found '{}'", mode));
  const auto place = KindOfName(kCoordinates, coordinates);
  if (!place)
    return fail(fmt::format("coordinate_transformation_mode: '{}' is not known", coordinates));
  const auto rounding = KindOfName(kRoundings, nearest);
  if (!rounding) return fail(fmt::format("nearest_mode: '{}' is not known", nearest));
  s.axes = n.HasAttr("axes") ? n.Axes(n.Ints("axes"), s.x.rank()) : Iota(s.x.rank());
  const std::string policy = n.String("keep_aspect_ratio_policy", "stretch");
  const auto aspect = KindOfName(kAspects, policy);
  if (!aspect) return fail(fmt::format("keep_aspect_ratio_policy: '{}' is not known", policy));
  s.method = *method, s.coordinates = *place, s.rounding = *rounding, s.aspect = *aspect;
  s.cubic = n.Float("cubic_coeff_a", -0.75);
  s.extrapolation = n.Float("extrapolation_value", 0);
  s.exclude_outside = n.Int("exclude_outside", 0) != 0;
  s.antialias = n.Int("antialias", 0) != 0 && s.method != Method::kNearest;
  return n.b().status().ok();
}

Outputs Resize(NodeContext& n) {
  const bool old = n.opset() < 11;
  ResizeSpec s{.x = n.Input(0)};
  if (!ReadResize(n, old, s)) return {};
  const auto count = static_cast<int64_t>(s.axes.size());
  if (s.coordinates == Coordinates::kCrop && !n.ExpectShape(1, {Dim(2 * count)}, "roi")) return {};
  if (n.Has(1)) s.crop = Term(n, 1);
  if (!old && n.Has(3)) {
    if (!n.ExpectShape(3, {Dim(count)}, "sizes")) return {};
    s.sizes = Term(n.b(), NotNegative({n, 3, "sizes"})).As(DType::kInt64);
  } else {
    const size_t input = old ? 1 : 2;
    if (!n.Has(input)) return n.Fail("expected scales or sizes");
    if (!ReadScales(n, input, s)) return {};
  }
  return {Resized(n.b(), s)};
}

Outputs Upsample(NodeContext& n) {
  std::string mode = n.String("mode", "nearest");
  if (mode == "bilinear" || mode == "trilinear") mode = "linear";
  const auto method = KindOfName(kMethods, mode);
  if (!method || *method == Method::kCubic)
    return n.Fail("mode: expected nearest or linear, found '{}'", mode);
  const auto rank = static_cast<size_t>(n.Input(0).rank());
  ResizeSpec s{.x = n.Input(0), .axes = Iota(n.Input(0).rank()), .method = *method};
  s.coordinates = Coordinates::kAsymmetric;
  s.rounding = Rounding::kFloor;
  if (n.Has(1)) {
    if (!ReadScales(n, 1, s)) return {};
  } else {
    s.known_scales = n.Floats("scales");
    if (!n.HasAttr("scales") && rank == 4) {
      s.known_scales = {1, 1, n.Float("height_scale", 1), n.Float("width_scale", 1)};
    }
    if (s.known_scales->size() != rank) return n.Fail("scales: expected one for each axis");
    for (double scale : *s.known_scales) {
      if (!(scale > 0) || scale > 1e6) return n.Fail("scales: expected positive numbers");
    }
  }
  return {Resized(n.b(), s)};
}

constexpr OperatorDef kResizeOperators[] = {
    {"Resize", 1, 4, Resize, 10},
    {"Upsample", 1, 2, Upsample},
};

}  // namespace

std::span<const OperatorDef> ResizeOperators() { return kResizeOperators; }

}  // namespace relayvm::import
