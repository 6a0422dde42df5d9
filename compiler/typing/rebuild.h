// Makes the typed module from a finished run of inference: variables get their types, guards their
// places, each once where an earlier one on every way there says the same. Tested by infer_test.cc.
#pragma once

#include "compiler/typing/inference.h"

namespace relayvm::typing {

// REQUIRES: inference.Run() succeeded and does not ask for another run.
ir::Module Rebuild(const ir::Module& module, Inference& inference);

}  // namespace relayvm::typing
