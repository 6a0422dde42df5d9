#include <algorithm>
#include <functional>

#include "kernels/op/resize.h"
#include "kernels/op/testing.h"

namespace relayvm::op_testing {
namespace {

// --- resize: every method is separable, so the expectation is a plain 1-d routine applied along
// each axis -----------

double Coordinate(const std::string& mode, int64_t i, int64_t in, int64_t out) {
  double x = static_cast<double>(i), w = static_cast<double>(in), t = static_cast<double>(out);
  if (mode == "half_pixel") return (x + 0.5) * w / t - 0.5;
  if (mode == "pytorch_half_pixel") return out > 1 ? (x + 0.5) * w / t - 0.5 : 0;
  if (mode == "align_corners") return out > 1 ? x * (w - 1) / (t - 1) : 0;
  if (mode == "tf_half_pixel_for_nn") return (x + 0.5) * w / t;
  return x * w / t;  // asymmetric
}

std::vector<double> Resample(const std::vector<double>& line, int64_t out,
                             const std::string& method, const std::string& mode,
                             const std::string& rounding, bool exclude) {
  auto in = static_cast<int64_t>(line.size());
  auto pixel = [&](int64_t i) {
    return line[static_cast<size_t>(std::clamp<int64_t>(i, 0, in - 1))];
  };
  std::vector<double> result;
  for (int64_t i = 0; i < out; ++i) {
    double x = Coordinate(mode, i, in, out);
    double floor = std::floor(x), t = x - floor;
    auto base = static_cast<int64_t>(floor);
    if (method == "nearest_neighbor") {
      double r = std::floor(x + 1e-5);
      if (rounding == "round" || (rounding.empty() && mode == "align_corners")) r = std::round(x);
      if (rounding == "round_prefer_floor") r = std::ceil(x - 0.5);
      if (rounding == "round_prefer_ceil") r = std::floor(x + 0.5);
      if (rounding == "ceil") r = std::ceil(x - 1e-5);
      result.push_back(pixel(static_cast<int64_t>(r)));
    } else if (method == "linear") {
      result.push_back(pixel(base) * (1 - t) + pixel(base + 1) * t);
    } else {
      const double a = -0.75;
      auto kernel = [&](double d) {  // Keys' cubic
        d = std::abs(d);
        if (d <= 1) return (a + 2) * d * d * d - (a + 3) * d * d + 1;
        return a * d * d * d - 5 * a * d * d + 8 * a * d - 4 * a;
      };
      double sum = 0, weights = 0;
      for (int64_t k = -1; k <= 2; ++k) {
        double w = kernel(static_cast<double>(k) - t);
        if (exclude && (base + k < 0 || base + k >= in)) w = 0;
        sum += w * pixel(base + k);
        weights += w;
      }
      result.push_back(exclude ? sum / weights : sum);
    }
  }
  return result;
}

// `fn` applied to each line of `values` along `axis`, to length `out`.
std::vector<double> AlongAxis(const std::vector<double>& values, std::vector<int64_t>& shape,
                              size_t axis, int64_t out,
                              const std::function<std::vector<double>(std::vector<double>)>& fn) {
  int64_t outer = 1, inner = 1, in = shape[axis];
  for (size_t i = 0; i < axis; ++i) outer *= shape[i];
  for (size_t i = axis + 1; i < shape.size(); ++i) inner *= shape[i];
  std::vector<double> result(static_cast<size_t>(outer * out * inner));
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t n = 0; n < inner; ++n) {
      std::vector<double> line;
      for (int64_t k = 0; k < in; ++k) {
        line.push_back(values[static_cast<size_t>((o * in + k) * inner + n)]);
      }
      std::vector<double> done = fn(std::move(line));
      for (int64_t k = 0; k < out; ++k) {
        result[static_cast<size_t>((o * out + k) * inner + n)] = done[static_cast<size_t>(k)];
      }
    }
  }
  shape[axis] = out;
  return result;
}

