// Shape arithmetic that the static and the dyn.* form of an operator share: the codes of reshape,
// the ranges of strided_slice, indicator expressions over Dims.
//
// A Dim has no conditional, but Min and Max express one: for an integer x, Max(0, Min(1, x)) is 1
// where x > 0 and else 0. Dims are computed exactly or the program fails, so a rule never negates
// or adds what may be any integer. So a rule that branches on a number read at run time (a -1 in a
// reshape, a negative begin) is still one expression. Tested by shape_rules_test.cc.
#pragma once

#include <vector>

#include "kernels/op/op.h"

namespace relayvm {

// The whole numbers of argument 0, element by element; what is no number becomes the least one: as
// 0 it would pass for a size.
std::vector<ScalarStep> WholeNumberSteps();

// 1 where the condition holds, else 0.
Dim IsPositive(const Dim& x);
Dim IsNegative(const Dim& x);

// The shape that reshape's codes give for data of shape `in`:
//   0 copies a dim (the literal 0 with allow_zero), -1 is inferred, -2 copies all remaining dims,
//   -3 merges two dims, -4 splits one dim into the next two codes (one of which may be -1).
// A code that is an expression and never below 0 is a size. One that may be negative (a number read
// from a tensor) may be any size or code when the program runs: then TypeContext::ShapeByRule gives
// what is not known of the result, whose rank must be the number of codes that are given.
Result<std::vector<Dim>> ReshapeDims(TypeContext& ctx, const std::vector<Dim>& in,
                                     const std::vector<Dim>& codes, bool allow_zero);

// The elements that a slice takes of one axis: index begin + i * stride for i in [0, length).
// `begin` is in range wherever length is above 0.
struct SliceRange {
  Dim begin;
  Dim length;
};
// Numpy's rules: negative begin and end count from the back, both are clamped. An end of at least
// 2^31 - 1 (or at most -2^31 with a negative stride) is "to the end". REQUIRES: stride is not 0.
SliceRange SliceAxis(const Dim& extent, const Dim& begin, const Dim& end, const Dim& stride);
// slice_mode="size": `size` elements from `begin`, to the end where it is negative.
SliceRange SliceAxisBySize(const Dim& extent, const Dim& begin, const Dim& size);

// Whether `dims` holds none that is negative for sure; those that may be get a guard.
Status RequireSizes(TypeContext& ctx, const std::vector<Dim>& dims);
// As TypeContext::RequireAtLeast: that d <= most, and that d is not 0 (a step, a divisor).
Status RequireAtMost(TypeContext& ctx, const Dim& d, const Dim& most, std::string_view what);
Status RequireNonzero(TypeContext& ctx, const Dim& d, std::string_view what);

}  // namespace relayvm
