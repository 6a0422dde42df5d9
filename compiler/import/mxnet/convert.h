// What converters share. See operator.h.
#pragma once

#include <cstddef>
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

// 0 and 1 of a condition.
inline Term Truth(const Term& condition, DType dtype) { return condition.As(dtype); }
// Whether elements are not 0.
inline Term IsTrue(const Term& x) {
  return x.dtype() == DType::kBool ? x : x.Call("not_equal", x.Number(0));
}

// Results that MXNet lays out as one vector where Relay has rank 0.
inline Term AtLeastVector(const Term& x) { return x.rank() == 0 ? x.Reshape({1}) : x; }

}  // namespace relayvm::import::mxnet
