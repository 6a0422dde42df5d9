// Fuzzing of the ONNX importer: damaged containers, and sound containers of damaged graphs.
#pragma once

#include <string>
#include <vector>

#include "bytecode/base/status.h"

namespace relayvm::fuzz {

// A model with convolution, shape arithmetic, a branch and constants.
std::string SampleModel();
// Imports and types the model.
Status ImportModel(const std::string& bytes);
// One of `seeds`, with operators, names, attributes, dims and constants changed: `choice` decides
// which, and the same choice makes the same model.
std::string DamageGraph(const std::vector<std::string>& seeds, size_t choice);

}  // namespace relayvm::fuzz
