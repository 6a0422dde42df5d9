// Operands of the lines between layers: tensors, numbers and arrays, as Keras 3 writes them by
// position and Keras 2 by the names of TensorFlow's parameters. Tested by importer_test.cc.
#pragma once

#include <limits>
#include <vector>

#include "compiler/import/keras/layer.h"

namespace relayvm::import::keras {

// A tensor, or a number, which takes its dtype from the tensors beside it.
struct Operand {
  Value tensor;
  double number = 0;
  bool is_float = false, is_bool = false;
};
std::vector<Operand> OperandsOf(LayerContext& n);
// Operands `from`.. as tensors, of one dtype if `same`.
std::vector<Term> TypedOperands(LayerContext& n, const std::vector<Operand>& operands, size_t from,
                                bool same);

// The larger or the smaller one; NaN stays, of either operand.
inline Term Larger(const Term& x, const Term& y) {
  return IsFloat(x.dtype()) ? Select(x.Call("isnan"), x, Maximum(x, y)) : Maximum(x, y);
}
inline Term Smaller(const Term& x, const Term& y) {
  return IsFloat(x.dtype()) ? Select(x.Call("isnan"), x, Minimum(x, y)) : Minimum(x, y);
}
// Reductions by max and min: lines that have NaN are NaN.
inline Term Extreme(const Term& x, std::string_view op, const std::vector<int64_t>& axes,
                    bool keep) {
  const Term y = x.Over(op, axes, keep);
  if (!IsFloat(x.dtype()) || axes.empty()) return y;
  const Term nan = x.Call("isnan").As(DType::kUInt8).Over("max", axes, keep);
  return Select(nan, y.Number(std::numeric_limits<double>::quiet_NaN()), y);
}

}  // namespace relayvm::import::keras
