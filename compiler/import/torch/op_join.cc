#include "compiler/import/torch/convert.h"

namespace relayvm::import::torch {

OperatorTable JoinOperators() { return {}; }

}  // namespace relayvm::import::torch
