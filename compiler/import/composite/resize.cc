#include "compiler/import/composite/resize.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "compiler/import/composite/quantised.h"
#include "compiler/ir/scalar.h"

namespace relayvm::import {

namespace {

// One axis to resample.
struct Line {
  int axis;
  Term extent, out;         // rank 0, int64
  Term scale;               // rank 0, float64
  Term width;               // the extent of the result before it is rounded, rank 0, float64
  Term roi_start, roi_end;  // rank 0, float64; of kCrop
  std::optional<double> known_scale;
};

Term Double(TypedBuilder& b, double v) { return {b, b.Scalar(v, DType::kFloat64)}; }

// The position in the input of each element of the result, rank 1;
// in float32 where that decides which element is the nearest: as ONNX Runtime rounds.
Term Positions(const ResizeSpec& m, const Line& line, DType real = DType::kFloat64) {
  const Term o = Range(line.out).As(real);
  const Term in = line.extent.As(real), out = line.out.As(real);
  const Term width = line.width.As(real), scale = line.scale.As(real);
  Term half = (o + 0.5) / scale - 0.5;
  const Term one = width <= 1.0;
  const Term steps = Select(one, width.Number(1), width - 1);
  if (m.coordinates == ResizeCoordinates::kAsymmetric) return o / scale;
  if (m.coordinates == ResizeCoordinates::kCentre) return (o + 0.5) / scale;
  if (m.coordinates == ResizeCoordinates::kHalfPixelOrFirst) return Select(one, o * 0.0, half);
  if (m.coordinates == ResizeCoordinates::kAlignCorners)
    return Select(one, o * 0.0, o * (in - 1) / steps);
  if (m.coordinates == ResizeCoordinates::kHalfPixelSymmetric) {
    const Term adjusted = out / (scale * in);
    return in / 2 * (1.0 - adjusted) + half;
  }
  if (m.coordinates == ResizeCoordinates::kCrop) {
    const Term start = line.roi_start.As(real) * (in - 1), end = line.roi_end.As(real) * (in - 1);
    return Select(one, (start + end) / 2 + o * 0.0, start + o * (end - start) / steps);
  }
  return half;
}

Term Rounded(const Term& x, ResizeRounding how) {
  if (how == ResizeRounding::kFloor) return Floor(x);
  if (how == ResizeRounding::kCeil) return x.Call("ceil");
  if (how == ResizeRounding::kPreferCeil) return Floor(x + 0.5);
  return (x - 0.5).Call("ceil");
}

// The weight of a tap at distance `d` (>= 0).
Term Weight(const ResizeSpec& m, const Term& d) {
  const Term zero = d.Number(0);
  if (m.method == ResizeMethod::kLinear) return Maximum(1.0 - d, zero);
  if (m.method == ResizeMethod::kLanczos) {
    const Term angle = d * std::numbers::pi, third = angle / 3;
    const Term inside = Sin(angle) / angle * (Sin(third) / third);
    return Select(d <= 1e-9, d.Number(1), Select(d < 3, inside, zero));
  }
  const double a = m.cubic;
  const Term inner = ((a + 2) * d - (a + 3)) * d * d + 1;
  const Term outer = ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
  return Select(d <= 1, inner, Select(d < 2, outer, zero));
}

// What lies outside of the picture in kCrop.
Term Extrapolated(const ResizeSpec& m, const Term& y, const Line& line, const Term& position) {
  if (m.coordinates != ResizeCoordinates::kCrop) return y;
  const Term inside = And(position >= 0.0, position <= (line.extent - 1).As(position.dtype()));
  return Select(Along(inside, line.axis, y.rank()), y, y.Number(m.extrapolation));
}

DType Real(const Term& x) {
  return x.dtype() == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32;
}

// Places of the axis (out, taps) and their weights, whose sums are bytes again. Weights have as
// many binary places as 15 bits hold of `most`, the greatest one.
Term InBytes(const Term& x, const Line& line, const Term& place, const Term& weight,
             const Term& most) {
  constexpr double kMostBits = 22;
  const Term zero = most.Number(0);
  const Term bits =
      Clamp((32767.5 / most).Call("log2").Call("ceil") - 1.0, zero, most.Number(kMostBits))
          .As(DType::kInt32);
  const Term scaled = weight * bits.Number(1).Call("left_shift", bits).As(weight.dtype());
  const Term whole = Select(scaled < 0, scaled - 0.5, scaled + 0.5).Call("trunc");
  const Term taken = x.Take(place, line.axis).As(DType::kInt32);
  const Term share = whole.As(DType::kInt32).Expand(2, x.rank() - 1 - line.axis);
  const Term half = bits.Number(1).Call("left_shift", bits).Call("right_shift", bits.Number(1));
  const Term sum =
      ((taken * share).Over("sum", {line.axis + 1}, false) + half).Call("right_shift", bits);
  return Clamp(sum, sum.Number(0), sum.Number(255)).As(DType::kUInt8);
}

// The same of two or four taps: those beyond the picture add to its edge.
Term InBytes(const Term& x, const Line& line, const std::vector<Term>& places,
             const std::vector<Term>& weights) {
  TypedBuilder& b = x.b();
  const auto taps = static_cast<int64_t>(places.size());
  const Term last = line.extent - 1;
  const Term place = Minimum(places[0].Expand(1) + Term(b, b.Ints(Iota(taps))), last);
  const Term at = places[0].Expand(1) + Term(b, b.Ints(Iota(taps)));  // (out, taps)
  Term sum = at.As(DType::kFloat64) * 0.0, most = Double(b, 0);
  for (size_t k = 0; k < places.size(); ++k) {
    const Term here = Equal(at, places[k].Expand(1));
    sum = sum + Select(here, weights[k].Expand(1), sum.Number(0));
    most = Maximum(most, sum.Over("max", {0, 1}, false));
  }
  return InBytes(x, line, place, sum, most);
}

// A smaller picture takes all of the larger one: taps are as many as a step is wide, (out, taps).
Term Antialiased(const ResizeSpec& m, const Term& x, const Line& line) {
  TypedBuilder& b = x.b();
  const Term position = Positions(m, line);
  const double support = m.method == ResizeMethod::kLinear  ? 1
                         : m.method == ResizeMethod::kCubic ? 2
                                                            : 3;
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
  if (m.in_bytes) {
    const Term part = weight / Sum(weight, {1});
    return InBytes(x, line, Clamp(place, zero, last), part,
                   Maximum(part.Over("max", {0, 1}, false), Double(b, 0)));
  }
  const Term share = (weight / Sum(weight, {1})).As(real).Expand(2, x.rank() - 1 - line.axis);
  const Term taken = x.Take(Clamp(place, zero, last), line.axis).As(real);
  const Term y = (taken * share).Over("sum", {line.axis + 1}, false);
  return Extrapolated(m, y, line, position);
}

// Two or four taps, each a vector of places and weights.
Term Interpolate(const ResizeSpec& m, const Term& x, const Line& line) {
  TypedBuilder& b = x.b();
  const Term position = Positions(m, line);
  const Term zero(b, b.Int(0));
  const Term last = line.extent - 1;
  const bool linear = m.method == ResizeMethod::kLinear;
  const int64_t first = linear ? 0 : -1, taps = linear ? 2 : 4;

  const Term base = Floor(position);
  Term offset = position - base;
  if (m.method == ResizeMethod::kCubic && m.phases > 0)
    offset = (offset * m.phases).Call("round_even") / m.phases;
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
  if (m.in_bytes) return InBytes(x, line, places, weights);
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
std::optional<int64_t> Repeats(const ResizeSpec& m, const Term& x, const Line& line) {
  constexpr double kMost = 1 << 20;
  if (!line.known_scale || *line.known_scale != std::floor(*line.known_scale) ||
      *line.known_scale > kMost) {
    return std::nullopt;
  }
  const auto times = static_cast<int64_t>(*line.known_scale);
  const auto out = x.b().Elements(line.out);
  if (!out || (*out)[0] != x.value().dim(line.axis) * Dim(times)) return std::nullopt;
  const bool whole = m.coordinates == ResizeCoordinates::kAsymmetric ||
                     m.coordinates == ResizeCoordinates::kCentre;
  const bool half = m.coordinates == ResizeCoordinates::kHalfPixel ||
                    m.coordinates == ResizeCoordinates::kHalfPixelSymmetric;
  const bool rounds =
      m.rounding == ResizeRounding::kPreferFloor || m.rounding == ResizeRounding::kPreferCeil;
  const bool same = (whole && m.rounding == ResizeRounding::kFloor) || (half && rounds);
  return same ? std::optional(times) : std::nullopt;
}

Term Nearest(const ResizeSpec& m, const Term& x, const Line& line) {
  TypedBuilder& b = x.b();
  if (const auto times = Repeats(m, x, line)) {
    return {b, b.Op("repeat", {x}, {{"repeats", *times}, {"axis", line.axis}})};
  }
  const Term position = Positions(m, line, DType::kFloat32);
  const Term last = line.extent - 1;
  const Term place = Clamp(Rounded(position, m.rounding).As(DType::kInt64), {b, b.Int(0)}, last);
  return Extrapolated(m, x.Take(place, line.axis), line, position);
}

// --- Sizes ---

Term Element(const Term& v, size_t i) {
  const auto at = static_cast<int64_t>(i);
  return AsScalar(v.Slice(0, at, at + 1));
}

// Sizes that keep the aspect ratio: one scale for all axes.
void KeepAspect(const Term& x, const ResizeSpec& s, std::vector<Line>& lines) {
  std::optional<Term> scale;
  for (size_t i = 0; i < s.axes.size(); ++i) {
    const Term here = Element(*s.sizes, i).As(DType::kFloat64) /
                      Extent(x.b(), x, static_cast<int>(s.axes[i])).As(DType::kFloat64);
    scale = !scale                                 ? here
            : s.aspect == ResizeAspect::kNotLarger ? Minimum(*scale, here)
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
  return ir::NumberAt(*v.constant);
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
std::vector<Line> Lines(const Term& x, const ResizeSpec& s) {
  TypedBuilder& b = x.b();
  std::vector<Line> lines;
  const auto elements = s.sizes ? b.Elements(*s.sizes) : std::nullopt;
  const bool crops = s.coordinates == ResizeCoordinates::kCrop;
  const bool aspect = s.aspect != ResizeAspect::kStretch;
  for (size_t i = 0; i < s.axes.size(); ++i) {
    const auto axis = static_cast<int>(s.axes[i]);
    const Dim& dim = x.value().dim(axis);
    const Term extent = Extent(b, x, axis);
    const Term one = Double(b, 1);
    Line line{axis, extent, extent, one, one, Double(b, 0), one, std::nullopt};
    if (crops && s.crop) {
      const Term roi = s.crop->As(DType::kFloat64);
      line.roi_start = Element(roi, i);
      line.roi_end = Element(roi, i + s.axes.size());
    }
    if (s.sizes) {
      const double own = i < s.position_scales.size() ? s.position_scales[i] : 0;
      const bool by_size = own == 0 || own == 1 || s.in_bytes;
      if (!crops && !aspect && by_size && elements && (*elements)[i] == dim) continue;
      line.out = Element(*s.sizes, i);
      if (elements && (*elements)[i].is_const()) line.out = Term(b, b.Int((*elements)[i].value()));
      line.scale = line.out.As(DType::kFloat64) / extent.As(DType::kFloat64);
      if (elements && (*elements)[i].is_const() && dim.is_const() && dim.value() > 0) {
        line.known_scale =
            static_cast<double>((*elements)[i].value()) / static_cast<double>(dim.value());
        line.scale = Double(b, *line.known_scale);
      }
      if (own > 0) {
        line.known_scale = own;
        line.scale = Double(b, own);
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
        if (!(out <= kMost)) b.Fail("scales: the result is too large");
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
      if (s.scales_name && (known ? *known <= 0 : !s.scales_are_of_sizes)) {
        const Term positive =
            Checked(*s.scales_name, (scale > 0).As(DType::kInt64), 1, b.Ints({2}));
        scale = scale * positive.As(scale.dtype());
      }
      line.scale = scale.As(DType::kFloat64);
      line.out = Floor(extent.As(DType::kFloat32) * scale).As(DType::kInt64);
    }
    line.width = s.sizes ? line.out.As(DType::kFloat64) : extent.As(DType::kFloat64) * line.scale;
    lines.push_back(line);
  }
  if (aspect && s.sizes) KeepAspect(x, s, lines);
  return lines;
}

}  // namespace

Value Resized(TypedBuilder& b, const ResizeSpec& spec) {
  const Term input(b, spec.x);
  Term x = input;
  for (const Line& line : Lines(x, spec)) {
    x = spec.method == ResizeMethod::kNearest ? Nearest(spec, x, line)
        : spec.antialias                      ? Antialiased(spec, x, line)
                                              : Interpolate(spec, x, line);
  }
  if (x.dtype() == input.dtype() || IsFloat(input.dtype())) return x.As(input.dtype());
  return Saturate(spec.antialias ? x.Call("round_even") : x, KindOf(input));
}

}  // namespace relayvm::import
