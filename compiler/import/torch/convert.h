// What the converters of PyTorch's operators share. See operator.h.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "compiler/import/arithmetic.h"
#include "compiler/import/torch/operator.h"

namespace relayvm::import::torch {

// Argument `i` as an operand of that dtype; a number has rank 0.
inline Term Operand(const Call& n, size_t i, DType dtype) {
  const Argument& a = n.Arg(i);
  if (a.is_number() && !a.is(Argument::Kind::kComplex))
    return {n.b(), ScalarValue(n.b(), a, dtype)};
  return {n.b(), n.b().Cast(n.Input(i), dtype)};
}

// Arguments 0 and 1 in one dtype, by PyTorch's rules; or in the float that they divide in.
inline DType PairType(const Call& n) {
  return ResultType(std::array<Argument, 2>{n.Arg(size_t{0}), n.Arg(size_t{1})});
}
inline DType FloatPairType(const Call& n) {
  return FloatResultType(std::array<Argument, 2>{n.Arg(size_t{0}), n.Arg(size_t{1})});
}
inline std::pair<Term, Term> Pair(const Call& n, DType dtype) {
  return {Operand(n, 0, dtype), Operand(n, 1, dtype)};
}

// Argument 0 as a float: integers become float32.
inline Term Real(const Call& n, size_t i = 0) {
  const Value v = n.Input(i);
  return {n.b(), IsFloat(v.dtype()) ? v : n.b().Cast(v, DType::kFloat32)};
}

// Sums and products of 16-bit floats are made in float32.
inline bool IsHalf(DType t) { return t == DType::kFloat16 || t == DType::kBFloat16; }
inline DType SumType(DType t) { return IsHalf(t) ? DType::kFloat32 : t; }

// Within limits; NaN stays NaN: maximum and minimum give it where the second operand is.
inline Term Limited(const Term& x, const Term& low, const Term& high) {
  return high.Call("minimum", low.Call("maximum", x));
}
inline Term NotBelow(const Term& x, double low) { return x.Number(low).Call("maximum", x); }

// Whether each is not 0.
inline Term Truth(const Term& x) {
  return x.dtype() == DType::kBool ? x : x.Call("not_equal", x.Number(0));
}

// --- Shapes ---

// The dims of `v`, int64 of rank 1 each.
inline std::vector<Value> DimsOf(TypedBuilder& b, const Value& v) {
  std::vector<Value> dims;
  for (int i = 0; i < v.rank(); ++i) dims.push_back(b.DimOf(v, i));
  return dims;
}
inline Value Shaped(TypedBuilder& b, const Value& v, const std::vector<Value>& dims) {
  return ShapedAs(b, v, dims);
}
// To the shape of `like`, whose number of elements is the same.
inline Value ShapedLike(TypedBuilder& b, const Value& v, const Value& like) {
  return v.shape() == like.shape() ? v : ShapedAs(b, v, DimsOf(b, like));
}
// Broadcast to a shape (int64, rank 1).
inline Value BroadcastTo(TypedBuilder& b, const Value& v, const Value& shape) {
  if (const auto known = b.ConstantInts(shape))
    return b.Op("broadcast_to", {v}, {{"shape", ListOf(*known)}});
  return b.Op("dyn.broadcast_to", {v, shape});
}
// Elements from..to-1 of an axis, which may be computed (int64, rank 0).
Value Sliced(TypedBuilder& b, const Value& v, int axis, const Value& from, const Value& to,
             int64_t step = 1);
// 0, 1, .. count-1 (int64, rank 1): a constant where they are few.
Term PlacesOf(TypedBuilder& b, int64_t count);
// `v` of rank 0 as rank 1.
inline Value AtLeastVector(TypedBuilder& b, const Value& v) {
  return v.rank() == 0 ? b.Reshape(v, {1}) : v;
}
// The product of all dims (int64, rank 1).
inline Value CountOfElements(TypedBuilder& b, const Value& v) {
  return ProductOfDims(b, v, 0, v.rank());
}

}  // namespace relayvm::import::torch
