#include "compiler/import/torch/convert.h"

namespace relayvm::import::torch {

OperatorTable SortOperators() { return {}; }

}  // namespace relayvm::import::torch
