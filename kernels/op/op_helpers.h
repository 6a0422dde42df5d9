// What the operator definitions share: errors, axes, dtype rules, index arithmetic, broadcasting.
// Resampling (image.resize*, nn.upsampling) has its own header, resize.h; shape arithmetic of
// reshape and slices shape_rules.h. Stateless. Tested by op_helpers_test.cc and by the tests of
// each definition.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/op/op.h"

namespace relayvm {

// --- Errors ---
// Messages leave out the operator's name: the type checker puts it before them.

template <typename... Args>
Status Invalid(fmt::format_string<Args...> format, Args&&... args) {
  return {StatusCode::kInvalidInput, fmt::format(format, std::forward<Args>(args)...)};
}
template <typename... Args>
Status Unsupported(fmt::format_string<Args...> format, Args&&... args) {
  return {StatusCode::kUnsupported, fmt::format(format, std::forward<Args>(args)...)};
}

// --- Axes and dtypes ---

// `axis` counted from the front; the error says what range is legal.
Result<int> NormalizeAxis(int64_t axis, int rank, std::string_view what = "axis");
// The same without a check. REQUIRES: -rank <= axis < rank.
inline int CanonicalAxis(int64_t axis, int rank) {
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}
// Normalised, without duplicates, in the order given.
Result<std::vector<int>> NormalizeAxes(const std::vector<int64_t>& axes, int rank,
                                       std::string_view what = "axis");

inline Status AnyDType(const TensorType&, std::string_view) { return OkStatus(); }
Status RequireFloat(const TensorType& t, std::string_view what = "data");
Status RequireInteger(const TensorType& t, std::string_view what = "data");  // no bool
Status RequireIntegerOrBool(const TensorType& t, std::string_view what = "data");
Status RequireNumber(const TensorType& t, std::string_view what = "data");  // no bool
Status RequireBool(const TensorType& t, std::string_view what = "data");
Status RequireSameDType(const TensorType& a, const TensorType& b);
Status RequireRank(const TensorType& t, int rank, std::string_view what = "data");
// That `dtype` holds each whole number up to `largest`: an index or a size that `what` names.
Status RequireHolds(TypeContext& ctx, DType dtype, const Dim& largest, std::string_view what);
// Equal rank, and each pair of dims equal.
Status RequireShapeEqual(TypeContext& ctx, const std::vector<Dim>& a, const std::vector<Dim>& b,
                         std::string_view what);

// Numpy broadcasting of two shapes.
Result<std::vector<Dim>> BroadcastShapes(TypeContext& ctx, const std::vector<Dim>& a,
                                         const std::vector<Dim>& b, std::string_view what);

// --- Tensor expressions ---

inline te::Expr Divide(te::Expr a, te::Expr b) {
  return te::Binary(te::BinaryOp::kDivide, std::move(a), std::move(b));
}

using ExprList = std::vector<te::Expr>;

inline te::Expr Int(int64_t v) { return te::IntImm(v); }
inline te::Expr MinExpr(te::Expr a, te::Expr b) {
  return te::Binary(te::BinaryOp::kMin, std::move(a), std::move(b));
}
inline te::Expr MaxExpr(te::Expr a, te::Expr b) {
  return te::Binary(te::BinaryOp::kMax, std::move(a), std::move(b));
}
inline te::Expr FloorDivExpr(te::Expr a, te::Expr b) {
  return te::Binary(te::BinaryOp::kFloorDivide, std::move(a), std::move(b));
}
inline te::Expr FloorModExpr(te::Expr a, te::Expr b) {
  return te::Binary(te::BinaryOp::kFloorMod, std::move(a), std::move(b));
}
inline te::Expr LessEqual(te::Expr a, te::Expr b) {
  return te::Binary(te::BinaryOp::kLessEqual, std::move(a), std::move(b));
}
inline te::Expr Greater(te::Expr a, te::Expr b) {
  return te::Binary(te::BinaryOp::kGreater, std::move(a), std::move(b));
}
// As int64. A uint64 above its range becomes the greatest int64, out of range wherever it indexes.
te::Expr ToIndex(te::Expr e);
// x clamped into [low, high]; high wins where they cross.
inline te::Expr Clamp(te::Expr x, te::Expr low, te::Expr high) {
  return MinExpr(MaxExpr(std::move(x), std::move(low)), std::move(high));
}
// An index read from a tensor, brought into [0, extent). What TVM leaves unchecked is clamped so:
// memory-safe, and equal for every index that TVM defines.
te::Expr ClampIndex(te::Expr index, const Dim& extent);

// The value of a rank-0 tensor.
inline te::Expr Scalar(const te::Tensor& t) { return te::Load(t, {}); }
// Row-major position of `indices` in `shape`, and back.
te::Expr Ravel(const ExprList& indices, const std::vector<Dim>& shape);
ExprList Unravel(te::Expr position, const std::vector<Dim>& shape);

// The indices with which `t` is read at `indices` of the broadcast result (of shape `out`). A dim
// that is 1 or may be 1 at run time reads element 0.
ExprList BroadcastIndices(const std::vector<Dim>& shape, const std::vector<Dim>& out,
                          const ExprList& indices);
te::Expr LoadBroadcast(const te::Tensor& t, const std::vector<Dim>& out, const ExprList& indices);

// One element of `out` per element of equally shaped inputs.
te::Tensor Elementwise(std::string name, const ComputeContext& ctx,
                       const std::function<te::Expr(const ExprList& values)>& fn);
// `t` itself as a computation.
te::Tensor Identity(const te::Tensor& t);
// `data` under another shape with as many elements.
te::Tensor ReshapeTensor(const te::Tensor& data, const std::vector<Dim>& shape);

// Tensors one behind the other along an axis.
te::Tensor JoinTensors(std::span<const te::Tensor> parts, size_t axis,
                       const std::vector<Dim>& shape);

// The value among `values` at position `index` (of a static list), 0 where there is none.
te::Expr SelectFrom(const te::Expr& index, const ExprList& values, DType dtype);

// --- Schema shorthands ---

inline AttrField Required(std::string_view name, AttrKind kind) { return {name, kind, true, {}}; }
inline AttrField Optional(std::string_view name, AttrKind kind, AttrValue fallback = {}) {
  return {name, kind, false, std::move(fallback)};
}
// A C++ int of TVM's class; see AttrField.
inline AttrField PlainInt(AttrField field) {
  field.is_plain_int = true;
  return field;
}

// The dtype of attribute `name`, or `fallback` where it is unset.
inline DType DTypeOr(const Attrs& attrs, std::string_view name, DType fallback) {
  return attrs.OptionalDType(name).value_or(fallback);
}

}  // namespace relayvm
