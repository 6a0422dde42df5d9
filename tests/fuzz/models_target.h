// Fuzzing of importers of models (compiler/import): damaged files of each format.
#pragma once

#include <string>
#include <vector>

#include "bytecode/base/status.h"
#include "tests/fuzz/targets.h"

namespace relayvm::fuzz {

// Seeds are the models of a folder with a samples.json (tests/importers), each with what relayc is
// told beside it; an input is the position of its seed, as one byte, and then the file's bytes.
// What is read is typed. MXNet's weights are damaged as models are.
Result<Target> ModelsTarget(const std::string& folder);

}  // namespace relayvm::fuzz
