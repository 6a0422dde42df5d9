// What converters share. See operator.h.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/import/arithmetic.h"
#include "compiler/import/tensorflow/operator.h"

namespace relayvm::import::tensorflow {

// The Relay operator of that name on the inputs, one to one.
template <OpName kName>
Outputs Same(NodeContext& n) {
  return {n.b().Op(kName.chars, n.inputs())};
}

// The operator of TensorFlow of that name on the inputs, with the node's attributes.
template <OpName kName>
Outputs SameAs(NodeContext& n) {
  return n.As(kName.chars, n.inputs());
}

// --- Complex numbers: tuples of a real and an imaginary part ---

struct Complex {
  Term re, im;
};
inline Value PairOf(TypedBuilder& b, const Complex& c) { return b.Tuple({c.re, c.im}); }
// Real numbers have an imaginary part of 0.
inline Complex ComplexOf(TypedBuilder& b, const Value& v) {
  if (IsComplex(v)) return {{b, b.Field(v, 0)}, {b, b.Field(v, 1)}};
  const Term re(b, v);
  return {re, re.Call("zeros_like")};
}
inline bool HasComplex(const NodeContext& n) {
  return std::any_of(n.inputs().begin(), n.inputs().end(), IsComplex);
}

// What is the same for both parts of complex numbers: sums, what moves elements.
template <Converter kConvert>
Outputs OfParts(NodeContext& n) {
  if (!HasComplex(n)) return kConvert(n);
  Outputs parts[2], pairs;
  for (size_t k = 0; k < 2; ++k) {
    std::vector<Value> inputs = n.inputs();
    for (Value& v : inputs) {
      if (IsComplex(v)) v = n.b().Field(v, k);
    }
    NodeContext part(n.importer(), n.node(), std::move(inputs));
    parts[k] = kConvert(part);
  }
  for (size_t i = 0; i < std::min(parts[0].size(), parts[1].size()); ++i)
    pairs.push_back(n.b().Tuple({parts[0][i], parts[1][i]}));
  return pairs;
}

// --- Small things ---

inline bool Ok(NodeContext& n) { return n.b().status().ok(); }
inline Outputs OneOf(const std::optional<Value>& v) { return v ? Outputs{*v} : Outputs{}; }
// Elements from..to-1 of a vector.
inline Term Part(const Term& v, int64_t from, int64_t to) { return v.Slice(0, from, to); }
// Element i of a vector, rank 0.
inline Term ElementOf(const Term& v, int64_t i) { return AsScalar(v.Slice(0, i, i + 1)); }
// To a shape (int64, rank 1, of a known length); one extent may be -1.
inline Term To(const Term& v, const std::vector<Value>& dims) {
  return {v.b(), ShapedAs(v.b(), v, dims)};
}
// Dims from..to-1 of `v`, each a vector of one.
inline std::vector<Value> DimsOf(TypedBuilder& b, const Value& v, int from, int to) {
  std::vector<Value> dims;
  for (int i = from; i < to; ++i) dims.push_back(b.DimOf(v, i));
  return dims;
}
inline Term Log(const Term& x) { return x.Call("log"); }
inline Term Tanh(const Term& x) { return x.Call("tanh"); }
inline Term Sigmoid(const Term& x) { return x.Call("sigmoid"); }
inline Term Power(const Term& x, double p) { return x.Call("power", x.Number(p)); }
// In float64 or float32 as `f` makes it, and back.
inline Term InDoubles(const Term& x, const std::function<Term(const Term&)>& f) {
  return f(x.As(DType::kFloat64)).As(x.dtype());
}
// A term of each input but those that are left out.
inline std::vector<Term> Terms(NodeContext& n) {
  std::vector<Term> all;
  for (size_t i = 0; i < n.num_inputs(); ++i) all.emplace_back(n, i);
  return all;
}

}  // namespace relayvm::import::tensorflow
