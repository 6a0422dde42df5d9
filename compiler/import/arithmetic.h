// Formulas of the graph: values with + - * / and the comparisons, so that a converter reads as the
// operator's definition does.
//
//   const Term x(b, v);
//   const Term centred = x - Mean(x, axes);
//   return {centred / Sqrt(Mean(centred * centred, axes) + 1e-5)};
//
// Both operands have one dtype; a number becomes a scalar of the other operand's. Shapes broadcast.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/import/typed_builder.h"

namespace relayvm::import {

inline AttrList ListOf(const std::vector<int64_t>& values) {
  AttrList list;
  for (int64_t v : values) list.emplace_back(v);
  return list;
}

// A string as a template argument: the name of a Relay operator, of an attribute.
template <size_t kSize>
struct OpName {
  consteval OpName(const char (&text)[kSize]) {  // NOLINT(google-explicit-constructor)
    std::copy_n(text, kSize, chars);
  }
  char chars[kSize];
};

class Term {
 public:
  Term(TypedBuilder& b, Value v) : b_(&b), v_(std::move(v)) {}
  // An input of a format's node, which builds with n.b().
  template <typename Node>
    requires requires(Node& n) {
      { n.Input(size_t{}) } -> std::convertible_to<Value>;
    }
  Term(Node& n, size_t input) : b_(&n.b()), v_(n.Input(input)) {}

  operator const Value&() const { return v_; }  // NOLINT(google-explicit-constructor)
  const Value& value() const { return v_; }
  TypedBuilder& b() const { return *b_; }
  DType dtype() const { return v_.dtype(); }
  int rank() const { return v_.rank(); }

  Term Number(double value) const { return {*b_, b_->Scalar(value, dtype())}; }
  Term As(DType dtype) const { return {*b_, b_->Cast(v_, dtype)}; }
  Term Call(std::string_view op, AttrInit attrs = {}) const {
    return {*b_, b_->Op(op, {v_}, attrs)};
  }
  // The first argument of an operator of several.
  Term Call(std::string_view op, const Value& second, AttrInit attrs = {}) const {
    return {*b_, b_->Op(op, {v_, second}, attrs)};
  }
  // A reduction, with kept dims.
  Term Over(std::string_view op, const std::vector<int64_t>& axes, bool keep = true) const {
    return axes.empty() ? *this : Call(op, {{"axis", ListOf(axes)}, {"keepdims", keep}});
  }
  Term Reshape(const std::vector<int64_t>& shape) const { return {*b_, b_->Reshape(v_, shape)}; }
  Term Expand(int axis, int count = 1) const { return {*b_, b_->ExpandDims(v_, axis, count)}; }
  Term Transpose(const std::vector<int64_t>& axes) const { return {*b_, b_->Transpose(v_, axes)}; }
  // Elements `from`..`to` (INT64_MAX: the end) of an axis.
  Term Slice(int64_t axis, int64_t from, int64_t to, int64_t step = 1) const {
    return Call("strided_slice", {{"begin", AttrList{from}},
                                  {"end", AttrList{to}},
                                  {"strides", AttrList{step}},
                                  {"axes", AttrList{axis}}});
  }
  Term Take(const Value& indices, int axis) const {
    return Call("take", indices, {{"axis", axis}});
  }

