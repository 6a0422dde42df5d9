#include "kernels/op/resize.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "kernels/op/layouts.h"
#include "kernels/op/shape_rules.h"

namespace relayvm {
namespace {

using te::BinaryOp;
using te::Expr;
using te::UnaryOp;

constexpr DType kCoordinate = DType::kFloat32;

Expr F(double v) { return te::FloatImm(v, kCoordinate); }
Expr F(const Dim& d) { return te::Cast(te::DimValue(d), kCoordinate); }

template <size_t N>
bool IsOneOf(const std::string& s, const std::string_view (&names)[N]) {
  for (std::string_view name : names) {
    if (s == name) return true;
  }
  return false;
}

// One axis: where in the input the output index `x` lies, and the pixels and weights that it takes
// there.
class AxisSampler {
 public:
  AxisSampler(const ResizeMode& mode, Dim in, Dim out)
      : mode_(mode), in_(std::move(in)), out_(std::move(out)) {}

  void Place(const Expr& index, const RoiFn& roi, size_t axis, const ExprList& indices) {
    index_ = index;
    Expr x = te::Cast(index, kCoordinate);
    Expr scale = Divide(F(in_), F(out_));
    Expr one_out = te::DimValue(out_) == Int(1);
    const std::string& c = mode_.coordinates;
    if (c == "half_pixel") {
      position_ = (x + F(0.5)) * scale - F(0.5);
    } else if (c == "align_corners") {
      // A single output pixel lies on the first corner.
      Expr step = Divide(F(in_ - Dim(1)), F(out_ - Dim(1)));
      position_ = te::Select(one_out, F(0.0), step * x);
    } else if (c == "asymmetric") {
      position_ = scale * x;
    } else if (c == "pytorch_half_pixel") {
      position_ = te::Select(one_out, F(0.0), (x + F(0.5)) * scale - F(0.5));
    } else if (c == "tf_half_pixel_for_nn") {
      position_ = (x + F(0.5)) * scale;
    } else {  // tf_crop_and_resize
      auto [start, end] = roi(axis, indices);
      Expr last = F(in_ - Dim(1));
      Expr inner = start * last + Divide(x * (end - start) * last, F(out_ - Dim(1)));
      position_ = te::Select(one_out, F(0.5) * (start + end) * last, inner);
    }
    floor_ = Unary(UnaryOp::kFloor, position_);
  }

  // Whether the position lies in the image.
  Expr Inside() const { return position_ >= F(0.0) && LessEqual(position_, F(in_ - Dim(1))); }

  Expr Nearest() const {
    std::string rounding = mode_.rounding;
    if (rounding.empty()) rounding = mode_.coordinates == "align_corners" ? "round" : "floor";
    // Pixels that are repeated, as far as float32 holds all positions.
    if (mode_.coordinates == "asymmetric" && rounding == "floor") {
      constexpr int64_t kMostTimes = 8;
      for (int64_t times = 2; times <= kMostTimes; ++times) {
        if (out_ == in_ * Dim(times)) return te::Binary(BinaryOp::kFloorDivide, index_, Int(times));
      }
    }
    // TVM's epsilon keeps a position that is a whole number but for rounding on that number.
    constexpr double kEpsilon = 1e-5;
    if (rounding == "round") return Pixel(Unary(UnaryOp::kRound, position_), 0);
    if (rounding == "round_prefer_floor") {
      return Pixel(Unary(UnaryOp::kCeil, position_ - F(0.5)), 0);
    }
    if (rounding == "round_prefer_ceil") {
      return Pixel(Unary(UnaryOp::kFloor, position_ + F(0.5)), 0);
    }
    if (rounding == "floor") return Pixel(Unary(UnaryOp::kFloor, position_ + F(kEpsilon)), 0);
    return Pixel(Unary(UnaryOp::kCeil, position_ - F(kEpsilon)), 0);
  }

  Expr Neighbour(int offset) const { return Pixel(floor_, offset); }

  ExprList LinearWeights(DType dtype) const {
    Expr t = te::Cast(position_ - floor_, dtype);
    return {te::FloatImm(1, dtype) - t, t};
  }

  ExprList CubicWeights(DType dtype) const {
    Expr t = te::Cast(position_ - floor_, dtype);
    Expr t2 = t * t;
    Expr t3 = t2 * t;
    double a = mode_.cubic_alpha;
    auto c = [&](double v) { return te::FloatImm(v, dtype); };
    ExprList w = {
        c(a) * (t3 - c(2) * t2 + t),
        c(a + 2) * t3 - c(3 + a) * t2 + c(1),
        c(-(a + 2)) * t3 + c(3 + 2 * a) * t2 - c(a) * t,
        c(-a) * t3 + c(a) * t2,
    };
    if (!mode_.cubic_exclude) return w;
    Expr base = ToIndex(floor_);
    Expr sum;
    for (int k = 0; k < 4; ++k) {
      Expr pixel = base + Int(k - 1);
      Expr outside = pixel < Int(0) || pixel >= te::DimValue(in_);
      size_t i = static_cast<size_t>(k);
      w[i] = te::Select(outside, c(0), w[i]);
      sum = k == 0 ? w[i] : sum + w[i];
    }
    for (Expr& e : w) e = Divide(e, sum);
    return w;
  }

