// Stateless. Tested through loops_test.cc.
#pragma once

#include <vector>

#include "kernels/te/te.h"

namespace relayvm::codegen {

// The distinct tensors that the outputs need, inputs first.
std::vector<te::Tensor> TensorsInOrder(const std::vector<te::Tensor>& outputs);

}  // namespace relayvm::codegen