void CheckResize(const std::string& layout, const std::vector<int64_t>& shape,
                 const std::vector<int64_t>& size, const std::string& method,
                 const std::string& mode, const std::string& rounding = "", bool exclude = false) {
  CAPTURE(layout);
  CAPTURE(method);
  CAPTURE(mode);
  CAPTURE(rounding);
  int64_t count = 1;
  for (int64_t d : shape) count *= d;
  std::vector<double> in;
  for (int64_t i = 0; i < count; ++i) in.push_back(static_cast<double>((i * 37) % 101) / 10);
  std::vector<int64_t> out_shape = shape;
  std::vector<double> out = in;
  const std::string letters = std::string("DHW").substr(3 - size.size());
  for (size_t k = 0; k < size.size(); ++k) {
    out = AlongAxis(out, out_shape, layout.find(letters[k]), size[k], [&](const auto& line) {
      return Resample(line, size[k], method, mode, rounding, exclude);
    });
  }
  AttrMap attrs = {{"size", List(size)},
                   {"layout", layout},
                   {"method", method},
                   {"coordinate_transformation_mode", mode},
                   {"rounding_method", rounding},
                   {"cubic_alpha", -0.75},
                   {"cubic_exclude", exclude ? 1 : 0}};
  CheckOp("image.resize" + std::to_string(size.size()) + "d", attrs, {F32(shape, in)},
          {F32(out_shape, out)}, {.tolerance = 2e-5});
}

const char* const kModes[] = {"half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel",
                              "tf_half_pixel_for_nn"};

TEST_CASE("resize1d: methods, coordinates, rounding") {
  for (const char* mode : kModes) {
    for (int64_t out : {1, 3, 5, 8, 11}) {
      for (const char* rounding :
           {"", "round", "floor", "ceil", "round_prefer_floor", "round_prefer_ceil"}) {
        CheckResize("NCW", {1, 2, 5}, {out}, "nearest_neighbor", mode, rounding);
      }
      CheckResize("NWC", {2, 5, 1}, {out}, "linear", mode);
      CheckResize("NCW", {1, 1, 5}, {out}, "cubic", mode);
      CheckResize("NCW", {1, 1, 5}, {out}, "cubic", mode, "", true);
    }
  }
}

TEST_CASE("resize2d and resize3d are separable") {
  for (const char* method : {"nearest_neighbor", "linear", "cubic"}) {
    CheckResize("NCHW", {1, 2, 3, 4}, {5, 6}, method, "half_pixel");
    CheckResize("NHWC", {1, 4, 3, 2}, {2, 7}, method, "align_corners");
    CheckResize("NCHW2c", {1, 1, 3, 4, 2}, {4, 3}, method, "asymmetric");
    CheckResize("NCDHW", {1, 1, 2, 3, 2}, {3, 2, 3}, method, "half_pixel");
    CheckResize("NDHWC", {1, 2, 2, 3, 1}, {1, 3, 4}, method, "asymmetric");
  }
}

TEST_CASE("resize: dtypes, regions of interest, errors") {
  AttrMap attrs = {{"size", List({4})}, {"method", "linear"}};
  CheckOp("image.resize1d", attrs, {Host(DType::kUInt8, {1, 1, 2}, {0, 200})},
          {Host(DType::kUInt8, {1, 1, 4}, {0, 50, 150, 200})});
  attrs["out_dtype"] = "float64";
  CheckOp("image.resize1d", attrs, {Host(DType::kUInt8, {1, 1, 2}, {0, 200})},
          {Host(DType::kFloat64, {1, 1, 4}, {0, 50, 150, 200})});
  AttrMap crop = {{"size", List({3})},
                  {"roi", AttrList{0.5, 1.5}},
                  {"coordinate_transformation_mode", "tf_crop_and_resize"},
                  {"extrapolation_value", -1.0}};
  // Positions 1, 2 and 3 of 0..2.
  CheckOp("image.resize1d", crop, {F32({1, 1, 3}, {10, 20, 30})}, {F32({1, 1, 3}, {20, 30, -1})});
  crop["method"] = "nearest_neighbor";
  CheckOp("image.resize1d", crop, {F32({1, 1, 3}, {10, 20, 30})}, {F32({1, 1, 3}, {20, 30, -1})});
  crop["roi"] = AttrList{0.5};
  HostTensor x = F32({1, 1, 2}, {1, 2});
  CheckFails("image.resize1d", crop, {x}, "roi needs 2 elements");
  CheckFails("image.resize1d", {{"size", List({2})}, {"method", "area"}}, {x}, "method \"area\"");
  CheckFails("image.resize1d", {{"size", List({2, 2})}}, {x}, "size needs 1 elements");
  CheckFails("image.resize1d", {{"size", List({2})}, {"layout", "NCHW"}}, {x}, "beyond N, C");
  CheckFails("image.resize1d", {{"size", List({2})}}, {F32({1, 1, 0}, {})},
             "the extent of an axis");
}

