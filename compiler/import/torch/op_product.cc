#include "compiler/import/torch/convert.h"

namespace relayvm::import::torch {

OperatorTable ProductOperators() { return {}; }

}  // namespace relayvm::import::torch
