// Weights of float32 whose numbers float16 holds exactly: as many models' do, whose weights are float16 and
// become float32 where they are multiplied. Tested by pack_weights_test.cc.
#pragma once

#include "bytecode/base/host_tensor.h"

namespace relayvm::ir {

// Whether float16 holds every number of it exactly. Looks until one does not. REQUIRES: float32.
bool FitsFloat16(const HostTensor& w);
// Such a weight as float16, made when it is read.
HostTensor AsFloat16Later(const HostTensor& w);

}  // namespace relayvm::ir
