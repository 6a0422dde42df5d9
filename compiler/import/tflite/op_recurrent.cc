#include "compiler/import/tflite/quantised.h"

namespace relayvm::import::tflite {

std::span<const OperatorDef> RecurrentOperators() { return {}; }

}  // namespace relayvm::import::tflite
