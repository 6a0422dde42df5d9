// The tables of what neural networks are made of: convolutions, pools, normalisation, activations,
// recurrent layers, attention, losses, signals, vision, quantised operators.
#include "compiler/import/torch/operator.h"

namespace relayvm::import::torch {

std::vector<OperatorTable> NnOperatorTables() { return {}; }

}  // namespace relayvm::import::torch
