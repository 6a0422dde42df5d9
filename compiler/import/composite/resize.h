// Pictures of another size, along any axes. Axis by axis each element of the result is a sum of
// weighted elements of the input ("taps"): which ones and how much they weigh are small vectors,
// computed in float64 from the extents and scales. Where these are known when compiling the vectors
// fold to constants. Tested by resize_test.cc.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/import/checked.h"

namespace relayvm::import {

// kLanczos: three lobes, with `antialias` only.
enum class ResizeMethod : uint8_t { kNearest, kLinear, kCubic, kLanczos };

// The position in the input of element o of the result; scale is result / input.
enum class ResizeCoordinates : uint8_t {
  kHalfPixel,           // (o + 0.5) / scale - 0.5
  kHalfPixelOrFirst,    // the same; 0 where the result has one element
  kHalfPixelSymmetric,  // the same, about the picture's middle where the extent was rounded
  kCentre,              // (o + 0.5) / scale
  kAsymmetric,          // o / scale
  kAlignCorners,        // o * (input - 1) / (result - 1)
  kCrop                 // of the part `crop`: its corners are the result's
};
// Which element is the nearest.
enum class ResizeRounding : uint8_t { kPreferFloor, kPreferCeil, kFloor, kCeil };
// Sizes that keep the aspect ratio: none larger, or none smaller, than is said.
enum class ResizeAspect : uint8_t { kStretch, kNotLarger, kNotSmaller };

// Sizes are given by `sizes`, by `known_scales`, or by `scales`.
struct ResizeSpec {
  Value x;
  std::vector<int64_t> axes;  // 0..rank-1; lists below have one entry for each
  ResizeMethod method = ResizeMethod::kNearest;
  ResizeCoordinates coordinates = ResizeCoordinates::kHalfPixel;
  ResizeRounding rounding = ResizeRounding::kPreferFloor;
  ResizeAspect aspect = ResizeAspect::kStretch;
  double cubic = -0.75;  // the coefficient of cubic interpolation
  double phases = 0;     // of kCubic: positions between elements are rounded to so many; 0: exact
  double extrapolation = 0;      // what lies outside of the picture in kCrop
  bool exclude_outside = false;  // taps outside of the picture weigh 0, else are those at its edge
  // Of bytes: weights are integers of 16 bits, each axis gives bytes (Pillow, PyTorch).
  bool in_bytes = false;
  bool antialias = false;  // a smaller picture takes all of the larger one; not for kNearest

  std::optional<Term> sizes;  // int64, rank 1; none negative
  // With `sizes`: what positions are computed by; 0: the sizes.
  std::vector<double> position_scales;
  std::optional<std::vector<double>> known_scales;  // above 0
  std::optional<Term> scales;                       // float32, rank 1
  std::optional<InputName> scales_name;  // whose, in errors of those that are not positive
  bool scales_are_of_sizes = false;      // computed of dims, which are never negative
  std::optional<Term> crop;              // rank 1: starts, then ends, as parts of 1 of the extents
};

// Of x's dtype: whole numbers lose their fraction, with `antialias` they are rounded.
Value Resized(TypedBuilder& b, const ResizeSpec& spec);

}  // namespace relayvm::import
