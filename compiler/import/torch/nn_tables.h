// The tables of nn_tables.cc, one for each op_*.cc. Tested by op_nn_test.cc, op_function_test.cc,
// op_quantised_test.cc.
#pragma once

#include "compiler/import/torch/operator.h"

namespace relayvm::import::torch {

OperatorTable ActivationOperators();
OperatorTable ConvOperators();
OperatorTable PoolOperators();
OperatorTable NormOperators();
OperatorTable ResizeOperators();
OperatorTable RecurrentOperators();
OperatorTable AttentionOperators();
OperatorTable EmbeddingOperators();
OperatorTable LossOperators();
OperatorTable RandomOperators();
OperatorTable SignalOperators();
OperatorTable QuantisedOperators();
OperatorTable QuantisedProductOperators();
OperatorTable QuantisedRecurrentOperators();
OperatorTable LinalgOperators();
OperatorTable FactorOperators();
OperatorTable SpecialOperators();
OperatorTable VisionOperators();
OperatorTable DecomposedOperators();

}  // namespace relayvm::import::torch
