// Operands of the lines between layers: tensors, numbers and arrays, as Keras 3 writes them by
// position and Keras 2 by the names of TensorFlow's parameters. Tested by importer_test.cc.
#pragma once

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

}  // namespace relayvm::import::keras
