// The files among which the definitions of qnn.* are divided; DefineQnn calls them all.
#pragma once

namespace relayvm {

class OpTable;

void DefineQnnProducts(
    OpTable& table);  // qnn_products.cc: dense, batch_matmul, convolutions, pooling, softmax

void DefineQnnSimulated(OpTable& table);  // qnn_simulated.cc

}  // namespace relayvm
