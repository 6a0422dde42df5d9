// What converters share. See operator.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "compiler/import/mxnet/operator.h"

namespace relayvm::import::mxnet {

// The Relay operator of that name on the inputs, one to one.
template <OpName kName>
Outputs Same(Node& n) {
  return {n.b().Op(kName.chars, n.inputs())};
}

// The first input.
inline Outputs Copy(Node& n) { return {n.Input(0)}; }

inline AttrValue TypeName(DType t) { return std::string(DTypeName(t)); }

// Numbers that operators take in float32 or wider.
inline Term AsReal(const Term& x) { return IsFloat(x.dtype()) ? x : x.As(DType::kFloat32); }

// Floats cut to whole numbers as processors do it: what does not fit, NaN too, is the least number;
// types of 8 bits keep the low bits of int32.
inline Term CutTo(const Term& given, DType to) {
  if (!IsFloat(given.dtype()) || !IsInt(to) || (IsUnsignedInt(to) && DTypeBytes(to) > 1))
    return given.As(to);
  const Term x = DTypeBytes(given.dtype()) == 2 ? given.As(DType::kFloat32) : given;
  const bool is_long = DTypeBytes(to) == 8;
  const double end = is_long ? 0x1p63 : 0x1p31;
  const DType wide = is_long ? DType::kInt64 : DType::kInt32;
  const Term fits = x.Call("greater_equal", x.Number(-end)).Call("logical_and", x < end);
  const Term whole = Term(x.b(), x.b().Op("where", {fits, x, x.Number(0)})).As(wide);
  const Value least = x.b().Int(is_long ? INT64_MIN : INT32_MIN, wide);
  return Term(x.b(), x.b().Op("where", {fits, whole, least})).As(to);
}

// 0 and 1 of a condition.
inline Term Truth(const Term& condition, DType dtype) { return condition.As(dtype); }
// Whether elements are not 0.
inline Term IsTrue(const Term& x) {
  return x.dtype() == DType::kBool ? x : x.Call("not_equal", x.Number(0));
}

// Results that MXNet lays out as one vector where Relay has rank 0.
inline Term AtLeastVector(const Term& x) { return x.rank() == 0 ? x.Reshape({1}) : x; }

}  // namespace relayvm::import::mxnet
