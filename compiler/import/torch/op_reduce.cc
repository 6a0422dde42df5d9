#include "compiler/import/torch/convert.h"

namespace relayvm::import::torch {

OperatorTable ReduceOperators() { return {}; }

}  // namespace relayvm::import::torch
