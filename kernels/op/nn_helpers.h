// What the definitions of nn, reduction and vision operators share beyond op_helpers.h:
// windows, expressions. Stateless; thread-safe. Tested by nn_helpers_test.cc.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bytecode/base/status.h"
#include "kernels/op/op_helpers.h"
#include "kernels/te/te.h"

namespace relayvm::nn {

using Indices = ExprList;

Status RequireSameDType(DType a, DType b, std::string_view what);

// --- Expressions ---

inline te::Expr Divide(te::Expr a, te::Expr b) {
  return te::Binary(te::BinaryOp::kDivide, std::move(a), std::move(b));
}
inline te::Expr Sqrt(te::Expr a) { return te::Unary(te::UnaryOp::kSqrt, std::move(a)); }
inline te::Expr SoftmaxExp(te::Expr a) {
  return te::Unary(te::UnaryOp::kSoftmaxExp, std::move(a));
}
inline te::Expr Log(te::Expr a) { return te::Unary(te::UnaryOp::kLog, std::move(a)); }
inline te::Expr Power(te::Expr a, te::Expr b) {
  return te::Binary(te::BinaryOp::kPower, std::move(a), std::move(b));
}
// What no value of dtype is below: -infinity for floats.
te::Expr LowestValue(DType dtype);
// The lowest finite one, TVM's min_value.
te::Expr LowestFinite(DType dtype);
// The dtype that an average of `dtype` is summed in: integers in 64 bits, which neither sums nor
// counts exceed; floats in their own.
DType AverageDType(DType dtype);
// sum / count as `dtype`; `sum` is of AverageDType(dtype), `count` int64.
te::Expr Average(te::Expr sum, const te::Expr& count, DType dtype);
// 0 <= i < extent.
te::Expr InRange(const te::Expr& i, const te::Expr& extent);
// All of them; null when the list is empty.
te::Expr AndAll(const std::vector<te::Expr>& conditions);
// Select that takes a null condition as true.
te::Expr SelectIf(const te::Expr& condition, te::Expr if_true, te::Expr if_false);
// The sum over `axes`, or the body itself when there are none.
te::Expr ReduceOver(te::ReduceKind kind, te::Expr body, std::vector<te::Axis> axes, DType dtype);
// Loads `t` at the last t->rank() of `indices`, 0 where its extent is the constant 1.
te::Expr LoadOnes(const te::Tensor& t, const Indices& indices);
// A copy of `t` with a schedule hint.
te::Tensor WithHint(const te::Tensor& t, te::ScheduleHint hint, std::vector<te::Tensor> inputs);

// --- Windows (convolution, pooling) ---

struct Padding {
  std::vector<int64_t> before, after;  // one a spatial axis
};
// Relay's short forms: one value for all; one a spatial axis; or all before, then all after.
Result<Padding> ExpandPadding(const std::vector<int64_t>& padding, int spatial);
// `values` as one a spatial axis (one value stands for all), each at least `least`.
Result<std::vector<int64_t>> ExpandSpatial(std::vector<int64_t> values, int spatial, int64_t least,
                                           std::string_view what);
// floordiv(in + pad - dilated kernel, stride) + 1.
Dim WindowExtent(const Dim& in, int64_t pad, const Dim& kernel, int64_t stride, int64_t dilation);
// "W", "HW", "DHW".
std::string_view SpatialLetters(int spatial);

}  // namespace relayvm::nn
