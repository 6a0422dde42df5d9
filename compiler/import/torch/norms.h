// Norms over axes: of vectors, distances, losses.
#pragma once

#include <cmath>

#include "compiler/import/torch/convert.h"

namespace relayvm::import::torch {

// (sum |x|^p)^(1/p) over axes, with kept dims; infinite p: the greatest or the least, 0: how many
// are not 0. No axes: of each element.
inline Term NormOver(const Term& x, double p, const std::vector<int64_t>& axes) {
  const Term size = Abs(x);
  if (p == 0) return Truth(x).As(x.dtype()).Over("sum", axes);
  if (axes.empty()) return size;
  if (std::isinf(p)) return size.Over(p > 0 ? "max" : "min", axes);
  if (p == 1) return Sum(size, axes);
  if (p == 2) return Sqrt(Sum(x * x, axes));
  return Sum(size.Call("power", x.Number(p)), axes).Call("power", x.Number(1 / p));
}
inline Term WithoutDims(const Term& x, const std::vector<int64_t>& axes) {
  return axes.empty() ? x : Term(x.b(), x.b().Squeeze(x, axes));
}

}  // namespace relayvm::import::torch