TEST_CASE("scaled extents round halves up, on symbols too") {
  FakeContext ctx({}, {});
  Dim n = Dim::Symbol(1, "n");
  CHECK(*ScaledExtent(ctx, 5, 1.5) == Dim(8));
  CHECK(*ScaledExtent(ctx, n, 2.0) == n * Dim(2));
  for (double scale : {0.5, 1.5, 0.1, 1.0 / 3, 2.75}) {
    auto d = ScaledExtent(ctx, n, scale);
    REQUIRE(d.ok());
    for (int64_t v = 0; v < 50; ++v) {
      auto at = d->Evaluate([&](uint32_t) { return std::optional(v); });
      CHECK(*at == static_cast<int64_t>(std::round(static_cast<double>(v) * scale + 1e-9)));
    }
  }
  // No ratio of small integers: floats decide when the program runs.
  CHECK_FALSE(ScaledExtent(ctx, n, 0.70710678).ok());
  for (int64_t v : {0, 1, 7, 1000}) {
    ctx.compute_dim = [&](std::span<const ScalarStep> steps) -> Result<Dim> {
      return Dim(
          static_cast<int64_t>(Values(RunSteps(steps, {}, [&](const Dim&) { return v; }))[0]));
    };
    CHECK(*ScaledExtent(ctx, n, 0.70710678) ==
          Dim(static_cast<int64_t>(std::round(static_cast<double>(v) * 0.70710678))));
  }
  CHECK_FALSE(ScaledExtent(ctx, n, -1).ok());
}

TEST_CASE("crop_and_resize") {
  HostTensor x = F32({2, 1, 2, 2}, Iota(8));
  HostTensor boxes = F32({3, 4}, {0, 0, 1, 1, 1, 1, 0, 0, 0.5, 0, 1.5, 1});
  HostTensor which = I32({3}, {0, 1, 0});
  AttrMap attrs = {{"crop_size", List({2, 2})}, {"extrapolation_value", -1.0}};
  CheckOp("image.crop_and_resize", attrs, {x, boxes, which},
          {F32({3, 1, 2, 2}, {0, 1, 2, 3, 7, 6, 5, 4, 1, 2, -1, -1})}, {.static_args = {1, 2}});
  AttrMap one = {{"crop_size", List({1, 1})}, {"layout", "NHWC"}};
  CheckOp("image.crop_and_resize", one,
          {F32({1, 2, 2, 1}, Iota(4)), F32({1, 4}, {0, 0, 1, 1}), I32({1}, {0})},
          {F32({1, 1, 1, 1}, {1.5})}, {.static_args = {1, 2}});
  CheckFails("image.crop_and_resize", attrs, {x, F32({3, 3}, Iota(9)), which}, "numbers of a box");
}

TEST_CASE("affine_grid") {
  CheckOp("image.affine_grid", {{"target_shape", List({2, 3})}},
          {F32({1, 2, 3}, {1, 0, 0.5, 0, 2, 0})},
          {F32({1, 2, 2, 3}, {-0.5, 0.5, 1.5, -0.5, 0.5, 1.5, -2, -2, -2, 2, 2, 2})});
  CheckFails("image.affine_grid", {{"target_shape", List({1, 3})}}, {F32({1, 2, 3}, Iota(6))},
             "two numbers above 1");
}

