// Inputs whose numbers must lie in a range that the data's dims decide: indices, axes, lengths,
// counts. ONNX calls others an error. Those that are known are checked when compiling, and so are
// those that follow from dims; else the program checks them when it runs (check_range), and the
// error names the node, the input and the number. Tested by checked_test.cc, which walks the
// operators that have such an input.
#pragma once

#include <string>

#include "compiler/import/onnx/arithmetic.h"

namespace relayvm::import {

// Of whom a range is: input `input` of the node, by what operators call it.
struct InputName {
  NodeContext& n;
  size_t input;
  std::string what;  // "indices"
};

// Integers `values`, each of which must be in least..end-1. Bounds are int64 of rank 1: of one
// number, or of one for each place of the values' last axis. What is used must come from the result:
// the values, once they are checked.
Term Checked(const InputName& of, const Value& values, const Value& least, const Value& end);
Term Checked(const InputName& of, const Value& values, int64_t least, const Value& end);
// Whether the numbers are known, or formulas over dims: not numbers of the data.
bool FollowsFromDims(TypedBuilder& b, const Value& v);
// Sizes, 0 or more. Those that follow from dims stay as they are: types check the sizes they give.
Value NotNegative(const InputName& of);
// Without an upper bound.
Term AtLeast(const InputName& of, const Value& values, int64_t least);
// The same for values that are large: gives `end`.
Value CheckedEnd(const InputName& of, const Value& values, const Value& least, const Value& end);

// Indices of axes whose extents are those (int64, rank 1, of one or for each place of the last
// axis), which count from the end where negative: from the front.
Value FromFront(const InputName& of, const Value& indices, const Value& extents);
// The same of an axis, rank 0, int64.
Term AxisFromFront(const InputName& of, int64_t rank);
// `indices` that must not be negative.
Value Below(const InputName& of, const Value& indices, const Value& extent);

}  // namespace relayvm::import
