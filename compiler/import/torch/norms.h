// What operators on vectors and matrices share: norms over axes, the last two axes as matrices.
#pragma once

#include <cmath>

#include "compiler/import/torch/convert.h"

namespace relayvm::import::torch {

// (sum |x|^p)^(1/p) over axes, with kept dims; infinite p: the greatest or the least, 0: how many
// are not 0. No axes: of each element.
inline Term NormOver(const Term& given, double p, const std::vector<int64_t>& axes) {
  const Term x = given.As(SumType(given.dtype())), size = Abs(x);
  const auto own = [&](const Term& y) { return y.As(given.dtype()); };
  if (p == 0) return own(Truth(x).As(x.dtype()).Over("sum", axes));
  if (axes.empty()) return own(size);
  if (std::isinf(p)) {
    const Term y = size.Over(p > 0 ? "max" : "min", axes);
    return own(Select(x.Call("isnan").Over("any", axes), y.Number(NAN), y));
  }
  if (p == 1) return own(Sum(size, axes));
  if (p == 2) return own(Sqrt(Sum(x * x, axes)));
  return own(Sum(size.Call("power", x.Number(p)), axes).Call("power", x.Number(1 / p)));
}
inline Term WithoutDims(const Term& x, const std::vector<int64_t>& axes) {
  return axes.empty() ? x : Term(x.b(), x.b().Squeeze(x, axes));
}

// --- Matrices, the last two axes ---

// The last two axes swapped.
inline Term Turned(const Term& x) {
  std::vector<int64_t> axes = Iota(x.rank());
  if (axes.size() < 2) return x;
  std::swap(axes[axes.size() - 1], axes[axes.size() - 2]);
  return x.Transpose(axes);
}
inline Term MatrixProduct(const Term& x, const Term& y) { return {x.b(), MatMulOf(x.b(), x, y)}; }
inline bool AreMatrices(const Call& n, const Term& x) {
  if (x.rank() >= 2) return true;
  n.Fail("expected matrices, found rank {}", x.rank());
  return false;
}
// What checks of errors give: 0 of each matrix.
inline Value NoInfo(const Call& n, const Term& x) {
  TypedBuilder& b = n.b();
  std::vector<Value> dims;
  for (int i = 0; i + 2 < x.rank(); ++i) dims.push_back(b.DimOf(x, i));
  return Filled(b, 0, DType::kInt32, dims.empty() ? b.Ints({}) : b.Concat(dims, 0));
}

}  // namespace relayvm::import::torch
