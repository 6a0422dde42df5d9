#include "compiler/import/torch/convert.h"

namespace relayvm::import::torch {

OperatorTable IndexOperators() { return {}; }

}  // namespace relayvm::import::torch
