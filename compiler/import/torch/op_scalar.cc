#include "compiler/import/torch/convert.h"

namespace relayvm::import::torch {

OperatorTable ScalarOperators() { return {}; }

}  // namespace relayvm::import::torch
