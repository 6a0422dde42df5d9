// Places in pictures: grids of them, convolutions whose taps move. Tested by
// compiler/import/onnx/op_vision_test.cc.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/import/arithmetic.h"

namespace relayvm::import {

// theta (n, d, d+1), size (n, c, extents.., int64, rank 1): the positions of a picture, -1 to 1,
// transformed; (n, extents.., d). d is 2 or 3. Nullopt with an error.
std::optional<Term> AffineGridOf(const Term& theta, const Term& size, bool align_corners);

struct DeformedConvSpec {
  Value x;       // (n, channels, height, width)
  Value weight;  // (outputs, channels / groups, rows, columns), whose dims are known
  Value offset;  // (n, offset groups * taps * 2, height, width of the result): of each tap at each
                 // place, rows and columns in turn
  Value mask;    // (n, offset groups * taps, ..): what each tap weighs; none: 1
  int64_t groups = 1, offset_groups = 1;
  std::vector<int64_t> strides, dilations;  // 2
  std::vector<int64_t> pads;                // 4: starts, then ends
};
// Nullopt with an error.
std::optional<Term> DeformedConv(TypedBuilder& b, const DeformedConvSpec& spec);

}  // namespace relayvm::import
