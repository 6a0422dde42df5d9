// Pictures of another size. See composite/resize.h.
#include <cmath>

#include "compiler/import/checked.h"
#include "compiler/import/composite/resize.h"
#include "compiler/import/tensorflow/convert.h"

namespace relayvm::import::tensorflow {

namespace {

// Pictures are (n, height, width, channels), the size a vector of two. Nullopt with an error.
std::optional<Term> WantedSize(NodeContext& n) {
  if (n.Input(0).rank() != 4) return n.Fail("expected pictures of rank 4");
  if (!n.FitsShape(n.Input(1), {Dim(2)}, "size")) return std::nullopt;
  return Term(n.b(), NotNegative({n, 1, "size"})).As(DType::kInt64);
}

Outputs Resize(NodeContext& n, ResizeMethod method) {
  const auto size = WantedSize(n);
  if (!size) return {};
  const bool align = n.Bool("align_corners", false), half = n.Bool("half_pixel_centers", false);
  const bool nearest = method == ResizeMethod::kNearest;
  const Term x(n, 0);
  ResizeSpec spec{.x = nearest ? x.value() : x.As(DType::kFloat32).value(), .axes = {1, 2}};
  spec.method = method;
  spec.sizes = size;
  spec.coordinates = align     ? ResizeCoordinates::kAlignCorners
                     : !half   ? ResizeCoordinates::kAsymmetric
                     : nearest ? ResizeCoordinates::kCentre
                               : ResizeCoordinates::kHalfPixel;
  spec.rounding = align ? ResizeRounding::kPreferCeil : ResizeRounding::kFloor;
  spec.cubic = half ? -0.5 : -0.75;
  spec.phases = 1024;
  spec.exclude_outside = half && method == ResizeMethod::kCubic;
  return {Resized(n, spec)};
}
Outputs Nearest(NodeContext& n) { return Resize(n, ResizeMethod::kNearest); }
Outputs Bilinear(NodeContext& n) { return Resize(n, ResizeMethod::kLinear); }
Outputs Bicubic(NodeContext& n) { return Resize(n, ResizeMethod::kCubic); }

// --- By a matrix of weights for each axis ---

// Axis `axis` of x (n, h, w, c) by weights (out, in).
Term Weighted(const Term& x, int axis, const Term& weights) {
  const std::vector<int64_t> last = AxisMoved(4, axis, 3), back = AxisMoved(4, 3, axis);
  const Term moved = x.Transpose(last);
  return Term(x.b(), MatMulOf(x.b(), moved, weights.Transpose({1, 0}))).Transpose(back);
}

// Each element is the mean of the part of the picture that it stands for.
Outputs Area(NodeContext& n) {
  TypedBuilder& b = n.b();
  const auto size = WantedSize(n);
  if (!size) return {};
  Term x = Term(n, 0).As(DType::kFloat32);
  const bool align = n.Bool("align_corners", false);
  for (int axis = 1; axis <= 2; ++axis) {
    const Term out = ElementOf(*size, axis - 1), in = Extent(b, x, axis);
    const Term wide = in.As(DType::kFloat32), narrow = out.As(DType::kFloat32);
    Term scale = wide / narrow;
    if (align) {
      const Term steps = Maximum(narrow - 1, narrow.Number(1));
      scale = Select(out > 1, (wide - 1) / steps, scale);
    }
    const Term from = (Range(out).As(DType::kFloat32) * scale).Expand(1);
    const Term to = from + scale;
    const Term at = Range(in).As(DType::kFloat32);
    const Term last = Equal(at, wide - 1);
    // What lies beyond the last element counts as that.
    const Term end = Select(last, to, Minimum(to, at + 1));
    const Term share = Maximum(end - Maximum(from, at), scale.Number(0)) / scale;
    x = Weighted(x, axis, share);
  }
  return {x};
}

struct Kernel {
  double radius;
  Term (*weight)(const Term& distance);  // 0 or more
};
template <int kLobes>
Term Lanczos(const Term& x) {
  const Term angle = x * M_PI;
  const Term y = Sin(angle) * Sin(angle / kLobes) * kLobes / (angle * angle);
  const Term inside = Select(x > 1e-3, y, x.Number(1));
  return Select(x > static_cast<double>(kLobes), x.Number(0), inside);
}
Term Gaussian(const Term& x) { return Select(x >= 1.5, x.Number(0), Exp(x * x * -2.0)); }
Term Box(const Term& x) {
  return Select(x < 0.5, x.Number(1), Select(Equal(x, 0.5), x.Number(0.5), x.Number(0)));
}
Term Triangle(const Term& x) { return Maximum(1.0 - x, x.Number(0)); }
Term KeysCubic(const Term& x) {
  const Term far = ((x * -0.5 + 2.5) * x - 4.0) * x + 2.0;
  const Term near = ((x * 1.5 - 2.5) * x) * x + 1.0;
  return Select(x >= 2, x.Number(0), Select(x >= 1, far, near));
}
Term MitchellCubic(const Term& x) {
  const Term far = (((x * (-7.0 / 18) + 2.0) * x - 10.0 / 3) * x) + 16.0 / 9;
  const Term near = (((x * (7.0 / 6) - 2.0) * x) * x) + 8.0 / 9;
  return Select(x >= 2, x.Number(0), Select(x >= 1, far, near));
}
std::optional<Kernel> KernelNamed(std::string_view name) {
  if (name == "lanczos1") return Kernel{1, Lanczos<1>};
  if (name == "lanczos3") return Kernel{3, Lanczos<3>};
  if (name == "lanczos5") return Kernel{5, Lanczos<5>};
  if (name == "gaussian") return Kernel{1.5, Gaussian};
  if (name == "box") return Kernel{0.5, Box};
  if (name == "triangle") return Kernel{1, Triangle};
  if (name == "keyscubic") return Kernel{2, KeysCubic};
  if (name == "mitchellcubic") return Kernel{2, MitchellCubic};
  return std::nullopt;
}

Outputs ScaleAndTranslate(NodeContext& n) {
  TypedBuilder& b = n.b();
  const auto size = WantedSize(n);
  if (!size) return {};
  const std::string name = n.String("kernel_type", "lanczos3");
  const auto kernel = KernelNamed(name);
  if (!kernel) return n.Unsupported("kernel_type {} is not supported", name);
  Term x = Term(n, 0).As(DType::kFloat32);
  for (int axis = 1; axis <= 2; ++axis) {
    const Term out = ElementOf(*size, axis - 1), in = Extent(b, x, axis);
    const Term inverse = 1.0 / ElementOf(Term(n, 2), axis - 1);
    const Term shift = -inverse * ElementOf(Term(n, 3), axis - 1);
    const Term wide =
        n.Bool("antialias", true) ? Maximum(inverse, inverse.Number(1)) : inverse.Number(1);
    const Term sample =
        ((Range(out).As(DType::kFloat32) + 0.5) * inverse + shift).Expand(1);  // (out, 1)
    const Term distance = Abs(Range(in).As(DType::kFloat32) + 0.5 - sample) / wide;
    const Term weight =
        Select(distance <= kernel->radius, kernel->weight(distance), distance.Number(0));
    const Term total = Sum(weight, {1});
    const Term share = weight / Select(Abs(total) < 1e-35, total.Number(1), total);
    const Term inside = And(sample >= 0, sample <= in.As(DType::kFloat32));
    x = Weighted(x, axis, Select(inside, share, share.Number(0)));
  }
  return {x};
}

constexpr OperatorDef kResizeOperators[] = {
    {"ResizeArea", 2, 2, Area, {}, "41"},
    {"ResizeBicubic", 2, 2, Bicubic, {}, "41"},
    {"ResizeBilinear", 2, 2, Bilinear, {}, "41"},
    {"ResizeNearestNeighbor", 2, 2, Nearest, {}, "41"},
    {"ScaleAndTranslate", 4, 4, ScaleAndTranslate, {}, "4111"},
};

}  // namespace

std::span<const OperatorDef> ResizeOperators() { return kResizeOperators; }

}  // namespace relayvm::import::tensorflow