 private:
  Expr Pixel(const Expr& coordinate, int offset) const {
    return ClampIndex(ToIndex(coordinate) + Int(offset), in_);
  }

  const ResizeMode& mode_;
  Dim in_, out_;
  Expr index_, position_;
  Expr floor_;
};

}  // namespace

Status CheckResizeMode(const ResizeMode& mode) {
  constexpr std::string_view kMethods[] = {"nearest_neighbor", "linear", "cubic"};
  constexpr std::string_view kCoordinates[] = {"half_pixel",           "align_corners",
                                               "asymmetric",           "pytorch_half_pixel",
                                               "tf_half_pixel_for_nn", "tf_crop_and_resize"};
  constexpr std::string_view kRoundings[] = {
      "", "round", "round_prefer_floor", "round_prefer_ceil", "floor", "ceil"};
  if (!IsOneOf(mode.method, kMethods)) {
    return Invalid("method \"{}\" is not nearest_neighbor, linear or cubic", mode.method);
  }
  if (!IsOneOf(mode.coordinates, kCoordinates)) {
    return Invalid("coordinate_transformation_mode \"{}\" does not exist", mode.coordinates);
  }
  if (mode.method == "nearest_neighbor" && !IsOneOf(mode.rounding, kRoundings)) {
    return Invalid("rounding_method \"{}\" does not exist", mode.rounding);
  }
  return OkStatus();
}

te::Tensor ResizeTensor(const te::Tensor& data, const std::vector<int>& axes, const TensorType& out,
                        const ResizeMode& mode, const RoiFn& roi,
                        const std::function<void(ExprList&)>& source) {
  DType dtype = data->dtype == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32;
  const auto last = static_cast<size_t>(axes.back());
  if (axes.size() > 1 && last + 1 == data->shape.size() && !source &&
      mode.method != "nearest_neighbor" && mode.coordinates != "tf_crop_and_resize") {
    // Along lines first, all at once: then lines are added, which no gathers take.
    TensorType wide{data->shape, dtype};
    wide.shape[last] = out.shape[last];
    const te::Tensor lines = ResizeTensor(data, {axes.back()}, wide, mode);
    return ResizeTensor(lines, {axes.begin(), axes.end() - 1}, out, mode);
  }
  return te::Compute("resize", out.shape, [&](const ExprList& i) {
    std::vector<AxisSampler> samplers;
    for (size_t k = 0; k < axes.size(); ++k) {
      size_t d = static_cast<size_t>(axes[k]);
      samplers.emplace_back(mode, data->shape[d], out.shape[d]);
      samplers.back().Place(i[d], roi, k, i);
    }
    ExprList indices = i;
    if (source) source(indices);
    // Outside the image tf_crop_and_resize gives the extrapolation value.
    auto finish = [&](Expr value) {
      if (mode.coordinates == "tf_crop_and_resize") {
        Expr other = te::Const(mode.extrapolation, value->dtype);
        for (const AxisSampler& s : samplers) value = te::Select(s.Inside(), value, other);
      }
      return te::Cast(value, out.dtype);
    };
    if (mode.method == "nearest_neighbor") {
      for (size_t k = 0; k < axes.size(); ++k) {
        indices[static_cast<size_t>(axes[k])] = samplers[k].Nearest();
      }
      return finish(te::Load(data, indices));
    }
    bool cubic = mode.method == "cubic";
    std::vector<ExprList> weights;
    weights.reserve(samplers.size());
    for (const AxisSampler& s : samplers) {
      weights.push_back(cubic ? s.CubicWeights(dtype) : s.LinearWeights(dtype));
    }
    // The weighted sum over the axes from k on.
    std::function<Expr(size_t)> interpolate = [&](size_t k) -> Expr {
      if (k == axes.size()) return te::Cast(te::Load(data, indices), dtype);
      Expr sum;
      for (size_t n = 0; n < weights[k].size(); ++n) {
        int offset = static_cast<int>(n) - (cubic ? 1 : 0);
        indices[static_cast<size_t>(axes[k])] = samplers[k].Neighbour(offset);
        Expr term = interpolate(k + 1) * weights[k][n];
        sum = n == 0 ? term : sum + term;
      }
      return sum;
    };
    return finish(interpolate(0));
  });
}

Result<std::vector<int>> SpatialAxes(std::string_view text, int spatial) {
  RELAYVM_ASSIGN_OR_RETURN(Layout layout, Layout::Parse(text));
  std::vector<int> axes;
  for (char c : std::string_view("DHW").substr(static_cast<size_t>(3 - spatial))) {
    int position = layout.Position(c);
    if (position < 0 || layout.Factor(c) != 1) {
      return Invalid("layout {} has no plain axis {}", text, c);
    }
    axes.push_back(position);
  }
  if (!layout.Has('N') || !layout.Has('C')) {
    return Invalid("layout {} has no axes N and C", text);
  }
  for (char axis : layout.Axes()) {
    if (axis != 'N' && axis != 'C' &&
        std::find(axes.begin(), axes.end(), layout.Position(axis)) == axes.end()) {
      return Invalid("layout {} has an axis {} beyond N, C and {} spatial axes", text, axis,
                     spatial);
    }
  }
  return axes;
}

constexpr int64_t kMostScale = 1'000'000;

Result<Dim> ScaledExtent(TypeContext& ctx, const Dim& extent, double scale) {
  if (!(scale > 0) || scale > kMostScale) return Invalid("a scale of {}", scale);
  if (extent.is_const()) {
    return Dim(static_cast<int64_t>(std::round(static_cast<double>(extent.value()) * scale)));
  }
  constexpr int64_t kMaxDenominator = 1024;
  for (int64_t q = 1; q <= kMaxDenominator; ++q) {
    double p = std::round(scale * static_cast<double>(q));
    // A scale may have passed through float32.
    if (p < 1 || std::abs(p / static_cast<double>(q) - scale) > 1e-7 * scale) continue;
    Dim scaled = extent * Dim(static_cast<int64_t>(p));
    return q == 1 ? scaled : Dim::FloorDiv(scaled * Dim(2) + Dim(q), Dim(2 * q));
  }
  using Step = ScalarStep;
  return ctx.ComputeDim(std::array{
      Step{"cast", {extent}, DType::kFloat64}, Step{"multiply", {Step::Earlier{0}, scale}},
      Step{"round", {Step::Earlier{1}}}, Step{"cast", {Step::Earlier{2}}, DType::kInt64}});
}

Result<Dim> ScaledExtentByArg(TypeContext& ctx, const Dim& extent, size_t arg) {
  const TensorType& type = ctx.tensor(arg);
  if (auto known = ctx.ConstantFloats(arg); known && known->size() == 1) {
    return ScaledExtent(ctx, extent, (*known)[0]);
  }
  RELAYVM_RETURN_IF_ERROR(RequireRank(type, 0, "a scale"));
  RELAYVM_RETURN_IF_ERROR(RequireNumber(type, "a scale"));
  if (!IsFloat(type.dtype)) {
    RELAYVM_ASSIGN_OR_RETURN(std::vector<Dim> scale, ctx.Elements(arg));
    RELAYVM_RETURN_IF_ERROR(ctx.RequireAtLeast(scale[0], Dim(1), "a scale"));
    RELAYVM_RETURN_IF_ERROR(RequireAtMost(ctx, scale[0], Dim(kMostScale), "a scale"));
    return extent * scale[0];
  }
  // Half floats hold few extents.
  const DType dtype = type.dtype == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32;
  using Step = ScalarStep;
  // What is above 0 is at least 1 when it is rounded up; what is no number is 0 as an integer.
  RELAYVM_ASSIGN_OR_RETURN(
      Dim scale, ctx.ComputeDim(std::array{Step{"cast", {Step::Argument{arg}}, dtype},
                                           Step{"ceil", {Step::Earlier{0}}},
                                           Step{"cast", {Step::Earlier{1}}, DType::kInt64}}));
  RELAYVM_RETURN_IF_ERROR(ctx.RequireAtLeast(scale, Dim(1), "a scale, rounded up"));
  RELAYVM_RETURN_IF_ERROR(RequireAtMost(ctx, scale, Dim(kMostScale), "a scale, rounded up"));
  return ctx.ComputeDim(std::array{
      Step{"cast", {extent}, dtype}, Step{"cast", {Step::Argument{arg}}, dtype},
      Step{"multiply", {Step::Earlier{0}, Step::Earlier{1}}}, Step{"round", {Step::Earlier{2}}},
      Step{"cast", {Step::Earlier{3}}, DType::kInt64}});
}

ResizeMode ReadUpsamplingMode(const Attrs& attrs, int spatial) {
  ResizeMode mode;
  mode.method = attrs.String("method");
  const std::string_view prefix = spatial == 2 ? "bi" : "tri";
  if (mode.method.starts_with(prefix)) mode.method.erase(0, prefix.size());
  if (spatial == 2) {
    mode.coordinates = attrs.Bool("align_corners") ? "align_corners" : "asymmetric";
  } else {
    mode.coordinates = attrs.String("coordinate_transformation_mode");
  }
  return mode;
}

}  // namespace relayvm
