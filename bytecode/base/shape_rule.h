// Shapes that numbers decide: the codes of a reshape, the axes of a squeeze or an expand_dims.
//
// What the compiler knows of the numbers it works out itself, with dims as expressions
// (kernels/op/shape_rules.h). For the rest there is one instruction, dim.shape, and this is what it
// does, exactly or not at all. Tested by shape_rule_test.cc.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "bytecode/base/status.h"

namespace relayvm {

enum class ShapeRule : uint16_t {
  // The numbers are sizes or codes, taken from left to right, as are the dims of the data:
  //    n > 0  a dim of n elements
  //    0      the next dim of the data; with its bit in `zeros`, a dim of 0 elements
  //   -1      whatever makes the number of elements right; only one may be so
  //   -2      all the dims of the data that are left
  //   -3      the product of the next two dims of the data
  //   -4      the next dim of the data, split into the two numbers that follow (one may be -1)
  // A number above 0, and -1, pass over one dim of the data. What is copied, merged or split counts
  // on neither side where -1 is worked out: (0, 4) by [0, -1] is (0, 4).
  kReshape,
  kSqueeze,  // the numbers are axes of extent 1, which are removed; negative ones count from the back
  kExpandDims,  // the number is the axis before which as many ones are inserted as the rank grows by
};
inline constexpr int kNumShapeRules = 3;
// "reshape". REQUIRES: valid.
std::string_view ShapeRuleName(ShapeRule rule);

// More dims or numbers than this are a mistake; so `zeros` has a bit for each number.
inline constexpr size_t kMaxShapeNumbers = 64;

// Fills `shape`, whose length is the rank that the result must have. The error leaves out the
// operator: "the number of elements: 3 x 12 does not equal 32". REQUIRES: none of `data` is
// negative; no list is longer than kMaxShapeNumbers.
Status ApplyShapeRule(ShapeRule rule, std::span<const int64_t> data,
                      std::span<const int64_t> numbers, uint64_t zeros, std::span<int64_t> shape);

}  // namespace relayvm
