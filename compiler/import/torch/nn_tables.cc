// The tables of what neural networks are made of: convolutions, pools, normalisation, activations,
// recurrent layers, attention, losses, signals, vision, quantised operators.
#include "compiler/import/torch/nn_tables.h"

namespace relayvm::import::torch {

std::vector<OperatorTable> NnOperatorTables() {
  return {ActivationOperators(),
          ConvOperators(),
          PoolOperators(),
          NormOperators(),
          ResizeOperators(),
          RecurrentOperators(),
          AttentionOperators(),
          EmbeddingOperators(),
          LossOperators(),
          RandomOperators(),
          SignalOperators(),
          QuantisedOperators(),
          QuantisedProductOperators(),
          QuantisedRecurrentOperators(),
          LinalgOperators(),
          FactorOperators(),
          SpecialOperators(),
          VisionOperators(),
          DecomposedOperators()};
}

}  // namespace relayvm::import::torch