 private:
  TypedBuilder* b_;
  Value v_;
};

inline Term operator+(const Term& x, const Term& y) { return x.Call("add", y); }
inline Term operator-(const Term& x, const Term& y) { return x.Call("subtract", y); }
inline Term operator*(const Term& x, const Term& y) { return x.Call("multiply", y); }
inline Term operator/(const Term& x, const Term& y) { return x.Call("divide", y); }
inline Term operator<(const Term& x, const Term& y) { return x.Call("less", y); }
inline Term operator<=(const Term& x, const Term& y) { return x.Call("less_equal", y); }
inline Term operator>(const Term& x, const Term& y) { return x.Call("greater", y); }
inline Term operator>=(const Term& x, const Term& y) { return x.Call("greater_equal", y); }
inline Term operator+(const Term& x, double y) { return x + x.Number(y); }
inline Term operator-(const Term& x, double y) { return x - x.Number(y); }
inline Term operator*(const Term& x, double y) { return x * x.Number(y); }
inline Term operator/(const Term& x, double y) { return x / x.Number(y); }
inline Term operator<(const Term& x, double y) { return x < x.Number(y); }
inline Term operator<=(const Term& x, double y) { return x <= x.Number(y); }
inline Term operator>(const Term& x, double y) { return x > x.Number(y); }
inline Term operator>=(const Term& x, double y) { return x >= x.Number(y); }
inline Term operator+(double x, const Term& y) { return y.Number(x) + y; }
inline Term operator-(double x, const Term& y) { return y.Number(x) - y; }
inline Term operator*(double x, const Term& y) { return y.Number(x) * y; }
inline Term operator/(double x, const Term& y) { return y.Number(x) / y; }
inline Term operator-(const Term& x) { return x.Call("negative"); }

inline Term Equal(const Term& x, const Term& y) { return x.Call("equal", y); }
inline Term Equal(const Term& x, double y) { return Equal(x, x.Number(y)); }
inline Term And(const Term& x, const Term& y) { return x.Call("logical_and", y); }
inline Term Or(const Term& x, const Term& y) { return x.Call("logical_or", y); }
inline Term Not(const Term& x) { return x.Call("logical_not"); }
inline Term Select(const Term& condition, const Term& x, const Term& y) {
  return {x.b(), x.b().Op("where", {condition, x, y})};
}
inline Term Maximum(const Term& x, const Term& y) { return x.Call("maximum", y); }
inline Term Minimum(const Term& x, const Term& y) { return x.Call("minimum", y); }
inline Term Clamp(const Term& x, const Term& low, const Term& high) {
  return Minimum(Maximum(x, low), high);
}
inline Term Sqrt(const Term& x) { return x.Call("sqrt"); }
inline Term Exp(const Term& x) { return x.Call("exp"); }
inline Term Cos(const Term& x) { return x.Call("cos"); }
inline Term Sin(const Term& x) { return x.Call("sin"); }
inline Term Floor(const Term& x) { return x.Call("floor"); }
inline Term Abs(const Term& x) { return x.Call("abs"); }
// log(1 + m) for m of 0 to 1, also where 1 + m is 1: 2 artanh(m / (2 + m)) by its series.
inline Term Log1p(const Term& m) {
  const Term z = m / (m + 2.0), square = z * z;
  const int terms = m.dtype() == DType::kFloat64 ? 17 : 8;
  Term sum = square.Number(1.0 / (2 * terms - 1));
  for (int k = terms - 1; k >= 1; --k) sum = sum * square + 1.0 / (2 * k - 1);
  return z * sum * 2.0;
}
// log(1 + e^x) = max(x, 0) + log(1 + e^-|x|).
inline Term Softplus(const Term& x) { return Maximum(x, x.Number(0)) + Log1p(Exp(-Abs(x))); }
inline Term Sum(const Term& x, const std::vector<int64_t>& axes) { return x.Over("sum", axes); }
inline Term Mean(const Term& x, const std::vector<int64_t>& axes) { return x.Over("mean", axes); }
inline Term Max(const Term& x, const std::vector<int64_t>& axes) { return x.Over("max", axes); }

// Broadcast where shapes differ: v (rank 1) along `axis` of a tensor of that rank.
inline Term Along(const Term& v, int axis, int rank) { return v.Expand(1, rank - 1 - axis); }

// The first `rank` whole numbers from `first` on.
inline std::vector<int64_t> Iota(int64_t count, int64_t first = 0) {
  std::vector<int64_t> out;
  for (int64_t i = 0; i < count; ++i) out.push_back(first + i);
  return out;
}

// --- Scalars and shapes (int64) ---

// A tensor of one element as rank 0.
inline Term AsScalar(const Term& v) { return v.rank() == 0 ? v : v.Reshape({}); }
// As rank 1.
inline Term AsVector(const Term& v) { return v.rank() == 1 ? v : v.Reshape({-1}); }
// A dim of `v`, rank 0.
inline Term Extent(TypedBuilder& b, const Value& v, int axis) {
  const Dim d = v.dim(axis);
  if (d.is_const()) return {b, b.Int(d.value())};
  return {b, b.Squeeze(b.DimOf(v, axis), {0})};
}
// 0, 1 .. count-1, rank 1. `count` is a rank-0 integer.
inline Term Range(const Term& count, DType dtype = DType::kInt64) {
  TypedBuilder& b = count.b();
  const std::string name(DTypeName(dtype));
  return {b, b.Op("arange", {b.Int(0, dtype), b.Cast(count, dtype), b.Int(1, dtype)},
                  {{"dtype", name}})};
}
inline Term RangeOf(TypedBuilder& b, const Value& v, int axis) { return Range(Extent(b, v, axis)); }
// The product of dims `from`..`to`-1, rank 1.
inline Value ProductOfDims(TypedBuilder& b, const Value& v, int from, int to) {
  Value product = b.Ints({1});
  bool first = true;
  for (int i = from; i < to; ++i) {
    product = first ? b.DimOf(v, i) : b.Op("multiply", {product, b.DimOf(v, i)});
    first = false;
  }
  return product;
}
// To these dims (rank 1 each, of any length); an extent of 0 is 0.
inline Value ShapedAs(TypedBuilder& b, const Value& v, const std::vector<Value>& dims) {
  const Value shape = dims.empty() ? b.Ints({}) : b.Concat(dims, 0);
  if (auto known = b.ConstantInts(shape)) {
    return b.Op("reshape", {v}, {{"newshape", ListOf(*known)}, {"allowzero", true}});
  }
  return b.Op("dyn.reshape", {v, shape}, {{"allowzero", true}});
}
// A tensor of that shape filled with a number.
inline Value Filled(TypedBuilder& b, double value, DType dtype, const Value& shape) {
  const std::string name(DTypeName(dtype));
  const Value fill = b.Scalar(value, dtype);
  if (auto known = b.ConstantInts(shape)) {
    return b.Op("full", {fill}, {{"shape", ListOf(*known)}, {"dtype", name}});
  }
  return b.Op("dyn.full", {fill, shape}, {{"dtype", name}});
}
// `axis` first, the others in order; and back.
inline std::vector<int64_t> AxisMoved(int rank, int from, int to) {
  std::vector<int64_t> axes;
  for (int i = 0; i < rank; ++i) {
    if (i != from) axes.push_back(i);
  }
  if (from < 0 || from >= rank) return axes;  // of rank 0 there is none to move
  axes.insert(axes.begin() + std::clamp<int64_t>(to, 0, static_cast<int64_t>(axes.size())), from);
  return axes;
}

// A constant of v's dtype, rank 0.
inline Value Like(TypedBuilder& b, const Value& v, double value) {
  return b.Scalar(value, v.dtype());
}

// A constant of float32, float64 or int32 elements.
Term Table(TypedBuilder& b, const std::vector<double>& values, const std::vector<int64_t>& shape,
           DType dtype = DType::kFloat32);
// numpy's matmul (arithmetic.cc). `product`, where it is given, makes the product of matrices (m,
// k) and (k, n) or, `is_batch`, of (b, m, k) and (b, k, n), in place of nn.matmul and
// nn.batch_matmul.
using ProductFn = std::function<Value(const Value& x, const Value& y, bool is_batch)>;
Value MatMulOf(TypedBuilder& b, Value x, Value y, const ProductFn& product = nullptr);

}  // namespace relayvm::import