TEST_CASE("grid_sample in 2-d") {
  HostTensor x = F32({1, 1, 2, 3}, Iota(6));
  // Three points: (x, y).
  auto grid = [](std::vector<double> xs, std::vector<double> ys) {
    auto n = static_cast<int64_t>(xs.size());
    xs.insert(xs.end(), ys.begin(), ys.end());
    return F32({1, 2, 1, n}, xs);
  };
  AttrMap attrs = {{"method", "bilinear"}};
  CheckOp("image.grid_sample", attrs, {x, grid({-1, 0.5, 1}, {-1, 0, 1})},
          {F32({1, 1, 1, 3}, {0, 3, 5})});
  // Half a pixel outside: half of the border pixel, the border, or mirrored at the corner pixel's
  // centre.
  HostTensor outside = grid({-1.5, 1.5}, {-1, 1});
  CheckOp("image.grid_sample", attrs, {x, outside}, {F32({1, 1, 1, 2}, {0, 2.5})});
  attrs["padding_mode"] = "border";
  CheckOp("image.grid_sample", attrs, {x, outside}, {F32({1, 1, 1, 2}, {0, 5})});
  attrs["padding_mode"] = "reflection";
  CheckOp("image.grid_sample", attrs, {x, outside}, {F32({1, 1, 1, 2}, {0.5, 4.5})});
  attrs["align_corners"] = false;
  // x = -1.5 lies at pixel -1.25, mirrored at the edge -0.5 to 0.25.
  CheckOp("image.grid_sample", attrs, {x, grid({-1.5, 0}, {-0.5, 0.5})},
          {F32({1, 1, 1, 2}, {0.25, 4})});
  CheckOp("image.grid_sample", {{"method", "nearest"}}, {x, grid({-0.4, 0.6, 3}, {-1, 0.9, 0})},
          {F32({1, 1, 1, 3}, {1, 5, 0})});
  // Cubic reproduces pixels, and a linear ramp in the middle of enough pixels.
  HostTensor ramp = F32({1, 1, 1, 5}, {0, 2, 4, 6, 8});
  CheckOp("image.grid_sample", {{"method", "bicubic"}, {"padding_mode", "border"}},
          {ramp, grid({-1, 0, 0.25}, {0, 0, 0})}, {F32({1, 1, 1, 3}, {0, 4, 5})});
  CheckFails("image.grid_sample", {{"method", "cubic"}}, {x, outside}, "does not exist");
  CheckFails("image.grid_sample", {{"padding_mode", "wrap"}}, {x, outside}, "padding_mode");
}

TEST_CASE("grid_sample in 3-d takes x, y, z") {
  HostTensor x = F32({1, 1, 2, 2, 2}, Iota(8));
  HostTensor grid = F32({1, 3, 1, 1, 2}, {1, 0, -1, 0, -1, 0});
  CheckOp("image.grid_sample", {{"layout", "NCDHW"}}, {x, grid}, {F32({1, 1, 1, 1, 2}, {1, 3.5})});
  CheckOp("image.grid_sample", {{"layout", "NCDHW"}, {"method", "nearest"}}, {x, grid},
          {F32({1, 1, 1, 1, 2}, {1, 0})});
}

TEST_CASE("dilation2d: maximum of data plus kernel, zeros outside") {
  HostTensor x = F32({1, 1, 2, 2}, {0.1, 0.2, 0.3, 0.4});
  HostTensor w = F32({1, 2, 2}, {0.4, 0.3, 0.1, 0.0});
  CheckOp("image.dilation2d", {}, {x, w}, {F32({1, 1, 1, 1}, {0.5})});
  CheckOp("image.dilation2d", {{"padding", List({0, 0, 1, 1})}}, {x, w},
          {F32({1, 1, 2, 2}, {0.5, 0.6, 0.7, 0.8})});
  CheckOp("image.dilation2d",
          {{"padding", List({0, 0, 1, 1})}, {"data_layout", "NHWC"}, {"kernel_layout", "HWI"}},
          {F32({1, 2, 2, 1}, {0.1, 0.2, 0.3, 0.4}), F32({2, 2, 1}, {0.4, 0.3, 0.1, 0.0})},
          {F32({1, 2, 2, 1}, {0.5, 0.6, 0.7, 0.8})});
  CheckOp("image.dilation2d",
          {{"strides", List({2, 2})}, {"dilations", List({2, 2})}, {"padding", 1}}, {x, w},
          {F32({1, 1, 1, 1}, {0.4})});
  CheckFails("image.dilation2d", {{"data_layout", "NHWC"}}, {x, w}, "layouts NHWC and IHW");
}

}  // namespace
}  // namespace relayvm::op_testing
