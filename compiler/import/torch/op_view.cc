#include "compiler/import/torch/convert.h"

namespace relayvm::import::torch {

OperatorTable ViewOperators() { return {}; }

}  // namespace relayvm::import::torch
