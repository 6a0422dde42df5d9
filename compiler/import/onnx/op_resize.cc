// Resize and Upsample. Axis by axis each element of the result is a sum of weighted elements of the
// input ("taps"): which ones and how much they weigh are small vectors, computed in float64 from the
// extents and scales. Where these are known when compiling the vectors fold to constants.
#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "compiler/import/onnx/checked.h"
#include "compiler/import/onnx/quantised.h"

namespace relayvm::import {

namespace {

using Outputs = std::vector<Value>;

struct Mode {
  std::string method, coordinates, nearest;
  double cubic = -0.75, extrapolation = 0;
  bool exclude_outside = false, antialias = false;
};

// One axis to resample.
struct Line {
  int axis;
  Term extent, out;         // rank 0, int64
  Term scale;               // rank 0, float64
  Term width;               // the extent of the result before it is rounded, rank 0, float64
  Term roi_start, roi_end;  // rank 0, float64; of tf_crop_and_resize
  std::optional<double> known_scale;
};

Term Double(TypedBuilder& b, double v) { return {b, b.Scalar(v, DType::kFloat64)}; }

// The position in the input of each element of the result, rank 1;
// in float32 where that decides which element is the nearest: as ONNX Runtime rounds.
Term Positions(const Mode& m, const Line& line, DType real = DType::kFloat64) {
  const Term o = Range(line.out).As(real);
  const Term in = line.extent.As(real), out = line.out.As(real);
  const Term width = line.width.As(real), scale = line.scale.As(real);
  Term half = (o + 0.5) / scale - 0.5;
  const Term one = width <= 1.0;
  const Term steps = Select(one, width.Number(1), width - 1);
  if (m.coordinates == "asymmetric") return o / scale;
  if (m.coordinates == "tf_half_pixel_for_nn") return (o + 0.5) / scale;
  if (m.coordinates == "pytorch_half_pixel") return Select(one, o * 0.0, half);
  if (m.coordinates == "align_corners") return Select(one, o * 0.0, o * (in - 1) / steps);
  if (m.coordinates == "half_pixel_symmetric") {
    const Term adjusted = out / (scale * in);
    return in / 2 * (1.0 - adjusted) + half;
  }
  if (m.coordinates == "tf_crop_and_resize") {
    const Term start = line.roi_start.As(real) * (in - 1), end = line.roi_end.As(real) * (in - 1);
    return Select(one, (start + end) / 2 + o * 0.0, start + o * (end - start) / steps);
  }
  return half;
}

Term Rounded(const Term& x, const std::string& how) {
  if (how == "floor") return Floor(x);
  if (how == "ceil") return x.Call("ceil");
  if (how == "round_prefer_ceil") return Floor(x + 0.5);
  return (x - 0.5).Call("ceil");
}

// The weight of a tap at distance `d` (>= 0).
Term Weight(const Mode& m, const Term& d) {
  const Term zero = d.Number(0);
  if (m.method == "linear") return Maximum(1.0 - d, zero);
  const double a = m.cubic;
  const Term inner = ((a + 2) * d - (a + 3)) * d * d + 1;
  const Term outer = ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
  return Select(d <= 1, inner, Select(d < 2, outer, zero));
}

// What lies outside of the picture in tf_crop_and_resize.
Term Extrapolated(const Mode& m, const Term& y, const Line& line, const Term& position) {
  if (m.coordinates != "tf_crop_and_resize") return y;
  const Term inside = And(position >= 0.0, position <= (line.extent - 1).As(position.dtype()));
  return Select(Along(inside, line.axis, y.rank()), y, y.Number(m.extrapolation));
}

DType Real(const Term& x) {
  return x.dtype() == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32;
}

// A smaller picture takes all of the larger one: taps are as many as a step is wide, (out, taps).
Term Antialiased(const Mode& m, const Term& x, const Line& line) {
  TypedBuilder& b = x.b();
  const Term position = Positions(m, line);
  const double support = m.method == "linear" ? 1 : 2;
  const Term zero(b, b.Int(0)), last = line.extent - 1;
  Term squeeze = Double(b, 1), first(b, b.Int(0)), count(b, b.Int(0));
  if (line.known_scale) {
    constexpr double kMostTaps = 1 << 24;
    const double step = std::min(*line.known_scale, 1.0);
    if (!(step > 0) || support / step > kMostTaps) {
      b.Fail("antialias: expected a scale above 0 that takes at most 2^24 elements for one");
      return x;
    }
    const auto from = static_cast<int64_t>(std::floor(-support / step)) + 1;
    squeeze = Double(b, step);
    first = Term(b, b.Int(from));
    count = Term(b, b.Int(2 - 2 * from));
  } else {
    squeeze = Minimum(line.scale, squeeze);
    first = (Floor(-support / squeeze) + 1).As(DType::kInt64);
    count = 2.0 - first * 2;
  }
  const Term base = Floor(position);
  const Term shift = Range(count) + first;  // (taps)
  const Term place = base.As(DType::kInt64).Expand(1) + shift;
  const Term distance = Abs(shift.As(DType::kFloat64) - (position - base).Expand(1));
  Term weight = Weight(m, distance * squeeze);
  if (m.exclude_outside) {
    weight = Select(And(place >= zero, place <= last), weight, weight.Number(0));
  }
  const DType real = Real(x);
  const Term share = (weight / Sum(weight, {1})).As(real).Expand(2, x.rank() - 1 - line.axis);
  const Term taken = x.Take(Clamp(place, zero, last), line.axis).As(real);
  const Term y = (taken * share).Over("sum", {line.axis + 1}, false);
  return Extrapolated(m, y, line, position);
}

// Two or four taps, each a vector of places and weights.
Term Interpolate(const Mode& m, const Term& x, const Line& line) {
  TypedBuilder& b = x.b();
  const Term position = Positions(m, line);
  const Term zero(b, b.Int(0));
  const Term last = line.extent - 1;
  const bool linear = m.method == "linear";
  const int64_t first = linear ? 0 : -1, taps = linear ? 2 : 4;

  const Term base = Floor(position);
  const Term offset = position - base;
  std::vector<Term> places, weights;
  std::optional<Term> total;
  for (int64_t k = 0; k < taps; ++k) {
    const auto shift = static_cast<double>(first + k);
    const Term place = base.As(DType::kInt64) + shift;
    Term weight = Weight(m, Abs(shift - offset));
    if (m.exclude_outside) {
      weight = Select(And(place >= zero, place <= last), weight, weight.Number(0));
    }
    total = total ? *total + weight : weight;
    places.push_back(Clamp(place, zero, last));
    weights.push_back(weight);
  }
  std::optional<Term> y;
  for (size_t k = 0; k < places.size(); ++k) {
    const Term weight = m.exclude_outside ? weights[k] / *total : weights[k];
    const Term part =
        x.Take(places[k], line.axis).As(Real(x)) * Along(weight.As(Real(x)), line.axis, x.rank());
    y = y ? *y + part : part;
  }
  return Extrapolated(m, *y, line, position);
}

// Where each element is taken so many times, one after the other.
std::optional<int64_t> Repeats(const Mode& m, const Term& x, const Line& line) {
  constexpr double kMost = 1 << 20;
  if (!line.known_scale || *line.known_scale != std::floor(*line.known_scale) ||
      *line.known_scale > kMost) {
    return std::nullopt;
  }
  const auto times = static_cast<int64_t>(*line.known_scale);
  const auto out = x.b().Elements(line.out);
  if (!out || (*out)[0] != x.value().dim(line.axis) * Dim(times)) return std::nullopt;
  const bool whole = m.coordinates == "asymmetric" || m.coordinates == "tf_half_pixel_for_nn";
  const bool half = m.coordinates == "half_pixel" || m.coordinates == "half_pixel_symmetric";
  const bool rounds = m.nearest == "round_prefer_floor" || m.nearest == "round_prefer_ceil";
  const bool same = (whole && m.nearest == "floor") || (half && rounds);
  return same ? std::optional(times) : std::nullopt;
}

Term Nearest(const Mode& m, const Term& x, const Line& line) {
  TypedBuilder& b = x.b();
  if (const auto times = Repeats(m, x, line)) {
    return {b, b.Op("repeat", {x}, {{"repeats", *times}, {"axis", line.axis}})};
  }
  const Term position = Positions(m, line, DType::kFloat32);
  const Term last = line.extent - 1;
  const Term place = Clamp(Rounded(position, m.nearest).As(DType::kInt64), {b, b.Int(0)}, last);
  return Extrapolated(m, x.Take(place, line.axis), line, position);
}

// --- Sizes ---

// What the node says of sizes: one entry for each of `axes`.
struct Sizes {
  std::optional<Term> scales;  // float32, rank 1
  size_t scales_input = 0;
  bool scales_are_of_sizes = false;                 // computed of dims, which are never negative
  std::optional<std::vector<double>> known_scales;  // where they are constants
  std::optional<Term> sizes;                        // int64, rank 1
  std::string policy = "stretch";
};

Term Element(const Term& v, size_t i) {
  const auto at = static_cast<int64_t>(i);
  return AsScalar(v.Slice(0, at, at + 1));
}

// Sizes that keep the aspect ratio: one scale for all axes.
void KeepAspect(const Term& x, const std::vector<int64_t>& axes, const Sizes& s,
                std::vector<Line>& lines) {
  std::optional<Term> scale;
  for (size_t i = 0; i < axes.size(); ++i) {
    const Term here = Element(*s.sizes, i).As(DType::kFloat64) /
                      Extent(x.b(), x, static_cast<int>(axes[i])).As(DType::kFloat64);
    scale = !scale                     ? here
            : s.policy == "not_larger" ? Minimum(*scale, here)
                                       : Maximum(*scale, here);
  }
  for (Line& line : lines) {
    line.scale = *scale;
    line.width = Floor(*scale * line.extent.As(DType::kFloat64) + 0.5);
    line.out = line.width.As(DType::kInt64);
  }
}

std::optional<double> NumberOf(const Term& scalar) {
  const Value& v = scalar.value();
  if (v.constant == nullptr || v.dtype() != DType::kFloat32) return std::nullopt;
  float number = 0;
  std::memcpy(&number, v.constant->data.data(), sizeof number);
  return number;
}

// The power of two that makes a whole number of a scale: then an extent is one of integers, which
// types can tell. None where no small one does.
std::optional<double> PartsOf(double scale) {
  for (int power = 0; power <= 10; ++power) {
    const double parts = std::ldexp(1.0, power);
    if (scale * parts == std::floor(scale * parts)) return parts;
  }
  return std::nullopt;
}

// The axes to resample; those that stay as they are, are left out.
std::vector<Line> Lines(NodeContext& n, const Mode& m, const Term& x,
                        const std::vector<int64_t>& axes, const Sizes& s) {
  TypedBuilder& b = n.b();
  std::vector<Line> lines;
  const auto elements = s.sizes ? b.Elements(*s.sizes) : std::nullopt;
  const bool crops = m.coordinates == "tf_crop_and_resize";
  const bool aspect = s.policy != "stretch";
  for (size_t i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<int>(axes[i]);
    const Dim& dim = x.value().dim(axis);
    const Term extent = Extent(b, x, axis);
    const Term one = Double(b, 1);
    Line line{axis, extent, extent, one, one, Double(b, 0), one, std::nullopt};
    if (crops && n.Has(1)) {
      const Term roi = Term(n, 1).As(DType::kFloat64);
      line.roi_start = Element(roi, i);
      line.roi_end = Element(roi, i + axes.size());
    }
    if (s.sizes) {
      if (!crops && !aspect && elements && (*elements)[i] == dim) continue;
      line.out = Element(*s.sizes, i);
      if (elements && (*elements)[i].is_const()) line.out = Term(b, b.Int((*elements)[i].value()));
      line.scale = line.out.As(DType::kFloat64) / extent.As(DType::kFloat64);
      if (elements && (*elements)[i].is_const() && dim.is_const() && dim.value() > 0) {
        line.known_scale =
            static_cast<double>((*elements)[i].value()) / static_cast<double>(dim.value());
        line.scale = Double(b, *line.known_scale);
      }
    } else if (s.known_scales) {
      const double scale = (*s.known_scales)[i];
      if (scale == 1 && !crops) continue;
      line.known_scale = scale;
      line.scale = Double(b, scale);
      const auto times = static_cast<float>(scale);
      if (dim.is_const()) {
        const float out = std::floor(times * static_cast<float>(dim.value()));
        constexpr float kMost = 0x1p62F;
        if (!(out <= kMost)) n.Fail("scales: the result is too large");
        line.out = Term(b, b.Int(out <= kMost ? static_cast<int64_t>(out) : 0));
      } else if (const auto parts = PartsOf(scale)) {
        line.out = (extent * (scale * *parts)).Call("floor_divide", extent.Number(*parts));
      } else {
        line.out = Floor(extent.As(DType::kFloat32) * scale).As(DType::kInt64);
      }
    } else {
      Term scale = Element(*s.scales, i);
      const auto known = NumberOf(scale);
      if (known && *known == 1 && !crops) continue;
      if (known ? *known <= 0 : !s.scales_are_of_sizes) {
        const Term positive = Checked({n, s.scales_input, "1 for a positive number, of scales"},
                                      (scale > 0).As(DType::kInt64), 1, b.Ints({2}));
        scale = scale * positive.As(scale.dtype());
      }
      line.scale = scale.As(DType::kFloat64);
      line.out = Floor(extent.As(DType::kFloat32) * scale).As(DType::kInt64);
    }
    line.width = s.sizes ? line.out.As(DType::kFloat64) : extent.As(DType::kFloat64) * line.scale;
    lines.push_back(line);
  }
  if (aspect && s.sizes) KeepAspect(x, axes, s, lines);
  return lines;
}

Outputs Resample(NodeContext& n, const Mode& m, const std::vector<int64_t>& axes, const Sizes& s) {
  const Term input(n, 0);
  Term x = input;
  for (const Line& line : Lines(n, m, x, axes, s)) {
    x = m.method == "nearest" ? Nearest(m, x, line)
        : m.antialias         ? Antialiased(m, x, line)
                              : Interpolate(m, x, line);
  }
  if (x.dtype() == input.dtype() || IsFloat(input.dtype())) return {x.As(input.dtype())};
  // Whole numbers lose their fraction; those of all of a picture are rounded.
  return {Saturate(m.antialias ? x.Call("round_even") : x, KindOf(input))};
}

bool Known(std::string_view value, std::initializer_list<std::string_view> all) {
  return std::find(all.begin(), all.end(), value) != all.end();
}

// The scales of input `i`: as constants too where they are such.
bool ReadScales(NodeContext& n, size_t i, size_t count, Sizes& s) {
  if (!n.ExpectShape(i, {Dim(static_cast<int64_t>(count))}, "scales")) return false;
  const Value v = n.Input(i);
  s.scales = Term(n, i).As(DType::kFloat32);
  s.scales_input = i;
  s.scales_are_of_sizes = n.b().ScalarsOf(v).has_value();
  if (v.constant == nullptr) return true;
  s.known_scales = n.ConstantFloats(i, "scales");
  if (!s.known_scales) return false;
  for (double scale : *s.known_scales) {
    if (!(scale > 0) || scale > 1e6) return n.Fail("scales: expected positive numbers"), false;
  }
  return true;
}

Outputs Resize(NodeContext& n) {
  const Value x = n.Input(0);
  const bool old = n.opset() < 11;
  Mode m;
  m.method = n.String("mode", "nearest");
  m.coordinates = n.String("coordinate_transformation_mode", old ? "asymmetric" : "half_pixel");
  m.nearest = n.String("nearest_mode", old ? "floor" : "round_prefer_floor");
  m.cubic = n.Float("cubic_coeff_a", -0.75);
  m.extrapolation = n.Float("extrapolation_value", 0);
  m.exclude_outside = n.Int("exclude_outside", 0) != 0;
  m.antialias = n.Int("antialias", 0) != 0 && m.method != "nearest";
  if (!Known(m.method, {"nearest", "linear", "cubic"})) {
    return n.Fail(fmt::format("mode: expected nearest, linear or cubic, found '{}'", m.method));
  }
  if (!Known(m.coordinates,
             {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners",
              "asymmetric", "tf_half_pixel_for_nn", "tf_crop_and_resize"})) {
    return n.Fail(fmt::format("coordinate_transformation_mode: '{}' is not known", m.coordinates));
  }
  if (!Known(m.nearest, {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"})) {
    return n.Fail(fmt::format("nearest_mode: '{}' is not known", m.nearest));
  }
  const std::vector<int64_t> axes =
      n.HasAttr("axes") ? n.Axes(n.Ints("axes"), x.rank()) : Iota(x.rank());
  Sizes s;
  s.policy = n.String("keep_aspect_ratio_policy", "stretch");
  if (!Known(s.policy, {"stretch", "not_larger", "not_smaller"})) {
    return n.Fail(fmt::format("keep_aspect_ratio_policy: '{}' is not known", s.policy));
  }
  if (!n.b().status().ok()) return {};
  const auto count = static_cast<int64_t>(axes.size());
  if (m.coordinates == "tf_crop_and_resize" && !n.ExpectShape(1, {Dim(2 * count)}, "roi"))
    return {};
  if (!old && n.Has(3)) {
    if (!n.ExpectShape(3, {Dim(count)}, "sizes")) return {};
    s.sizes = Term(n.b(), NotNegative({n, 3, "sizes"})).As(DType::kInt64);
  } else {
    const size_t input = old ? 1 : 2;
    if (!n.Has(input)) return n.Fail("expected scales or sizes");
    if (!ReadScales(n, input, axes.size(), s)) return {};
  }
  return Resample(n, m, axes, s);
}

Outputs Upsample(NodeContext& n) {
  Mode m;
  m.method = n.String("mode", "nearest");
  if (m.method == "bilinear" || m.method == "trilinear") m.method = "linear";
  if (!Known(m.method, {"nearest", "linear"})) {
    return n.Fail(fmt::format("mode: expected nearest or linear, found '{}'", m.method));
  }
  m.coordinates = "asymmetric";
  m.nearest = "floor";
  const auto rank = static_cast<size_t>(n.Input(0).rank());
  Sizes s;
  if (n.Has(1)) {
    if (!ReadScales(n, 1, rank, s)) return {};
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
  return Resample(n, m, Iota(static_cast<int64_t>(rank)), s);
}

constexpr OperatorDef kResizeOperators[] = {
    {"Resize", 1, 4, Resize, 10},
    {"Upsample", 1, 2, Upsample},
};

}  // namespace

std::span<const OperatorDef> ResizeOperators() { return kResizeOperators; }

}  // namespace relayvm::import
