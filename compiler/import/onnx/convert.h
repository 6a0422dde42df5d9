// What converters share. See operator.h.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <vector>

#include "compiler/import/onnx/operator.h"

namespace relayvm::import {

// A string as a template argument: the name of a Relay operator.
template <size_t kSize>
struct OpName {
  consteval OpName(const char (&text)[kSize]) {  // NOLINT(google-explicit-constructor)
    std::copy_n(text, kSize, chars);
  }
  char chars[kSize];
};

// The Relay operator of that name on the inputs, one to one.
template <OpName kName>
std::vector<Value> Same(NodeContext& n) {
  return {n.b().Op(kName.chars, n.inputs())};
}

inline AttrList ListOf(const std::vector<int64_t>& values) {
  AttrList list;
  for (int64_t v : values) list.emplace_back(v);
  return list;
}

// numpy's matmul (op_math.cc). `product`, where it is given, makes the product of matrices (m, k) and
// (k, n) or, `is_batch`, of (b, m, k) and (b, k, n), in place of nn.matmul and nn.batch_matmul.
using ProductFn = std::function<Value(const Value& x, const Value& y, bool is_batch)>;
Value MatMulOf(NodeContext& n, Value x, Value y, const ProductFn& product = nullptr);

// A constant of v's dtype, rank 0.
inline Value Like(NodeContext& n, const Value& v, double value) {
  return n.b().Scalar(value, v.dtype());
}

}  // namespace relayvm::import
