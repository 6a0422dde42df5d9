#include "compiler/import/torch/convert.h"

namespace relayvm::import::torch {

OperatorTable FactoryOperators() { return {}; }

}  // namespace relayvm::import::torch
