// Pictures: (height, width, channels) or a batch of them, as files of pictures hold them; and
// resizes of (batch, channels, height, width).
#include <algorithm>

#include "compiler/import/composite/resize.h"
#include "compiler/import/mxnet/convert.h"

namespace relayvm::import::mxnet {

namespace {

bool IsPicture(Node& n) {
  if (n.Input(0).rank() == 3 || n.Input(0).rank() == 4) return true;
  n.Fail("data: expected a picture or a batch of them, found rank {}", n.Input(0).rank());
  return false;
}

// Channels first, 0 to 1.
Outputs ToTensor(Node& n) {
  if (!IsPicture(n)) return {};
  const Term x = Term(n, 0).As(DType::kFloat32) / 255;
  return {x.Transpose(x.rank() == 3 ? std::vector<int64_t>{2, 0, 1}
                                    : std::vector<int64_t>{0, 3, 1, 2})};
}
// Less the mean, by the deviation of each channel, which come first.
Outputs Normalize(Node& n) {
  if (!IsPicture(n)) return {};
  const Term x = AsReal(Term(n, 0));
  const auto numbers = [&](std::string_view name, double fallback) {
    std::vector<double> v = n.Floats(name, {fallback});
    if (v.empty()) v = {fallback};
    const auto count = static_cast<int64_t>(v.size());
    return Table(n, v, {count, 1, 1}).As(x.dtype());
  };
  return {(x - numbers("mean", 0)) / numbers("std", 1)};
}
template <int kAxis>  // from the end
Outputs Flip(Node& n) {
  if (!IsPicture(n)) return {};
  const Term x(n, 0);
  return {x.Call("reverse", {{"axis", x.rank() - kAxis}})};
}
Outputs CropPicture(Node& n) {
  if (!IsPicture(n)) return {};
  const Term x(n, 0);
  const int64_t left = n.Count("x", 0), top = n.Count("y", 0);
  return {x.Slice(x.rank() - 3, top, top + n.Count("height", 1))
              .Slice(x.rank() - 2, left, left + n.Count("width", 1))};
}
// As AlexNet did: along the principal components of colours.
Outputs AdjustLighting(Node& n) {
  if (!IsPicture(n)) return {};
  const std::vector<double> alpha = n.Floats("alpha");
  if (alpha.size() != 3) return n.Fail("attribute alpha: expected three numbers");
  constexpr double kComponents[3][3] = {{55.46 * -0.5675, 4.794 * 0.7192, 1.148 * 0.4009},
                                        {55.46 * -0.5808, 4.794 * -0.0045, 1.148 * -0.8140},
                                        {55.46 * -0.5836, 4.794 * -0.6948, 1.148 * 0.4203}};
  std::vector<double> shift;
  for (const auto& row : kComponents)
    shift.push_back(row[0] * alpha[0] + row[1] * alpha[1] + row[2] * alpha[2]);
  const Term x(n, 0);
  const Term y = x.As(DType::kFloat32) + Table(n, shift, {3});
  if (IsFloat(x.dtype())) return {y.As(x.dtype())};
  return {Clamp(y, y.Number(0), y.Number(255)).As(x.dtype())};
}

// The extents of the result, int64 of rank 1.
std::optional<Term> PictureSize(Node& n, const Term& height, const Term& width) {
  TypedBuilder& b = n.b();
  const std::vector<int64_t> size = n.Counts("size");
  if (size.empty() || size.size() > 2 || std::ranges::any_of(size, [](int64_t s) { return s < 1; }))
    return n.Fail("attribute size: expected one or two numbers above 0");
  if (size.size() == 2) return Term(b, b.Ints({size[1], size[0]}));
  if (!n.Bool("keep_ratio", false)) return Term(b, b.Ints({size[0], size[0]}));
  // The shorter side is that long.
  const Term side(b, b.Ints({size[0]}));
  const auto scaled = [&](const Term& longer, const Term& shorter) {
    return (longer * side).Call("floor_divide", shorter);
  };
  const Term high = height > width;
  return Term(b, b.Concat({Select(high, scaled(height, width), side),
                           Select(high, side, scaled(width, height))},
                          0));
}
Outputs ResizePicture(Node& n) {
  TypedBuilder& b = n.b();
  if (!IsPicture(n)) return {};
  const Term x(n, 0);
  const int rows = x.rank() - 3;
  const auto size = PictureSize(n, {b, b.DimOf(x, rows)}, {b, b.DimOf(x, rows + 1)});
  if (!size) return {};
  const int64_t kind = n.Int("interp", 1);
  if (kind < 0 || kind > 2) return n.Unsupported("attribute interp: {}", kind);
  ResizeSpec spec{.x = AsReal(x), .axes = {rows, rows + 1}};
  spec.method = kind == 0   ? ResizeMethod::kNearest
                : kind == 1 ? ResizeMethod::kLinear
                            : ResizeMethod::kCubic;
  spec.coordinates = kind == 0 ? ResizeCoordinates::kAsymmetric : ResizeCoordinates::kHalfPixel;
  spec.rounding = ResizeRounding::kFloor;
  spec.sizes = *size;
  const Term y(b, Resized(b, spec));
  if (IsFloat(x.dtype())) return {y};
  return {Clamp(y.Call("round_even"), y.Number(0), y.Number(255)).As(x.dtype())};
}

// --- Of (batch, channels, height, width) ---

// One extent of the result (int64, rank 1), from the data's.
std::optional<Term> ResizedExtent(Node& n, const Term& extent, int axis, const std::string& mode) {
  TypedBuilder& b = n.b();
  const char* scale_attr = axis == 2 ? "scale_height" : "scale_width";
  const int64_t given = n.Count(axis == 2 ? "height" : "width", 1);
  const auto scaled = [&](const Term& v) {
    return (v.As(DType::kFloat64) * n.Float(scale_attr, 1)).As(DType::kInt64);
  };
  const Term odd = extent.Call("floor_mod", extent.Number(2));
  if (mode == "size") return n.HasAttr(scale_attr) ? scaled(extent) : Term(b, b.Ints({given}));
  if (mode == "odd_scale") return Select(Equal(odd, 0), scaled(extent), scaled(extent - 1) + 1);
  if (mode == "like") return Term(b, b.DimOf(n.Input(1), axis));
  if (mode == "to_even_down") return extent - odd;
  if (mode == "to_even_up") return extent + odd;
  if (mode == "to_odd_down") return extent - (1 - odd);
  return extent + (1 - odd);
}
Outputs BilinearResize(Node& n) {
  TypedBuilder& b = n.b();
  const Term x(n, 0);
  if (!n.ExpectRank(x, 4, "data")) return {};
  const std::string mode = n.Choice(
      "mode", "size",
      {"size", "odd_scale", "like", "to_even_down", "to_even_up", "to_odd_down", "to_odd_up"});
  if (mode == "like" && (!n.Has(1) || !n.ExpectRank(n.Input(1), 4, "like")))
    return n.Fail("mode like: expected a second input");
  const auto height = ResizedExtent(n, {b, b.DimOf(x, 2)}, 2, mode),
             width = ResizedExtent(n, {b, b.DimOf(x, 3)}, 3, mode);
  if (!height || !width) return {};
  ResizeSpec spec{.x = x, .axes = {2, 3}, .method = ResizeMethod::kLinear};
  spec.coordinates = n.Bool("align_corners", true) ? ResizeCoordinates::kAlignCorners
                                                   : ResizeCoordinates::kHalfPixel;
  spec.sizes = Term(b, b.Concat({*height, *width}, 0));
  return {Resized(b, spec)};
}

constexpr OperatorDef kImageOperators[] = {
    {"_contrib_BilinearResize2D", 1, 2, BilinearResize},
    {"_image_adjust_lighting _npx__image_adjust_lighting", 1, 1, AdjustLighting},
    {"_image_crop _npx__image_crop", 1, 1, CropPicture},
    {"_image_flip_left_right _npx__image_flip_left_right", 1, 1, Flip<2>},
    {"_image_flip_top_bottom _npx__image_flip_top_bottom", 1, 1, Flip<3>},
    {"_image_normalize _npx__image_normalize", 1, 1, Normalize},
    {"_image_resize _npx__image_resize", 1, 1, ResizePicture},
    {"_image_to_tensor _npx__image_to_tensor", 1, 1, ToTensor},
};

}  // namespace

std::span<const OperatorDef> ImageOperators() { return kImageOperators; }

}  // namespace relayvm::import::mxnet
