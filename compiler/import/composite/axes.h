// Axes that are inputs of the graph: their number is static, so that ranks are; the dims of the
// results are computed. What every operator with such an input shares. Tested by axes_test.cc.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "compiler/import/checked.h"

namespace relayvm::import {

// One entry (int64, rank 1) for each of `rank` axes: that of `values` where the axis is among
// `axes` (which may count from the end), else that of `rest`.
Term ByAxis(const Value& rest, const Term& axes, const Term& values);

// The number of elements of a vector, an error where it is not known.
std::optional<int64_t> CountOf(TypedBuilder& b, const Value& v, std::string_view what);

// The input's numbers (int64) as axes: each of -rank..rank-1, and none of `count` twice, which the
// program checks.
Term CheckedAxes(const InputName& of, int64_t rank, int64_t count);

// `x` as a view that says when it runs that the extent is this one.
Value WithExtent(TypedBuilder& b, const Value& x, int axis, const Value& extent);
// `x`, whose axis has that extent, or the program fails; `what` is `x` in errors.
Value Stating(TypedBuilder& b, const Value& x, int axis, int64_t extent, std::string what);
// `of` without the axes, of which there are `count`; their dims are 1.
Value SqueezeBy(const InputName& of, const Term& axes, int64_t count);
// With dims of 1 inserted, so that they stand at `axes` of the result.
Value UnsqueezeBy(TypedBuilder& b, const Value& x, const Term& axes, int64_t count);
// A reduction (sum, mean, max, min, prod) of `of` over axes. `keep`: dims of 1 stay. `none_is_all`:
// where the number of axes is open, no axes are all of them.
Value ReduceBy(const InputName& of, std::string_view op, const Term& axes, bool keep,
               bool none_is_all);

}  // namespace relayvm::import
