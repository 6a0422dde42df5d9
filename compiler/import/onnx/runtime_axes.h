// Axes, pads and slices that are inputs of the graph. Their number is static, so that ranks are;
// the dims of the results are computed. What every operator with such an input shares.
#pragma once

#include <vector>

#include "compiler/import/onnx/arithmetic.h"

namespace relayvm::import {

// One entry (int64, rank 1) for each of `rank` axes: that of `values` where the axis is among
// `axes` (which may count from the end), else that of `rest`.
Term ByAxis(const Value& rest, const Term& axes, const Term& values);

// The number of elements of a vector, an error of the node where it is not known.
std::optional<int64_t> CountOf(NodeContext& n, const Value& v, std::string_view what);

// Axes of input `i` (int64): each of -rank..rank-1, and none twice, which the program checks.
Term CheckedAxes(NodeContext& n, size_t i, int64_t rank, int64_t count);
// What gives the axes, where it is input 1: "axes 'k'".
inline std::string AxesText(const NodeContext& n) {
  return n.HasAttr("axes") ? "" : n.InputText(1, "axes");
}

// `x` as a view that says when it runs that the extent is this one.
Value WithExtent(TypedBuilder& b, const Value& x, int axis, const Value& extent);
// `x`, whose axis has that extent, or the program fails; `what` is `x` in errors.
Value Stating(NodeContext& n, const Value& x, int axis, int64_t extent, std::string what);
// `x` without the axes; their dims are 1.
Value SqueezeBy(NodeContext& n, const Value& x, const Term& axes, int64_t count);
// With dims of 1 inserted, so that they stand at `axes` of the result.
Value UnsqueezeBy(NodeContext& n, const Value& x, const Term& axes, int64_t count);
// A reduction (sum, mean, max, min, prod) over axes. `keep`: dims of 1 stay.
Value ReduceBy(NodeContext& n, const Value& x, std::string_view op, const Term& axes, bool keep);

}  // namespace relayvm::import
